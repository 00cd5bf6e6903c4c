/* Depthwise convolution of one block of channels, for any vector width: the content of a packed block, and its packing.
 *
 * The including file defines
 *
 *   LANES      groups of 128 bits in a `vector`, which holds 32-bit sums
 *   GROUP      input rows that are interleaved into one vector: 4 bytes, or 2 values of 16 bits; `weight` is packed
 *   VECTORS    vectors that hold the GROUP values of every channel of a block; as many hold its sums
 *
 * Unpacking within 128-bit lanes leaves channel 4 * VECTORS * lane + 4 * v + e of a block in element (lane, e) of
 * vector v. Weights, bias and multipliers are packed in that order; narrowing the sums undoes it. */
#pragma once

#if !defined LANES || !defined GROUP || !defined VECTORS
#error "depthwise/pack.inl needs LANES, GROUP and VECTORS"
#endif

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "isa/rows.h"

#define ELEMENTS (LANES * 4) /* elements of a vector */
#define CHANNELS (ELEMENTS * VECTORS)
#define WORDS (VECTORS / 2) /* vectors that hold the 16-bit results of a pixel */
#define SIGNED_BIAS 128     /* added to signed inputs, by flipping their top bit */
#define FIXED_SHIFT 33
#define LARGEST_ZERO_POINT 255

typedef enum {
    BY_STORE,   /* by the table's row `store` */
    BY_FLOAT32, /* every scale is below 1, so that no product leaves 32 bits */
    BY_FIXED,   /* every shift lies within [FIXED_SHIFT, 62] */
} epilogue;

/* The header of a packed block. The weights follow as [kernel column][group][output row][VECTORS] vectors. */
typedef struct {
    int32_t compensation[CHANNELS]; /* minus the input's zero point times the sum of the weights */
    float scale[CHANNELS];
    /* fixed: the multipliers; those of odd elements, moved to even ones; the shifts minus FIXED_SHIFT. */
    int32_t multiplier[CHANNELS], odd_multiplier[CHANNELS], shift[CHANNELS];
    /* Added to sums that are narrowed to 16 bits, in the order of the channels. */
    int16_t zero_point[CHANNELS];
    epilogue by;
} __attribute__((aligned(64))) block_header;

static inline int element_of(int channel, int segment, int segments) {
    const int lane = channel / (4 * VECTORS) + segment * (LANES / segments);
    return channel / 4 % VECTORS * ELEMENTS + lane * 4 + channel % 4;
}

/* The index of a channel in zero_point. A vector of words has LANES groups of eight channels. */
static inline int word_of(int channel, int segment, int segments) {
    const int lane = channel / (4 * VECTORS) + segment * (LANES / segments);
    return channel % (4 * VECTORS) / 8 * (LANES * 8) + lane * 8 + channel % 8;
}

static epilogue choose_epilogue(const qrt_depthwise_problem *problem, const qrt_depthwise_block *block) {
    const qrt_requant *requant = &problem->requant;
    if (requant->container > QRT_U8 || !requant->zero_point_i32)
        return BY_STORE;
    bool fixed = requant->rule == QRT_FIXED, float32 = requant->rule == QRT_FLOAT32;
    for (int c = 0; c < block->channels; c++) {
        const int64_t p = (block->first + c) * problem->requant_step;
        const int32_t zero_point = requant->zero_point_i32[p];
        const bool near = zero_point >= -LARGEST_ZERO_POINT && zero_point <= LARGEST_ZERO_POINT;
        fixed = fixed && near && requant->shift[p] >= FIXED_SHIFT && requant->shift[p] <= 62;
        float32 = float32 && near && fabsf(requant->scale_f32[p]) < 1;
    }
    return fixed ? BY_FIXED : float32 ? BY_FLOAT32 : BY_STORE;
}

