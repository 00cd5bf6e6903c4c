/* The 8-bit microkernel: 6 rows x 16 columns of i32, four values of K per multiply-add.
 *
 *   vpdpbusd ymm      u8 x s8, four products added to an i32 without saturation: ports 0 and 1, 12 per four values of
 *                     K, 6 cycles
 *   vpbroadcastd m32  four values of A; load ports only: 6, and 2 loads of B
 *
 * 12 accumulators, two vectors of B and a broadcast fill 15 of 16 registers. Exact: see pack_u8s8.h. */
#include "../pack_u8s8.h"
#include "avxvnni.h"

#define MR 6
#define NR 16
#define KU 16
#define ROWS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

void qrt_init_avxvnni(qrt_kernels *table);

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

static inline __m256i broadcast_quad(const uint8_t *quad) {
    int32_t bits;
    memcpy(&bits, quad, sizeof bits);
    return _mm256_set1_epi32(bits);
}

static void tile(const void *a_panel, const void *b_panel, int64_t steps, int32_t *tile) {
    const uint8_t *a = a_panel;
    const int8_t *b = b_panel;
#define LOAD(i)                                                                                                        \
    __m256i low##i = _mm256_load_si256((const __m256i *)(tile + i * NR));                                              \
    __m256i high##i = _mm256_load_si256((const __m256i *)(tile + i * NR) + 1);
#define MULTIPLY(i)                                                                                                    \
    {                                                                                                                  \
        const __m256i quad = broadcast_quad(a + i * KU + 4 * q);                                                       \
        low##i = qrt_vpdpbusd(low##i, quad, b_low);                                                                    \
        high##i = qrt_vpdpbusd(high##i, quad, b_high);                                                                 \
    }
#define STORE(i)                                                                                                       \
    _mm256_store_si256((__m256i *)(tile + i * NR), low##i);                                                            \
    _mm256_store_si256((__m256i *)(tile + i * NR) + 1, high##i);
    ROWS(LOAD)
    for (; steps > 0; steps--, a += MR * KU) {
#pragma GCC unroll 4
        for (int q = 0; q < KU / 4; q++, b += NR * 4) {
            const __m256i b_low = _mm256_load_si256((const __m256i *)b);
            const __m256i b_high = _mm256_load_si256((const __m256i *)b + 1);
            ROWS(MULTIPLY)
        }
    }
    ROWS(STORE)
#undef LOAD
#undef MULTIPLY
#undef STORE
}

void qrt_init_avxvnni(qrt_kernels *table) {
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
