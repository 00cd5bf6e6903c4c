/* Programs: their steps are run one after the other. */
#include <time.h>

#include "core/core.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

qrt_status qrt_run(const qrt_step *steps, int64_t count, void *const *pointers, int threads, double *seconds,
                   int64_t *failed) {
    double start = seconds ? now() : 0;
    for (int64_t i = 0; i < count; i++) {
        qrt_scratch scratch = {pointers + steps[i].first, threads};
        const qrt_status status = steps[i].entry(steps[i].args, &scratch);
        if (status != QRT_OK) {
            *failed = i;
            return status;
        }
        if (seconds) {
            const double end = now();
            seconds[i] = end - start;
            start = end;
        }
    }
    return QRT_OK;
}
