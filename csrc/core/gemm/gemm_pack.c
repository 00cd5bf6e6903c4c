/* Preparation of the narrow path: chooses the microkernel and the blocks, and packs a constant b once. */
#include <stdlib.h>
#include <string.h>

#include "core/gemm/gemm.h"

/* The KC of a longer K: it is a multiple of every ku, and 255 * 255 * 16384 < 2^31. */
#define LONG_KC 16384
/* The least bytes of a block for a microkernel that sets the largest, used where b has few columns. */
#define LEAST_A_BLOCK (448 * 1024)
/* Up to so many rows, reading b takes most of the time of a call. */
#define FEW_ROWS 4

static qrt_packed_shape packed_shape(const qrt_gemm_args *args, int64_t columns) {
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    const int64_t k = args->problem.k, kc = args->plan.kc;
    const int64_t slices = qrt_max(1, qrt_ceil_div(k, kc)), panels = qrt_ceil_div(columns, kernel->nr);
    const int64_t panel_bytes = qrt_panel_bytes(kernel->nr, qrt_min(kc, k), kernel->ku, kernel->b_size);
    const int64_t tail = qrt_panel_bytes(kernel->nr, qrt_slice_depth(args, slices - 1), kernel->ku, kernel->b_size);
    return (qrt_packed_shape){
        .slices = slices,
        .panels = panels,
        .panel_bytes = panel_bytes,
        .matrix_bytes = panels * ((slices - 1) * panel_bytes + tail),
        .matrix_compensation = panels * slices * 2 * kernel->nr,
    };
}

/* Packed rows are one cache line more than a multiple of 512 bytes apart. The microkernel reads the same columns of
 * many rows, which then fall into different sets of L1. */
static int64_t packed_stride(const qrt_gemm_args *args) {
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    const int64_t bytes = qrt_panel_bytes(1, qrt_min(args->plan.kc, args->problem.k), kernel->ku, kernel->a_size);
    return bytes % 512 ? bytes : bytes + QRT_ALIGNMENT;
}

/* Bytes of a block of packed rows. A block may take a quarter of what b takes: more rows read a large b fewer times. */
static int64_t block_bytes(const qrt_gemm_plan *plan) {
    const int64_t most = plan->microkernel->a_block_bytes;
    return most ? qrt_min(qrt_max(plan->shape.matrix_bytes / 4, LEAST_A_BLOCK), most) : QRT_A_BLOCK_BYTES;
}

/* Chooses MC and NC, by which the loops of a call are cut. */
static void block(qrt_gemm_args *args) {
    qrt_gemm_plan *plan = &args->plan;
    const int64_t m = args->problem.m, n = args->problem.n;
    const int mr = plan->microkernel->mr, nr = plan->microkernel->nr;
    const qrt_packed_shape panel = packed_shape(args, 1);
    const int64_t columns = qrt_max(1, QRT_B_BLOCK_BYTES / qrt_max(1, panel.matrix_bytes)) * nr;
    plan->nc = args->problem.b_constant ? n : qrt_min(columns, qrt_round_up(n, nr));
    plan->shape = packed_shape(args, plan->nc);
    plan->a_stride = packed_stride(args);
    const int64_t rows = qrt_max(1, block_bytes(plan) / (plan->a_stride * mr)) * mr;
    plan->mc = qrt_max(1, qrt_ceil_div(m, qrt_max(1, qrt_ceil_div(m, rows))));
}

