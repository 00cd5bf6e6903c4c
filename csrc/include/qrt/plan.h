/* Programs of entries, and the pool of threads that runs tasks. */
#pragma once

#include "qrt/base.h"

typedef enum {
    QRT_CALL,   /* runs its entry */
    QRT_ROUND,  /* begins a round of a loop: a jump back leads to nothing else */
    QRT_UNLESS, /* goes on at the target unless its operand, one bool, is true */
    QRT_JUMP,   /* goes on at the target */
} qrt_step_kind;

typedef struct {
    qrt_entry entry;
    const void *args;
    int64_t first; /* operand i is pointers[first + i] */
    qrt_step_kind kind;
    int64_t target;
    int64_t cost; /* of control: what it takes from the steps that are left, unless it leaves for the target */
} qrt_step;

/* A run of steps: what it reads, what it may take, how far it is. */
typedef struct {
    void *const *pointers;
    int threads;
    double *seconds;     /* by step, its time is added; NULL: nobody asks */
    int64_t *rounds;     /* by step, the rounds of the loop that begins there; NULL where no step is a round */
    int64_t most_rounds; /* of one loop */
    int64_t steps;       /* that are left: a step of control takes its cost */
    int64_t at;          /* the step that comes; after a failure the one that failed */
    bool again;          /* a jump back led to it */
    int64_t turns;       /* the jumps back since a pause */
    double deadline;     /* of the next pause; 0: not set */
} qrt_progress;

/* Runs the steps from run->at on. QRT_PAUSED: loops have taken a while, and the same call goes on. */
qrt_status qrt_run(const qrt_step *steps, int64_t count, qrt_progress *run);

/* Runs fn(context, task) for every task in [0, tasks), on at most `threads` threads and in any order. Where the pool is
 * busy the caller runs all tasks itself. Returns the first status that is not QRT_OK. */
typedef qrt_status (*qrt_task)(void *context, int64_t task);
qrt_status qrt_parallel(int64_t tasks, qrt_task fn, void *context, int threads);

/* A sum over bytes that a change within eight of them, which begin at a multiple of eight, always changes. */
uint64_t qrt_checksum(const void *data, int64_t bytes);

int qrt_get_num_threads(void);         /* 0: QRT_NUM_THREADS is not a number in [1, 256] */
void qrt_set_num_threads(int threads); /* clamped to [1, 256] */
