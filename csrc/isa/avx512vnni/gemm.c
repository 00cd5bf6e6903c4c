/* The 8-bit microkernel: 12 rows x 32 columns of i32, four values of K per multiply-add.
 *
 *   vpdpbusd          u8 x s8, four products added to an i32 without saturation (vpdpbusds would saturate): ports 0 and
 * 5, 24 per four values of K, 12 cycles vpbroadcastd m32  four values of A; load ports only: 12, and 2 loads of B
 *
 * A is made u8 and B s8 by flipping the top bit, which moves the values and their zero points by 128 alike:
 *     sum (a - za)(b - zb) = sum a*b - zb * (sum a - depth * za) - za * sum b
 * `start` puts the last two terms in before the products, modulo 2^32. vpdpbusd wraps modulo 2^32 too, and the exact
 * sum fits 31 bits (qrt.h), so the final value is exact. Filled-up values of K are 0 in both panels.
 *
 * A step is 16 values of K. Panels: A [step][row][16]; B [step][quad][column][4]. */
#include <immintrin.h>
#include <string.h>

#include "avx512vnni.h"

#define MR 12
#define NR 32
#define KU 16
#define ROWS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

static inline __m128i load_part(const uint8_t *source, int64_t left) {
    const __mmask16 live = (__mmask16)(left >= KU ? 0xffff : (1 << left) - 1);
    return _mm_maskz_loadu_epi8(live, source);
}

/* Flips the top bit of the valid bytes only. */
static inline __m128i flip_part(__m128i bytes, int64_t left, uint8_t flip) {
    const __mmask16 live = (__mmask16)(left >= KU ? 0xffff : (1 << left) - 1);
    return _mm_xor_si128(bytes, _mm_maskz_set1_epi8(live, (char)flip));
}

/* a_terms: sum a - depth * za per row, then za. */
static void pack_a(qrt_container container, const void *source, int64_t row_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *panel, int32_t *terms) {
    const uint8_t flip = container == QRT_I8 ? 0x80 : 0;
    for (int i = 0; i < MR; i++) {
        uint8_t *to = (uint8_t *)panel + i * KU;
        const uint8_t *row = (const uint8_t *)source + i * row_stride;
        const int64_t valid = i < rows ? depth : 0;
        const __m128i flips = _mm_set1_epi8((char)flip);
        __m128i sum = _mm_setzero_si128();
        int64_t k = 0;
        for (; k + KU <= valid; k += KU, to += MR * KU) {
            const __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(row + k)), flips);
            _mm_store_si128((__m128i *)to, bytes);
            sum = _mm_add_epi64(sum, _mm_sad_epu8(bytes, _mm_setzero_si128()));
        }
        for (; k < depth; k += KU, to += MR * KU) {
            const int64_t left = valid > k ? valid - k : 0;
            const __m128i bytes = flip_part(load_part(row + k, left), left, flip);
            _mm_store_si128((__m128i *)to, bytes);
            sum = _mm_add_epi64(sum, _mm_sad_epu8(bytes, _mm_setzero_si128()));
        }
        const int32_t zero = i < rows ? zero_point[i] + flip : 0;
        const int64_t total = _mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1);
        terms[i] = (int32_t)(uint32_t)(total - depth * zero);
        terms[MR + i] = zero;
    }
}

/* Column sums of one packed panel: multiply-add with ones. */
static void column_sums(const int8_t *panel, int64_t quads, int32_t *sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    __m512i low = _mm512_setzero_si512(), high = low;
    for (int64_t q = 0; q < quads; q++, panel += NR * 4) {
        low = _mm512_dpbusd_epi32(low, ones, _mm512_load_si512(panel));
        high = _mm512_dpbusd_epi32(high, ones, _mm512_load_si512(panel + 64));
    }
    _mm512_storeu_si512(sums, low);
    _mm512_storeu_si512(sums + 16, high);
}

/* Columns contiguous: four rows of 16 columns interleave into 16 quads. */
static void pack_b_rows(const uint8_t *source, int64_t k_stride, int columns, int64_t depth, uint8_t flip,
                        int8_t *panel) {
    const int64_t quads = (depth + KU - 1) / KU * (KU / 4);
    for (int64_t q = 0; q < quads; q++) {
        for (int j = 0; j < NR; j += 16) {
            __m128i row[4];
            for (int r = 0; r < 4; r++) {
                const int64_t left = 4 * q + r < depth ? columns - j : 0;
                row[r] = flip_part(load_part(source + (4 * q + r) * k_stride + j, left > 0 ? left : 0),
                                   left > 0 ? left : 0, flip);
            }
            const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]), low23 = _mm_unpacklo_epi8(row[2], row[3]);
            const __m128i high01 = _mm_unpackhi_epi8(row[0], row[1]), high23 = _mm_unpackhi_epi8(row[2], row[3]);
            __m128i *to = (__m128i *)(panel + (q * NR + j) * 4);
            _mm_store_si128(to, _mm_unpacklo_epi16(low01, low23));
            _mm_store_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
            _mm_store_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
            _mm_store_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
        }
    }
}

