/* The pool of threads; a process has one. A call is open while its caller works on it: a worker joins by adding itself
 * to `state`, and the caller closes the call and waits for those inside. Workers spin between calls for a while, then
 * sleep.
 *
 * The tasks of a call are cut into one range for each thread. A thread gets the same range whenever a call has as many
 * tasks and threads, because its caches may still hold what it read of constant operands. A thread that has finished
 * its range takes tasks from the ranges of others. */
#if defined(__linux__)
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "core/float_control.h"

#define MAX_THREADS 256
/* This is some 50 us, or 200 us where `pause` takes 140 cycles: longer than the gap between the calls of a program. */
#define SPINS 4000
#define CLOSED 0x10000

/* A caller gives a woken worker so long before it looks after it: several times what it takes to wake one. */
#define WAKING_NS 50000

/* The next task of a thread's range, and the last call that the thread has noticed, on a cache line of their own. */
typedef struct {
    _Alignas(QRT_ALIGNMENT) atomic_llong next;
    atomic_uint noticed;
    unsigned moved; /* the value of `noticed` when the worker was last moved */
    pthread_t thread;
} member;

static struct {
    pthread_mutex_t lock; /* guards sleeping and waking */
    pthread_cond_t wake;
    atomic_int sleepers;
    atomic_uint generation;
    atomic_flag busy;
    int workers; /* whoever holds `busy` owns it */
    /* The call. These fields are written while it is closed. */
    atomic_int state; /* the number of workers inside, with CLOSED added */
    int64_t woken_at; /* 0: nobody had to be woken */
    int threads;      /* the caller is number 0, workers are numbered from 1 */
    qrt_task fn;
    void *context;
    int64_t tasks;
    atomic_int status;
    member members[MAX_THREADS];
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

/* Returns 0 where QRT_NUM_THREADS is set to something that is not a count of threads. */
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

/* ---- where workers run ---- */

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A woken worker may be queued behind its caller while another processor idles, and the scheduler takes milliseconds to
 * mend that. Changing the processors that a queued thread may use moves it at once; afterwards it may use all of its
 * own again. */
static void move_away(pthread_t thread) {
#if defined(__linux__)
    cpu_set_t allowed, others;
    const int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || pthread_getaffinity_np(thread, sizeof allowed, &allowed))
        return;
    others = allowed;
    CPU_CLR(here, &others);
    if (CPU_COUNT(&others) && !pthread_setaffinity_np(thread, sizeof others, &others))
        pthread_setaffinity_np(thread, sizeof allowed, &allowed);
#else
    (void)thread;
#endif
}

/* Looks after the worker whose tasks the caller is about to do. A worker that has missed a whole call, or takes long to
 * wake, is moved once. */
static void look_after(int number) {
    member *m = &pool.members[number];
    const unsigned noticed = atomic_load(&m->noticed), missed = atomic_load(&pool.generation) - noticed;
    if (missed == 0 || m->moved == noticed || number > pool.workers)
        return;
    if (missed > 1 || (pool.woken_at && now_ns() - pool.woken_at > WAKING_NS)) {
        m->moved = noticed;
        move_away(m->thread);
    }
}

/* ---- workers ---- */

static int64_t first_task(int number) {
    return pool.tasks * number / pool.threads;
}

static void work_on(int number) {
    const int64_t end = first_task(number + 1);
    long long task;
    while ((task = atomic_fetch_add(&pool.members[number].next, 1)) < end) {
        qrt_status status = atomic_load(&pool.status);
        if (status != QRT_OK)
            return;
        status = pool.fn(pool.context, task);
        if (status != QRT_OK) {
            int ok = QRT_OK;
            atomic_compare_exchange_strong(&pool.status, &ok, (int)status);
        }
    }
}

static void work(int self) {
    for (int i = 0; i < pool.threads; i++) {
        const int number = (self + i) % pool.threads;
        if (self == 0 && number != 0)
            look_after(number);
        work_on(number);
    }
}

static void join_call(int self) {
    int inside = atomic_load(&pool.state);
    do {
        if (inside & CLOSED)
            return;
    } while (!atomic_compare_exchange_weak(&pool.state, &inside, inside + 1));
    if (self < pool.threads)
        work(self);
    atomic_fetch_sub(&pool.state, 1);
}

static void wait_for_call(unsigned seen) {
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

static void *worker(void *number) {
    /* A new thread inherits its creator's float control register; nobody else changes it from here on. */
    (void)qrt_float_enter();
    for (unsigned seen = 0;;) {
        wait_for_call(seen);
        seen = atomic_load(&pool.generation);
        atomic_store(&pool.members[(intptr_t)number].noticed, seen);
        join_call((int)(intptr_t)number);
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
        member *m = &pool.members[pool.workers + 1];
        if (pthread_create(&m->thread, NULL, worker, (void *)(intptr_t)(pool.workers + 1)))
            return; /* the other threads do its share */
        pthread_detach(m->thread);
        pool.workers++;
    }
}

/* ---- calls ---- */

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
    pool.threads = threads;
    pool.fn = fn;
    pool.context = context;
    pool.tasks = tasks;
    for (int i = 0; i < threads; i++)
        atomic_store_explicit(&pool.members[i].next, first_task(i), memory_order_relaxed);
    atomic_store(&pool.status, QRT_OK);
    atomic_store(&pool.state, 0);
    atomic_fetch_add(&pool.generation, 1);
    pool.woken_at = 0;
    if (atomic_load(&pool.sleepers)) {
        pool.woken_at = now_ns();
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
    }
    work(0);
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
