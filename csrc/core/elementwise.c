/* The entries of element-wise operations and means: they walk a layout and give each of its rows to a row of the
 * table. */
#include "core/core.h"
#include "core/float_control.h"

static int64_t row_step(const qrt_layout *layout) {
    return layout->step[layout->rank - 1];
}

static const void *element(qrt_container container, const void *base, int64_t offset) {
    return (const char *)base + offset * qrt_container_size(container);
}

static qrt_status walk(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int threads,
                       qrt_row_fn fn, const void *call) {
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = qrt_walk(layout, a_strides, b_strides, threads, fn, call);
    qrt_float_leave(saved);
    return status;
}

/* ---- one operand ---- */

typedef struct {
    const qrt_unary_args *args;
    qrt_clamp_row_fn row; /* any of the rows for one operand: they have one type */
    const void *x;
    void *out;
} unary_call;

static qrt_status unary_row(const void *context, const qrt_row *row) {
    const unary_call *call = context;
    const qrt_unary_args *args = call->args;
    call->row(args, element(args->container, call->x, row->offset), (void *)element(args->out, call->out, row->offset),
              row->count, row->parameter, row_step(&args->layout));
    return QRT_OK;
}

static qrt_status run_unary(const qrt_unary_args *args, qrt_clamp_row_fn row, void *const *operands, int threads) {
    const unary_call call = {args, row, operands[0], operands[1]};
    return walk(&args->layout, NULL, NULL, threads, unary_row, &call);
}

qrt_status qrt_requantize(const void *pointer, qrt_scratch *scratch) {
    const qrt_unary_args *args = pointer;
    return run_unary(args, args->kernels->requantize_row, scratch->operands, scratch->threads);
}

qrt_status qrt_leaky_relu(const void *pointer, qrt_scratch *scratch) {
    const qrt_unary_args *args = pointer;
    return run_unary(args, args->kernels->leaky_relu_row, scratch->operands, scratch->threads);
}

qrt_status qrt_clamp(const void *pointer, qrt_scratch *scratch) {
    const qrt_unary_args *args = pointer;
    return run_unary(args, args->kernels->clamp_row, scratch->operands, scratch->threads);
}

/* Looks up whole blocks in one table, and what is left in the other. */
static qrt_status lookup_in_blocks(const qrt_unary_args *args, void *const *operands, int threads) {
    const int64_t count = args->layout.shape[0], whole = count / args->block * args->block;
    qrt_unary_args blocks = *args;
    blocks.layout.shape[0] = whole;
    const qrt_status status = run_unary(&blocks, args->kernels->lookup_row, operands, threads);
    blocks.table = args->tail_table;
    args->kernels->lookup_row(&blocks, element(args->container, operands[0], whole),
                              (void *)element(args->out, operands[1], whole), count - whole, 0, 0);
    return status;
}

qrt_status qrt_lookup(const void *pointer, qrt_scratch *scratch) {
    const qrt_unary_args *args = pointer;
    if (args->tail_table)
        return lookup_in_blocks(args, scratch->operands, scratch->threads);
    if (args->table)
        return run_unary(args, args->kernels->lookup_row, scratch->operands, scratch->threads);
    qrt_unary_args given = *args;
    given.table = scratch->operands[1];
    void *const operands[] = {scratch->operands[0], scratch->operands[2]};
    return run_unary(&given, args->kernels->lookup_row, operands, scratch->threads);
}

qrt_status qrt_lookup_interpolated(const void *pointer, qrt_scratch *scratch) {
    const qrt_unary_args *args = pointer;
    qrt_unary_args given = *args;
    void *const operands[] = {scratch->operands[0], scratch->operands[args->entries ? 1 : 2]};
    given.entries = args->entries ? args->entries : scratch->operands[1];
    return run_unary(&given, args->kernels->lookup_interpolated_row, operands, scratch->threads);
}

/* ---- strided operands ---- */

typedef struct {
    const void *args;
    void *const *operands;
} strided_call;

static qrt_status binary_row(const void *context, const qrt_row *row) {
    const strided_call *call = context;
    const qrt_binary_args *args = call->args;
    const int last = args->layout.rank - 1;
    return args->kernels->binary_row(args, element(args->a, call->operands[0], row->offsets[0]), args->a_strides[last],
                                     element(args->b, call->operands[1], row->offsets[1]), args->b_strides[last],
                                     (void *)element(args->requant.container, call->operands[2], row->offset),
                                     row->count, row->parameter, row_step(&args->layout));
}

/* Adds whole blocks, whose operands are rounded once, and what is left. */
static qrt_status add_in_blocks(const qrt_binary_args *args, void *const *operands, int threads) {
    const int64_t count = args->layout.shape[0], whole = count / args->block * args->block;
    qrt_binary_args part = *args;
    part.layout.shape[0] = whole;
    part.rounds_once = true;
    const strided_call blocks = {&part, operands};
    const qrt_status status = walk(&part.layout, part.a_strides, part.b_strides, threads, binary_row, &blocks);
    part.rounds_once = false;
    return status ? status
                  : args->kernels->binary_row(
                        &part, element(args->a, operands[0], whole), 1, element(args->b, operands[1], whole), 1,
                        (void *)element(args->requant.container, operands[2], whole), count - whole, 0, 0);
}

qrt_status qrt_binary(const void *pointer, qrt_scratch *scratch) {
    const qrt_binary_args *args = pointer;
    if (args->block)
        return add_in_blocks(args, scratch->operands, scratch->threads);
    const strided_call call = {args, scratch->operands};
    return walk(&args->layout, args->a_strides, args->b_strides, scratch->threads, binary_row, &call);
}

static qrt_status pair_row(const void *context, const qrt_row *row) {
    const strided_call *call = context;
    const qrt_pair_args *args = call->args;
    const int last = args->layout.rank - 1;
    args->kernels->pair_row(args, element(args->a, call->operands[0], row->offsets[0]), args->a_strides[last],
                            element(args->b, call->operands[1], row->offsets[1]), args->b_strides[last],
                            (void *)element(args->out, call->operands[2], row->offset), row->count);
    return QRT_OK;
}

qrt_status qrt_pair(const void *pointer, qrt_scratch *scratch) {
    const qrt_pair_args *args = pointer;
    const strided_call call = {args, scratch->operands};
    return walk(&args->layout, args->a_strides, args->b_strides, scratch->threads, pair_row, &call);
}

static qrt_status mean_row(const void *context, const qrt_row *row) {
    const strided_call *call = context;
    const qrt_mean_args *args = call->args;
    args->kernels->mean_row(args, element(args->container, call->operands[0], row->offsets[0]),
                            args->x_strides[args->layout.rank - 1],
                            (void *)element(args->requant.container, call->operands[1], row->offset), row->count,
                            row->parameter, row_step(&args->layout));
    return QRT_OK;
}

qrt_status qrt_mean(const void *pointer, qrt_scratch *scratch) {
    const qrt_mean_args *args = pointer;
    const strided_call call = {args, scratch->operands};
    return walk(&args->layout, args->x_strides, NULL, scratch->threads, mean_row, &call);
}
