/* Panels of B, and what the sums of their columns begin and end with. */
#ifndef QRT_ISA_AMX_PANELS_H
#define QRT_ISA_AMX_PANELS_H

#include "isa/x86/gemm/quads512.inl"
#include "amx.h"

#define TILE_ROWS 16
#define MR (2 * TILE_ROWS)
#define WIDE (2 * NR)       /* columns of two panels */
#define KU 64               /* values of K of a step */
#define B_TILE (KU * LANES) /* bytes */
#define B_STEP (KU * NR)    /* of a panel: two tiles, one after the other */
#define SHORT_KU 4          /* of panels for short K */

static inline int64_t steps_of_depth(int64_t depth) {
    return (depth + KU - 1) / KU;
}

/* The depth of a segment, filled up to whole steps of short K. */
static inline int64_t short_depth(const qrt_gemm_panel *p) {
    return (p->depth + SHORT_KU - 1) / SHORT_KU * SHORT_KU;
}

static inline int64_t panels_of(const qrt_gemm_panel *p) {
    return (p->columns + NR - 1) / NR;
}

/* Panel i of those that a call has, and all after it. */
static inline qrt_gemm_panel panels_from(const qrt_gemm_panel *p, int64_t i) {
    qrt_gemm_panel to = *p;
    const int64_t j = i * NR;
    to.b = (const char *)p->b + i * p->args->shape.span_bytes;
    to.b_terms += 2 * j;
    to.bias = p->bias ? p->bias + j : NULL;
    to.parameter += j * p->args->requant_steps[2];
    to.target = (char *)p->target + j * result_bytes(p->args->requant.container);
    to.sums = p->sums ? p->sums + j : NULL;
    to.columns = (int)(p->columns - j);
    return to;
}

static inline qrt_gemm_panel panel_at(const qrt_gemm_panel *p, int64_t i) {
    qrt_gemm_panel to = panels_from(p, i);
    if (to.columns > NR)
        to.columns = NR;
    return to;
}

/* Once, not where it is used: it is long, and a panel's time is its steps'. */
static __attribute__((noinline)) void load_columns(const qrt_gemm_panel *p, int vectors, finish_columns *to) {
    if (vectors == 4)
        load_finish(p, 4, to);
    else
        load_finish(p, 2, to);
}

QRT_INLINE __m512i load_bias(const qrt_gemm_panel *p, const finish_columns *c, int j) {
    return p->bias ? _mm512_maskz_loadu_epi32(c->live[j], p->bias + j * LANES) : _mm512_setzero_si512();
}

/* Loads the values that a panel's sums begin with. */
QRT_INLINE void load_starts(const qrt_gemm_panel *p, const finish_columns *c, int vectors, int32_t *to) {
#pragma GCC unroll 4
    for (int j = 0; j < vectors; j++)
        _mm512_store_si512(to + j * LANES, start_of_columns(p, load_bias(p, c, j), j));
}

/* How the sums of all whole panels of a call end, where it is alike and not by the table's store; else FINISH_STORE. */
static inline finish_kind finish_of_panels(const qrt_gemm_args *args) {
    qrt_gemm_panel panel = {.args = args};
    finish_columns columns;
    const int64_t batches = args->requant_steps[0] ? args->batch : 1;
    finish_kind kind = FINISH_STORE;
    for (int64_t batch = 0; batch < batches; batch++)
        for (int64_t j = 0; j < args->n; j += NR) {
            panel.columns = (int)(args->n - j < NR ? args->n - j : NR);
            panel.parameter = batch * args->requant_steps[0] + j * args->requant_steps[2];
            load_columns(&panel, 2, &columns);
            if (columns.kind <= FINISH_STORE)
                return FINISH_STORE;
            if (j == 0 || panel.columns == NR)
                kind = columns.kind;
        }
    return kind;
}

/* How sums end in a panel that is not whole. */
static inline finish_kind finish_of_part(finish_kind whole) {
    return whole == FINISH_FIXED ? FINISH_FIXED : FINISH_FLOAT32;
}

/* Code of its own for each kind, where it is the last argument. */
#define BY_KIND(kind, run, ...)                                                                                        \
    switch (kind) {                                                                                                    \
    case FINISH_FIXED:                                                                                                 \
        run(__VA_ARGS__, FINISH_FIXED);                                                                                \
        break;                                                                                                         \
    case FINISH_FLOAT32:                                                                                               \
        run(__VA_ARGS__, FINISH_FLOAT32);                                                                              \
        break;                                                                                                         \
    case FINISH_FLOAT32_I8:                                                                                            \
        run(__VA_ARGS__, FINISH_FLOAT32_I8);                                                                           \
        break;                                                                                                         \
    default:                                                                                                           \
        run(__VA_ARGS__, FINISH_FLOAT32_U8);                                                                           \
    }

#endif
