/* One plan that eight threads run at once, each on an arena of its own, for the thread sanitizer (make test-tsan) and on
 * its own: what a step wrote, the next one reads, and nobody writes what all share. Prints how many runs went wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/core.h"

#define CALLERS 8
#define RUNS 300
#define ROWS 32
#define COLUMNS 48
#define SIZE (ROWS * COLUMNS)

static atomic_int wrong;

typedef struct {
    int64_t addend;
} add_args;

typedef struct {
    const add_args *args;
    void *const *operands;
} add_call;

/* A row of out = a + b + addend. */
static qrt_status add_row(void *context, int64_t row) {
    const add_call *call = context;
    const int64_t *a = call->operands[0], *b = call->operands[1];
    int64_t *out = call->operands[2];
    for (int64_t i = row * COLUMNS; i < (row + 1) * COLUMNS; i++)
        out[i] = a[i] + b[i] + call->args->addend;
    return QRT_OK;
}

static qrt_status add(const void *args, qrt_scratch *scratch) {
    add_call call = {args, scratch->operands};
    return qrt_parallel(ROWS, add_row, &call, scratch->threads);
}

static qrt_status fail(const void *args, qrt_scratch *scratch) {
    const int64_t *input = scratch->operands[0];
    return input[0] % *(const int64_t *)args ? QRT_OK : QRT_BAD_ARGUMENT;
}

static const add_args ADDENDS[] = {{1}, {-5}};
static const int64_t SEVENTH = 7;
static const qrt_copy_part TRANSPOSED = {
    .rank = 2,
    .itemsize = sizeof(int64_t),
    .shape = {COLUMNS, ROWS},
    .source_strides = {1, COLUMNS},
    .target_strides = {ROWS, 1},
};
static const qrt_copy_args TRANSPOSE = {1, &TRANSPOSED};

/* Operands: x, the arena's two halves, out. u = x + x + 1; v = u transposed; a check; v = v + v - 5, over itself; out =
 * v + v + 1. */
static const qrt_step STEPS[] = {
    {add, &ADDENDS[0], 0},
    {qrt_copy, &TRANSPOSE, 3},
    {fail, &SEVENTH, 5},
    {add, &ADDENDS[1], 6},
    {add, &ADDENDS[0], 9},
};

static void *call(void *first_seed) {
    static _Thread_local int64_t x[SIZE], arena[2 * SIZE], out[SIZE];
    int64_t *const v = arena + SIZE;
    void *const operands[] = {x, x, arena, arena, v, x, v, v, v, v, v, out};
    for (int64_t run = 0; run < RUNS; run++) {
        const int64_t seed = *(const int64_t *)first_seed + run;
        for (int64_t i = 0; i < SIZE; i++)
            x[i] = seed + i;
        int64_t failed = -1;
        const qrt_status status = qrt_run(STEPS, 5, operands, (int)(seed % 3) + 1, NULL, &failed);
        bool right = seed % 7 ? status == QRT_OK : status == QRT_BAD_ARGUMENT && failed == 2;
        for (int64_t i = 0; i < (status == QRT_OK ? SIZE : 0); i++) {
            const int64_t from = i % ROWS * COLUMNS + i / ROWS;
            right = right && out[i] == 2 * (2 * (2 * (seed + from) + 1) - 5) + 1;
        }
        if (!right)
            atomic_fetch_add(&wrong, 1);
    }
    return NULL;
}

int main(void) {
    pthread_t callers[CALLERS];
    int64_t seeds[CALLERS];
    for (int64_t i = 0; i < CALLERS; i++) {
        seeds[i] = i * RUNS;
        if (pthread_create(&callers[i], NULL, call, &seeds[i]))
            return 2;
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    printf("%d\n", wrong);
    return wrong != 0;
}
