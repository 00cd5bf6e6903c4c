/* The 8-bit microkernel: 64 values of K per multiply-add, in tiles. This file is for unsigned A; gemm_i8.c makes of it
 * the one for signed A, so that neither is flipped and both are read in place. Signed B. Exact: see pack_quads.h.
 *
 * Tiles are state of the thread, 8 KiB at every task switch: each call configures them and releases them. */
#include "short.h"
#include "../tile_rows.h"

#define FEW_IN_PLACE 4
#define LEAST_WORK (1 << 18)    /* multiply-adds */
#define ROW_BYTES (1536 * 1024) /* of b, for one row */
#define ENDING_ALIKE 8          /* panels for which another way to end is not worth another run */

void qrt_init_amx(qrt_kernels *table);

/* The kernels for signed A, which leave other signatures to `otherwise`, and pack B as those for unsigned A. */
const qrt_gemm_kernel *qrt_amx_signed(const qrt_gemm_kernel *otherwise, const qrt_gemm_kernel *unsigned_a);

#ifdef QRT_SIGNED_A
#define A_CONTAINER QRT_I8
#else
#define A_CONTAINER QRT_U8
#endif

/* How the sums of all whole panels end, where it is alike and not by the table's store; else FINISH_STORE. */
static int finish_of(const qrt_gemm_args *args) {
    qrt_gemm_panel panel = {.args = args};
    finish_columns columns;
    const int64_t step = args->requant_steps[2], batches = args->requant_steps[0] ? args->batch : 1;
    int kind = FINISH_STORE;
    for (int64_t batch = 0; batch < batches; batch++)
        for (int64_t j = 0; j < args->n; j += NR) {
            panel.columns = (int)(args->n - j < NR ? args->n - j : NR);
            panel.parameter = batch * args->requant_steps[0] + j * step;
            load_finish(&panel, 2, &columns);
            if (columns.kind <= FINISH_STORE)
                return FINISH_STORE;
            if (j == 0 || panel.columns == NR)
                kind = columns.kind;
        }
    return kind;
}

static qrt_a_form a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    /* Of few rows a tile load costs little, whatever lines they cross. */
    if (args->m <= FEW_IN_PLACE)
        return args->k % KU == 0 && !flip_of_a(args->a) ? QRT_A_IN_PLACE : QRT_A_PACKED;
    return args->m >= MR && finish_of(args) > FINISH_STORE ? QRT_A_BY_KERNEL : QRT_A_PACKED;
}

/* A step of a panel, rows of left and right columns by turns, to a tile of left and one of right. */
static void part_tiles(__m512i *step) {
    __m512i right[TILE_ROWS];
    for (int i = 0; i < TILE_ROWS; i++) {
        right[i] = step[2 * i + 1];
        step[i] = step[2 * i];
    }
    memcpy(step + TILE_ROWS, right, sizeof right);
}

/* Of a panel of left columns alone, with empty tiles between. */
static void spread_tiles(char *panel, int64_t steps) {
    for (int64_t i = steps - 1; i >= 0; i--) {
        memmove(panel + i * B_STEP, panel + i * B_TILE, B_TILE);
        memset(panel + i * B_STEP + B_TILE, 0, B_TILE);
    }
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    pack_b_quads(container, source, k_stride, n_stride, columns, depth, KU, zero_point, panel, terms);
    const int64_t steps = (depth + KU - 1) / KU;
    if (columns <= LANES)
        spread_tiles(panel, steps);
    for (int64_t i = 0; i < steps && columns > LANES; i++)
        part_tiles((__m512i *)((char *)panel + i * B_STEP));
}

