/* Strided copies, and rows of sub-byte values. */
#include <string.h>

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

/* Values per task: whole bytes of every width. */
#define BITS_GRAIN 65536

typedef struct {
    const qrt_bits_args *args;
    qrt_pack_bits_row_fn row;
    const char *source;
    char *target;
    int64_t rows, columns;              /* rows that end within a byte; else one of all values */
    int64_t source_width, target_width; /* bits of a value */
    int64_t per_task;                   /* rows, or values of the one row */
} job;

static int64_t bytes_of(int64_t count, int64_t width) {
    return qrt_ceil_div(count * width, 8);
}

static qrt_status bits_task(void *context, int64_t task) {
    const job *j = context;
    const int64_t first = task * j->per_task;
    if (j->rows == 1) {
        j->row(j->args, j->source + bytes_of(first, j->source_width), j->target + bytes_of(first, j->target_width),
               qrt_min(j->per_task, j->columns - first));
        return QRT_OK;
    }
    const int64_t source_bytes = bytes_of(j->columns, j->source_width);
    const int64_t target_bytes = bytes_of(j->columns, j->target_width);
    for (int64_t row = first; row < qrt_min(first + j->per_task, j->rows); row++)
        j->row(j->args, j->source + row * source_bytes, j->target + row * target_bytes, j->columns);
    return QRT_OK;
}

static qrt_status run_bits(job *j, qrt_scratch *scratch) {
    const bool whole = j->args->columns * j->args->width % 8 == 0;
    j->source = scratch->operands[0];
    j->target = scratch->operands[1];
    j->rows = whole ? 1 : j->args->rows;
    j->columns = whole ? j->args->rows * j->args->columns : j->args->columns;
    j->per_task = j->rows == 1 ? BITS_GRAIN : qrt_max(1, BITS_GRAIN / qrt_max(1, j->columns));
    const int64_t total = j->rows == 1 ? j->columns : j->rows;
    return qrt_parallel(qrt_ceil_div(total, j->per_task), bits_task, j, scratch->threads);
}

qrt_status qrt_pack_bits(const void *pointer, qrt_scratch *scratch) {
    const qrt_bits_args *args = pointer;
    job j = {.args = args, .row = args->kernels->pack_bits_row, .source_width = 8, .target_width = args->width};
    return run_bits(&j, scratch);
}

qrt_status qrt_unpack_bits(const void *pointer, qrt_scratch *scratch) {
    const qrt_bits_args *args = pointer;
    job j = {.args = args, .row = args->kernels->unpack_bits_row, .source_width = args->width, .target_width = 8};
    return run_bits(&j, scratch);
}