void qrt_pack_b_panel(const qrt_gemm_args *args, const char *b, int64_t matrix, int64_t column, int64_t columns,
                      int64_t panel, qrt_packed packed) {
    const qrt_gemm_problem *problem = &args->problem;
    const qrt_gemm_microkernel *kernel = args->plan.microkernel;
    const qrt_packed_shape shape = args->plan.shape;
    const int64_t first = column + panel * kernel->nr;
    const int width = (int)qrt_min(kernel->nr, column + columns - first);
    int32_t zero_point[QRT_MAX_NR] = {0}; /* microkernels load whole vectors of them */
    for (int j = 0; j < width; j++)
        zero_point[j] = (int32_t)qrt_b_zero_point(problem, matrix, 0, first + j);
    const char *source = b + matrix * problem->b_matrix_stride + first * problem->b_n_stride;
    for (int64_t slice = 0; slice < shape.slices; slice++) {
        const int64_t depth = qrt_slice_depth(args, slice);
        const int64_t bytes = qrt_panel_bytes(kernel->nr, depth, kernel->ku, kernel->b_size);
        char *target = (char *)packed.panels + slice * shape.panels * shape.panel_bytes + panel * bytes;
        int32_t *compensation = packed.compensation + (slice * shape.panels + panel) * 2 * kernel->nr;
        kernel->pack_b(problem->b, source + slice * args->plan.kc * problem->b_k_stride, problem->b_k_stride,
                       problem->b_n_stride, width, depth, zero_point, target, compensation);
    }
}

/* Whether both calls pack their constant into the same panels, as far as their problems say, and they do not of a
 * convolution: its window may change the order of K. */
bool qrt_pack_alike(const qrt_gemm_args *earlier, const qrt_gemm_args *args) {
    const qrt_gemm_problem *x = &earlier->problem, *y = &args->problem;
    if (!earlier->plan.packed.panels || x->window || y->window ||
        earlier->plan.microkernel->pack_b != args->plan.microkernel->pack_b || earlier->plan.kc != args->plan.kc ||
        x->part != y->part || x->b != y->b || x->n != y->n || x->k != y->k || x->b_matrices != y->b_matrices ||
        x->b_k_stride != y->b_k_stride || x->b_n_stride != y->b_n_stride || x->b_matrix_stride != y->b_matrix_stride)
        return false;
    for (int64_t matrix = 0; matrix < x->b_matrices; matrix++)
        for (int64_t j = 0; j < x->n; j++)
            if (qrt_b_zero_point(x, matrix, 0, j) != qrt_b_zero_point(y, matrix, 0, j))
                return false;
    return true;
}

/* Whether panels that are packed already are those of the other call: then whatever they stand for is the same. */
static bool packed_alike(const qrt_gemm_args *earlier, const qrt_gemm_args *args) {
    const qrt_gemm_plan *x = &earlier->plan, *y = &args->plan;
    const int64_t bytes = y->shape.matrix_bytes * args->problem.b_matrices;
    const int64_t rest = y->shape.matrix_compensation * args->problem.b_matrices;
    return x->packed.panels && x->shape.matrix_bytes * earlier->problem.b_matrices == bytes &&
           x->shape.matrix_compensation * earlier->problem.b_matrices == rest &&
           memcmp(x->packed.panels, y->packed.panels, (size_t)bytes) == 0 &&
           memcmp(x->packed.compensation, y->packed.compensation, (size_t)rest * sizeof(int32_t)) == 0;
}

/* Takes the panels of an earlier call, if one is alike. */
static bool take_earlier(qrt_gemm_args *args, bool (*is_alike)(const qrt_gemm_args *, const qrt_gemm_args *)) {
    for (const qrt_gemm_args *call = args->problem.earlier; call; call = call->problem.earlier)
        for (int i = 0; i < (call->plan.split ? 2 : 1); i++) {
            const qrt_gemm_args *product =
                call->plan.split ? qrt_split_product(call->plan.split, i, args->problem.part) : call;
            if (product && is_alike(product, args)) {
                args->plan.packed_by = product;
                args->plan.packed = product->plan.packed;
                return true;
            }
        }
    return false;
}

static void free_packed(const qrt_gemm_args *args) {
    const qrt_gemm_plan *plan = &args->plan;
    if (plan->packed_by || plan->packed.stored)
        return;
    qrt_weights_free(plan->packed.panels, (size_t)(plan->shape.matrix_bytes * args->problem.b_matrices));
    qrt_aligned_free(plan->packed.compensation);
}

