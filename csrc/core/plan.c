/* Programs: their steps are run one after the other, and steps of control say which one is next. Every loop ends: each
 * jump back begins a round of a loop, which counts them. */
#include <time.h>

#include "core/core.h"

/* The clock is read after so many jumps back, and after so many seconds the caller is asked whether to go on. */
#define PAUSE_TURNS 16
#define PAUSE_SECONDS 0.05

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_time_to_pause(qrt_progress *run) {
    if (++run->turns % PAUSE_TURNS)
        return false;
    const double time = now();
    if (run->deadline == 0)
        run->deadline = time + PAUSE_SECONDS;
    if (time < run->deadline)
        return false;
    run->deadline = 0;
    return true;
}

/* Counts a round of the loop that begins at the present step. */
static bool may_begin_round(qrt_progress *run) {
    int64_t *rounds = run->rounds + run->at;
    *rounds = run->again ? *rounds + 1 : 0;
    run->again = false;
    return *rounds < run->most_rounds;
}

static qrt_status jump(qrt_progress *run, int64_t target) {
    run->again = target <= run->at;
    run->at = target;
    return run->again && is_time_to_pause(run) ? QRT_PAUSED : QRT_OK;
}

static qrt_status control(const qrt_step *step, qrt_progress *run) {
    if (step->kind == QRT_UNLESS && !*(const uint8_t *)run->pointers[step->first])
        return jump(run, step->target);
    if (step->kind == QRT_ROUND && !may_begin_round(run))
        return QRT_TOO_MANY_ROUNDS;
    run->steps -= step->cost;
    if (run->steps < 0)
        return QRT_TOO_MANY_STEPS;
    if (step->kind == QRT_JUMP)
        return jump(run, step->target);
    run->at++;
    return QRT_OK;
}

static qrt_status call(const qrt_step *step, qrt_progress *run) {
    qrt_scratch scratch = {run->pointers + step->first, run->threads};
    const qrt_status status = step->entry(step->args, &scratch);
    run->at += status == QRT_OK;
    return status;
}

qrt_status qrt_run(const qrt_step *steps, int64_t count, qrt_progress *run) {
    double start = run->seconds ? now() : 0;
    while (run->at < count) {
        const int64_t at = run->at;
        const qrt_status status = steps[at].kind == QRT_CALL ? call(steps + at, run) : control(steps + at, run);
        if (status != QRT_OK)
            return status;
        if (run->seconds) {
            const double end = now();
            run->seconds[at] += end - start;
            start = end;
        }
    }
    return QRT_OK;
}
