/* The two 8-bit microkernels for one sign of A. A multiply-add of tiles takes 64 values of K. Long K is computed by
 * few.h and pipeline.h, short K by short.h, and plain.h computes what these leave. Each of these files gives its
 * instructions and what limits it. The sums are exact: see pack_quads.inl. The including file gives them a NAME and
 * FALLBACK, the microkernel to which they leave other calls.
 *
 * Hazard: tiles are state of the thread, which every task switch saves and restores (8 KiB). So each call configures
 * them and releases them. */
#include "few.h"
#include "gemm.h"
#include "pipeline.h"
#include "plain.h"
#include "short.h"

#define FEW_IN_PLACE 4
#define FEW_WHOLE_PANELS 8   /* with fewer whole panels, one run with the epilogue of the last panel beats two runs */
#define LEAST_WORK (1 << 18) /* multiply-adds of a call */
#define ROW_BYTES (1536 * 1024) /* the most bytes of b for one row */
#define A_BLOCK (1280 * 1024)

#ifdef QRT_SIGNED_A
#define A_CONTAINER QRT_I8
#else
#define A_CONTAINER QRT_U8
#endif

/* ---- long K ---- */

static qrt_a_form long_a_form(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    if (compensates_rows(problem))
        return QRT_A_COMPENSATED;
    /* A tile load of few rows costs little, even if they cross cache lines. */
    if (problem->m <= FEW_IN_PLACE)
        return problem->k % KU == 0 ? QRT_A_IN_PLACE : QRT_A_PACKED;
    return problem->m >= MR && args->plan.epilogue > EPILOGUE_STORE ? QRT_A_BY_MICROKERNEL : QRT_A_PACKED;
}

/* The workspace holds the packed rows of a block, or those of a last block with few rows. */
static int64_t few_stride(int64_t depth) {
    return steps_of_depth(depth) * KU + KU;
}

static int64_t workspace(const qrt_gemm_args *args, int64_t rows) {
    const int64_t few = MR * few_stride(args->problem.k), many = matrix_workspace(args, rows);
    return few > many ? few : many;
}

/* The last panel, where it is not whole, has another epilogue than the others. */
static void run_many(const qrt_microkernel_call *call, epilogue_kind kind) {
    void (*const run_panels)(const qrt_microkernel_call *, int64_t, epilogue_kind) =
        call->workspace ? run_matrix : run_image_rows;
    const int64_t panels = panels_of(call), whole = call->columns / NR;
    if (whole == panels) {
        run_panels(call, panels, kind);
    } else if (whole < FEW_WHOLE_PANELS) {
        run_panels(call, panels, epilogue_of_part(kind));
    } else {
        const qrt_microkernel_call last = panel_at(call, whole);
        run_panels(call, whole, kind);
        run_panels(&last, 1, epilogue_of_part(kind));
    }
}

/* Multiplies by as many panels as the fast paths take, and returns how many these are. */
static int64_t run_quickly(const qrt_microkernel_call *call) {
    const epilogue_kind kind = (epilogue_kind)call->args->plan.epilogue;
    if (kind <= EPILOGUE_STORE || call->a_compensation || call->sums || call->depth == 0)
        return 0;
    if (call->rows <= TILE_ROWS && call->image_rows == 1 && !call->a_segments) {
        const int64_t pairs = call->columns / WIDE;
        if (pairs)
            run_few_rows(call, pairs, kind);
        return 2 * pairs;
    }
    if (!call->workspace && (steps_of(call) > MOST_STEPS || (call->rows < TILE_ROWS && !cut_rows(call).pitch)))
        return 0;
    run_many(call, kind);
    return panels_of(call);
}

static void run_long(const qrt_microkernel_call *given) {
    qrt_microkernel_call call = *given;
    if (call.workspace && call.rows < MR) {
        const int32_t zero_points[MR] = {0}; /* not used, because there is no compensation */
        call.a_stride = few_stride(call.depth);
        pack_a(call.args->problem.a, given->a, given->a_stride, call.rows, call.depth, zero_points, call.workspace,
               call.a_stride, NULL);
        call.a = call.workspace;
        call.workspace = NULL;
    }
    run_long_plainly(&call, run_quickly(&call));
}

/* ---- short K ---- */

