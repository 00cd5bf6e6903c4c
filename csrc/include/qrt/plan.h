/* Programs of entries. */
#ifndef QRT_PLAN_H
#define QRT_PLAN_H

#include "qrt/base.h"

typedef struct {
    qrt_entry entry;
    const void *args;
    int operands;
    const int32_t *slots; /* operand i is pointers[slots[i]] */
} qrt_step;

/* Runs the steps in order, timing each where `seconds` is not NULL; on failure *failed is the step's number. */
qrt_status qrt_run(const qrt_step *steps, int64_t count, void *const *pointers, int threads, double *seconds,
                   int64_t *failed);

#endif
