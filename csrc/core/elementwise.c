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

/* ---- rows that are joined ----
 *
 * A broadcast ends a row of the walk, and short rows cost more than their elements. So rows of fewer elements than
 * LONG_ROW are joined: a unit is such a row, and a row of units goes to the kernel in parts whose broadcast operands
 * are written out, as often as they are repeated, to a buffer of JOINED elements. */

#define LONG_ROW 256
#define JOINED 1024

typedef struct {
    qrt_container container;
    const void *base;
    int64_t unit, element; /* strides from unit to unit, and from element to element, which is 0 or 1 */
} joined_operand;

typedef struct joined_call joined_call;
struct joined_call {
    const void *args;
    joined_operand operand[2];
    qrt_container out;
    void *target;
    int64_t size; /* elements of a unit */
    qrt_status (*row)(const joined_call *call, const void *const *at, const int64_t *strides, void *to, int64_t count,
                      int64_t parameter);
};

static void repeat(const void *value, int bytes, int64_t count, char *to) {
    if (bytes == 1)
        memset(to, *(const unsigned char *)value, (size_t)count);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy(to + i * bytes, value, (size_t)bytes);
}

/* Returns where the elements of `units` units lie, from element `first` on, and sets their stride. */
static const void *joined_elements(const joined_operand *from, int64_t size, int64_t first, int64_t units,
                                   bool has_begun, char *buffer, int64_t *stride) {
    const int bytes = qrt_container_size(from->container);
    const char *at = element(from->container, from->base, first);
    *stride = from->element || from->unit;
    if (!*stride || (from->element && from->unit == size))
        return at;
    const bool repeats = from->element && !from->unit;
    for (int64_t i = 0; i < units && !(repeats && has_begun); i++) {
        const char *source = at + i * from->unit * bytes;
        if (from->element)
            memcpy(buffer + i * size * bytes, source, (size_t)(size * bytes));
        else
            repeat(source, bytes, size, buffer + i * size * bytes);
    }
    return buffer;
}

static qrt_status joined_row(const void *context, const qrt_row *row) {
    const joined_call *call = context;
    const int64_t most = JOINED / call->size;
    _Alignas(QRT_ALIGNMENT) char buffer[2][JOINED * sizeof(int32_t)];
    qrt_status status = QRT_OK;
    for (int64_t i = 0; i < row->count && status == QRT_OK; i += most) {
        const int64_t units = qrt_min(most, row->count - i);
        const void *at[2];
        int64_t strides[2];
        for (int j = 0; j < 2; j++)
            at[j] = joined_elements(&call->operand[j], call->size, row->offsets[j] + i * call->operand[j].unit, units,
                                    i > 0, buffer[j], &strides[j]);
        status = call->row(call, at, strides, (void *)element(call->out, call->target, (row->offset + i) * call->size),
                           units * call->size, row->parameter);
    }
    return status;
}

/* Whether the rows of a layout are short, have one parameter each, and no operand is strided along them. */
static bool joins(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides) {
    const int last = layout->rank - 1;
    return last > 0 && layout->shape[last] < LONG_ROW && layout->step[last] == 0 && layout->step[last - 1] == 0 &&
           layout->shape[last - 1] > 1 && (a_strides[last] | 1) == 1 && (b_strides[last] | 1) == 1;
}

static qrt_status walk_joined(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int threads,
                              joined_call *call) {
    const int last = layout->rank - 1;
    qrt_layout units = *layout;
    units.rank = last;
    call->size = layout->shape[last];
    call->operand[0].unit = a_strides[last - 1], call->operand[0].element = a_strides[last];
    call->operand[1].unit = b_strides[last - 1], call->operand[1].element = b_strides[last];
    if (call->size == 0)
        return QRT_OK;
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = qrt_walk_units(&units, a_strides, b_strides, call->size, threads, joined_row, call);
    qrt_float_leave(saved);
    return status;
}

static qrt_status binary_row(const void *context, const qrt_row *row) {
    const strided_call *call = context;
    const qrt_binary_args *args = call->args;
    const int last = args->layout.rank - 1;
    return args->kernels->binary_row(args, element(args->a, call->operands[0], row->offsets[0]), args->a_strides[last],
                                     element(args->b, call->operands[1], row->offsets[1]), args->b_strides[last],
                                     (void *)element(args->requant.container, call->operands[2], row->offset),
                                     row->count, row->parameter, row_step(&args->layout));
}

static qrt_status joined_binary(const joined_call *call, const void *const *at, const int64_t *strides, void *to,
                                int64_t count, int64_t parameter) {
    const qrt_binary_args *args = call->args;
    return args->kernels->binary_row(args, at[0], strides[0], at[1], strides[1], to, count, parameter, 0);
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
    void *const *operands = scratch->operands;
    if (joins(&args->layout, args->a_strides, args->b_strides)) {
        joined_call call = {args,
                            {{args->a, operands[0], 0, 0}, {args->b, operands[1], 0, 0}},
                            args->requant.container,
                            operands[2],
                            0,
                            joined_binary};
        return walk_joined(&args->layout, args->a_strides, args->b_strides, scratch->threads, &call);
    }
    const strided_call call = {args, operands};
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

static qrt_status joined_pair(const joined_call *call, const void *const *at, const int64_t *strides, void *to,
                              int64_t count, int64_t parameter) {
    const qrt_pair_args *args = call->args;
    (void)parameter;
    args->kernels->pair_row(args, at[0], strides[0], at[1], strides[1], to, count);
    return QRT_OK;
}

qrt_status qrt_pair(const void *pointer, qrt_scratch *scratch) {
    const qrt_pair_args *args = pointer;
    void *const *operands = scratch->operands;
    if (joins(&args->layout, args->a_strides, args->b_strides)) {
        joined_call call = {
            args, {{args->a, operands[0], 0, 0}, {args->b, operands[1], 0, 0}}, args->out, operands[2], 0, joined_pair};
        return walk_joined(&args->layout, args->a_strides, args->b_strides, scratch->threads, &call);
    }
    const strided_call call = {args, operands};
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
