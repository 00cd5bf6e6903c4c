/* Depthwise convolution of one block of channels, for any vector width: the loops. depthwise_pack.h comes first.
 *
 * A column of GROUP input rows is interleaved once: an element of the result holds GROUP vertically adjacent values of
 * one channel, and one multiply-add with the weights of a kernel column adds GROUP taps. Interleaved columns wait in
 * L1, where each tap column of each output pixel finds them, and two output rows where their windows lie in the same
 * groups.
 *
 * The file that includes this one has defined, besides what depthwise_pack.h asks for,
 *
 *   OP(name)              the intrinsic of that name for the whole vector
 *   PIXELS_1, PIXELS_2    output pixels of a tile of one and of two output rows
 *   loader, make_loader   how rows of a block are loaded; `kind` is a load_kind
 *   interleave            loads GROUP rows and interleaves them
 *   multiply_add          adds the products of one vector of columns and one of weights
 *   scale_f32, scale_fixed  i32 sums to i32 results: float32; fixed but for the last halving
 *   store_words           clamps and stores a tile's row of results narrowed to 16 bits
 *   THREE_KINDS           where depthwise_three.h serves it, and multiply_add_from: weights in memory */
#ifndef QRT_ISA_DEPTHWISE_TILE_H
#define QRT_ISA_DEPTHWISE_TILE_H

#define MOST_PIXELS (PIXELS_1 > PIXELS_2 ? PIXELS_1 : PIXELS_2)
#define WORDS (VECTORS / 2) /* vectors of 16-bit results of a pixel */

/* `border`: one of two runs of pixels is outside the input. */
QRT_INLINE void interleave_lines(const qrt_depthwise_run *run, const loader *how, const load_kind kind,
                                 const char *const lines[GROUP], int64_t first, int64_t second, const bool border,
                                 vector to[VECTORS]) {
    const char *low[GROUP], *high[GROUP];
#pragma GCC unroll 4
    for (int i = 0; i < GROUP; i++) {
        low[i] = border && first < 0 ? run->padding : lines[i] + first;
        high[i] = border && second < 0 ? run->padding : lines[i] + second;
    }
    interleave(how, kind, low, high, to);
}

QRT_INLINE void interleave_group(const qrt_depthwise_run *run, const loader *how, int64_t column, int64_t group,
                                 vector to[VECTORS]) {
    const int64_t first = run->offsets[column];
    const int64_t second = run->block->segments == 2 ? run->offsets[run->columns + column] : first;
    if ((first & second) < 0) {
        /* Interleaved padding is padding. */
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            to[v] = how->padding;
    } else {
        interleave_lines(run, how, how->kind, run->lines + group * GROUP, first, second, true, to);
    }
}

/* Sums of `pixels` output pixels of `rows` output rows; `columns` is the first column of the first pixel. */
QRT_INLINE void sum_tile(const qrt_depthwise_run *run, const vector *columns, int64_t kernel_width, const int rows,
                         const int pixels, vector acc[2][MOST_PIXELS][VECTORS]) {
    const block_header *header = run->block->packed;
    const vector *weights = (const vector *)(header + 1);
    const int64_t groups = run->block->groups;
    const int64_t pixel_vectors = run->pixel_step * groups * VECTORS, tap_vectors = run->tap_step * groups * VECTORS;
    /* Adjacent tap columns are one long one. */
    const int64_t outer = run->tap_step == 1 ? 1 : kernel_width,
                  inner = run->tap_step == 1 ? kernel_width * groups : groups;
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
#pragma GCC unroll 4
        for (int p = 0; p < pixels; p++)
#pragma GCC unroll 2
            for (int r = 0; r < rows; r++)
                acc[r][p][v] = ((const vector *)run->block->start)[v];
    for (int64_t i = 0; i < outer; i++, columns += tap_vectors) {
        const vector *from = columns;
        for (int64_t g = 0; g < inner; g++, from += VECTORS, weights += rows * VECTORS) {
            vector w[2][VECTORS];
#pragma GCC unroll 2
            for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; v++)
                    w[r][v] = weights[r * VECTORS + v];
#pragma GCC unroll 4
            for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
                for (int v = 0; v < VECTORS; v++) {
                    const vector values = from[p * pixel_vectors + v];
#pragma GCC unroll 2
                    for (int r = 0; r < rows; r++)
                        acc[r][p][v] = multiply_add(acc[r][p][v], values, w[r][v]);
                }
        }
    }
}

/* 16-bit results, the zero point added. Sums of 16 bits saturate, and so does the addition: what saturates lies beyond
 * every 8-bit bound, because zero points are within LARGEST_ZERO_POINT. */
