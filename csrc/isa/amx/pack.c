/* Packs panels of B. For long K a panel is whole tiles, each a contiguous KiB, and the tiles of left and right columns
 * follow each other in a step. For short K it is quads of all columns, as in pack_quads.inl. The instructions are those
 * of quads512.inl; hazard: the tiles are moved in place, so a panel needs no more memory than it ends with. */
#include "gemm.h"
#include "panels.h"

/* Turns a step of a panel, where rows of left and right columns alternate, into a tile of left and one of right
 * columns. */
static void part_tiles(__m512i *step) {
    __m512i right[TILE_ROWS];
    for (int i = 0; i < TILE_ROWS; i++) {
        right[i] = step[2 * i + 1];
        step[i] = step[2 * i];
    }
    memcpy(step + TILE_ROWS, right, sizeof right);
}

/* Moves the tiles of a panel with left columns alone to their places, and writes empty tiles between them. */
static void spread_tiles(char *panel, int64_t steps) {
    for (int64_t i = steps - 1; i >= 0; i--) {
        memmove(panel + i * B_STEP, panel + i * B_TILE, B_TILE);
        memset(panel + i * B_STEP + B_TILE, 0, B_TILE);
    }
}

void qrt_amx_pack_tiles(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                        int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    pack_b_quads(container, source, k_stride, n_stride, columns, depth, KU, zero_point, panel, compensation);
    const int64_t steps = steps_of_depth(depth);
    if (columns <= LANES)
        spread_tiles(panel, steps);
    for (int64_t i = 0; i < steps && columns > LANES; i++)
        part_tiles((__m512i *)((char *)panel + i * B_STEP));
}

void qrt_amx_pack_short(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                        int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    pack_b_quads(container, source, k_stride, n_stride, columns, depth, SHORT_KU, zero_point, panel, compensation);
}
