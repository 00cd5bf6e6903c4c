/* Rows of resized images of bytes by the rule fixed11: the channels of a pixel in vectors of 32-bit integers.
 *
 * The including file gives the ports, and defines load_live_bytes, which reads live bytes alone, and extend, which
 * makes 32-bit integers of bytes. Exact: weights within 0 and the unit make each sum at most 255 * unit^2, below 2^30.
 * A row with other weights is left to the parent. */
#pragma once

#include "isa/rows.h"

#define UNIT_BITS 11

static bool within_unit(const qrt_resize_args *args, int64_t y) {
    const int64_t unit = 1 << UNIT_BITS;
    bool within = args->rows.weight[y] >= 0 && args->rows.weight[y] <= unit;
    for (int64_t x = 0; x < args->out_width; x++)
        within &= args->columns.weight[x] >= 0 && args->columns.weight[x] <= unit;
    return within;
}

/* a * unit + (b - a) * weight */
QRT_INLINE integers between(integers a, integers b, integers weight) {
    return V(add_epi32)(V(slli_epi32)(a, UNIT_BITS), V(mullo_epi32)(V(sub_epi32)(b, a), weight));
}

QRT_INLINE void resize_pixels(const qrt_resize_args *args, int64_t y, const char *upper, const char *lower,
                              char *target, bool is_signed) {
    const int64_t channels = args->channels;
    const integers down = V(set1_epi32)((int)args->rows.weight[y]);
    const integers half = V(set1_epi32)(1 << (2 * UNIT_BITS - 1));
    for (int64_t x = 0; x < args->out_width; x++, target += channels) {
        const int64_t left = args->columns.low[x] * channels, right = args->columns.high[x] * channels;
        const integers weight = V(set1_epi32)((int)args->columns.weight[x]);
        for (int64_t c = 0; c < channels; c += LANES) {
            const live_lanes live = first_lanes(channels - c);
            const integers a = extend(load_live_bytes(upper + left + c, live), is_signed);
            const integers b = extend(load_live_bytes(upper + right + c, live), is_signed);
            const integers d = extend(load_live_bytes(lower + left + c, live), is_signed);
            const integers e = extend(load_live_bytes(lower + right + c, live), is_signed);
            const integers sum = between(between(a, b, weight), between(d, e, weight), down);
            const integers rounded = V(srai_epi32)(V(add_epi32)(sum, half), 2 * UNIT_BITS);
            store_bytes(target + c, low_bytes(rounded), live);
        }
    }
}

void QRT_OF_ISA(resize_row)(const qrt_resize_args *args, int64_t y, const void *upper, const void *lower,
                            void *target) {
    const bool bytes = args->number == QRT_NUMBER_I8 || args->number == QRT_NUMBER_U8;
    if (!bytes || args->rule != QRT_FIXED11 || !within_unit(args, y))
        QRT_OF_ISA(parent).resize_row(args, y, upper, lower, target);
    else if (args->number == QRT_NUMBER_I8)
        resize_pixels(args, y, upper, lower, target, true);
    else
        resize_pixels(args, y, upper, lower, target, false);
}
