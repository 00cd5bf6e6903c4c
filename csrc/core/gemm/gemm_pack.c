/* Binding a GEMM: which path computes it exactly, and b packed once where it is constant. */
#include <stdlib.h>
#include <string.h>

#include "core/gemm/gemm.h"

/* A span of a longer K: a multiple of every ku, and 255 * 255 * 16384 < 2^31. */
#define LONG_SPAN 16384
/* Bytes of a block for a kernel that chooses its size, where b has few columns. */
#define LEAST_A_BLOCK (448 * 1024)

static qrt_packed_shape packed_shape(const qrt_gemm_args *args, int64_t columns) {
    const qrt_gemm_kernel *kernel = args->gemm;
    const int64_t spans = qrt_max(1, qrt_ceil_div(args->k, args->span)), panels = qrt_ceil_div(columns, kernel->nr);
    const int64_t span_bytes = qrt_panel_bytes(kernel->nr, qrt_min(args->span, args->k), kernel->ku, kernel->b_size);
    const int64_t tail = qrt_panel_bytes(kernel->nr, qrt_span_depth(args, spans - 1), kernel->ku, kernel->b_size);
    return (qrt_packed_shape){
        .spans = spans,
        .panels = panels,
        .span_bytes = span_bytes,
        .matrix_bytes = panels * ((spans - 1) * span_bytes + tail),
        .matrix_terms = panels * spans * 2 * kernel->nr,
    };
}

/* Packed rows of a start a cache line past a multiple of 512 bytes: columns of them, which the microkernel reads, then
 * fall into different sets of L1. */
static int64_t packed_stride(const qrt_gemm_args *args) {
    const qrt_gemm_kernel *kernel = args->gemm;
    const int64_t bytes = qrt_panel_bytes(1, qrt_min(args->span, args->k), kernel->ku, kernel->a_size);
    return bytes % 512 ? bytes : bytes + QRT_ALIGNMENT;
}

/* Bytes of a block of packed rows. A large b is worth reading once for more of them, which take up to a quarter of what
 * it takes. */
static int64_t block_bytes(const qrt_gemm_args *args) {
    const int64_t most = args->gemm->a_block;
    return most ? qrt_min(qrt_max(args->shape.matrix_bytes / 4, LEAST_A_BLOCK), most) : QRT_A_BLOCK_BYTES;
}

/* The extents that the loops of a call need. */
static void block(qrt_gemm_args *args) {
    const qrt_gemm_kernel *kernel = args->gemm;
    const qrt_packed_shape panel = packed_shape(args, 1);
    const int64_t wanted = qrt_max(1, QRT_B_BLOCK_BYTES / qrt_max(1, panel.matrix_bytes)) * kernel->nr;
    args->packed_columns = args->b_constant ? args->n : qrt_min(wanted, qrt_round_up(args->n, kernel->nr));
    args->shape = packed_shape(args, args->packed_columns);
    args->a_stride = packed_stride(args);
    const int64_t rows = qrt_max(1, block_bytes(args) / (args->a_stride * kernel->mr)) * kernel->mr;
    args->block_rows = qrt_max(1, qrt_ceil_div(args->m, qrt_max(1, qrt_ceil_div(args->m, rows))));
}

void qrt_pack_b_panel(const qrt_gemm_args *args, const char *b, int64_t matrix, int64_t column, int64_t columns,
                      int64_t panel, qrt_packed packed) {
    const qrt_gemm_kernel *kernel = args->gemm;
    const qrt_packed_shape shape = args->shape;
    const int64_t first = column + panel * kernel->nr;
    const int width = (int)qrt_min(kernel->nr, column + columns - first);
    int32_t zero_point[QRT_MAX_NR] = {0}; /* kernels load whole vectors of them */
    for (int j = 0; j < width; j++)
        zero_point[j] =
            (int32_t)
                args->b_zero_point[matrix * args->b_zero_point_steps[0] + (first + j) * args->b_zero_point_steps[2]];
    const char *source = b + matrix * args->b_matrix_stride + first * args->b_n_stride;
    for (int64_t span = 0; span < shape.spans; span++) {
        const int64_t depth = qrt_span_depth(args, span);
        const int64_t bytes = qrt_panel_bytes(kernel->nr, depth, kernel->ku, kernel->b_size);
        char *target = (char *)packed.panels + span * shape.panels * shape.span_bytes + panel * bytes;
        int32_t *terms = packed.terms + (span * shape.panels + panel) * 2 * kernel->nr;
        kernel->pack_b(args->b, source + span * args->span * args->b_k_stride, args->b_k_stride, args->b_n_stride,
                       width, depth, zero_point, target, terms);
    }
}

