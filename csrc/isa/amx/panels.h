/* Panels of B: where they are, which values the sums of their columns begin with, and their epilogue. */
#pragma once

#include "isa/x86/gemm/quads512.inl"
#include "amx.h"

#define TILE_ROWS 16
#define MR (2 * TILE_ROWS)
#define WIDE (2 * NR)       /* columns of two panels */
#define KU 64               /* values of K of a step */
#define B_TILE (KU * LANES) /* bytes of a tile of B */
#define B_STEP (KU * NR)    /* bytes of a step of a panel: two tiles, one after the other */
#define SHORT_KU 4          /* values of K of a step in panels for short K */

static inline int64_t steps_of_depth(int64_t depth) {
    return (depth + KU - 1) / KU;
}

/* The depth of a segment, padded to whole steps of short K. */
static inline int64_t short_depth(const qrt_microkernel_call *call) {
    return (call->depth + SHORT_KU - 1) / SHORT_KU * SHORT_KU;
}

static inline int64_t panels_of(const qrt_microkernel_call *call) {
    return (call->columns + NR - 1) / NR;
}

/* The call from panel i on. */
static inline qrt_microkernel_call panels_from(const qrt_microkernel_call *call, int64_t i) {
    const qrt_gemm_args *args = call->args;
    qrt_microkernel_call to = *call;
    const int64_t j = i * NR;
    to.b = (const char *)call->b + i * args->plan.shape.panel_bytes;
    to.b_compensation += 2 * j;
    to.bias = call->bias ? call->bias + j : NULL;
    to.parameter += j * args->problem.requant_steps[2];
    to.target = (char *)call->target + j * qrt_container_size(args->problem.requant.container);
    to.sums = call->sums ? call->sums + j : NULL;
    to.columns = (int)(call->columns - j);
    return to;
}

static inline qrt_microkernel_call panel_at(const qrt_microkernel_call *call, int64_t i) {
    qrt_microkernel_call to = panels_from(call, i);
    if (to.columns > NR)
        to.columns = NR;
    return to;
}

/* Not inlined, because it is long: inlined, it would take registers from the steps of a panel. */
static __attribute__((noinline)) void load_columns(const qrt_microkernel_call *call, int vectors,
                                                   epilogue_columns *to) {
    if (vectors == 4)
        load_epilogue(call, 4, to);
    else
        load_epilogue(call, 2, to);
}

/* Stores the values that the sums of a panel begin with. */
QRT_INLINE void load_starts(const qrt_microkernel_call *call, const epilogue_columns *c, int vectors, int32_t *to) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
        _mm512_store_si512(to + j * LANES, start_of_columns(call, load_bias(call, c, j), j));
}

/* Returns the epilogue_kind that all whole panels of a call share, or EPILOGUE_STORE where they differ or need the
 * table's row `store`. */
static inline int epilogue_of_call(const qrt_gemm_args *args) {
    const qrt_gemm_problem *problem = &args->problem;
    qrt_microkernel_call panel = {.args = args};
    epilogue_columns columns;
    const int64_t batches = problem->requant_steps[0] ? problem->batch : 1;
    epilogue_kind kind = EPILOGUE_STORE;
    for (int64_t batch = 0; batch < batches; batch++)
        for (int64_t j = 0; j < problem->n; j += NR) {
            panel.columns = (int)qrt_min(problem->n - j, NR);
            panel.parameter = batch * problem->requant_steps[0] + j * problem->requant_steps[2];
            load_columns(&panel, 2, &columns);
            if (columns.kind <= EPILOGUE_STORE)
                return EPILOGUE_STORE;
            if (j == 0 || panel.columns == NR)
                kind = columns.kind;
        }
    return (int)kind;
}

/* The epilogue of a panel that is not whole, where the whole ones have the epilogue `whole`. */
static inline epilogue_kind epilogue_of_part(epilogue_kind whole) {
    return whole == EPILOGUE_FIXED ? EPILOGUE_FIXED : EPILOGUE_FLOAT32;
}

/* Calls `run` with the kind, its last argument, as a constant: each kind gets code of its own. */
#define BY_KIND(kind, run, ...)                                                                                        \
    switch (kind) {                                                                                                    \
    case EPILOGUE_FIXED:                                                                                               \
        run(__VA_ARGS__, EPILOGUE_FIXED);                                                                              \
        break;                                                                                                         \
    case EPILOGUE_FLOAT32:                                                                                             \
        run(__VA_ARGS__, EPILOGUE_FLOAT32);                                                                            \
        break;                                                                                                         \
    case EPILOGUE_FLOAT32_I8:                                                                                          \
        run(__VA_ARGS__, EPILOGUE_FLOAT32_I8);                                                                         \
        break;                                                                                                         \
    default:                                                                                                           \
        run(__VA_ARGS__, EPILOGUE_FLOAT32_U8);                                                                         \
    }
