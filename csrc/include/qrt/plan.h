/* Programs of entries, and the pool of threads that runs tasks. */
#pragma once

#include "qrt/base.h"

typedef struct {
    qrt_entry entry;
    const void *args;
    int64_t first; /* operand i is pointers[first + i] */
} qrt_step;

/* Runs the steps in order and, where `seconds` is not NULL, times each. After a failure *failed is the step's
 * number. */
qrt_status qrt_run(const qrt_step *steps, int64_t count, void *const *pointers, int threads, double *seconds,
                   int64_t *failed);

/* Runs fn(context, task) for every task in [0, tasks), on at most `threads` threads and in any order. Where the pool is
 * busy the caller runs all tasks itself. Returns the first status that is not QRT_OK. */
typedef qrt_status (*qrt_task)(void *context, int64_t task);
qrt_status qrt_parallel(int64_t tasks, qrt_task fn, void *context, int threads);

/* A sum over bytes that a change within eight of them, which begin at a multiple of eight, always changes. */
uint64_t qrt_checksum(const void *data, int64_t bytes);

int qrt_get_num_threads(void);         /* 0: QRT_NUM_THREADS is not a number in [1, 256] */
void qrt_set_num_threads(int threads); /* clamped to [1, 256] */
