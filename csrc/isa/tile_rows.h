/* How the rows of a block are cut into tiles: of nearly equal size. 15 rows are 8 and 7, not 14 and 1. */
#ifndef QRT_ISA_TILE_ROWS_H
#define QRT_ISA_TILE_ROWS_H

static inline int tile_groups(int rows, int most) {
    return (rows + most - 1) / most;
}

static inline int first_tile(int rows, int groups) {
    return groups <= 1 ? rows : (rows + groups - 1) / groups;
}

/* ceil(left / groups), where the tile before had `rows`: that many or one less, which takes no division. */
static inline int next_tile(int left, int groups, int rows) {
    return rows - ((rows - 1) * groups >= left);
}

#endif
