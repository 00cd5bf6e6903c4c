/* The declarations that the files of core/ share. */
#pragma once

#include <string.h>

#include "qrt/qrt.h"

#define QRT_ALIGNMENT 64

static inline int64_t qrt_bias_value(qrt_bias_kind kind, const void *bias, int64_t index) {
    return kind == QRT_BIAS_I32   ? ((const int32_t *)bias)[index]
           : kind == QRT_BIAS_I64 ? ((const int64_t *)bias)[index]
                                  : 0;
}

/* Returns one more than the union of the bits of all |value|: a bound on each, and at most twice the largest (1 where
 * all are 0). */
static inline int64_t qrt_magnitude_i32(const int32_t *values, int64_t count) {
    typedef int32_t quad __attribute__((vector_size(16)));
    quad bits = {0}, four;
    int32_t rest = 0;
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        memcpy(&four, values + i, sizeof four);
        bits |= four ^ (four >> 31);
    }
    for (; i < count; i++)
        rest |= values[i] ^ (values[i] >> 31);
    return (int64_t)(bits[0] | bits[1] | bits[2] | bits[3] | rest) + 1; /* |v| is ~v + 1 where v < 0 */
}

/* Whether a sum of up to INT32_MAX - limit still fits 32 bits after any of these biases is added. A negative limit says
 * that no bias fits. */
static inline bool qrt_bias_within(qrt_bias_kind kind, const void *bias, int64_t count, int64_t limit) {
    if (kind == QRT_BIAS_I32 && qrt_magnitude_i32(bias, count) <= limit)
        return true;
    for (int64_t i = 0; kind != QRT_BIAS_NONE && i < count; i++) {
        const int64_t value = qrt_bias_value(kind, bias, i);
        if (value > limit || value < -limit)
            return false;
    }
    return limit >= 0;
}

/* ---- memory.c. A thread has a buffer for each slot, which grows and is freed when the thread ends. An entry may use a
 * slot again as soon as the entry that used it returns. An entry that calls another one has a slot of its own. ---- */

typedef enum {
    QRT_WORKSPACE_CALL,
    QRT_WORKSPACE_TASK,
    QRT_WORKSPACE_CALLER,
    QRT_WORKSPACES,
} qrt_workspace_slot;

/* The memory is 64-byte aligned and not initialised; NULL where there is none. */
void *qrt_workspace(qrt_workspace_slot slot, size_t bytes);
void *qrt_aligned_alloc(size_t bytes);
void qrt_aligned_free(void *memory);
/* Memory for packed weights. qrt_weights_free must be given the size that was allocated. */
void *qrt_weights_alloc(size_t bytes);
void qrt_weights_free(void *memory, size_t bytes);
/* Asks the system for huge pages wherever whole ones fit. It must be called before anything is written; it pays where
 * memory is read from end to end. */
void qrt_advise_huge_pages(void *memory, size_t bytes);

/* ---- walk.c: rows of a layout ---- */

typedef struct {
    int64_t offset;     /* the first element, in the row-major result */
    int64_t offsets[2]; /* the first element in each operand that is walked with strides */
    int64_t count;
    int64_t parameter;
} qrt_row;

typedef qrt_status (*qrt_row_fn)(const void *context, const qrt_row *row);

/* Calls fn for runs of elements along the innermost axis, shared among threads. The layout must be prepared. The
 * strides, one for each of its axes, place the runs in up to two operands; NULL: there is no such operand. */
qrt_status qrt_walk(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int threads,
                    qrt_row_fn fn, const void *context);
/* The same for a layout each of whose elements stands for `size` of them. */
qrt_status qrt_walk_units(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int64_t size,
                          int threads, qrt_row_fn fn, const void *context);

/* ---- window.c ---- */

/* Copies the patch of output position `row` in group `group` to `patch`. Taps outside the input become `fill`. */
void qrt_gather_patch(const qrt_window *window, qrt_container container, const void *input, int64_t row, int64_t group,
                      int64_t fill, void *patch);
