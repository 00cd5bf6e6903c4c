/* 16 rows and more: 32 rows x 32 columns of sums in four tiles, and while these are multiplied the block before is
 * requantized, two rows at a time. Per step of 64 values of K:
 *
 *   tdpbusd   16 x 16 sums of 64 products: 16 cycles; four of them
 *   tileload  16 rows of 64 bytes, 8 cycles where each is one cache line, 46 where each is two: two of A, two of B
 *
 * Tiles 0 to 3 are the sums, 4 and 5 upper and lower rows of A, 6 and 7 left and right columns of B. One operand stays
 * in L1 while the other goes past it from L2, past L1 too (tileloaddt1).
 *
 * The sums of a block are stored in the first step of the next one, each tile when it is needed again: straight after
 * its last tdpbusd a store would wait 52 cycles for it. Two steps on they are read. What is between tile instructions
 * takes room where the processor keeps what it is ahead: so steps are written out, without branches. */
#ifndef QRT_ISA_AMX_PIPELINE_H
#define QRT_ISA_AMX_PIPELINE_H

#include "rows.h"

/* A block whose sums are in memory: what is left to requantize. */
typedef struct {
    const __m512i *sums;
    char *target;
    const int64_t *row, *end;
    const finish_columns *columns;
} finishing;

INLINE void finish_two_rows(finishing *f, finish_kind kind) {
    const __m512i sums[4] = {_mm512_load_si512(f->sums), _mm512_load_si512(f->sums + 1), _mm512_load_si512(f->sums + 2),
                             _mm512_load_si512(f->sums + 3)};
    finish_group(f->columns, f->target + f->row[0], f->row[1] - f->row[0], sums, 2, 2, kind, false);
    f->sums += 4;
    f->row += 2;
}

INLINE void finish_rest(finishing *f, finish_kind kind) {
    while (f->row < f->end)
        finish_two_rows(f, kind);
}

/* What else a step does: lines of B to fetch into L2, rows of A to pack. */
typedef struct {
    const char *fetch;
    int fetched; /* lines a step */
    packing pack;
} chores;

INLINE void do_chores(chores *c) {
    for (int i = 0; i < c->fetched; i++, c->fetch += 64)
        _mm_prefetch(c->fetch, _MM_HINT_T1);
    if (c->pack.left)
        pack_four_lines(&c->pack);
}

typedef struct {
    const char *upper, *lower, *b;
    int64_t a_stride;
    const int64_t *step;
    chores *chores; /* NULL: none */
} operands;

#define LOAD_B(t, from)                                                                                                \
    if (streams)                                                                                                       \
        TILELOADDT1(t, from, 64);                                                                                      \
    else                                                                                                               \
        TILELOADD(t, from, 64);

/* One step, and as many times two rows of the block before. */
INLINE void multiply_step(operands *o, finishing *f, int finished, finish_kind kind, bool streams) {
    const int64_t k = *o->step++;
    LOAD_B(6, o->b)
    TILELOADD(4, o->upper + k, o->a_stride);
    TDP(0, 4, 6);
#pragma GCC unroll 4
    for (int i = 0; i < finished; i += 4)
        finish_two_rows(f, kind);
    LOAD_B(7, o->b + B_TILE)
    TDP(1, 4, 7);
#pragma GCC unroll 4
    for (int i = 2; i < finished; i += 4)
        finish_two_rows(f, kind);
    TILELOADD(5, o->lower + k, o->a_stride);
    TDP(2, 5, 6);
#pragma GCC unroll 4
    for (int i = 1; i < finished; i += 4)
        finish_two_rows(f, kind);
    TDP(3, 5, 7);
#pragma GCC unroll 4
    for (int i = 3; i < finished; i += 4)
        finish_two_rows(f, kind);
    if (streams && __builtin_expect(o->chores != NULL, 0))
        do_chores(o->chores);
    o->b += B_STEP;
}