/* sums[row][column], rows of NR, from row `row` on. `lower`: there are more than 16. */
INLINE void multiply(const qrt_gemm_panel *p, int64_t row, bool lower, int32_t *sums) {
    const int64_t stride = p->a_stride, segments = p->a_segments ? p->segments : 1;
    const char *b = p->b;
    TILEZERO(0);
    TILEZERO(1);
    if (lower) {
        TILEZERO(2);
        TILEZERO(3);
    }
    for (int64_t segment = 0; segment < segments; segment++) {
        const char *a = (const char *)p->a + row * stride + (p->a_segments ? p->a_segments[segment] : 0);
        for (int64_t k = 0; k < p->depth; k += KU, a += KU, b += B_STEP) {
            TILELOADD(6, b, 64);
            TILELOADD(4, a, stride);
            TDP(0, 4, 6);
            TILELOADD(7, b + B_TILE, 64);
            TDP(1, 4, 7);
            if (lower) {
                TILELOADD(5, a + TILE_ROWS * stride, stride);
                TDP(2, 5, 6);
                TDP(3, 5, 7);
            }
        }
    }
    for (int tile = 0; tile < (lower ? 4 : 2); tile++)
        store_sums(tile, sums);
}

/* Adds what the sums begin with, and stores, four rows at a time. */
INLINE void finish_rows(const qrt_gemm_panel *p, const finish_columns *c, int64_t row, int rows, int vectors,
                        const int32_t *sums) {
    __m512i bias[2], start[2];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; j++) {
        bias[j] = p->bias ? _mm512_maskz_loadu_epi32(c->live[j], p->bias + j * LANES) : _mm512_setzero_si512();
        start[j] = start_of_columns(p, bias[j], j);
    }
    for (int i = 0; i < rows; i += 4) {
        const int group = rows - i < 4 ? rows - i : 4;
        __m512i totals[8];
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++)
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++) {
                const int at = r < group ? i + r : i;
                const __m512i from = p->a_terms ? start_of_row(p, bias[j], row + at, j) : start[j];
                totals[r * vectors + j] = _mm512_add_epi32(_mm512_load_si512(sums + at * NR + j * LANES), from);
            }
        finish_tile(p, c, row + i, totals, group, vectors);
    }
}

static void run_line(const qrt_gemm_panel *p) {
    _Alignas(64) int32_t sums[MR * NR];
    finish_columns columns;
    load_columns(p, 2, &columns);
    int configured = 0;
    for (int64_t row = 0; row < p->rows; row += MR) {
        const int rows = p->rows - row < MR ? (int)(p->rows - row) : MR;
        if (rows != configured)
            configure(rows);
        configured = rows;
        if (rows > TILE_ROWS)
            multiply(p, row, true, sums);
        else
            multiply(p, row, false, sums);
        finish_rows(p, &columns, row, rows, 2, sums);
    }
    TILERELEASE();
}

static void run_lines(const qrt_gemm_panel *p) {
    qrt_gemm_panel line = *p;
    for (int64_t i = 0; i < p->lines; i++, next_line(&line))
        run_line(&line);
}

/* The last panel, where it is not whole, ends otherwise. */
static void run_many(const qrt_gemm_panel *p, int64_t panels, finish_kind kind) {
    void (*const run_panels)(const qrt_gemm_panel *, int64_t, finish_kind) = p->workspace ? run_matrix : run_lines_of;
    const finish_kind part = kind == FINISH_FIXED ? kind : FINISH_FLOAT32;
    const int64_t whole = p->columns / NR;
    if (whole == panels) {
        run_panels(p, panels, kind);
    } else if (whole < ENDING_ALIKE) {
        run_panels(p, panels, part);
    } else {
        const qrt_gemm_panel last = panel_at(p, whole);
        run_panels(p, whole, kind);
        run_panels(&last, 1, part);
    }
}

