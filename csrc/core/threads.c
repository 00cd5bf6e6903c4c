/* One pool per process. A job is open while the caller works on it: a worker joins by adding itself to `state`, and
 * the caller closes the job and waits for those inside. Workers spin briefly between jobs, then sleep. */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "core.h"
#include "float_control.h"

#define MAX_THREADS 256
#define SPINS 200 /* about 5 us where `pause` takes 140 cycles */
#define CLOSED 0x10000

static struct {
    pthread_mutex_t lock; /* guards sleeping and waking */
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_uint generation;
    atomic_flag busy;
    int workers; /* owned by whoever holds busy */
    /* The job. Written while closed. */
    atomic_int state; /* workers inside, | CLOSED */
    int helpers;      /* how many may join */
    qrt_task fn;
    void *context;
    int64_t tasks;
    atomic_llong next;
    atomic_int status;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .busy = ATOMIC_FLAG_INIT, .state = CLOSED};

static atomic_int num_threads;

static inline void pause_cpu(void) {
#if defined(__x86_64__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- the count ---- */

/* 0 where QRT_NUM_THREADS is set to what is no count. */
static int default_threads(void) {
    const char *text = getenv("QRT_NUM_THREADS");
    if (text && *text) {
        char *end = NULL;
        const long given = strtol(text, &end, 10);
        return *end == '\0' && given >= 1 && given <= MAX_THREADS ? (int)given : 0;
    }
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return (int)qrt_min(CPU_COUNT(&allowed), MAX_THREADS);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return (int)qrt_max(1, qrt_min(online, MAX_THREADS));
}

int qrt_get_num_threads(void) {
    int threads = atomic_load_explicit(&num_threads, memory_order_relaxed);
    if (threads == 0) {
        threads = default_threads();
        int unset = 0;
        if (!atomic_compare_exchange_strong(&num_threads, &unset, threads))
            threads = unset;
    }
    return threads;
}

void qrt_set_num_threads(int threads) {
    atomic_store(&num_threads, (int)qrt_max(1, qrt_min(threads, MAX_THREADS)));
}

/* ---- workers ---- */

static void work(void) {
    for (;;) {
        long long task = atomic_fetch_add(&pool.next, 1);
        if (task >= pool.tasks)
            return;
        qrt_status status = pool.fn(pool.context, task);
        if (status != QRT_OK) {
            int ok = QRT_OK;
            atomic_compare_exchange_strong(&pool.status, &ok, (int)status);
            atomic_store(&pool.next, pool.tasks);
        }
    }
}

static void join_job(void) {
    int inside = atomic_load(&pool.state);
    do {
        if (inside & CLOSED || inside >= pool.helpers)
            return;
    } while (!atomic_compare_exchange_weak(&pool.state, &inside, inside + 1));
    work();
    atomic_fetch_sub(&pool.state, 1);
}

static void wait_for_job(unsigned seen) {
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load(&pool.generation) != seen)
            return;
        pause_cpu();
    }
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleepers, 1);
    while (atomic_load(&pool.generation) == seen)
        pthread_cond_wait(&pool.wake, &pool.lock);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.lock);
}

static void *worker(void *start) {
    /* A new thread inherits its creator's float control register; from here on nobody else touches it. */
    (void)qrt_float_enter();
    unsigned seen = (unsigned)(uintptr_t)start;
    for (;;) {
        wait_for_job(seen);
        seen = atomic_load(&pool.generation);
        join_job();
    }
    return NULL;
}

/* ---- fork: the child has no workers, and nobody holds its pool ---- */

static void reset_in_child(void) {
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.state, CLOSED);
    pool.workers = 0;
    atomic_flag_clear(&pool.busy);
}

static void register_fork(void) {
    pthread_atfork(NULL, NULL, reset_in_child);
}

static void start_workers(int wanted) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork);
    while (pool.workers < wanted) {
        pthread_t thread;
        void *seen = (void *)(uintptr_t)atomic_load(&pool.generation);
        if (pthread_create(&thread, NULL, worker, seen))
            return; /* fewer helpers: the caller does their share */
        pthread_detach(thread);
        pool.workers++;
    }
}

/* ---- jobs ---- */

static qrt_status run_alone(int64_t tasks, qrt_task fn, void *context) {
    for (int64_t task = 0; task < tasks; task++) {
        qrt_status status = fn(context, task);
        if (status != QRT_OK)
            return status;
    }
    return QRT_OK;
}

qrt_status qrt_parallel(int64_t tasks, qrt_task fn, void *context, int threads) {
    threads = (int)qrt_min(qrt_min(threads, MAX_THREADS), tasks);
    if (threads <= 1 || atomic_flag_test_and_set(&pool.busy))
        return run_alone(tasks, fn, context);
    start_workers(threads - 1);
    pool.helpers = threads - 1;
    pool.fn = fn;
    pool.context = context;
    pool.tasks = tasks;
    atomic_store(&pool.next, 0);
    atomic_store(&pool.status, QRT_OK);
    atomic_store(&pool.state, 0);
    atomic_fetch_add(&pool.generation, 1);
    if (atomic_load(&pool.sleepers)) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
    work();
    atomic_fetch_or(&pool.state, CLOSED);
    for (int spin = 0; atomic_load(&pool.state) != CLOSED; spin++) {
        if (spin < SPINS)
            pause_cpu();
        else
            sched_yield();
    }
    qrt_status status = (qrt_status)atomic_load(&pool.status);
    atomic_flag_clear(&pool.busy);
    return status;
}