QRT_INLINE void narrow(const block_header *header, const vector acc[VECTORS], const bool fixed, vector words[WORDS]) {
    vector q[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        q[v] = fixed ? scale_fixed(acc[v], header, v) : scale_f32(acc[v], header, v);
#pragma GCC unroll 2
    for (int h = 0; h < WORDS; h++) {
        words[h] = OP(adds_epi16)(OP(packs_epi32)(q[2 * h], q[2 * h + 1]), ((const vector *)header->zero_point)[h]);
        if (fixed)
            words[h] = OP(srai_epi16)(words[h], 1);
    }
}

static inline int result_size(const qrt_depthwise_args *args) {
    return args->requant.container <= QRT_U8 ? 1 : args->requant.container <= QRT_U16 ? 2 : 4;
}

/* Sums back in the order of the channels, through the table. */
static __attribute__((noinline)) void store_by_table(const qrt_depthwise_args *args, const qrt_depthwise_run *run,
                                                     const int32_t *acc, int row, int64_t pixel, int pixels) {
    int32_t sums[MOST_PIXELS * CHANNELS];
    const qrt_depthwise_block *block = run->block;
    const int size = result_size(args);
    const int64_t left = run->pixels - pixel;
    const int count = (int)(left < pixels ? left : pixels);
    for (int segment = 0; segment < block->segments; segment++) {
        for (int p = 0; p < count; p++)
            for (int c = 0; c < CHANNELS / block->segments; c += 4)
                memcpy(sums + p * CHANNELS + c, acc + p * CHANNELS + element_of(c, segment, block->segments), 16);
        char *target = run->target +
                       (row * run->row_elements + segment * run->segment_elements + pixel * args->out_channels) * size;
        args->kernels->store(&args->requant, sums, CHANNELS, count, block->channels, target, args->out_channels,
                             block->first * args->requant_step, 0, args->requant_step);
    }
}

QRT_INLINE void finish_row(const qrt_depthwise_args *args, const qrt_depthwise_run *run, const load_kind kind,
                           const byte_limits *limits, const vector acc[MOST_PIXELS][VECTORS], const int row,
                           int64_t pixel, const int pixels) {
    const block_header *header = run->block->packed;
    if (header->by == BY_STORE) {
        /* A copy: sums whose address is taken would not stay in registers. */
        vector sums[MOST_PIXELS][VECTORS];
#pragma GCC unroll 4
        for (int p = 0; p < pixels; p++)
#pragma GCC unroll 4
            for (int v = 0; v < VECTORS; v++)
                sums[p][v] = acc[p][v];
        store_by_table(args, run, (const int32_t *)sums, row, pixel, pixels);
        return;
    }
    vector words[MOST_PIXELS][WORDS];
    if (header->by == BY_FIXED) {
#pragma GCC unroll 4
        for (int p = 0; p < pixels; p++)
            narrow(header, acc[p], true, words[p]);
    } else {
#pragma GCC unroll 4
        for (int p = 0; p < pixels; p++)
            narrow(header, acc[p], false, words[p]);
    }
    char *target = run->target + row * run->row_elements + pixel * args->out_channels;
    byte_limits known = *limits; /* one choice for all pixels */
    if (limits->is_unsigned) {
        known.is_unsigned = true;
        store_words(run, kind, &known, words, target, args->out_channels, pixel, pixels);
    } else {
        known.is_unsigned = false;
        store_words(run, kind, &known, words, target, args->out_channels, pixel, pixels);
    }
}

/* One band. */
QRT_INLINE void run_tiles(const qrt_depthwise_args *args, const qrt_depthwise_run *run, const int rows,
                          const int pixels) {
    const loader how = make_loader(args, run);
    const byte_limits limits = make_limits(&args->requant);
    const int64_t kernel_width = args->window.kernel[1], tile_reach = (kernel_width - 1) * run->tap_step + 1;
    const int64_t groups = run->block->groups;
    int64_t column = 0;
    for (int64_t pixel = 0; pixel < run->pixels; pixel += pixels) {
        const int64_t last = pixel + pixels < run->pixels ? pixel + pixels - 1 : run->pixels - 1;
        for (const int64_t end = last * run->pixel_step + tile_reach; column < end; column++)
            for (int64_t g = 0; g < groups; g++)
                interleave_group(run, &how, column, g, (vector *)run->interleaved + (column * groups + g) * VECTORS);
        vector acc[2][MOST_PIXELS][VECTORS];
        sum_tile(run, (const vector *)run->interleaved + pixel * run->pixel_step * groups * VECTORS, kernel_width, rows,
                 pixels, acc);
        finish_row(args, run, how.kind, &limits, acc[0], 0, pixel, pixels);
        if (rows == 2 && run->last_rows == 2)
            finish_row(args, run, how.kind, &limits, acc[1], 1, pixel, pixels);
    }
}

#ifdef THREE_KINDS
#include "isa/x86/depthwise/three.inl"
#endif

static void run_depthwise(const qrt_depthwise_args *args, const qrt_depthwise_run *run) {
#ifdef THREE_KINDS
    if (run_as_three(args, run))
        return;
#endif
    const int rows = run->block->rows;
    qrt_depthwise_run band = *run;
    for (int64_t b = 1; b <= run->bands; b++) {
        band.last_rows = b < run->bands ? rows : run->last_rows;
        if (rows == 2)
            run_tiles(args, &band, 2, PIXELS_2);
        else
            run_tiles(args, &band, 1, PIXELS_1);
        band.lines += run->block->groups * GROUP;
        band.target += rows * run->row_elements * result_size(args);
    }
}

#endif