/* K contiguous: four columns of 16 values are a 4x4 transpose of quads. */
static void pack_b_columns(const uint8_t *source, int64_t n_stride, int columns, int64_t depth, uint8_t flip,
                           int8_t *panel) {
    for (int64_t k = 0; k < depth; k += KU) {
        for (int j = 0; j < NR; j += 4) {
            __m128i c[4];
            for (int i = 0; i < 4; i++)
                c[i] = j + i < columns
                           ? flip_part(load_part(source + (j + i) * n_stride + k, depth - k), depth - k, flip)
                           : _mm_setzero_si128();
            const __m128i low01 = _mm_unpacklo_epi32(c[0], c[1]), low23 = _mm_unpacklo_epi32(c[2], c[3]);
            const __m128i high01 = _mm_unpackhi_epi32(c[0], c[1]), high23 = _mm_unpackhi_epi32(c[2], c[3]);
            __m128i *to = (__m128i *)(panel + k * NR + j * 4);
            const int quad = NR * 4 / 16; /* vectors from one quad to the next */
            _mm_store_si128(to, _mm_unpacklo_epi64(low01, low23));
            _mm_store_si128(to + quad, _mm_unpackhi_epi64(low01, low23));
            _mm_store_si128(to + 2 * quad, _mm_unpacklo_epi64(high01, high23));
            _mm_store_si128(to + 3 * quad, _mm_unpackhi_epi64(high01, high23));
        }
    }
}

/* b_terms: zb per column, then sum b. */
static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms) {
    const uint8_t flip = container == QRT_U8 ? 0x80 : 0;
    const int64_t steps = (depth + KU - 1) / KU;
    if (n_stride == 1) {
        pack_b_rows(source, k_stride, columns, depth, flip, panel);
    } else if (k_stride == 1) {
        pack_b_columns(source, n_stride, columns, depth, flip, panel);
    } else {
        uint8_t *to = panel;
        memset(to, 0, (size_t)(steps * KU * NR));
        for (int64_t k = 0; k < depth; k++)
            for (int j = 0; j < columns; j++)
                to[(k / 4 * NR + j) * 4 + k % 4] = ((const uint8_t *)source)[k * k_stride + j * n_stride] ^ flip;
    }
    for (int j = 0; j < NR; j++)
        terms[j] = j < columns ? zero_point[j] - flip : 0;
    column_sums(panel, steps * (KU / 4), terms + NR);
}

static void start(const int32_t *bias, const int32_t *a_terms, const int32_t *b_terms, int64_t depth, int32_t *tile) {
    (void)depth;
    for (int j = 0; j < NR; j += 16) {
        const __m512i base = _mm512_loadu_si512(bias + j);
        const __m512i b_zero = _mm512_loadu_si512(b_terms + j), b_sum = _mm512_loadu_si512(b_terms + NR + j);
        const bool b_centred = _mm512_test_epi32_mask(b_zero, b_zero) == 0;
        for (int i = 0; i < MR; i++) {
            __m512i acc = _mm512_sub_epi32(base, _mm512_mullo_epi32(b_sum, _mm512_set1_epi32(a_terms[MR + i])));
            if (!b_centred)
                acc = _mm512_sub_epi32(acc, _mm512_mullo_epi32(b_zero, _mm512_set1_epi32(a_terms[i])));
            _mm512_store_si512(tile + i * NR + j, acc);
        }
    }
}

/* Written out so that the sum stays in its register: see avx512/gemm.c. */
static inline __m512i multiply_add(__m512i acc, __m512i a, __m512i b) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

static inline __m512i broadcast_quad(const uint8_t *quad) {
    int32_t bits;
    memcpy(&bits, quad, sizeof bits);
    return _mm512_set1_epi32(bits);
}

static void tile(const void *a_panel, const void *b_panel, int64_t steps, int32_t *tile) {
    const uint8_t *a = a_panel;
    const int8_t *b = b_panel;
#define LOAD(i) __m512i low##i = _mm512_load_si512(tile + i * NR), high##i = _mm512_load_si512(tile + i * NR + 16);
#define MULTIPLY(i)                                                                                                    \
    {                                                                                                                  \
        const __m512i quad = broadcast_quad(a + i * KU + 4 * q);                                                       \
        low##i = multiply_add(low##i, quad, b_low);                                                                    \
        high##i = multiply_add(high##i, quad, b_high);                                                                 \
    }
#define STORE(i)                                                                                                       \
    _mm512_store_si512(tile + i * NR, low##i);                                                                         \
    _mm512_store_si512(tile + i * NR + 16, high##i);
    ROWS(LOAD)
    for (; steps > 0; steps--, a += MR * KU) {
#pragma GCC unroll 4
        for (int q = 0; q < KU / 4; q++, b += NR * 4) {
            const __m512i b_low = _mm512_load_si512(b), b_high = _mm512_load_si512(b + 64);
            ROWS(MULTIPLY)
        }
    }
    ROWS(STORE)
#undef LOAD
#undef MULTIPLY
#undef STORE
}

void qrt_avx512vnni_install_gemm(qrt_kernels *table) {
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
