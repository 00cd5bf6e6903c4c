/* Layouts: how the elements of a tensor find their parameters. */
#pragma once

#include "qrt/base.h"

/* An element's parameter index is sum(index[d] / block[d] * step[d]). An axis with step 0 does not count. */
typedef struct {
    int rank;
    int64_t shape[QRT_MAX_RANK];
    int64_t block[QRT_MAX_RANK];
    int64_t step[QRT_MAX_RANK];
} qrt_layout;

/* Splits blocked axes into (blocks, block), drops axes of size 1 and merges axes that one stride can walk. Afterwards
 * every block is 1 and the innermost step 0 or 1. The strides of up to two operands (or NULL) are rewritten in the same
 * way. */
qrt_status qrt_layout_prepare(qrt_layout *layout, int64_t *a_strides, int64_t *b_strides);

/* Joins the innermost axes of a prepared layout into one with step 0. Along it, element i has the parameter i / run %
 * period. */
void qrt_layout_gather(qrt_layout *layout, int64_t *run, int64_t *period);
