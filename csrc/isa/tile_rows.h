/* How the rows of a block are cut into tiles: whole ones, which are requantized in their registers, as long as more
 * than one is left; the last two share what is left. 15 rows are 8 and 7, not 14 and 1: few rows hide no latency. */
#ifndef QRT_ISA_TILE_ROWS_H
#define QRT_ISA_TILE_ROWS_H

static inline int next_tile(int left, int most) {
    return left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
}

#endif
