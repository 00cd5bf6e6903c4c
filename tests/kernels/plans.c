/* Two plans that eight threads run at once, each on an arena of its own, for the thread sanitizer (make test-tsan) and
 * on its own: what a step wrote, the next one reads, and nobody writes what all share. One plan has a loop and a
 * branch, of which every run takes other rounds. Prints how many runs went wrong. */
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
    {.entry = add, .args = &ADDENDS[0], .first = 0}, {.entry = qrt_copy, .args = &TRANSPOSE, .first = 3},
    {.entry = fail, .args = &SEVENTH, .first = 5},   {.entry = add, .args = &ADDENDS[1], .first = 6},
    {.entry = add, .args = &ADDENDS[0], .first = 9},
};

typedef struct {
    int64_t counter, limit;
    bool said;
} loop_state;

static qrt_status begin(const void *args, qrt_scratch *scratch) {
    loop_state *state = scratch->operands[0];
    *state = (loop_state){.limit = *(const int64_t *)scratch->operands[1] % *(const int64_t *)args};
    return QRT_OK;
}

static qrt_status is_below(const void *args, qrt_scratch *scratch) {
    loop_state *state = scratch->operands[0];
    (void)args;
    state->said = state->counter < state->limit;
    return QRT_OK;
}

static qrt_status is_odd(const void *args, qrt_scratch *scratch) {
    loop_state *state = scratch->operands[0];
    (void)args;
    state->said = state->counter++ % 2;
    return QRT_OK;
}

#define CONTROL(...) {.args = NULL, __VA_ARGS__}

/* Operands: the state, x, the bool of the state, v, out. v = x + x + 1; while the counter is below x[0] % 7: v = v + v
 * - 5 in odd rounds, v + v + 1 in even ones, over itself; out = v + v + 1. */
static const qrt_step LOOP[] = {
    {.entry = begin, .args = &SEVENTH, .first = 0},
    {.entry = add, .args = &ADDENDS[0], .first = 3},
    CONTROL(.kind = QRT_ROUND, .cost = 1),
    {.entry = is_below, .first = 0},
    CONTROL(.kind = QRT_UNLESS, .first = 2, .target = 11, .cost = 1),
    {.entry = is_odd, .first = 0},
    CONTROL(.kind = QRT_UNLESS, .first = 2, .target = 9),
    {.entry = add, .args = &ADDENDS[1], .first = 6},
    CONTROL(.kind = QRT_JUMP, .target = 2),
    {.entry = add, .args = &ADDENDS[0], .first = 6},
    CONTROL(.kind = QRT_JUMP, .target = 2),
    {.entry = add, .args = &ADDENDS[0], .first = 9},
};
#define LOOP_STEPS (int64_t)(sizeof LOOP / sizeof *LOOP)

/* Runs the loop from a seed within limits, of which one may be too low, and says whether all is right. */
static bool loops_right(int64_t seed, const int64_t *x, int64_t *v, int64_t *out) {
    loop_state state;
    int64_t rounds[LOOP_STEPS];
    void *const operands[] = {&state, (void *)x, &state.said, (void *)x, (void *)x, v, v, v, v, v, v, out};
    const int64_t limit = seed % 7, most = seed % 3 ? 7 : 5, steps = seed % 5 ? 1000 : 2 * limit;
    qrt_progress run = {operands, (int)(seed % 3) + 1, NULL, rounds, most, steps};
    qrt_status status;
    do
        status = qrt_run(LOOP, LOOP_STEPS, &run);
    while (status == QRT_PAUSED);
    if (limit >= most)
        return run.at == 2 && status == QRT_TOO_MANY_ROUNDS;
    if (steps != 1000)
        return status == QRT_TOO_MANY_STEPS && run.at == 2;
    bool right = status == QRT_OK;
    for (int64_t i = 0; i < SIZE; i++) {
        int64_t value = 2 * x[i] + 1;
        for (int64_t round = 0; round < limit; round++)
            value = 2 * value + (round % 2 ? -5 : 1);
        right = right && out[i] == 2 * value + 1;
    }
    return right;
}

static void *call(void *first_seed) {
    static _Thread_local int64_t x[SIZE], arena[2 * SIZE], out[SIZE];
    int64_t *const v = arena + SIZE;
    void *const operands[] = {x, x, arena, arena, v, x, v, v, v, v, v, out};
    for (int64_t run = 0; run < RUNS; run++) {
        const int64_t seed = *(const int64_t *)first_seed + run;
        for (int64_t i = 0; i < SIZE; i++)
            x[i] = seed + i;
        qrt_progress progress = {operands, (int)(seed % 3) + 1};
        const qrt_status status = qrt_run(STEPS, 5, &progress);
        bool right = seed % 7 ? status == QRT_OK : status == QRT_BAD_ARGUMENT && progress.at == 2;
        for (int64_t i = 0; i < (status == QRT_OK ? SIZE : 0); i++) {
            const int64_t from = i % ROWS * COLUMNS + i / ROWS;
            right = right && out[i] == 2 * (2 * (2 * (seed + from) + 1) - 5) + 1;
        }
        if (!right || !loops_right(seed, x, v, out))
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
