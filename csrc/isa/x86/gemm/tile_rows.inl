/* How the rows of a block are cut into tiles: whole ones, which are requantized in their registers, as long as more
 * than one is left; the last two share what is left. 15 rows are 8 and 7, not 14 and 1: few rows hide no latency. */
#ifndef QRT_ISA_TILE_ROWS_H
#define QRT_ISA_TILE_ROWS_H

#include "qrt/qrt.h"

/* From one line of a panel to the next. */
static inline void next_line(qrt_gemm_panel *p) {
    p->a = (const char *)p->a + p->a_line;
    p->target = (char *)p->target + p->target_line;
    if (p->sums)
        p->sums = (int32_t *)p->target;
}

static inline int next_tile(int left, int most) {
    return left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
}

/* How many tiles of that height follow each other. */
static inline int same_tiles(int left, int most) {
    if (left < 2 * most)
        return left > most && left % 2 == 0 ? 2 : 1;
    return left % most ? left / most - 1 : left / most;
}

#endif
