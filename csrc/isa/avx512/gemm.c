/* The 8-bit microkernel: 12 rows x 32 columns of i32, two values of K per multiply-add.
 *
 *   vpmaddwd, vpaddd  two uops on ports 0 and 5: 24 of each per pair of K, 24 cycles
 *   vpbroadcastd m32  a pair of A; load ports only: 12, and 2 loads of B, per pair
 *
 * 24 accumulators, two vectors of B, a broadcast and a product fill 28 of 32 registers; 13 and 14 rows measured the
 * same. Exact: see pack_i16.h; the sums of a tile fit 31 bits (qrt.h). */
#include "../pack_i16.h"
#include "avx512.h"

#define MR 12
#define NR 32
#define ROWS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

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
    const __m512i low = _mm512_loadu_si512(bias), high = _mm512_loadu_si512(bias + 16);
    for (int i = 0; i < MR; i++) {
        _mm512_store_si512(tile + i * NR, low);
        _mm512_store_si512(tile + i * NR + 16, high);
    }
}

/* Written out so that the sum stays in its register: with intrinsics gcc 12 moves accumulators from register to
 * register, and some through the stack, at every step, which costs a fifth of the speed and more. */
static inline __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(_mm512_madd_epi16(a, b)));
    return acc;
}

static inline __m512i broadcast_pair(const int16_t *pair) {
    int32_t bits;
    memcpy(&bits, pair, sizeof bits);
    return _mm512_set1_epi32(bits);
}

static void tile(const void *a_panel, const void *b_panel, int64_t steps, int32_t *tile) {
    const int16_t *a = a_panel, *b = b_panel;
#define LOAD(i) __m512i low##i = _mm512_load_si512(tile + i * NR), high##i = _mm512_load_si512(tile + i * NR + 16);
#define MULTIPLY(i)                                                                                                    \
    {                                                                                                                  \
        const __m512i pair = broadcast_pair(a + i * KU + 2 * p);                                                       \
        low##i = multiply_add(low##i, pair, b_low);                                                                    \
        high##i = multiply_add(high##i, pair, b_high);                                                                 \
    }
#define STORE(i)                                                                                                       \
    _mm512_store_si512(tile + i * NR, low##i);                                                                         \
    _mm512_store_si512(tile + i * NR + 16, high##i);
    ROWS(LOAD)
    for (; steps > 0; steps--, a += MR * KU) {
#pragma GCC unroll 4
        for (int p = 0; p < KU / 2; p++, b += NR * 2) {
            const __m512i b_low = _mm512_load_si512(b), b_high = _mm512_load_si512(b + 32);
            ROWS(MULTIPLY)
        }
    }
    ROWS(STORE)
#undef LOAD
#undef MULTIPLY
#undef STORE
}

void qrt_avx512_install_gemm(qrt_kernels *table) {
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