INLINE void store_sums(int tile, int32_t *before) {
    if (tile == 0)
        TILESTORED(0, before, NR * sizeof *before);
    else if (tile == 1)
        TILESTORED(1, before + LANES, NR * sizeof *before);
    else if (tile == 2)
        TILESTORED(2, before + TILE_ROWS * NR, NR * sizeof *before);
    else
        TILESTORED(3, before + TILE_ROWS * NR + LANES, NR * sizeof *before);
}

/* The first step: stores the sums of the block before, and begins with those at `from`, rows `stride` bytes apart, the
 * lower ones `lower` values on. */
INLINE void first_step(operands *o, int32_t *before, const int32_t *from, int64_t stride, int64_t lower, bool streams) {
    const int64_t k = *o->step++;
    LOAD_B(6, o->b)
    TILELOADD(4, o->upper + k, o->a_stride);
    if (before)
        store_sums(0, before);
    TILELOADD(0, from, stride);
    TDP(0, 4, 6);
    LOAD_B(7, o->b + B_TILE)
    if (before)
        store_sums(1, before);
    TILELOADD(1, from + LANES, stride);
    TDP(1, 4, 7);
    TILELOADD(5, o->lower + k, o->a_stride);
    if (before)
        store_sums(2, before);
    TILELOADD(2, from + lower, stride);
    TDP(2, 5, 6);
    if (before)
        store_sums(3, before);
    TILELOADD(3, from + lower + LANES, stride);
    TDP(3, 5, 7);
    o->b += B_STEP;
}

INLINE void multiply_steps(operands *o, finishing *f, int count, int finished, finish_kind kind, bool streams) {
    for (; count > 0; count--)
        multiply_step(o, f, finished, kind, streams);
}

/* All steps but the first; the block before is requantized in as few uops a step as there are steps for. */
INLINE void multiply_rest(operands *o, finishing *f, int count, finish_kind kind, bool streams) {
    if (f->row == f->end) {
        multiply_steps(o, f, count, 0, kind, streams);
    } else if (count >= 17) {
        multiply_steps(o, f, 1, 0, kind, streams);
        multiply_steps(o, f, 16, 1, kind, streams);
        multiply_steps(o, f, count - 17, 0, kind, streams);
    } else if (count >= 9) {
        multiply_steps(o, f, 1, 0, kind, streams);
        multiply_steps(o, f, 8, 2, kind, streams);
        multiply_steps(o, f, count - 9, 0, kind, streams);
    } else if (count >= 6) {
        multiply_steps(o, f, 1, 0, kind, streams);
        multiply_steps(o, f, 5, 3, kind, streams);
        multiply_steps(o, f, count - 6, 0, kind, streams);
    } else if (count >= 4) {
        multiply_steps(o, f, 4, 4, kind, streams);
        multiply_steps(o, f, count - 4, 0, kind, streams);
    } else {
        const int fine = count < 2 ? count : 2;
        multiply_steps(o, f, fine, 8, kind, streams);
        multiply_steps(o, f, count - fine, 0, kind, streams);
    }
}

/* Blocks of rows by up to MOST_PANELS panels: what they share. */
typedef struct {
    const qrt_gemm_panel *p;
    const row_blocks *blocks;
    int panels;
    int64_t steps, chunk; /* of K; sums of a chunk but the last are in `kept` meanwhile, [block][panel] */
    int32_t (*kept)[MR * NR];
    bool packs;       /* rows of A, each block while the one before is multiplied */
    bool fetches;     /* B of the next chunk, which may be that of */
    const char *next; /* the panels after these; NULL: there are none */
} group;

/* Of a group, in memory of its own: the panels' parameters are read by turns. */
typedef struct {
    finish_columns columns[MOST_PANELS];
    _Alignas(64) int32_t starts[MOST_PANELS][NR];
    _Alignas(64) int32_t sums[2][MR * NR];
    int64_t step[MOST_STEPS];
} group_memory;

static void load_panels(const group *g, group_memory *m) {
    for (int i = 0; i < g->panels; i++) {
        const qrt_gemm_panel panel = panel_at(g->p, i);
        load_columns(&panel, 2, &m->columns[i]);
        load_starts(&panel, &m->columns[i], 2, m->starts[i]);
    }
}

