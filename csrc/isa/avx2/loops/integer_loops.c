/* The steps of loop nests in int32, on blocks that stay in L1: two loads and a store take a cycle, as in float_loops.c.
 *
 *   vcvtdq2ps   rounds to nearest even, as the control register says, which the entry has set
 *   vcvttps2dq  gives 0x80000000 for what no integer is: where that came of another number than -2^31, it is undefined
 *   vpmulld     the low bits of products, so that they wrap; two uops on Intel */
#include <immintrin.h>

#include "isa/rows.h"

typedef __m256i integers;

QRT_INLINE __m256 as_floats(integers v) {
    return _mm256_castsi256_ps(v);
}

QRT_INLINE integers in_range(integers a) {
    const __m256 x = as_floats(a);
    return _mm256_castps_si256(_mm256_and_ps(_mm256_cmp_ps(x, _mm256_set1_ps(-0x1p31f), _CMP_GE_OQ),
                                             _mm256_cmp_ps(x, _mm256_set1_ps(0x1p31f), _CMP_LT_OQ)));
}

QRT_INLINE integers truncated(integers a) {
    return _mm256_and_si256(in_range(a), _mm256_cvttps_epi32(as_floats(a)));
}

/* 0x80000000 for what is too low already; all its bits are inverted for what is too large. */
QRT_INLINE integers saturated(integers a) {
    const __m256 x = as_floats(a);
    const integers is_large = _mm256_castps_si256(_mm256_cmp_ps(x, _mm256_set1_ps(0x1p31f), _CMP_GE_OQ));
    const integers is_number = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_ORD_Q));
    return _mm256_and_si256(is_number, _mm256_xor_si256(is_large, _mm256_cvttps_epi32(x)));
}

QRT_INLINE integers low_bits(integers a, const int bits) {
    return _mm256_srai_epi32(_mm256_slli_epi32(a, 32 - bits), 32 - bits);
}

QRT_INLINE integers computed(const int code, integers a, integers b) {
    switch (code) {
    case QRT_STEP_TO_F32:
        return _mm256_castps_si256(_mm256_cvtepi32_ps(a));
    case QRT_STEP_TO_I32:
        return truncated(a);
    case QRT_STEP_SATURATE_I32:
        return saturated(a);
    case QRT_STEP_TO_I8:
        return low_bits(a, 8);
    case QRT_STEP_TO_I16:
        return low_bits(a, 16);
    case QRT_STEP_ADD_I32:
        return _mm256_add_epi32(a, b);
    case QRT_STEP_SUB_I32:
        return _mm256_sub_epi32(a, b);
    case QRT_STEP_MUL_I32:
        return _mm256_mullo_epi32(a, b);
    case QRT_STEP_MAX_I32:
        return _mm256_max_epi32(a, b);
    default:
        return _mm256_min_epi32(a, b);
    }
}

QRT_INLINE integers load(const float *from) {
    return _mm256_loadu_si256((const integers *)from);
}

static bool has_integers(const float *x, int64_t live) {
    integers all = _mm256_set1_epi32(-1);
    for (int64_t i = 0; i < live; i += 8) {
        const integers lane = _mm256_add_epi32(_mm256_set1_epi32((int)i), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        const integers is_dead = _mm256_cmpgt_epi32(lane, _mm256_set1_epi32((int)live - 1));
        all = _mm256_and_si256(all, _mm256_or_si256(in_range(load(x + i)), is_dead));
    }
    return _mm256_movemask_epi8(all) == -1;
}

#define CASES(CASE)                                                                                                    \
    CASE(QRT_STEP_TO_F32)                                                                                              \
    CASE(QRT_STEP_TO_I32)                                                                                              \
    CASE(QRT_STEP_SATURATE_I32)                                                                                        \
    CASE(QRT_STEP_TO_I8)                                                                                               \
    CASE(QRT_STEP_TO_I16)                                                                                              \
    CASE(QRT_STEP_ADD_I32)                                                                                             \
    CASE(QRT_STEP_SUB_I32)                                                                                             \
    CASE(QRT_STEP_MUL_I32)                                                                                             \
    CASE(QRT_STEP_MAX_I32)                                                                                             \
    CASE(QRT_STEP_MIN_I32)

bool avx2_integer_steps(const qrt_loops_step *step, int count, float *const *reg, int64_t lanes, int64_t live) {
    bool is_defined = true;
    for (; count > 0; count--, step++) {
        const float *a = reg[step->a], *b = reg[step->b];
        float *to = reg[step->to];
        if (step->code == QRT_STEP_TO_I32)
            is_defined &= has_integers(a, live);
        switch (step->code) {
#define CASE(code)                                                                                                     \
    case code:                                                                                                         \
        for (int64_t i = 0; i < lanes; i += 8)                                                                         \
            _mm256_storeu_si256((integers *)(to + i), computed(code, load(a + i), load(b + i)));                       \
        break;
            CASES(CASE)
#undef CASE
        }
    }
    return is_defined;
}