/* How many panels it has done. */
static int64_t run_quickly(const qrt_gemm_panel *p) {
    const finish_kind kind = (finish_kind)p->args->finish;
    if (kind <= FINISH_STORE || p->a_terms || p->sums || p->depth == 0)
        return 0;
    if (p->rows <= TILE_ROWS && p->lines == 1 && !p->a_segments) {
        const int64_t pairs = p->columns / WIDE;
        if (pairs)
            run_few_rows(p, pairs, kind);
        return 2 * pairs;
    }
    if (!p->workspace && (steps_of(p) > MOST_STEPS || (p->rows < TILE_ROWS && !cut_rows(p).pitch)))
        return 0;
    const int64_t panels = (p->columns + NR - 1) / NR;
    run_many(p, panels, kind);
    return panels;
}

static void run(const qrt_gemm_panel *given) {
    qrt_gemm_panel p = *given;
    if (p.workspace && p.rows < MR) {
        const int32_t zero_points[MR] = {0}; /* without terms not used */
        p.a_stride = (p.depth + KU - 1) / KU * KU + KU;
        pack_a_quads(p.args->a, given->a, given->a_stride, p.rows, p.depth, zero_points, p.workspace, p.a_stride, NULL);
        p.a = p.workspace;
        p.workspace = NULL;
    }
    const int64_t panels = (p.columns + NR - 1) / NR;
    for (int64_t i = run_quickly(&p); i < panels; i++) {
        const qrt_gemm_panel panel = panel_at(&p, i);
        run_lines(&panel);
    }
}

/* ---- short K ---- */

static qrt_a_form short_a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    return args->k % SHORT_KU == 0 && !flip_of_a(args->a) ? QRT_A_IN_PLACE : QRT_A_PACKED;
}

static void short_pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                         int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    pack_b_quads(container, source, k_stride, n_stride, columns, depth, SHORT_KU, zero_point, panel, terms);
}

/* Any rows and columns of a panel, however they end. */
static void run_short_line(const qrt_gemm_panel *p) {
    const int vectors = p->columns > LANES ? 2 : 1;
    const int64_t depth = (p->depth + SHORT_KU - 1) / SHORT_KU * SHORT_KU, segments = p->a_segments ? p->segments : 1;
    _Alignas(64) int32_t sums[TILE_ROWS * NR];
    finish_columns columns;
    load_finish(p, vectors, &columns);
    for (int64_t row = 0; row < p->rows; row += TILE_ROWS) {
        const int rows = p->rows - row < TILE_ROWS ? (int)(p->rows - row) : TILE_ROWS;
        const amx_config config = {.palette = 1,
                                   .row_bytes = {64, (uint16_t)depth, 64},
                                   .rows = {(uint8_t)rows, (uint8_t)rows, (uint8_t)(depth / 4)}};
        LDTILECFG(&config);
        for (int j = 0; j < vectors; j++) {
            TILEZERO(0);
            for (int64_t segment = 0; segment < segments; segment++) {
                const char *a = (const char *)p->a + row * p->a_stride + (p->a_segments ? p->a_segments[segment] : 0);
                TILELOADD(1, a, p->a_stride);
                TILELOADD(2, (const char *)p->b + (segment * depth * vectors / 4 + j) * 64, vectors * 64);
                TDP(0, 1, 2);
            }
            TILESTORED(0, sums + j * LANES, NR * sizeof *sums);
        }
        if (vectors == 2)
            finish_rows(p, &columns, row, rows, 2, sums);
        else
            finish_rows(p, &columns, row, rows, 1, sums);
    }
    TILERELEASE();
}

static void run_all_short(const qrt_gemm_panel *p) {
    const int64_t panels = (p->columns + NR - 1) / NR, whole = p->columns / NR;
    const finish_kind kind = (finish_kind)p->args->finish, part = kind == FINISH_FIXED ? kind : FINISH_FLOAT32;
    int64_t i = 0;
    if (!p->a_terms && !p->sums && p->rows >= TILE_ROWS) {
        if (whole)
            run_short(p, whole, kind);
        i = whole;
        if (p->columns % NR > LANES) {
            const qrt_gemm_panel last = panel_at(p, i++);
            run_short(&last, 1, part);
        }
    }
    for (; i < panels; i++) {
        qrt_gemm_panel line = panel_at(p, i);
        for (int64_t n = 0; n < p->lines; n++, next_line(&line))
            run_short_line(&line);
    }
}