/* Of the next chunk, from step `first` on, lines of a panel for each block to fetch. */
static inline int64_t fetched_lines(const group *g, int64_t first) {
    const int64_t count = g->steps - first < g->chunk ? g->steps - first : g->chunk;
    return (count * B_STEP / 64 + g->blocks->count - 1) / g->blocks->count;
}

/* `streams`: B goes past rows of A; else A past a panel of B. */
INLINE void run_group(const group *g, group_memory *m, finish_kind kind, bool streams) {
    const qrt_gemm_panel *p = g->p;
    finishing f = {0}, next = {0};
    int32_t *before = NULL; /* the block whose sums are still in their tiles */
    bool complete = false;
    int turn = 0;
    const int outer = streams ? g->blocks->count : g->panels, inner = streams ? g->panels : g->blocks->count;
    for (int64_t first = 0; first < g->steps; first += g->chunk) {
        const int count = (int)(g->steps - first < g->chunk ? g->steps - first : g->chunk);
        const bool last = first + count == g->steps;
        place_steps(p, first, count, m->step);
        const char *const fetch = !g->fetches ? NULL : last ? g->next : (const char *)p->b + (first + count) * B_STEP;
        const int64_t slice = fetched_lines(g, last ? 0 : first + count);
        chores work = {.fetched = (int)((slice + count - 2) / (count > 1 ? count - 1 : 1))};
        if (g->packs) {
            work.pack = pack_block(p, g->blocks, 0, first, count);
            pack_rest(&work.pack);
        }
        for (int i = 0; i < outer; i++) {
            if (g->packs && i + 1 < outer)
                work.pack = pack_block(p, g->blocks, i + 1, first, count);
            for (int j = 0; j < inner; j++) {
                const int block = streams ? i : j, panel = streams ? j : i;
                operands o = {.upper = g->blocks->a[block][0],
                              .lower = g->blocks->a[block][1],
                              .b = (const char *)p->b + panel * p->args->shape.span_bytes + first * B_STEP,
                              .a_stride = g->blocks->stride,
                              .step = m->step};
                if (streams && (work.pack.left || fetch))
                    o.chores = &work;
                if (streams && fetch)
                    work.fetch = fetch + panel * p->args->shape.span_bytes + block * slice * 64;
                int32_t *kept = g->kept ? g->kept[block * g->panels + panel] : NULL;
                if (first)
                    first_step(&o, before, kept, NR * sizeof *kept, TILE_ROWS * NR, streams);
                else
                    first_step(&o, before, m->starts[panel], 0, 0, streams);
                if (complete)
                    f = next;
                multiply_rest(&o, &f, count - 1, kind, streams);
                finish_rest(&f, kind);
                complete = last;
                before = last ? m->sums[turn ^= 1] : kept;
                next = (finishing){(const __m512i *)before, (char *)p->target + panel * NR, g->blocks->target[block],
                                   g->blocks->target[block] + MR, &m->columns[panel]};
            }
            pack_rest(&work.pack);
        }
    }
    for (int tile = 0; tile < 4; tile++)
        store_sums(tile, before);
    finish_rest(&next, kind);
}

#define RUN(name, kind)                                                                                                \
    static void run_group_##name(const group *g, group_memory *m, bool streams) {                                      \
        if (streams)                                                                                                   \
            run_group(g, m, kind, true);                                                                               \
        else                                                                                                           \
            run_group(g, m, kind, false);                                                                              \
    }
RUN(fixed, FINISH_FIXED)
RUN(float32, FINISH_FLOAT32)
RUN(float32_i8, FINISH_FLOAT32_I8)
RUN(float32_u8, FINISH_FLOAT32_U8)
#undef RUN

