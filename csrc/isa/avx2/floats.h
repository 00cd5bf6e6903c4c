/* Vectors of 256 bits in the words of the templates of float products and float loops: eight floats. */
#pragma once

#include <immintrin.h>
#include <math.h>

#include "qrt/base.h"

#define OP(name) _mm256_##name
#define WIDTH 8
#define load_live _mm256_maskload_ps
#define store_live(to, value, valid) _mm256_maskstore_ps(to, valid, value)
#define multiply_add(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#define with_one_nan(value) _mm256_blendv_ps(value, _mm256_set1_ps(NAN), unordered(value, value))
#define unordered(a, b) _mm256_cmp_ps(a, b, _CMP_UNORD_Q)
#define either _mm256_or_ps
#define holds _mm256_movemask_ps

typedef __m256 vector;
typedef __m256i mask;
typedef __m256 flags;

static inline mask live(int64_t left) {
    const int n = left > 8 ? 8 : left > 0 ? (int)left : 0;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
