/* The two 8-bit microkernels for one sign of A. 64 values of K per multiply-add, in tiles: long K by few.h and
 * pipeline.h, short K by short.h, and what these leave by plain.h. Exact: see pack_quads.h.
 *
 * Tiles are state of the thread, 8 KiB at every task switch: each call configures them and releases them. */
#include "few.h"
#include "gemm.h"
#include "pipeline.h"
#include "plain.h"
#include "short.h"

#define FEW_IN_PLACE 4
#define ENDING_ALIKE 8          /* panels for which another way to end is not worth another run */
#define LEAST_WORK (1 << 18)    /* multiply-adds */
#define ROW_BYTES (1536 * 1024) /* of b, for one row */
#define A_BLOCK (1280 * 1024)

#ifdef QRT_SIGNED_A
#define A_CONTAINER QRT_I8
#else
#define A_CONTAINER QRT_U8
#endif

static int finish_of(const qrt_gemm_args *args) {
    return (int)finish_of_panels(args);
}

/* ---- long K ---- */

static qrt_a_form long_a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    /* A tile load of few rows costs little, whatever lines they cross. */
    if (args->m <= FEW_IN_PLACE)
        return args->k % KU == 0 ? QRT_A_IN_PLACE : QRT_A_PACKED;
    return args->m >= MR && args->finish > FINISH_STORE ? QRT_A_BY_KERNEL : QRT_A_PACKED;
}

/* The rows of a block, packed, and of a last one with few of them. */
static int64_t few_stride(int64_t depth) {
    return steps_of_depth(depth) * KU + KU;
}

static int64_t workspace(const qrt_gemm_args *args, int64_t rows) {
    const int64_t few = MR * few_stride(args->k), many = matrix_workspace(args, rows);
    return few > many ? few : many;
}

/* The last panel, where it is not whole, ends otherwise. */
static void run_many(const qrt_gemm_panel *p, finish_kind kind) {
    void (*const run_panels)(const qrt_gemm_panel *, int64_t, finish_kind) = p->workspace ? run_matrix : run_lines_of;
    const int64_t panels = panels_of(p), whole = p->columns / NR;
    if (whole == panels) {
        run_panels(p, panels, kind);
    } else if (whole < ENDING_ALIKE) {
        run_panels(p, panels, finish_of_part(kind));
    } else {
        const qrt_gemm_panel last = panel_at(p, whole);
        run_panels(p, whole, kind);
        run_panels(&last, 1, finish_of_part(kind));
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
    run_many(p, kind);
    return panels_of(p);
}

static void run_long(const qrt_gemm_panel *given) {
    qrt_gemm_panel p = *given;
    if (p.workspace && p.rows < MR) {
        const int32_t zero_points[MR] = {0}; /* without terms not used */
        p.a_stride = few_stride(p.depth);
        pack_a_quads(p.args->a, given->a, given->a_stride, p.rows, p.depth, zero_points, p.workspace, p.a_stride, NULL);
        p.a = p.workspace;
        p.workspace = NULL;
    }
    run_long_plainly(&p, run_quickly(&p));
}

/* ---- short K ---- */

static qrt_a_form short_a_form(const qrt_gemm_args *args) {
    if (args->a_zero_point_steps[1] || !is_centred(args))
        return QRT_A_PACKED_TERMS;
    return args->k % SHORT_KU == 0 ? QRT_A_IN_PLACE : QRT_A_PACKED;
}

static void run_short_or_plainly(const qrt_gemm_panel *p) {
    const finish_kind kind = (finish_kind)p->args->finish;
    const int64_t whole = p->columns / NR, segments = p->a_segments ? p->segments : 1;
    int64_t done = 0;
    if (kind > FINISH_STORE && !p->a_terms && !p->sums && p->rows >= TILE_ROWS && p->depth <= KU &&
        segments <= SHORT_SEGMENTS) {
        if (whole)
            run_short(p, whole, kind);
        done = whole;
        if (p->columns % NR > LANES) {
            const qrt_gemm_panel last = panel_at(p, done++);
            run_short(&last, 1, finish_of_part(kind));
        }
    }
    run_short_plainly(p, done);
}

/* ---- the choice: what a kernel can compute, and what it is best at ---- */

static bool takes(const qrt_gemm_args *args) {
    return args->a == A_CONTAINER && args->k > 0;
}

/* Values of a segment of a patch, or of a row. */
static int64_t segment_depth(const qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    return !w ? args->k : w->channels / w->groups * (w->groups == 1 && w->dilations[1] == 1 ? w->kernel[1] : 1);
}

/* Columns that leave no panel mostly empty, and rows of a line that fill tiles. */
static bool suits_short(const qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    return segment_depth(args) <= KU && (w ? w->kernel[0] : 1) <= SHORT_SEGMENTS &&
           (w ? w->out_width : args->m) >= TILE_ROWS && (!w || (w->groups == 1 && w->dilations[1] == 1)) &&
           (args->n % NR == 0 || args->n % NR > LANES) && short_a_form(args) != QRT_A_PACKED_TERMS &&
           finish_of(args) > FINISH_STORE;
}

/* Few products take most of their time on the way to them. One row by a b that does not stay in L2 takes it for reading
 * b, which the other kernel does in turns. */
static bool suits_matrix(const qrt_gemm_args *args) {
    const int64_t bytes = args->k * args->n;
    if (args->m == 1)
        return args->k >= 8 * KU && bytes <= ROW_BYTES;
    return (double)args->m * (double)bytes >= LEAST_WORK && (args->m >= TILE_ROWS || args->n >= WIDE);
}

static bool suits_long(const qrt_gemm_args *args) {
    const qrt_window *w = args->window;
    if (args->k < KU || args->n < NR)
        return false;
    if (!w)
        return suits_matrix(args);
    const int64_t depth = segment_depth(args);
    return 2 * depth > steps_of_depth(depth) * KU && (w->out_width >= TILE_ROWS || w->channels % KU == 0);
}

/* Short K is asked first. */
static const qrt_gemm_kernel *make_kernels(const char *long_name, const char *short_name,
                                           const qrt_gemm_kernel *otherwise) {
    static qrt_gemm_kernel for_long, for_short;
    for_long = (qrt_gemm_kernel){
        .name = long_name,
        .mr = MR,
        .nr = NR,
        .ku = KU,
        .a_size = 1,
        .b_size = 1,
        .finish_of = finish_of,
        .a_form = long_a_form,
        .pack_a = pack_a_quads,
        .pack_b = qrt_amx_pack_tiles,
        .run = run_long,
        .segmented = true,
        .splits = true,
        .all_panels = true,
        .flat_lines = true,
        .a_block = A_BLOCK,
        .workspace = workspace,
        .takes = takes,
        .suits = suits_long,
        .otherwise = otherwise,
    };
    for_short = (qrt_gemm_kernel){
        .name = short_name,
        .mr = MR,
        .nr = NR,
        .ku = SHORT_KU,
        .a_size = 1,
        .b_size = 1,
        .finish_of = finish_of,
        .a_form = short_a_form,
        .pack_a = pack_a_quads,
        .pack_b = qrt_amx_pack_short,
        .run = run_short_or_plainly,
        .segmented = true,
        .splits = true,
        .all_panels = true,
        .takes = takes,
        .suits = suits_short,
        .otherwise = &for_long,
    };
    return &for_short;
}