/* Takes panels that were packed before. */
static bool take_stored(qrt_gemm_args *args) {
    const qrt_packed_shape shape = args->plan.shape;
    const int64_t panels = qrt_stored_bytes(shape.matrix_bytes * args->problem.b_matrices);
    const int64_t rest = shape.matrix_compensation * args->problem.b_matrices * (int64_t)sizeof(int32_t);
    char *stored = qrt_take_stored(args->problem.stored, panels + rest);
    if (stored)
        args->plan.packed = (qrt_packed){stored, (int32_t *)(stored + panels), true};
    return stored;
}

static qrt_status pack_constant(qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_gemm_plan *plan = &args->plan;
    const qrt_packed_shape shape = plan->shape;
    if (take_earlier(args, qrt_pack_alike) || take_stored(args))
        return QRT_OK;
    plan->packed.panels = qrt_weights_alloc((size_t)(shape.matrix_bytes * problem->b_matrices));
    plan->packed.compensation =
        qrt_aligned_alloc((size_t)(shape.matrix_compensation * problem->b_matrices) * sizeof(int32_t));
    if (!plan->packed.panels || !plan->packed.compensation)
        return QRT_NO_MEMORY;
    memset(plan->packed.panels, 0, (size_t)(shape.matrix_bytes * problem->b_matrices)); /* saved: no bytes of others */
    memset(plan->packed.compensation, 0, (size_t)(shape.matrix_compensation * problem->b_matrices) * sizeof(int32_t));
    for (int64_t matrix = 0; matrix < problem->b_matrices; matrix++)
        for (int64_t panel = 0; panel < shape.panels; panel++)
            qrt_pack_b_panel(args, problem->b_constant, matrix, 0, problem->n, panel, qrt_packed_matrix(plan, matrix));
    const qrt_gemm_args own = *args;
    if (take_earlier(args, packed_alike))
        free_packed(&own);
    return QRT_OK;
}

/* Packs weights whose segments are filled up: their K is longer than that of the problem. */
static qrt_status pack_filled(qrt_gemm_args *args) {
    qrt_gemm_args filled = *args;
    filled.problem.k = filled.plan.kc = args->plan.conv.segments * args->plan.conv.depth;
    filled.problem.b_n_stride = filled.problem.k;
    filled.problem.b_matrix_stride = args->problem.n * filled.problem.k;
    block(&filled);
    qrt_status status = QRT_OK;
    if (!take_stored(&filled)) {
        void *weights = qrt_conv_filled_weights(args);
        if (!weights)
            return QRT_NO_MEMORY;
        filled.problem.b_constant = weights;
        status = pack_constant(&filled);
        free(weights);
    }
    args->plan.shape = filled.plan.shape;
    args->plan.nc = filled.plan.nc;
    args->plan.packed = filled.plan.packed;
    args->plan.packed_by = filled.plan.packed_by;
    return status;
}

/* A 1x1 convolution without padding is a product that reads its pixels in place. */
static void rewrite_pointwise(qrt_gemm_problem *problem) {
    const qrt_window *w = problem->window;
    if (!w || w->kernel[0] != 1 || w->kernel[1] != 1 || w->strides[0] != 1 || w->strides[1] != 1 ||
        w->out_height != w->height || w->out_width != w->width || w->padding[0] != 0 || w->padding[1] != 0)
        return;
    problem->a_row_stride = w->channels * qrt_container_size(problem->a);
    problem->a_matrix_stride = w->channels / w->groups * qrt_container_size(problem->a);
    problem->a_matrices = w->groups;
    problem->window = NULL;
}

/* There is a bias for each column, and for each batch where bias_batch_step is not 0. */
bool qrt_bias_fits(const qrt_gemm_args *args, const void *bias) {
    const qrt_gemm_problem *problem = &args->problem;
    const int64_t count = problem->batch == 0 ? 0 : (problem->batch - 1) * problem->bias_batch_step + problem->n;
    return qrt_bias_within(problem->bias, bias, count, args->plan.bias_limit);
}

