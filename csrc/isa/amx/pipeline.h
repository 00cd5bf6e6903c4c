/* Products of 16 rows and more: blocks of 32 rows by panels of B. The steps are those of step.h, which gives their
 * instructions and cycles; the epilogue of a block is spread over the steps of the next block.
 *
 * For a matrix, B passes by blocks of rows: the inner loop goes over up to 16 panels. A long K is cut into slices of
 * KC_STEPS steps, whose sums are kept in memory until the next slice. Meanwhile the next slice of B is fetched into L2,
 * and the next block of rows is packed. For a convolution, rows pass by panels of B, over all of K at once. The sums
 * are exact: see pack_quads.inl. Hazard: the last block of a matrix may overlap the one before it, whose rows are then
 * computed twice. */
#pragma once

#include "step.h"

#define MOST_PANELS 16
#define MOST_STEPS 320 /* steps of a patch, which has up to 20 KiB */

/* What blocks of rows by up to MOST_PANELS panels share. */
typedef struct {
    const qrt_microkernel_call *call;
    const row_blocks *blocks;
    int panels;
    int64_t steps, kc_steps; /* steps of K and of a slice. kept: the sums of all slices but the last, [block][panel] */
    int32_t (*kept)[MR * NR];
    bool packs;       /* rows of A are packed, each block while the one before is multiplied */
    bool fetches;     /* B of the next slice is fetched, which may be the first slice of `next` */
    const char *next; /* the panels after these; NULL: there are none */
} group;

/* The parameters of a group's panels. They are copied because all panels are read by turns. */
typedef struct {
    epilogue_columns columns[MOST_PANELS];
    _Alignas(64) int32_t starts[MOST_PANELS][NR];
    _Alignas(64) int32_t sums[2][MR * NR];
    int64_t step[MOST_STEPS];
} group_memory;

static void load_panels(const group *g, group_memory *m) {
    for (int i = 0; i < g->panels; i++) {
        const qrt_microkernel_call panel = panel_at(g->call, i);
        load_columns(&panel, 2, &m->columns[i]);
        load_starts(&panel, &m->columns[i], 2, m->starts[i]);
    }
}

/* Steps [first, first + count) of K. For each block, `cache_lines` cache lines of each panel of B are fetched, from
 * `fetch` on. */
typedef struct {
    int64_t first;
    int count;
    bool last;
    const char *fetch; /* NULL: nothing is fetched */
    int64_t cache_lines;
} k_slice;

static inline int64_t steps_left(const group *g, int64_t first) {
    return g->steps - first < g->kc_steps ? g->steps - first : g->kc_steps;
}

static inline k_slice slice_from(const group *g, int64_t first) {
    k_slice to = {.first = first, .count = (int)steps_left(g, first)};
    const int64_t end = first + to.count, blocks = g->blocks->count;
    to.last = end == g->steps;
    to.fetch = !g->fetches ? NULL : to.last ? g->next : (const char *)g->call->b + end * B_STEP;
    to.cache_lines = (steps_left(g, to.last ? 0 : end) * (B_STEP / 64) + blocks - 1) / blocks;
    return to;
}

/* The operands of a block and a panel. Their steps also do `work`, where there is any. */
QRT_INLINE operands operands_of(const group *g, const group_memory *m, const k_slice *k, int block, int panel,
                                chores *work, bool streams) {
    const int64_t panel_bytes = panel * g->call->args->plan.shape.panel_bytes;
    operands to = {.upper = g->blocks->a[block][0],
                   .lower = g->blocks->a[block][1],
                   .b = (const char *)g->call->b + panel_bytes + k->first * B_STEP,
                   .a_stride = g->blocks->stride,
                   .step = m->step};
    if (streams && (work->pack.left || k->fetch))
        to.chores = work;
    if (streams && k->fetch)
        work->fetch = k->fetch + panel_bytes + block * k->cache_lines * 64;
    return to;
}

/* With `streams`, B passes by rows of A; else rows of A pass by a panel of B. */
QRT_INLINE void run_group(const group *g, group_memory *m, epilogue_kind kind, bool streams) {
    const qrt_microkernel_call *call = g->call;
    pending_block pending = {0}, next = {0};
    int32_t *before = NULL; /* where the sums that are still in the tiles will be stored */
    bool complete = false;
    int turn = 0;
    const int outer = streams ? g->blocks->count : g->panels, inner = streams ? g->panels : g->blocks->count;
    for (int64_t first = 0; first < g->steps; first += g->kc_steps) {
        const k_slice k = slice_from(g, first);
        place_steps(call, first, k.count, m->step);
        chores work = {.cache_lines = (int)((k.cache_lines + k.count - 2) / (k.count > 1 ? k.count - 1 : 1))};
        if (g->packs) {
            work.pack = pack_block(call, g->blocks, 0, first, k.count);
            pack_rest(&work.pack);
        }
        for (int i = 0; i < outer; i++) {
            if (g->packs && i + 1 < outer)
                work.pack = pack_block(call, g->blocks, i + 1, first, k.count);
            for (int j = 0; j < inner; j++) {
                const int block = streams ? i : j, panel = streams ? j : i;
                operands o = operands_of(g, m, &k, block, panel, &work, streams);
                int32_t *kept = g->kept ? g->kept[block * g->panels + panel] : NULL;
                if (first)
                    first_step(&o, before, kept, NR * sizeof *kept, TILE_ROWS * NR, streams);
                else
                    first_step(&o, before, m->starts[panel], 0, 0, streams);
                if (complete)
                    pending = next;
                multiply_rest(&o, &pending, k.count - 1, kind, streams);
                epilogue_of_rest(&pending, kind);
                complete = k.last;
                before = k.last ? m->sums[turn ^= 1] : kept;
                next = (pending_block){(const __m512i *)before, (char *)call->target + panel * NR,
                                       g->blocks->target[block], g->blocks->target[block] + MR, &m->columns[panel]};
            }
            pack_rest(&work.pack);
        }
    }
    for (int tile = 0; tile < 4; tile++)
        store_sums(tile, before);
    epilogue_of_rest(&next, kind);
}

