/* What all headers of the kernels begin with: limits, enumerations, the form of an entry.
 *
 * Every entry is `qrt_status f(const void *args, qrt_scratch *scratch)`. `args` does not change once a call is bound,
 * and all threads share it; `scratch` belongs to one call. `args->kernels` is the table of the ISA that was chosen when
 * the call was bound, so the loops in core/ never name an ISA. docs/reference/kernels describes who packs, blocks,
 * loads the bias and stores. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QRT_INLINE static inline __attribute__((always_inline))

/* Expands to the other arguments where the flag is 1, and to nothing where it is 0. */
#define QRT_IF(flag, ...) QRT_IF_(flag, __VA_ARGS__)
#define QRT_IF_(flag, ...) QRT_IF_##flag(__VA_ARGS__)
#define QRT_IF_0(...)
#define QRT_IF_1(...) __VA_ARGS__

#define QRT_MAX_RANK 64
#define QRT_MAX_OPERANDS 64
/* Kernels may read so many elements past the end of parameter arrays (scales, multipliers, shifts, zero points,
 * bias). */
#define QRT_PARAMETER_PADDING 64
/* The largest tile that a GEMM microkernel may declare. */
#define QRT_MAX_MR 64
#define QRT_MAX_NR 64

typedef enum {
    QRT_OK = 0,
    QRT_NO_MEMORY,
    QRT_BAD_ARGUMENT,
    QRT_ACCUMULATOR_OVERFLOW, /* an exact accumulator needs more than 64 bits */
    QRT_INDEX_OUT_OF_RANGE,
    QRT_DIVISION_BY_ZERO,
    QRT_QUOTIENT_OUT_OF_RANGE, /* the least number divided by -1 */
    QRT_NO_INTEGER,            /* a float that no i32 holds */
    QRT_TOO_MANY_ROUNDS,       /* of one loop */
    QRT_TOO_MANY_STEPS,
    QRT_PAUSED, /* no failure: a run of loops goes on when it is called again */
} qrt_status;

typedef enum { QRT_I8, QRT_U8, QRT_I16, QRT_U16, QRT_I32, QRT_U32 } qrt_container;
typedef enum { QRT_F16, QRT_BF16, QRT_F32, QRT_F64 } qrt_expressed;
typedef enum { QRT_HALF_EVEN, QRT_HALF_AWAY, QRT_TOWARD_ZERO } qrt_rounding;
typedef enum { QRT_ZERO_POINT_BEFORE, QRT_ZERO_POINT_AFTER } qrt_zero_point_order;
typedef enum { QRT_SCALE_DIVIDE, QRT_SCALE_RECIPROCAL } qrt_scale_mode;
typedef enum {
#define QRT_RULE(number, name) number,
#include "rules.def"
} qrt_rule;

typedef struct qrt_kernels qrt_kernels;

typedef struct {
    void *const *operands; /* the inputs, then the output */
    int threads;
} qrt_scratch;

typedef qrt_status (*qrt_entry)(const void *args, qrt_scratch *scratch);

QRT_INLINE int64_t qrt_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}
QRT_INLINE int64_t qrt_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}
QRT_INLINE int64_t qrt_ceil_div(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}
QRT_INLINE int64_t qrt_round_up(int64_t a, int64_t b) {
    return qrt_ceil_div(a, b) * b;
}

QRT_INLINE int qrt_container_size(qrt_container container) {
    return container <= QRT_U8 ? 1 : container <= QRT_U16 ? 2 : 4;
}

QRT_INLINE int qrt_expressed_size(qrt_expressed expressed) {
    return expressed <= QRT_BF16 ? 2 : expressed == QRT_F32 ? 4 : 8;
}

QRT_INLINE int64_t qrt_load(qrt_container container, const void *source, int64_t i) {
    return container == QRT_I8    ? ((const int8_t *)source)[i]
           : container == QRT_U8  ? ((const uint8_t *)source)[i]
           : container == QRT_I16 ? ((const int16_t *)source)[i]
           : container == QRT_U16 ? ((const uint16_t *)source)[i]
           : container == QRT_I32 ? ((const int32_t *)source)[i]
                                  : (int64_t)((const uint32_t *)source)[i];
}

/* Returns the largest |value - zero point| over all values of a container and `count` zero points. */
static inline int64_t qrt_largest_difference(qrt_container container, const int64_t *zero_point, int64_t count) {
    static const int64_t least[] = {INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0};
    static const int64_t most[] = {INT8_MAX, UINT8_MAX, INT16_MAX, UINT16_MAX, INT32_MAX, UINT32_MAX};
    int64_t largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = qrt_max(largest, qrt_max(most[container] - zero_point[i], zero_point[i] - least[container]));
    return largest;
}