static qrt_a_form short_a_form(const qrt_gemm_args *args) {
    if (compensates_rows(&args->problem))
        return QRT_A_COMPENSATED;
    return args->problem.k % SHORT_KU == 0 ? QRT_A_IN_PLACE : QRT_A_PACKED;
}

static void run_short(const qrt_microkernel_call *call) {
    const epilogue_kind kind = (epilogue_kind)call->args->plan.epilogue;
    const int64_t whole = call->columns / NR, segments = call->a_segments ? call->segments : 1;
    int64_t done = 0;
    if (kind > EPILOGUE_STORE && !call->a_compensation && !call->sums && call->rows >= TILE_ROWS && call->depth <= KU &&
        segments <= SHORT_SEGMENTS) {
        if (whole)
            run_short_by_kind(call, whole, kind);
        done = whole;
        if (call->columns % NR > LANES) {
            const qrt_microkernel_call last = panel_at(call, done++);
            run_short_by_kind(&last, 1, epilogue_of_part(kind));
        }
    }
    run_short_plainly(call, done);
}

/* ---- the choice: what a microkernel can compute, and what it is best at ---- */

static bool supports(const qrt_gemm_args *args) {
    return args->problem.a == A_CONTAINER && args->problem.k > 0;
}

/* The values of K in a segment of a patch, or in a row of a matrix. */
static int64_t segment_depth(const qrt_gemm_problem *problem) {
    const qrt_window *w = problem->window;
    return !w ? problem->k : w->channels / w->groups * (w->groups == 1 && w->dilations[1] == 1 ? w->kernel[1] : 1);
}

/* A call with few products takes most of its time before and after them: tiles are configured, and sums go through
 * memory. */
static bool has_work(const qrt_gemm_problem *problem) {
    return (double)problem->m * (double)problem->n * (double)problem->k >= LEAST_WORK;
}

/* Whether no panel is mostly empty, and image rows fill tiles. */
static bool suits_short(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_window *w = problem->window;
    return has_work(problem) && segment_depth(problem) <= KU && (w ? w->kernel[0] : 1) <= SHORT_SEGMENTS &&
           (w ? w->out_width : problem->m) >= TILE_ROWS && (!w || (w->groups == 1 && w->dilations[1] == 1)) &&
           (problem->n % NR == 0 || problem->n % NR > LANES) && !compensates_rows(problem) &&
           epilogue_of_call(args) > EPILOGUE_STORE;
}

/* A single row by a b that does not stay in L2 takes its time for reading b; the fallback does that better, because its
 * calls alternate their direction through b. */
static bool suits_matrix(const qrt_gemm_problem *problem) {
    const int64_t bytes = problem->k * problem->n;
    if (problem->m == 1)
        return problem->k >= 8 * KU && bytes <= ROW_BYTES;
    return problem->m >= TILE_ROWS || problem->n >= WIDE;
}

static bool suits_long(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_window *w = problem->window;
    if (problem->k < KU || problem->n < NR || !has_work(problem))
        return false;
    if (!w)
        return suits_matrix(problem);
    const int64_t depth = segment_depth(problem);
    return 2 * depth > steps_of_depth(depth) * KU && (w->out_width >= TILE_ROWS || w->channels % KU == 0);
}

#define BOTH                                                                                                           \
    .mr = MR, .nr = NR, .a_size = 1, .b_size = 1, .epilogue = epilogue_of_call, .pack_a = pack_a, .segmented = true,   \
    .splits = true, .all_panels = true, .supports = supports

static const qrt_gemm_microkernel for_long = {
    BOTH,
    .name = NAME,
    .ku = KU,
    .a_form = long_a_form,
    .pack_b = qrt_amx_pack_tiles,
    .run = run_long,
    .joins_image_rows = true,
    .a_block_bytes = A_BLOCK,
    .workspace = workspace,
    .suits = suits_long,
    .fallback = &FALLBACK,
};

/* The microkernel for short K, which comes before that for long K. */
#define FOR_SHORT                                                                                                      \
    {BOTH,                                                                                                             \
     .name = NAME "-short",                                                                                            \
     .ku = SHORT_KU,                                                                                                   \
     .a_form = short_a_form,                                                                                           \
     .pack_b = qrt_amx_pack_short,                                                                                     \
     .run = run_short,                                                                                                 \
     .suits = suits_short,                                                                                             \
     .fallback = &for_long}
