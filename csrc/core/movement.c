/* Strided copies, slices, and the sharing of bit-packed rows among threads. */
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

/* ---- transposes ----
 *
 * Where the values of a run lie apart in the source, and those of another axis side by side, blocks of SIDE x SIDE
 * values are transposed in vectors of the compiler, by log2(SIDE) steps: each interleaves row i with row i + SIDE / 2.
 */

#define CACHE_BYTES 64 /* bytes of a cache line, which the blocks of some rows fill one after the other */
#define SIDE_8 16
#define SIDE_16 8
#define SIDE_32 4

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint16_t words8 __attribute__((vector_size(16)));
typedef uint32_t integers4 __attribute__((vector_size(16)));

#if defined __clang__
#define INTERLEAVE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define INTERLEAVE(a, b, ...) __builtin_shuffle(a, b, (__typeof__(a)){__VA_ARGS__})
#endif
#define LOW_8(a, b) INTERLEAVE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_8(a, b) INTERLEAVE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_16(a, b) INTERLEAVE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_16(a, b) INTERLEAVE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW_32(a, b) INTERLEAVE(a, b, 0, 4, 1, 5)
#define HIGH_32(a, b) INTERLEAVE(a, b, 2, 6, 3, 7)

#define STEP(bits, from, to)                                                                                           \
    _Pragma("GCC unroll 16") for (int i = 0; i < SIDE_##bits / 2; i++) {                                               \
        (to)[2 * i] = LOW_##bits((from)[i], (from)[i + SIDE_##bits / 2]);                                              \
        (to)[2 * i + 1] = HIGH_##bits((from)[i], (from)[i + SIDE_##bits / 2]);                                         \
    }

/* Strides in bytes: from row to row of the source, whose values lie side by side, and from row to row of the target. */
#define TRANSPOSE(bits, vector)                                                                                        \
    static inline void transpose_##bits(const char *source, int64_t source_stride, char *target,                       \
                                        int64_t target_stride) {                                                       \
        vector a[SIDE_##bits], b[SIDE_##bits];                                                                         \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE_##bits; i++)                                                 \
            memcpy(&a[i], source + i * source_stride, sizeof(vector));                                                 \
        STEP(bits, a, b)                                                                                               \
        STEP(bits, b, a)                                                                                               \
        if (SIDE_##bits > 4)                                                                                           \
            STEP(bits, a, b)                                                                                           \
        if (SIDE_##bits > 8)                                                                                           \
            STEP(bits, b, a)                                                                                           \
        _Pragma("GCC unroll 16") for (int i = 0; i < SIDE_##bits; i++)                                                 \
            memcpy(target + i * target_stride, SIDE_##bits == 8 ? &b[i] : &a[i], sizeof(vector));                      \
    }
TRANSPOSE(8, bytes16)
TRANSPOSE(16, words8)
TRANSPOSE(32, integers4)

/* A matrix of source[row * source_stride + column], whose columns become the rows of the target; strides in elements.
 * The last block of either axis overlaps the one before. */
static void transpose(const char *source, int64_t source_stride, char *target, int64_t target_stride, int64_t rows,
                      int64_t columns, int size) {
    const int64_t side = 16 / size;
    for (int64_t first = 0; first < rows; first += CACHE_BYTES / size)
        for (int64_t j = 0; j < columns; j += side)
            for (int64_t i = first; i < qrt_min(first + CACHE_BYTES / size, rows); i += side) {
                const int64_t row = qrt_min(i, rows - side), column = qrt_min(j, columns - side);
                const char *from = source + (row * source_stride + column) * size;
                char *to = target + (column * target_stride + row) * size;
                if (size == 1)
                    transpose_8(from, source_stride, to, target_stride);
                else if (size == 2)
                    transpose_16(from, source_stride * 2, to, target_stride * 2);
                else
                    transpose_32(from, source_stride * 4, to, target_stride * 4);
            }
}

/* The axis along which the source's values lie side by side, if the last one's lie side by side in the target alone and
 * both fill a block; else -1. */
static int transposed_axis(const qrt_copy_part *part) {
    const int last = part->rank - 1;
    const int64_t least = part->itemsize <= 4 ? 16 / part->itemsize : 0;
    if (least == 0 || part->target_strides[last] != 1 || part->source_strides[last] <= 1 || part->shape[last] < least)
        return -1;
    for (int d = last - 1; d >= 0; d--)
        if (part->source_strides[d] == 1 && part->shape[d] >= least)
            return d;
    return -1;
}

static void copy_part(const qrt_copy_part *part, const char *source, char *target) {
    const int last = part->rank - 1;
    int64_t index[QRT_MAX_RANK] = {0};
    for (int d = 0; d < part->rank; d++)
        if (part->shape[d] == 0)
            return;
    source += part->source_offset * part->itemsize;
    target += part->target_offset * part->itemsize;
    const int transposed = transposed_axis(part);
    for (;;) {
        if (transposed >= 0)
            transpose(source, part->source_strides[last], target, part->target_strides[transposed], part->shape[last],
                      part->shape[transposed], part->itemsize);
        else
            copy_run(source, part->source_strides[last], target, part->target_strides[last], part->shape[last],
                     part->itemsize);
        int d = last - 1;
        for (; d >= 0; d--) {
            if (d == transposed)
                continue;
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

/* ---- slices ---- */

qrt_status qrt_slice(const void *pointer, qrt_scratch *scratch) {
    const qrt_slice_args *args = pointer;
    void *const *operand = scratch->operands;
    const char *part = args->inserts ? *operand++ : NULL;
    const char *x = *operand++;
    int64_t offset = 0;
    for (int i = 0; i < args->axes; i++) {
        const int64_t index = *(const int64_t *)*operand++;
        if (index < 0 || index > args->most[i])
            return QRT_INDEX_OUT_OF_RANGE;
        offset += index * args->strides[i];
    }
    offset *= args->part.itemsize;
    char *out = *operand;
    if (!args->inserts) {
        copy_part(&args->part, x + offset, out);
        return QRT_OK;
    }
    if (part == out) /* it has as many elements as x, and replaces all of them */
        return QRT_OK;
    if (x != out)
        memcpy(out, x, (size_t)args->bytes);
    copy_part(&args->part, part, out + offset);
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
