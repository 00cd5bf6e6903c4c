/* The pool of threads. */
#ifndef QRT_THREADS_H
#define QRT_THREADS_H

#include "qrt/base.h"

/* Runs fn(context, task) for every task in [0, tasks), on at most `threads` threads. Work may run in any order; a busy
 * pool leaves all of it to the caller. The first status that is not QRT_OK is returned. */
typedef qrt_status (*qrt_task)(void *context, int64_t task);
qrt_status qrt_parallel(int64_t tasks, qrt_task fn, void *context, int threads);

int qrt_get_num_threads(void);         /* 0: QRT_NUM_THREADS is not within [1, 256] */
void qrt_set_num_threads(int threads); /* clamped to [1, 256] */

#endif
