/* Depthwise convolution by 3x3 windows of adjacent columns. Three interleaved columns stay in registers beside the
 * sums, with stride 1 for pairs of output rows, and with stride 2. tile.inl includes this file.
 *
 * The loop calls no function, because across a call all columns would go to memory, which took 1.5 times as long. So
 * cases that need calls (results by the table, several output channels for one input channel) are left to tile.inl.
 *
 * The including file defines THREE_KINDS and multiply_add_from, whose weights are in memory. THREE_KINDS lists the
 * kinds of loads that get a loop of their own, each as CASE(kind, segments). */
#pragma once

#if !defined GROUP || !defined VECTORS || !defined THREE_KINDS
#error "depthwise/three.inl needs pack.inl and THREE_KINDS"
#endif

#define THREE_GROUPS ((3 + GROUP - 1) / GROUP)
#define COLUMN_VECTORS (THREE_GROUPS * VECTORS)
#define COLUMN_ROWS (THREE_GROUPS * GROUP)

QRT_INLINE void load_column(const qrt_depthwise_run *run, const loader *how, const load_kind kind,
                            const char *const inputs[COLUMN_ROWS], const int segments, const int64_t *offsets,
                            vector to[COLUMN_VECTORS]) {
    const int64_t first = *offsets, second = segments == 2 ? offsets[run->columns] : first;
    if ((first & second) < 0) {
        /* Interleaving equal bytes changes nothing. */
#pragma GCC unroll 8
        for (int v = 0; v < COLUMN_VECTORS; v++)
            to[v] = how->padding;
    } else if ((first | second) < 0) {
#pragma GCC unroll 2
        for (int g = 0; g < THREE_GROUPS; g++)
            interleave_rows(run, how, kind, inputs + g * GROUP, first, second, true, to + g * VECTORS);
    } else {
#pragma GCC unroll 2
        for (int g = 0; g < THREE_GROUPS; g++)
            interleave_rows(run, how, kind, inputs + g * GROUP, first, second, false, to + g * VECTORS);
    }
}

/* Computes a band, with stride 1 where it has two output rows, else with stride 2. The loop has 80 vector instructions
 * for a pixel and its neighbour below, and no branch on what stays the same. */
