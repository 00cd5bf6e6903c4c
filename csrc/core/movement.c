/* Strided copies, and the sharing of bit-packed rows among threads. */
#include "core/core.h"

/* ---- copy ---- */

static void copy_run(const char *source, int64_t source_stride, char *target, int64_t target_stride, int64_t count,
                     int size) {
    if (source_stride == 1 && target_stride == 1) {
        memcpy(target, source, (size_t)(count * size));
        return;
    }
#define COPY(type)                                                                                                     \
    for (int64_t i = 0; i < count; i++)                                                                                \
        ((type *)target)[i * target_stride] = ((const type *)source)[i * source_stride];                               \
    return
    switch (size) {
    case 1:
        COPY(uint8_t);
    case 2:
        COPY(uint16_t);
    case 4:
        COPY(uint32_t);
    default:
        COPY(uint64_t);
    }
#undef COPY
}

static void copy_part(const qrt_copy_part *part, const char *source, char *target) {
    const int last = part->rank - 1;
    int64_t index[QRT_MAX_RANK] = {0};
    for (int d = 0; d < part->rank; d++)
        if (part->shape[d] == 0)
            return;
    source += part->source_offset * part->itemsize;
    target += part->target_offset * part->itemsize;
    for (;;) {
        copy_run(source, part->source_strides[last], target, part->target_strides[last], part->shape[last],
                 part->itemsize);
        int d = last - 1;
        for (; d >= 0; d--) {
            const int64_t move = ++index[d] < part->shape[d] ? 1 : 1 - part->shape[d];
            source += move * part->source_strides[d] * part->itemsize;
            target += move * part->target_strides[d] * part->itemsize;
            if (move == 1)
                break;
            index[d] = 0;
        }
        if (d < 0)
            return;
    }
}

qrt_status qrt_copy(const void *pointer, qrt_scratch *scratch) {
    const qrt_copy_args *args = pointer;
    int operands = 0;
    for (int i = 0; i < args->parts; i++)
        operands += args->part[i].constant == NULL;
    void *const *operand = scratch->operands;
    for (int i = 0; i < args->parts; i++) {
        const void *constant = args->part[i].constant;
        copy_part(&args->part[i], constant ? constant : *operand++, scratch->operands[operands]);
    }
    return QRT_OK;
}

/* ---- bits ---- */

/* Values of a task: they fill whole bytes whatever the width is. */
#define BITS_GRAIN 65536

/* Rows of the tensor where a packed row ends within a byte; else all values at once, cut into rows of one task each. */
typedef struct {
    const qrt_bits_args *args;
    qrt_pack_bits_row_fn row;
    const char *source;
    char *target;
    int64_t rows, columns, total;       /* the last row may be shorter */
    int64_t source_bytes, target_bytes; /* bytes of a row */
    int64_t per_task;                   /* rows of a task */
} bits_call;

static qrt_status bits_task(void *context, int64_t task) {
    const bits_call *call = context;
    const int64_t first = task * call->per_task, end = qrt_min(first + call->per_task, call->rows);
    for (int64_t row = first; row < end; row++)
        call->row(call->args, call->source + row * call->source_bytes, call->target + row * call->target_bytes,
                  qrt_min(call->columns, call->total - row * call->columns));
    return QRT_OK;
}

static qrt_status run_bits(const qrt_bits_args *args, qrt_pack_bits_row_fn row, int source_width, int target_width,
                           qrt_scratch *scratch) {
    bits_call call = {args, row, scratch->operands[0], scratch->operands[1], .total = args->rows * args->columns};
    call.columns = args->columns * args->width % 8 == 0 ? BITS_GRAIN : args->columns;
    call.rows = qrt_ceil_div(call.total, call.columns);
    call.source_bytes = qrt_ceil_div(call.columns * source_width, 8);
    call.target_bytes = qrt_ceil_div(call.columns * target_width, 8);
    call.per_task = qrt_max(1, BITS_GRAIN / call.columns);
    return qrt_parallel(qrt_ceil_div(call.rows, call.per_task), bits_task, &call, scratch->threads);
}

qrt_status qrt_pack_bits(const void *pointer, qrt_scratch *scratch) {
    const qrt_bits_args *args = pointer;
    return run_bits(args, args->kernels->pack_bits_row, 8, args->width, scratch);
}

qrt_status qrt_unpack_bits(const void *pointer, qrt_scratch *scratch) {
    const qrt_bits_args *args = pointer;
    return run_bits(args, args->kernels->unpack_bits_row, args->width, 8, scratch);
}
