/* The 8-bit microkernel: 6 rows x 16 columns of i32, two values of K per multiply-add.
 *
 *   vpmaddwd          ports 0 and 1 (Intel): 12 per pair of K, 6 cycles
 *   vpaddd            ports 0, 1 and 5: 12 per pair; the two together 8 cycles
 *   vpbroadcastd m32  a pair of A; load ports only: 6, and 2 loads of B, per pair: 4 cycles
 *
 * 12 accumulators, two vectors of B, a broadcast and a product fill all 16 registers.
 * Exact: see pack_i16.h; the sums of a tile fit 31 bits (qrt.h). */
#include "../pack_i16.h"
#include "avx2.h"

#define MR 6
#define NR 16
#define ROWS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

static void pack_a(qrt_container container, const void *source, int64_t row_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *panel, int32_t *terms) {
    (void)terms;
    qrt_pack_a_i16(container, source, row_stride, rows, depth, zero_point, panel, MR);
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    (void)terms;
    qrt_pack_b_i16(container, source, k_stride, n_stride, columns, depth, zero_point, panel, NR);
}

static void start(const int32_t *bias, const int32_t *a_terms, const int32_t *b_terms, int64_t depth, int32_t *tile) {
    (void)a_terms, (void)b_terms, (void)depth;
    const __m256i low = _mm256_loadu_si256((const __m256i *)bias), high = _mm256_loadu_si256((const __m256i *)bias + 1);
    for (int i = 0; i < MR; i++) {
        _mm256_store_si256((__m256i *)(tile + i * NR), low);
        _mm256_store_si256((__m256i *)(tile + i * NR) + 1, high);
    }
}

/* Written out so that the sum stays in its register: see avx512/gemm.c. */
static inline __m256i multiply_add(__m256i acc, __m256i a, __m256i b) {
    __asm__("vpaddd %1, %0, %0" : "+x"(acc) : "x"(_mm256_madd_epi16(a, b)));
    return acc;
}

static inline __m256i broadcast_pair(const int16_t *pair) {
    int32_t bits;
    memcpy(&bits, pair, sizeof bits);
    return _mm256_set1_epi32(bits);
}

static void tile(const void *a_panel, const void *b_panel, int64_t steps, int32_t *tile) {
    const int16_t *a = a_panel, *b = b_panel;
#define LOAD(i)                                                                                                        \
    __m256i low##i = _mm256_load_si256((const __m256i *)(tile + i * NR));                                              \
    __m256i high##i = _mm256_load_si256((const __m256i *)(tile + i * NR) + 1);
#define MULTIPLY(i)                                                                                                    \
    {                                                                                                                  \
        const __m256i pair = broadcast_pair(a + i * KU + 2 * p);                                                       \
        low##i = multiply_add(low##i, pair, b_low);                                                                    \
        high##i = multiply_add(high##i, pair, b_high);                                                                 \
    }
#define STORE(i)                                                                                                       \
    _mm256_store_si256((__m256i *)(tile + i * NR), low##i);                                                            \
    _mm256_store_si256((__m256i *)(tile + i * NR) + 1, high##i);
    ROWS(LOAD)
    for (; steps > 0; steps--, a += MR * KU) {
#pragma GCC unroll 4
        for (int p = 0; p < KU / 2; p++, b += NR * 2) {
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

void qrt_avx2_install_gemm(qrt_kernels *table) {
    table->gemm = (qrt_gemm_kernel){
        .mr = MR,
        .nr = NR,
        .ku = KU,
        .a_size = 2,
        .b_size = 2,
        .pack_a = pack_a,
        .pack_b = pack_b,
        .start = start,
        .tile = tile,
    };
}
