/* Plain integers and bools: what threads share, and the divisions that are errors. */
#include "core/core.h"

/* Elements of a task. */
#define GRAIN 65536

static int64_t size_of(qrt_plain_element element) {
    return element <= QRT_PLAIN_8 ? 1 : (int64_t)1 << (element - QRT_PLAIN_8);
}

/* ---- divisions ---- */

static int64_t value_at(qrt_plain_element element, const void *values, int64_t i) {
    return element == QRT_PLAIN_8    ? ((const int8_t *)values)[i]
           : element == QRT_PLAIN_16 ? ((const int16_t *)values)[i]
           : element == QRT_PLAIN_32 ? ((const int32_t *)values)[i]
                                     : ((const int64_t *)values)[i];
}

/* A division by zero comes before all others, whichever element and thread would find it. */
static qrt_status check_division(const qrt_plain_args *args, const void *a, const void *b) {
    const int64_t divisors = args->strides[1] ? args->count : qrt_min(args->count, 1);
    const int64_t least = INT64_MIN >> (64 - 8 * size_of(args->element));
    bool has_minus_one = false;
    for (int64_t i = 0; i < divisors; i++) {
        const int64_t divisor = value_at(args->element, b, i);
        if (divisor == 0)
            return QRT_DIVISION_BY_ZERO;
        has_minus_one |= divisor == -1;
    }
    for (int64_t i = 0; has_minus_one && i < args->count; i++)
        if (value_at(args->element, b, i * args->strides[1]) == -1 &&
            value_at(args->element, a, i * args->strides[0]) == least)
            return QRT_QUOTIENT_OUT_OF_RANGE;
    return QRT_OK;
}

/* ---- tasks ---- */

typedef struct {
    const qrt_plain_args *args;
    void *const *operands;
} plain_call;

static const void *part_of(const plain_call *call, int operand, qrt_plain_element element, int64_t first) {
    return (const char *)call->operands[operand] + first * call->args->strides[operand] * size_of(element);
}

static qrt_status share(const qrt_plain_args *args, qrt_scratch *scratch, qrt_task task) {
    plain_call call = {args, scratch->operands};
    return qrt_parallel(qrt_ceil_div(args->count, GRAIN), task, &call, scratch->threads);
}

static qrt_status pair_task(void *context, int64_t task) {
    const plain_call *call = context;
    const qrt_plain_args *args = call->args;
    const int64_t first = task * GRAIN, count = qrt_min(GRAIN, args->count - first);
    const int a = args->swapped, b = !args->swapped;
    args->kernels->plain_pair(args, part_of(call, a, args->element, first), args->strides[a],
                              part_of(call, b, args->element, first), args->strides[b],
                              (char *)call->operands[2] + first * size_of(args->out), count);
    return QRT_OK;
}

qrt_status qrt_plain(const void *pointer, qrt_scratch *scratch) {
    const qrt_plain_args *args = pointer;
    if (args->kind >= QRT_PLAIN_DIVIDE && args->kind <= QRT_PLAIN_REMAINDER) {
        const qrt_status status = check_division(args, scratch->operands[0], scratch->operands[1]);
        if (status != QRT_OK)
            return status;
    }
    return share(args, scratch, pair_task);
}

static qrt_status select_task(void *context, int64_t task) {
    const plain_call *call = context;
    const qrt_plain_args *args = call->args;
    const int64_t first = task * GRAIN, count = qrt_min(GRAIN, args->count - first), *strides = args->strides;
    args->kernels->plain_select(args, part_of(call, 0, QRT_PLAIN_BOOL, first), strides[0],
                                part_of(call, 1, args->element, first), strides[1],
                                part_of(call, 2, args->element, first), strides[2],
                                (char *)call->operands[3] + first * size_of(args->out), count);
    return QRT_OK;
}

qrt_status qrt_plain_select(const void *args, qrt_scratch *scratch) {
    return share(args, scratch, select_task);
}

static qrt_status cast_task(void *context, int64_t task) {
    const plain_call *call = context;
    const qrt_plain_args *args = call->args;
    const int64_t first = task * GRAIN, count = qrt_min(GRAIN, args->count - first);
    args->kernels->plain_cast(args, part_of(call, 0, args->element, first), args->strides[0],
                              (char *)call->operands[1] + first * size_of(args->out), count);
    return QRT_OK;
}

qrt_status qrt_plain_cast(const void *args, qrt_scratch *scratch) {
    return share(args, scratch, cast_task);
}