/* Each kind gets a function of its own, because one function of all kinds would be short of registers. */
#define DEFINE_RUN_GROUP(kind)                                                                                         \
    static void __attribute__((noinline)) run_group_##kind(const group *g, group_memory *m, bool streams) {            \
        if (streams)                                                                                                   \
            run_group(g, m, kind, true);                                                                               \
        else                                                                                                           \
            run_group(g, m, kind, false);                                                                              \
    }
DEFINE_RUN_GROUP(EPILOGUE_FIXED)
DEFINE_RUN_GROUP(EPILOGUE_FLOAT32)
DEFINE_RUN_GROUP(EPILOGUE_FLOAT32_I8)
DEFINE_RUN_GROUP(EPILOGUE_FLOAT32_U8)
#define RUN_GROUP(g, m, streams, kind) run_group_##kind(g, m, streams)

static void run_group_by_kind(const group *g, epilogue_kind kind, bool streams) {
    group_memory m;
    load_panels(g, &m);
    BY_KIND(kind, RUN_GROUP, g, &m, streams)
}

#define KC_STEPS 16            /* a panel's slice and a block's slice then have 32 KiB each */
#define RESIDENT (1280 * 1024) /* bytes of B that stay in L2 beside everything else */
#define FETCHED_PANELS 8

/* Sums are kept between slices only where A and B over all of K do not fit L1. */
static inline int64_t kc_steps_of(int64_t steps) {
    return steps <= KC_STEPS * 5 / 4 ? steps : KC_STEPS;
}

static int64_t matrix_workspace(const qrt_gemm_args *args, int64_t rows) {
    const int64_t steps = steps_of_depth(args->problem.k), blocks = (rows + MR - 1) / MR;
    const int64_t kept = kc_steps_of(steps) < steps ? FETCHED_PANELS * MR * NR * (int64_t)sizeof(int32_t) : 0;
    return (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS) * (steps * A_STEP + kept);
}

/* Whether tile loads may read rows in place: the rows are whole cache lines, and these are in different sets of L1. */
static bool reads_in_place(const qrt_microkernel_call *call, int64_t steps) {
    return ((uintptr_t)call->a | (uintptr_t)call->a_stride | (uintptr_t)call->depth) % 64 == 0 &&
           call->a_stride % 2048 && kc_steps_of(steps) == steps;
}

/* Multiplies rows of a matrix, at least 32, as they are given. */
static void run_matrix(const qrt_microkernel_call *given, int64_t panels, epilogue_kind kind) {
    const int64_t steps = steps_of(given);
    qrt_microkernel_call whole = *given;
    const qrt_microkernel_call *call = &whole;
    if (reads_in_place(given, steps))
        whole.workspace = NULL;
    const bool resident = panels * steps * B_STEP <= RESIDENT;
    const int64_t most = resident && kc_steps_of(steps) == steps ? MOST_PANELS : FETCHED_PANELS;
    configure(MR);
    for (int64_t row = 0; row < call->rows; row += MOST_BLOCKS * MR) {
        row_blocks blocks;
        place_matrix(call, row, steps, &blocks);
        group g = {.blocks = &blocks, .steps = steps, .kc_steps = kc_steps_of(steps)};
        if (g.kc_steps < steps)
            g.kept = (void *)((char *)call->workspace + blocks.count * steps * A_STEP);
        for (int64_t i = 0; i < panels; i += most) {
            const qrt_microkernel_call part = panels_from(call, i);
            g.call = &part;
            g.panels = (int)(panels - i < most ? panels - i : most);
            g.packs = i == 0 && call->workspace;
            g.fetches = !resident;
            g.next = i + most < panels ? (const char *)part.b + most * call->args->plan.shape.panel_bytes : NULL;
            run_group_by_kind(&g, kind, true);
        }
    }
    TILERELEASE();
}

/* Multiplies image rows where they are. */
static void run_image_rows(const qrt_microkernel_call *call, int64_t panels, epilogue_kind kind) {
    const int64_t steps = steps_of(call);
    const row_tiles tiles = cut_rows(call);
    configure(MR);
    for (int64_t tile = 0; tile < tiles.count; tile += 2 * MOST_BLOCKS) {
        row_blocks blocks;
        place_blocks(call, &tiles, tile, &blocks);
        for (int64_t i = 0; i < panels; i += MOST_PANELS) {
            const qrt_microkernel_call part = panels_from(call, i);
            const group g = {.call = &part,
                             .blocks = &blocks,
                             .panels = (int)(panels - i < MOST_PANELS ? panels - i : MOST_PANELS),
                             .steps = steps,
                             .kc_steps = steps};
            run_group_by_kind(&g, kind, false);
        }
    }
    TILERELEASE();
}
