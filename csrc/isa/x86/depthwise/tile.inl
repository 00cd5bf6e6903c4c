/* Depthwise convolution of one block of channels, for any vector width: the loops. pack.inl comes first.
 *
 * A column of GROUP input rows is interleaved once: an element of the result holds GROUP vertically adjacent values of
 * one channel, and one multiply-add with the weights of a kernel column adds GROUP taps. Interleaved columns stay in
 * L1. There each tap column of each output pixel finds them, and so do two output rows whose windows lie in the same
 * groups.
 *
 * The including file gives the instructions, their ports and the proof. It defines, besides the macros of pack.inl and
 * epilogue.inl,
 *
 *   PIXELS_1, PIXELS_2    output pixels of a tile of one and of two output rows
 *   THREE_KINDS           where three.inl serves it
 *   loader, make_loader   how rows of a block are loaded; `kind` is a load_kind
 *   interleave            loads GROUP rows and interleaves them
 *   multiply_add          adds the products of one vector of columns and one of weights
 *   store_words           clamps and stores a tile's row of results narrowed to 16 bits */
#pragma once

#if !defined GROUP || !defined VECTORS || !defined OP || !defined PIXELS_1 || !defined PIXELS_2
#error "depthwise/tile.inl needs pack.inl, OP, PIXELS_1 and PIXELS_2"
#endif

#define MOST_PIXELS (PIXELS_1 > PIXELS_2 ? PIXELS_1 : PIXELS_2)

/* `border`: one of the two runs of pixels is outside the input. */
QRT_INLINE void interleave_rows(const qrt_depthwise_run *run, const loader *how, const load_kind kind,
                                const char *const inputs[GROUP], int64_t first, int64_t second, const bool border,
                                vector to[VECTORS]) {
    const char *low[GROUP], *high[GROUP];
#pragma GCC unroll 4
    for (int i = 0; i < GROUP; i++) {
        low[i] = border && first < 0 ? run->padding : inputs[i] + first;
        high[i] = border && second < 0 ? run->padding : inputs[i] + second;
    }
    interleave(how, kind, low, high, to);
}

QRT_INLINE void interleave_group(const qrt_depthwise_run *run, const loader *how, int64_t column, int64_t group,
                                 vector to[VECTORS]) {
    const int64_t first = run->offsets[column];
    const int64_t second = run->block->segments == 2 ? run->offsets[run->columns + column] : first;
    if ((first & second) < 0) {
        /* Interleaving equal bytes changes nothing. */
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            to[v] = how->padding;
    } else {
        interleave_rows(run, how, how->kind, run->inputs + group * GROUP, first, second, true, to);
    }
}

/* Sums up `pixels` output pixels of `rows` output rows. `columns` is the first column of the first pixel. */
QRT_INLINE void sum_tile(const qrt_depthwise_run *run, const vector *columns, int64_t kernel_width, const int rows,
                         const int pixels, vector acc[2][MOST_PIXELS][VECTORS]) {
    const block_header *header = run->block->packed;
    const vector *weights = (const vector *)(header + 1);
    const int64_t groups = run->block->groups;
    const int64_t pixel_vectors = run->pixel_step * groups * VECTORS, tap_vectors = run->tap_step * groups * VECTORS;
    /* Adjacent tap columns are walked as one long column. */
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

static inline int result_size(const qrt_depthwise_args *args) {
    return qrt_container_size(args->problem.requant.container);
}

/* Brings the sums into the order of the channels and stores them by the table's row `store`. */
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
        char *target =
            run->target +
            (row * run->row_elements + segment * run->segment_elements + pixel * args->problem.out_channels) * size;
        args->kernels->store(&args->problem.requant, sums, CHANNELS, count, block->channels, target,
                             args->problem.out_channels, block->first * args->problem.requant_step, 0,
                             args->problem.requant_step);
    }
}

QRT_INLINE void store_row(const qrt_depthwise_args *args, const qrt_depthwise_run *run, const load_kind kind,
                          const byte_limits *limits, const vector acc[MOST_PIXELS][VECTORS], const int row,
                          int64_t pixel, const int pixels) {
    const block_header *header = run->block->packed;
    if (header->by == BY_STORE) {
        /* A copy, because sums whose address is taken would not stay in registers. */
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
    char *target = run->target + row * run->row_elements + pixel * args->problem.out_channels;
    byte_limits known = *limits; /* one branch for all pixels */
    if (limits->is_unsigned) {
        known.is_unsigned = true;
        store_words(run, kind, &known, words, target, args->problem.out_channels, pixel, pixels);
    } else {
        known.is_unsigned = false;
        store_words(run, kind, &known, words, target, args->problem.out_channels, pixel, pixels);
    }
}

/* Computes one band. */
QRT_INLINE void run_tiles(const qrt_depthwise_args *args, const qrt_depthwise_run *run, const int rows,
                          const int pixels) {
    const loader how = make_loader(&args->problem, run);
    const byte_limits limits = make_limits(&args->problem.requant);
    const int64_t kernel_width = args->problem.window.kernel[1], tile_reach = (kernel_width - 1) * run->tap_step + 1;
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
        store_row(args, run, how.kind, &limits, acc[0], 0, pixel, pixels);
        if (rows == 2 && run->last_rows == 2)
            store_row(args, run, how.kind, &limits, acc[1], 1, pixel, pixels);
    }
}

#ifdef THREE_KINDS
#include "isa/x86/depthwise/three.inl"
#endif

static void run_depthwise(const qrt_depthwise_args *args, const qrt_depthwise_run *run) {
#ifdef THREE_KINDS
    if (run_as_three(&args->problem, run))
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
        band.inputs += run->block->groups * GROUP;
        band.target += rows * run->row_elements * result_size(args);
    }
}

#define DESCRIPTION                                                                                                    \
    .channels = CHANNELS, .group = GROUP, .pixels = PIXELS_1, .header_bytes = sizeof(block_header),                    \
    .group_bytes = VECTORS * sizeof(vector), .w_min = sizeof(weight) == 1 ? INT8_MIN : -255,                           \
    .w_max = sizeof(weight) == 1 ? INT8_MAX : 255, .pack = pack_block, .add_bias = add_bias, .run = run_depthwise