QRT_INLINE void band_of_three(const qrt_depthwise_run *run, const loader *how, const load_kind kind, const int segments,
                              const int rows, const epilogue by, const byte_limits *limits, const char *const *from,
                              bool second_row, char *target, int64_t out_channels) {
    const int step = 3 - rows;
    const block_header *header = run->block->packed;
    const vector *start = (const vector *)run->block->start;
    const int64_t row_elements = run->row_elements;
    const int64_t *offsets = run->offsets, *const end = offsets + run->columns;
    const char *inputs[COLUMN_ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < COLUMN_ROWS; i++)
        inputs[i] = from[i];
    vector a[COLUMN_VECTORS], b[COLUMN_VECTORS], c[COLUMN_VECTORS];
    load_column(run, how, kind, inputs, segments, offsets++, a);
    if (step == 1)
        load_column(run, how, kind, inputs, segments, offsets++, b);
    /* The columns change their roles, not their registers. */
    for (;;) {
#define TAPS(r, kx, column)                                                                                            \
    _Pragma("GCC unroll 8") for (int i = 0; i < COLUMN_VECTORS; i++) acc[i % VECTORS] = multiply_add_from(             \
        acc[i % VECTORS], column[i],                                                                                   \
        (const vector *)(header + 1) + ((kx * THREE_GROUPS + i / VECTORS) * rows + r) * VECTORS + i % VECTORS);
#define ROW(r, left, middle, right)                                                                                    \
    {                                                                                                                  \
        vector acc[VECTORS], words[1][WORDS];                                                                          \
        /* Otherwise the compiler keeps the address of each weight in a register. */                                   \
        __asm__("" : "+r"(header));                                                                                    \
        _Pragma("GCC unroll 4") for (int v = 0; v < VECTORS; v++) acc[v] = start[v];                                   \
        TAPS(r, 0, left)                                                                                               \
        TAPS(r, 1, middle)                                                                                             \
        TAPS(r, 2, right)                                                                                              \
        narrow(header, acc, by == BY_FIXED, words[0]);                                                                 \
        store_words(run, kind, limits, words, target + r * row_elements, out_channels, 0, 1);                          \
    }
#define PIXEL(left, middle, right)                                                                                     \
    if (step == 2)                                                                                                     \
        load_column(run, how, kind, inputs, segments, offsets++, middle);                                              \
    load_column(run, how, kind, inputs, segments, offsets++, right);                                                   \
    ROW(0, left, middle, right)                                                                                        \
    if (rows == 2 && __builtin_expect(second_row, true))                                                               \
        ROW(1, left, middle, right)                                                                                    \
    target += out_channels;                                                                                            \
    if (offsets == end)                                                                                                \
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

/* `plain`: inputs and results are unsigned bytes without narrower bounds. */
QRT_INLINE void run_three(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run, const load_kind kind,
                          const int segments, const int rows, const epilogue by, const bool plain) {
    /* A copy of what make_loader returned: the address of that is known, so that every store would force a new load. */
    const loader made = make_loader(problem, run);
    const loader how = {.flips = !plain && made.flips, .live = made.live, .flip = made.flip, .padding = made.padding};
    byte_limits limits = make_limits(&problem->requant);
    limits.narrow = limits.narrow && !plain;
    limits.is_unsigned = limits.is_unsigned || plain;
    const char *const *inputs = run->inputs;
    char *target = run->target;
    for (int64_t band = 1; band <= run->bands; band++) {
        band_of_three(run, &how, kind, segments, rows, by, &limits, inputs, band < run->bands || run->last_rows == 2,
                      target, problem->out_channels);
        inputs += COLUMN_ROWS;
        target += rows * run->row_elements;
    }
}

typedef void (*three_loop)(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run);

#define LOOP(kind, segments, rows, by, plain)                                                                          \
    static __attribute__((noinline)) void kind##_##rows##_##by##_##plain(const qrt_depthwise_problem *problem,         \
                                                                         const qrt_depthwise_run *run) {               \
        run_three(problem, run, kind, segments, rows, by, plain);                                                      \
    }
#define LOOPS(kind, segments)                                                                                          \
    LOOP(kind, segments, 1, BY_FLOAT32, 0)                                                                             \
    LOOP(kind, segments, 1, BY_FLOAT32, 1)                                                                             \
    LOOP(kind, segments, 1, BY_FIXED, 0)                                                                               \
    LOOP(kind, segments, 1, BY_FIXED, 1)                                                                               \
    LOOP(kind, segments, 2, BY_FLOAT32, 0)                                                                             \
    LOOP(kind, segments, 2, BY_FLOAT32, 1)                                                                             \
    LOOP(kind, segments, 2, BY_FIXED, 0)                                                                               \
    LOOP(kind, segments, 2, BY_FIXED, 1)
#define ENTRIES(kind, segments)                                                                                        \
    [kind] = {{{kind##_1_BY_FLOAT32_0, kind##_1_BY_FLOAT32_1}, {kind##_1_BY_FIXED_0, kind##_1_BY_FIXED_1}},            \
              {{kind##_2_BY_FLOAT32_0, kind##_2_BY_FLOAT32_1}, {kind##_2_BY_FIXED_0, kind##_2_BY_FIXED_1}}},
THREE_KINDS(LOOPS)
/* [kind][output rows of a band - 1][fixed][plain] */
static const three_loop three_loops[][2][2][2] = {THREE_KINDS(ENTRIES)};
#undef LOOP
#undef LOOPS
#undef ENTRIES

static bool run_as_three(const qrt_depthwise_problem *problem, const qrt_depthwise_run *run) {
    const qrt_depthwise_block *block = run->block;
    const epilogue by = ((const block_header *)block->packed)->by;
    const load_kind kind = make_loader(problem, run).kind;
    if (problem->window.kernel[1] != 3 || run->tap_step != 1 || block->groups != THREE_GROUPS ||
        run->pixel_step != 3 - block->rows || by == BY_STORE || kind >= sizeof three_loops / sizeof *three_loops)
        return false;
    const byte_limits limits = make_limits(&problem->requant);
    const bool plain = problem->x == QRT_U8 && limits.is_unsigned && !limits.narrow;
    three_loops[kind][block->rows - 1][by == BY_FIXED][plain](problem, run);
    return true;
}
