/* Vectors of 512 bits in the words of the templates of float products and float loops: sixteen floats. */
#pragma once

#include <immintrin.h>
#include <math.h>

#include "qrt/base.h"

#define OP(name) _mm512_##name
#define WIDTH 16
#define load_live(from, valid) _mm512_maskz_loadu_ps(valid, from)
#define store_live(to, value, valid) _mm512_mask_storeu_ps(to, valid, value)
#define with_one_nan(value) _mm512_mask_mov_ps(value, unordered(value, value), _mm512_set1_ps(NAN))
#define unordered(a, b) _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q)
#define either(a, b) ((flags)((a) | (b)))
#define holds(some) (some)

typedef __m512 vector;
typedef __mmask16 mask;
typedef __mmask16 flags;

static inline mask live(int64_t left) {
    return (mask)(left >= 16 ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
}

/* Written in assembly so that the sum stays in its register: see gemm.c. */
static inline vector multiply_add(vector sum, vector a, vector b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