static void run_group_of(const group *g, finish_kind kind, bool streams) {
    group_memory m;
    load_panels(g, &m);
    if (kind == FINISH_FIXED)
        run_group_fixed(g, &m, streams);
    else if (kind == FINISH_FLOAT32)
        run_group_float32(g, &m, streams);
    else if (kind == FINISH_FLOAT32_I8)
        run_group_float32_i8(g, &m, streams);
    else
        run_group_float32_u8(g, &m, streams);
}

#define CHUNK_STEPS 16         /* of a panel and of a block: 32 KiB each */
#define RESIDENT (1280 * 1024) /* bytes of B that stay in L2 beside all else */
#define FETCHED_PANELS 8

/* A chunk of K whose sums are kept is worth it where B and A of all of it do not fit L1. */
static inline int64_t chunk_of(int64_t steps) {
    return steps <= CHUNK_STEPS * 5 / 4 ? steps : CHUNK_STEPS;
}

static int64_t matrix_workspace(const qrt_gemm_args *args, int64_t rows) {
    const int64_t steps = (args->k + KU - 1) / KU, blocks = (rows + MR - 1) / MR;
    const int64_t kept = chunk_of(steps) < steps ? FETCHED_PANELS * MR * NR * (int64_t)sizeof(int32_t) : 0;
    return (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS) * (steps * A_STEP + kept);
}

/* Whether tile loads take rows as they are: whole lines, which are not all in the same sets of L1. */
static bool is_packed(const qrt_gemm_panel *p, int64_t steps) {
    return ((uintptr_t)p->a | (uintptr_t)p->a_stride | (uintptr_t)p->depth) % 64 == 0 && p->a_stride % 2048 &&
           !flip_of_a(p->args->a) && chunk_of(steps) == steps;
}

/* Rows of a matrix as they are given, 32 at least. */
static void run_matrix(const qrt_gemm_panel *given, int64_t panels, finish_kind kind) {
    const int64_t steps = steps_of(given);
    qrt_gemm_panel whole = *given;
    const qrt_gemm_panel *p = &whole;
    if (is_packed(given, steps))
        whole.workspace = NULL;
    const bool resident = panels * steps * B_STEP <= RESIDENT;
    const int64_t most = resident && chunk_of(steps) == steps ? MOST_PANELS : FETCHED_PANELS;
    configure(MR);
    for (int64_t row = 0; row < p->rows; row += MOST_BLOCKS * MR) {
        row_blocks blocks;
        place_matrix(p, row, steps, &blocks);
        group g = {.blocks = &blocks, .steps = steps, .chunk = chunk_of(steps)};
        if (g.chunk < steps)
            g.kept = (void *)((char *)p->workspace + blocks.count * steps * A_STEP);
        for (int64_t i = 0; i < panels; i += most) {
            qrt_gemm_panel part = panel_at(p, i);
            part.columns = (int)(p->columns - i * NR);
            g.p = &part;
            g.panels = (int)(panels - i < most ? panels - i : most);
            g.packs = i == 0 && p->workspace;
            g.fetches = !resident;
            g.next = i + most < panels ? (const char *)part.b + most * p->args->shape.span_bytes : NULL;
            run_group_of(&g, kind, true);
        }
    }
    TILERELEASE();
}

/* Rows where they are, in lines. */
static void run_lines_of(const qrt_gemm_panel *p, int64_t panels, finish_kind kind) {
    const int64_t steps = steps_of(p);
    const row_tiles tiles = cut_rows(p);
    configure(MR);
    for (int64_t tile = 0; tile < tiles.count; tile += 2 * MOST_BLOCKS) {
        row_blocks blocks;
        place_blocks(p, &tiles, tile, MOST_BLOCKS, &blocks);
        for (int64_t i = 0; i < panels; i += MOST_PANELS) {
            qrt_gemm_panel part = panel_at(p, i);
            part.columns = (int)(p->columns - i * NR);
            const group g = {.p = &part,
                             .blocks = &blocks,
                             .panels = (int)(panels - i < MOST_PANELS ? panels - i : MOST_PANELS),
                             .steps = steps,
                             .chunk = steps};
            run_group_of(&g, kind, false);
        }
    }
    TILERELEASE();
}

#endif