/* With the multiplier 2^30 and the shift 30 the result (acc * 2^30 + 2^29) >> 30 is acc. */
static bool is_raw(const qrt_gemm_problem *problem) {
    const qrt_requant *requant = &problem->requant;
    bool is = requant->rule == QRT_FIXED && requant->container == QRT_I32 && requant->storage_min == INT32_MIN &&
              requant->storage_max == INT32_MAX;
    const int64_t last = qrt_parameter_of(problem, qrt_max(problem->batch - 1, 0), qrt_max(problem->m - 1, 0),
                                          qrt_max(problem->n - 1, 0));
    for (int64_t i = 0; is && i <= last; i++)
        is = requant->multiplier[i] == 1 << 30 && requant->shift[i] == 30 && requant->zero_point[i] == 0;
    return is;
}

static const qrt_gemm_microkernel *choose_microkernel(const qrt_gemm_args *args) {
    const qrt_gemm_microkernel *kernel = args->problem.microkernel;
    if (kernel && (!kernel->supports || kernel->supports(args)))
        return kernel;
    kernel = args->kernels->gemm;
    while (kernel->fallback && !(kernel->supports(args) && kernel->suits(args)))
        kernel = kernel->fallback;
    return kernel;
}

qrt_status qrt_narrow_prepare(qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_gemm_plan *plan = &args->plan;
    const int64_t products = plan->a_max * plan->b_max;
    plan->kc = problem->k <= INT32_MAX / products ? qrt_max(problem->k, 1) : LONG_KC;
    plan->bias_limit = problem->k <= plan->kc ? INT32_MAX - problem->k * products : -1;
    plan->bias_fits =
        problem->bias != QRT_BIAS_NONE && problem->bias_constant && qrt_bias_fits(args, problem->bias_constant);
    plan->raw = is_raw(problem);
    const qrt_gemm_microkernel *kernel = plan->microkernel = choose_microkernel(args);
    plan->epilogue = kernel->epilogue ? kernel->epilogue(args) : 0;
    plan->a_form = kernel->a_form(args);
    if (kernel->mr > QRT_MAX_MR || kernel->nr > QRT_MAX_NR || LONG_KC % kernel->ku)
        return QRT_BAD_ARGUMENT;
    qrt_conv_prepare(args);
    if (plan->conv.filled)
        return pack_filled(args);
    block(args);
    if (!problem->b_constant)
        return QRT_OK;
    if (problem->m <= FEW_ROWS && plan->shape.matrix_bytes > QRT_SHARED_B_BYTES) {
        plan->turns = calloc(1, sizeof *plan->turns);
        if (!plan->turns)
            return QRT_NO_MEMORY;
    }
    return pack_constant(args);
}

void qrt_gemm_begin(qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_gemm_plan *plan = &args->plan;
    *plan = (qrt_gemm_plan){0};
    rewrite_pointwise(&args->problem);
    plan->a_max = qrt_largest_difference(problem->a, problem->a_zero_point, qrt_a_zero_points(problem));
    plan->b_max = qrt_largest_difference(problem->b, problem->b_zero_point, qrt_b_zero_points(problem));
    plan->narrow = problem->k_block == 0 && problem->a <= QRT_U8 && problem->b <= QRT_U8 && plan->a_max <= 255 &&
                   plan->b_max <= 255 && problem->bias != QRT_BIAS_F32;
}

void qrt_narrow_release(qrt_gemm_args *args) {
    free_packed(args);
    free(args->plan.turns);
}

int qrt_narrow_packed(const qrt_gemm_args *args, qrt_packed_part *to) {
    const qrt_gemm_plan *plan = &args->plan;
    if (!plan->packed.panels)
        return 0;
    const int64_t matrices = args->problem.b_matrices;
    to[0] = (qrt_packed_part){plan->packed.panels, plan->shape.matrix_bytes * matrices};
    to[1] = (qrt_packed_part){plan->packed.compensation,
                              plan->shape.matrix_compensation * matrices * (int64_t)sizeof(int32_t)};
    return 2;
}