/* ---- the choice ---- */

/* The rows of a block, packed, and of a last one with few of them. */
static int64_t workspace(const qrt_gemm_args *args, int64_t rows) {
    const int64_t few = MR * ((args->k + KU - 1) / KU * KU + KU), many = matrix_workspace(args, rows);
    return few > many ? few : many;
}

/* Columns that no panel leaves mostly empty. */
static bool fills_panels(const qrt_gemm_args *args) {
    return args->n % NR == 0 || args->n % NR > LANES;
}

static bool suits_short(const qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    const int64_t depth = w ? w->channels * w->kernel[1] : args->k, segments = w ? w->kernel[0] : 1;
    return args->a == A_CONTAINER && depth > 0 && depth <= KU && segments <= SHORT_SEGMENTS &&
           (w ? w->out_width : args->m) >= TILE_ROWS && (!w || (w->groups == 1 && w->dilations[1] == 1)) &&
           fills_panels(args) && short_a_form(args) != QRT_A_PACKED_TERMS && finish_of(args) > FINISH_STORE;
}

static qrt_gemm_kernel short_kernel = {
    .mr = MR,
    .nr = NR,
    .ku = SHORT_KU,
    .a_size = 1,
    .b_size = 1,
    .a_form = short_a_form,
    .pack_a = pack_a_quads,
    .pack_b = short_pack_b,
    .run = run_all_short,
    .segmented = true,
    .all_panels = true,
    .finish_of = finish_of,
    .suits = suits_short,
};

/* Of few products most time is spent on the way to them, and of one row that does not stay in L2 on reading b, which
 * the other kernel does in turns. */
static bool suits_matrix(const qrt_gemm_args *args) {
    const int64_t bytes = args->k * args->n;
    if (args->m == 1)
        return args->k >= 8 * KU && bytes <= ROW_BYTES;
    return (double)args->m * (double)bytes >= LEAST_WORK && (args->m >= TILE_ROWS || args->n >= WIDE);
}

static bool suits_long(const qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    if (args->a != A_CONTAINER || suits_short(args) || args->k < KU || args->n < NR)
        return false;
    if (!w)
        return suits_matrix(args);
    const int64_t depth = w->channels / w->groups * (w->groups == 1 && w->dilations[1] == 1 ? w->kernel[1] : 1);
    return 2 * depth > (depth + KU - 1) / KU * KU && (w->out_width >= TILE_ROWS || w->channels % KU == 0);
}

static qrt_gemm_kernel long_kernel = {
    .mr = MR,
    .nr = NR,
    .ku = KU,
    .a_size = 1,
    .b_size = 1,
    .a_form = a_form,
    .pack_a = pack_a_quads,
    .pack_b = pack_b,
    .run = run,
    .segmented = true,
    .splits = true,
    .all_panels = true,
    .flat_lines = true,
    .a_block = 1280 * 1024,
    .workspace = workspace,
    .finish_of = finish_of,
    .suits = suits_long,
    .otherwise = &short_kernel,
};

#ifdef QRT_SIGNED_A

const qrt_gemm_kernel *qrt_amx_signed(const qrt_gemm_kernel *otherwise, const qrt_gemm_kernel *unsigned_a) {
    long_kernel.pack_b = unsigned_a->pack_b; /* by which core knows panels that two products can share */
    short_kernel.pack_b = unsigned_a->otherwise->pack_b;
    short_kernel.otherwise = otherwise;
    return &long_kernel;
}

#else

void qrt_init_amx(qrt_kernels *table) {
    static qrt_gemm_kernel parents;
    parents = table->gemm;
    short_kernel.otherwise = qrt_amx_signed(&parents, &long_kernel);
    table->streams = true;
    table->gemm = long_kernel;
}

#endif
