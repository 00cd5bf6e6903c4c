/* Depthwise convolution by 3x3 windows of adjacent columns, where registers hold three interleaved columns beside the
 * sums: stride 1 by pairs of output rows, and stride 2. depthwise_tile.h includes it.
 *
 * The loop calls nothing: across a call all columns would go to memory, and it took 1.5 times as long. So what needs
 * calls (results by the table, several channels of output for one of input) is the tiles'.
 *
 * THREE_KINDS lists, as CASE(kind, segments), the ways to load that get a loop of their own. */
#ifndef QRT_ISA_DEPTHWISE_THREE_H
#define QRT_ISA_DEPTHWISE_THREE_H

#define THREE_GROUPS ((3 + GROUP - 1) / GROUP)
#define COLUMN_VECTORS (THREE_GROUPS * VECTORS)
#define COLUMN_LINES (THREE_GROUPS * GROUP)

INLINE void load_column(const qrt_depthwise_run *run, const loader *how, const char *const lines[COLUMN_LINES],
                        const int segments, const int64_t *offsets, vector to[COLUMN_VECTORS]) {
    const int64_t first = *offsets, second = segments == 2 ? offsets[run->columns] : first;
    if ((first & second) < 0) {
        /* Interleaved padding is padding. */
#pragma GCC unroll 8
        for (int v = 0; v < COLUMN_VECTORS; v++)
            to[v] = how->padding;
    } else if ((first | second) < 0) {
#pragma GCC unroll 2
        for (int g = 0; g < THREE_GROUPS; g++)
            interleave_lines(run, how, lines + g * GROUP, first, second, true, to + g * VECTORS);
    } else {
#pragma GCC unroll 2
        for (int g = 0; g < THREE_GROUPS; g++)
            interleave_lines(run, how, lines + g * GROUP, first, second, false, to + g * VECTORS);
    }
}

/* One row of results, of as many segments as have the pixel. */
INLINE void finish_three(const qrt_depthwise_run *run, const block_header *header, const load_kind kind,
                         const finish by, const byte_limits *limits, const vector acc[VECTORS], char *target,
                         int64_t out_channels, int64_t pixel) {
    vector words[1][WORDS];
    narrow(header, acc, by == BY_FIXED, words[0]);
    store_words(run, kind, limits, words, target, out_channels, pixel, 1);
}

INLINE void run_three(const qrt_depthwise_args *args, const qrt_depthwise_run *run, const load_kind kind,
                      const int segments, const int rows, const int step, const finish by) {
    loader how = make_loader(args, run);
    how.kind = kind; /* a constant */
    const byte_limits limits = make_limits(&args->requant);
    const block_header *header = run->block->packed;
    const vector *weights = (const vector *)(header + 1), *start = (const vector *)run->block->start;
    const int64_t pixels = run->valid[0], out_channels = args->out_channels;
    const bool second_row = run->valid_rows == 2;
    char *target = run->target;
    const int64_t *offsets = run->offsets;
    const char *lines[COLUMN_LINES];
#pragma GCC unroll 4
    for (int i = 0; i < COLUMN_LINES; i++)
        lines[i] = run->lines[i];
    vector a[COLUMN_VECTORS], b[COLUMN_VECTORS], c[COLUMN_VECTORS];
    load_column(run, &how, lines, segments, offsets++, a);
    if (step == 1)
        load_column(run, &how, lines, segments, offsets++, b);
    /* Columns change their roles, not their registers. */
    for (int64_t pixel = 0; pixel < pixels;) {
#define TAPS(r, kx, column)                                                                                            \
    _Pragma("GCC unroll 8") for (int i = 0; i < COLUMN_VECTORS; i++) acc[i % VECTORS] =                                \
        multiply_add_from(acc[i % VECTORS], column[i],                                                                 \
                          weights + ((kx * THREE_GROUPS + i / VECTORS) * rows + r) * VECTORS + i % VECTORS);
#define ROW(r, left, middle, right)                                                                                    \
    {                                                                                                                  \
        vector acc[VECTORS];                                                                                           \
        _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) acc[v] = start[v];                                   \
        TAPS(r, 0, left)                                                                                               \
        TAPS(r, 1, middle)                                                                                             \
        TAPS(r, 2, right)                                                                                              \
        finish_three(run, header, kind, by, &limits, acc, target + r * run->row_elements, out_channels, pixel);        \
    }
#define PIXEL(left, middle, right)                                                                                     \
    if (step == 2)                                                                                                     \
        load_column(run, &how, lines, segments, offsets++, middle);                                                    \
    load_column(run, &how, lines, segments, offsets++, right);                                                         \
    ROW(0, left, middle, right)                                                                                        \
    if (rows == 2 && second_row)                                                                                       \
        ROW(1, left, middle, right)                                                                                    \
    target += out_channels;                                                                                            \
    if (++pixel == pixels)                                                                                             \
        break;
        if (step == 1) {
            PIXEL(a, b, c)
            PIXEL(b, c, a)
            PIXEL(c, a, b)
        } else {
            PIXEL(a, b, c)
            PIXEL(c, b, a)
        }
#undef PIXEL
#undef ROW
#undef TAPS
    }
}

#define LOOP(name, kind, segments, rows, step, by)                                                                     \
    static __attribute__((noinline)) void name##kind(const qrt_depthwise_args *args, const qrt_depthwise_run *run) {   \
        run_three(args, run, kind, segments, rows, step, by);                                                          \
    }
#define CASE(kind, segments)                                                                                           \
    LOOP(pairs_float32_, kind, segments, 2, 1, BY_FLOAT32)                                                             \
    LOOP(pairs_fixed_, kind, segments, 2, 1, BY_FIXED)                                                                 \
    LOOP(halved_float32_, kind, segments, 1, 2, BY_FLOAT32)                                                            \
    LOOP(halved_fixed_, kind, segments, 1, 2, BY_FIXED)
THREE_KINDS(CASE)
#undef CASE

static bool run_as_three(const qrt_depthwise_args *args, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    const finish by = ((const block_header *)block->packed)->by;
    const bool pairs = run->pixel_step == 1 && block->rows == 2, halved = run->pixel_step == 2 && block->rows == 1;
    if (args->window.kernel[1] != 3 || run->tap_step != 1 || block->groups != THREE_GROUPS || !(pairs || halved) ||
        by == BY_STORE)
        return false;
    switch (make_loader(args, run).kind) {
#define CASE(kind, segments)                                                                                           \
    case kind:                                                                                                         \
        if (pairs)                                                                                                     \
            (by == BY_FIXED ? pairs_fixed_##kind : pairs_float32_##kind)(args, run);                                   \
        else                                                                                                           \
            (by == BY_FIXED ? halved_fixed_##kind : halved_float32_##kind)(args, run);                                 \
        return true;
        THREE_KINDS(CASE)
#undef CASE
    default:
        return false;
    }
}

#endif