/* Whether both pack the same constant into the same panels. A convolution's window may have a say in the order of K: it
 * packs its own. */
static bool pack_alike(const qrt_gemm_args *x, const qrt_gemm_args *y) {
    if (!x->packed.panels || x->window || y->window || x->gemm->pack_b != y->gemm->pack_b ||
        x->b_constant != y->b_constant || x->b != y->b || x->n != y->n || x->k != y->k ||
        x->b_matrices != y->b_matrices || x->span != y->span || x->b_k_stride != y->b_k_stride ||
        x->b_n_stride != y->b_n_stride || x->b_matrix_stride != y->b_matrix_stride)
        return false;
    for (int64_t matrix = 0; matrix < x->b_matrices; matrix++)
        for (int64_t j = 0; j < x->n; j++)
            if (x->b_zero_point[matrix * x->b_zero_point_steps[0] + j * x->b_zero_point_steps[2]] !=
                y->b_zero_point[matrix * y->b_zero_point_steps[0] + j * y->b_zero_point_steps[2]])
                return false;
    return true;
}

static qrt_status pack_constant(qrt_gemm_args *args) {
    if (args->earlier && pack_alike(args->earlier, args)) {
        args->packed = args->earlier->packed;
        return QRT_OK;
    }
    args->earlier = NULL;
    const qrt_packed_shape shape = args->shape;
    args->packed.panels = qrt_weights_alloc((size_t)(shape.matrix_bytes * args->b_matrices));
    args->packed.terms = qrt_aligned_alloc((size_t)(shape.matrix_terms * args->b_matrices) * sizeof(int32_t));
    if (!args->packed.panels || !args->packed.terms)
        return QRT_NO_MEMORY;
    for (int64_t matrix = 0; matrix < args->b_matrices; matrix++) {
        const qrt_packed packed = {(char *)args->packed.panels + matrix * shape.matrix_bytes,
                                   args->packed.terms + matrix * shape.matrix_terms};
        for (int64_t panel = 0; panel < shape.panels; panel++)
            qrt_pack_b_panel(args, args->b_constant, matrix, 0, args->n, panel, packed);
    }
    return QRT_OK;
}

/* The panels have a longer K than the weights. */
static qrt_status pack_filled(qrt_gemm_args *args) {
    qrt_gemm_args filled = *args;
    filled.k = filled.span = args->conv.segments * args->conv.depth;
    filled.b_n_stride = filled.k;
    filled.b_matrix_stride = args->n * filled.k;
    void *weights = qrt_conv_filled_weights(args);
    if (!weights)
        return QRT_NO_MEMORY;
    filled.b_constant = weights;
    block(&filled);
    const qrt_status status = pack_constant(&filled);
    free(weights);
    args->shape = filled.shape;
    args->packed_columns = filled.packed_columns;
    args->earlier = filled.earlier;
    args->packed = filled.packed;
    return status;
}

static bool is_pointwise(const qrt_window *w) {
    return w->kernel[0] == 1 && w->kernel[1] == 1 && w->strides[0] == 1 && w->strides[1] == 1 &&
           w->out_height == w->height && w->out_width == w->width && w->padding[0] == 0 && w->padding[1] == 0;
}

/* The bias is per column, and per batch where bias_batch_step is not 0. */
static int64_t bias_count(const qrt_gemm_args *args) {
    return args->batch == 0 ? 0 : (args->batch - 1) * args->bias_batch_step + args->n;
}

bool qrt_bias_fits(const qrt_gemm_args *args, const void *bias) {
    return qrt_bias_within(args->bias, bias, bias_count(args), args->bias_limit);
}

static int64_t parameter_count(const qrt_gemm_args *args) {
    return 1 + args->requant_steps[0] * qrt_max(args->batch - 1, 0) + args->requant_steps[1] * qrt_max(args->m - 1, 0) +
           args->requant_steps[2] * qrt_max(args->n - 1, 0);
}