static void pack_requant(const qrt_depthwise_problem *problem, const qrt_depthwise_block *block, int c, int segment,
                         block_header *to) {
    const qrt_requant *requant = &problem->requant;
    const int64_t p = (block->first + c) * problem->requant_step;
    const int element = element_of(c, segment, block->segments);
    const int zero_point = to->by == BY_STORE ? 0 : requant->zero_point_i32[p];
    if (to->by == BY_FLOAT32)
        to->scale[element] = requant->scale_f32[p];
    if (to->by == BY_FIXED) {
        to->multiplier[element] = requant->multiplier[p];
        if (element % 2)
            to->odd_multiplier[element - 1] = requant->multiplier[p];
        to->shift[element] = requant->shift[p] - FIXED_SHIFT;
    }
    to->zero_point[word_of(c, segment, block->segments)] =
        (int16_t)(to->by == BY_FIXED ? 2 * zero_point + 1 : zero_point);
}

static void pack_channel(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_block *block, int c,
                         int segment, block_header *to) {
    const qrt_window *window = &problem->window;
    const int64_t j = block->first + c, zw = problem->w_zero_point[j * problem->w_zero_point_step];
    const int element = element_of(c, segment, block->segments);
    const int64_t x_zero = problem->x_zero_point[0] + (problem->x == QRT_I8 ? SIGNED_BIAS : 0);
    weight *packed = (weight *)(to + 1);
    int64_t sum = 0;
    for (int64_t kx = 0; kx < window->kernel[1]; kx++)
        for (int64_t ky = 0; ky < window->kernel[0]; ky++) {
            const int64_t at = (ky * window->kernel[1] + kx) * problem->w_tap_step + j * problem->w_channel_step;
            const int64_t value = (problem->w == QRT_I8 ? ((const int8_t *)w)[at] : ((const uint8_t *)w)[at]) - zw;
            sum += value;
            for (int r = 0; r < block->rows; r++) {
                const int64_t slot = ky + r * window->strides[0];
                const int64_t vectors = ((kx * block->groups + slot / GROUP) * block->rows + r) * VECTORS;
                packed[(vectors * ELEMENTS + element) * GROUP + slot % GROUP] = (weight)value;
            }
        }
    to->compensation[element] = (int32_t)(uint32_t)(-x_zero * sum);
}

static void pack_block(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_block *block,
                       void *to) {
    block_header *header = to;
    header->by = choose_epilogue(problem, block);
    for (int segment = 0; segment < block->segments; segment++)
        for (int c = 0; c < block->channels; c++) {
            pack_channel(problem, w, block, c, segment, header);
            pack_requant(problem, block, c, segment, header);
        }
}

/* Adds the bias of four channels, which stay together in a packed block. */
static inline void add_four(const qrt_depthwise_problem *problem, const void *bias, int64_t first, int count,
                            int32_t *start) {
    uint32_t added[4] = {0}, *to = (uint32_t *)start;
    if (problem->bias == QRT_BIAS_I32 && count >= 4)
        memcpy(added, (const int32_t *)bias + first, sizeof added);
    else
        for (int i = 0; i < 4 && i < count; i++)
            added[i] = problem->bias == QRT_BIAS_I32 ? ((const uint32_t *)bias)[first + i]
                                                     : (uint32_t)((const uint64_t *)bias)[first + i];
    for (int i = 0; i < 4; i++)
        to[i] += added[i];
}

/* Runs in every call where the bias is an operand. The order of the elements is that of element_of. */
static void add_bias(const qrt_depthwise_problem *problem, const void *bias, const qrt_depthwise_block *block,
                     int32_t *start) {
    memcpy(start, block->start, CHANNELS * sizeof *start);
    const int lanes = LANES / block->segments;
    for (int lane = 0; lane < LANES; lane++)
        for (int v = 0; v < VECTORS; v++) {
            const int channel = ((lane < lanes ? lane : lane - lanes) * VECTORS + v) * 4;
            if (channel < block->channels)
                add_four(problem, bias, block->first + channel, block->channels - channel,
                         start + v * ELEMENTS + lane * 4);
        }
}
