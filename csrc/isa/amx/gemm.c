/* The 8-bit microkernel: 32 rows x 32 columns of i32 in four tiles, 64 values of K per multiply-add.
 *
 *   tdpbusd    16 x 16 sums of 64 products, u8 x s8, without saturation: 16 cycles; four of them per step
 *   tileloadd  16 rows of 64 bytes, 8 cycles where each is one cache line: two of A and two of B per step
 *
 * Tiles 0 to 3 are the sums, 4 and 5 A's upper and lower rows, 6 and 7 B's left and right columns. The tiles are state
 * of the thread: they are configured and released by each call, so that no task switch has to save them after it.
 * Exact: see pack_u8s8.h. */
#include "../pack_u8s8.h"
#include "amx.h"

#define MR 32
#define NR 32
#define KU 64

void qrt_init_amx(qrt_kernels *table);

static void pack_a(qrt_container container, const void *source, int64_t row_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *panel, int32_t *terms) {
    qrt_pack_a_u8(container, source, row_stride, rows, depth, zero_point, panel, terms, MR, KU);
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    qrt_pack_b_s8(container, source, k_stride, n_stride, columns, depth, zero_point, panel, terms, NR, KU);
}

static void start(const int32_t *bias, const int32_t *a_terms, const int32_t *b_terms, int64_t depth, int32_t *tile) {
    (void)depth;
    qrt_start_u8s8(bias, a_terms, b_terms, tile, MR, NR);
}

static void tile(const void *a_panel, const void *b_panel, int64_t steps, int32_t *tile) {
    static const amx_config config = {
        .palette = 1,
        .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
        .rows = {16, 16, 16, 16, 16, 16, 16, 16},
    };
    const uint8_t *a = a_panel;
    const int8_t *b = b_panel;
    int32_t *lower = tile + 16 * NR;
    const int64_t row = NR * sizeof *tile; /* of sums, and of quads of B */
    LDTILECFG(&config);
    TILELOADD(0, tile, row);
    TILELOADD(1, tile + 16, row);
    TILELOADD(2, lower, row);
    TILELOADD(3, lower + 16, row);
    for (; steps > 0; steps--, a += MR * KU, b += NR * KU) {
        TILELOADD(6, b, row);
        TILELOADD(4, a, KU);
        TDPBUSD(0, 4, 6);
        TILELOADD(7, b + 64, row);
        TDPBUSD(1, 4, 7);
        TILELOADD(5, a + 16 * KU, KU);
        TDPBUSD(2, 5, 6);
        TDPBUSD(3, 5, 7);
    }
    TILESTORED(0, tile, row);
    TILESTORED(1, tile + 16, row);
    TILESTORED(2, lower, row);
    TILESTORED(3, lower + 16, row);
    TILERELEASE();
}

void qrt_init_amx(qrt_kernels *table) {
    table->gemm = (qrt_gemm_kernel){
        .mr = MR,
        .nr = NR,
        .ku = KU,
        .a_size = 1,
        .b_size = 1,
        .pack_a = pack_a,
        .pack_b = pack_b,
        .start = start,
        .tile = tile,
    };
}
