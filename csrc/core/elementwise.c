/* Families that work element by element: rows of the layout go to the table. */
#include "core/core.h"
#include "core/float_control.h"

typedef struct {
    const void *args;
    char *source, *source2, *target;
} job;

#define AT(pointer, offset, size) ((void *)((pointer) + (offset) * (int64_t)(size)))

static qrt_status requantize_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_requantize_args *args = j->args;
    args->kernels->requantize_row(args, AT(j->source, row->offset, qrt_container_size(args->container)),
                                  AT(j->target, row->offset, qrt_container_size(args->requant.container)), row->count,
                                  row->parameter, args->layout.step[args->layout.rank - 1]);
    return QRT_OK;
}

static qrt_status clamp_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_clamp_args *args = j->args;
    const int size = qrt_container_size(args->container);
    args->kernels->clamp_row(args, AT(j->source, row->offset, size), AT(j->target, row->offset, size), row->count,
                             row->parameter, args->layout.step[args->layout.rank - 1]);
    return QRT_OK;
}

static qrt_status lookup_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_lookup_args *args = j->args;
    args->kernels->lookup_row(args, j->source2, AT(j->source, row->offset, 1),
                              AT(j->target, row->offset, qrt_container_size(args->out)), row->count);
    return QRT_OK;
}

static qrt_status binary_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_binary_args *args = j->args;
    const int last = args->layout.rank - 1;
    return args->kernels->binary_row(
        args, AT(j->source, row->offsets[0], qrt_container_size(args->a)), args->a_strides[last],
        AT(j->source2, row->offsets[1], qrt_container_size(args->b)), args->b_strides[last],
        AT(j->target, row->offset, qrt_container_size(args->requant.container)), row->count, row->parameter,
        args->layout.step[last]);
}

static qrt_status run(const void *args, const qrt_layout *layout, qrt_scratch *scratch, qrt_row_fn fn) {
    const job j = {.args = args, .source = scratch->operands[0], .target = scratch->operands[1]};
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = qrt_walk(layout, NULL, NULL, scratch->threads, fn, &j);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_requantize(const void *args, qrt_scratch *scratch) {
    return run(args, &((const qrt_requantize_args *)args)->layout, scratch, requantize_row);
}

qrt_status qrt_clamp(const void *args, qrt_scratch *scratch) {
    return run(args, &((const qrt_clamp_args *)args)->layout, scratch, clamp_row);
}

qrt_status qrt_binary(const void *args, qrt_scratch *scratch) {
    const qrt_binary_args *binary = args;
    const job j = {args, scratch->operands[0], scratch->operands[1], scratch->operands[2]};
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status =
        qrt_walk(&binary->layout, binary->a_strides, binary->b_strides, scratch->threads, binary_row, &j);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_lookup(const void *args, qrt_scratch *scratch) {
    const qrt_lookup_args *lookup = args;
    void *const *operand = scratch->operands;
    job j = {.args = args, .source = *operand++};
    j.source2 = lookup->table_constant ? (char *)lookup->table_constant : *operand++;
    j.target = *operand;
    return qrt_walk(&lookup->layout, NULL, NULL, scratch->threads, lookup_row, &j);
}
