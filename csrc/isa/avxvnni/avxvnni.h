/* The one instruction of AVX-VNNI that this folder uses. With QRT_EMULATE it is computed as the manual defines it, so
 * that the kernels can be tested on processors without it. */
#pragma once

#include <immintrin.h>
#include <stdint.h>

/* VPDPBUSD: acc.dword[i] + sum of a.byte[4i + j] (unsigned) * b.byte[4i + j] (signed), modulo 2^32. */
static inline __m256i qrt_vpdpbusd(__m256i acc, __m256i a, __m256i b) {
#ifdef QRT_EMULATE
    uint32_t sums[8];
    uint8_t left[32];
    int8_t right[32];
    _mm256_storeu_si256((__m256i *)sums, acc);
    _mm256_storeu_si256((__m256i *)left, a);
    _mm256_storeu_si256((__m256i *)right, b);
    for (int i = 0; i < 32; i++)
        sums[i / 4] += (uint32_t)(left[i] * right[i]);
    return _mm256_loadu_si256((const __m256i *)sums);
#else
    /* Written in assembly so that the sum stays in its register: see avx512/gemm.c. Without {vex} it would be the
     * instruction of AVX-512. */
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(a), "x"(b));
    return acc;
#endif
}
