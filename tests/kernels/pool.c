/* core/threads/threads.c under many callers, for the thread sanitizer (make test-tsan) and on its own: what tasks wrote, the
 * caller reads, whoever ran them. Prints how many jobs went wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/core.h"

#define CALLERS 6
#define JOBS 2000
#define TASKS 40

typedef struct {
    int64_t seed, fails_at; /* a task's number, or -1 */
    int64_t written[TASKS];
} job;

static atomic_int wrong;

static qrt_status task(void *context, int64_t number) {
    job *j = context;
    j->written[number] = j->seed + number;
    return number == j->fails_at ? QRT_NO_MEMORY : QRT_OK;
}

static void *call(void *first_seed) {
    for (int64_t i = 0; i < JOBS; i++) {
        const int64_t seed = *(const int64_t *)first_seed + i, tasks = seed % TASKS + 1;
        job j = {.seed = seed, .fails_at = i % 5 ? -1 : tasks / 2};
        qrt_set_num_threads((int)(seed % 4) + 1);
        const qrt_status status = qrt_parallel(tasks, task, &j, qrt_get_num_threads());
        bool right = status == (j.fails_at < 0 ? QRT_OK : QRT_NO_MEMORY);
        for (int64_t t = 0; t < (j.fails_at < 0 ? tasks : 0); t++)
            right = right && j.written[t] == seed + t;
        if (!right)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

int main(void) {
    pthread_t callers[CALLERS];
    int64_t seeds[CALLERS];
    for (int64_t i = 0; i < CALLERS; i++) {
        seeds[i] = i * JOBS;
        if (pthread_create(&callers[i], NULL, call, &seeds[i]))
            return 2;
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    printf("%d\n", wrong);
    return wrong != 0;
}