/* (acc * 2^30 + 2^29) >> 30 is acc. */
static bool is_raw(const qrt_requant *requant, int64_t count) {
    bool is = requant->rule == QRT_FIXED && requant->container == QRT_I32 && requant->storage_min == INT32_MIN &&
              requant->storage_max == INT32_MAX;
    for (int64_t i = 0; is && i < count; i++)
        is = requant->multiplier[i] == 1 << 30 && requant->shift[i] == 30 && requant->zero_point[i] == 0;
    return is;
}

static const qrt_gemm_kernel *choose_kernel(const qrt_gemm_args *args) {
    if (args->wanted && (!args->wanted->takes || args->wanted->takes(args)))
        return args->wanted;
    const qrt_gemm_kernel *kernel = &args->kernels->gemm;
    while (kernel->otherwise && !(kernel->takes(args) && kernel->suits(args)))
        kernel = kernel->otherwise;
    return kernel;
}

qrt_status qrt_gemm_prepare(qrt_gemm_args *args) {
    args->packed = (qrt_packed){NULL, NULL};
    args->split = NULL;
    if (args->window && is_pointwise(args->window)) {
        /* A 1x1 convolution reads pixels in place. */
        args->a_row_stride = args->window->channels * qrt_container_size(args->a);
        args->a_matrix_stride = args->window->channels / args->window->groups * qrt_container_size(args->a);
        args->a_matrices = args->window->groups;
        args->window = NULL;
    }
    /* At least one zero point each, so that neither bound is 0 where a dimension is. */
    const int64_t a_count = args->a_zero_point_steps[0] * qrt_max(args->a_matrices - 1, 0) +
                            args->a_zero_point_steps[1] * qrt_max(args->m - 1, 0) + 1;
    const int64_t b_count = args->b_zero_point_steps[0] * qrt_max(args->b_matrices - 1, 0) +
                            args->b_zero_point_steps[2] * qrt_max(args->n - 1, 0) + 1;
    args->a_max = qrt_largest_difference(args->a, args->a_zero_point, a_count);
    args->b_max = qrt_largest_difference(args->b, args->b_zero_point, b_count);
    args->narrow = args->k_block == 0 && args->a <= QRT_U8 && args->b <= QRT_U8 && args->a_max <= 255 &&
                   args->b_max <= 255 && args->bias != QRT_BIAS_F32;
    args->splits = !args->narrow && qrt_gemm_splits(args);
    if (!args->narrow) {
        args->earlier = NULL;
        return args->splits && args->b_constant ? qrt_split_new(args, args->b_constant, &args->split) : QRT_OK;
    }
    const int64_t products = args->a_max * args->b_max;
    args->span = args->k <= INT32_MAX / products ? qrt_max(args->k, 1) : LONG_SPAN;
    args->bias_limit = args->k <= args->span ? INT32_MAX - args->k * products : -1;
    args->bias_fits = args->bias != QRT_BIAS_NONE && args->bias_constant && qrt_bias_fits(args, args->bias_constant);
    args->raw = is_raw(&args->requant, parameter_count(args));
    const qrt_gemm_kernel *kernel = args->gemm = choose_kernel(args);
    args->finish = kernel->finish_of ? kernel->finish_of(args) : 0;
    args->a_form = kernel->a_form(args);
    if (kernel->mr > QRT_MAX_MR || kernel->nr > QRT_MAX_NR || LONG_SPAN % kernel->ku)
        return QRT_BAD_ARGUMENT;
    qrt_conv_prepare(args);
    if (args->conv.filled)
        return pack_filled(args);
    block(args);
    return args->b_constant ? pack_constant(args) : QRT_OK;
}

void qrt_gemm_release(void *pointer) {
    qrt_gemm_args *args = pointer;
    if (!args->earlier) {
        qrt_weights_free(args->packed.panels, (size_t)(args->shape.matrix_bytes * args->b_matrices));
        qrt_aligned_free(args->packed.terms);
    }
    args->packed = (qrt_packed){NULL, NULL};
    qrt_split_free(args->split);
    args->split = NULL;
}
