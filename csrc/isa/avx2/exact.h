/* Sums, differences and products of 8 and 16-bit storage as they are, in 32 bits: what NumPy's functions give.
 *
 *   vpmov[sz]x   widens 8 elements, on port 5, which is the limit: two of them for eight results
 *   vpmulld      32-bit products; two uops on ports 0 and 1
 *
 * Exact, because is_exact lets only calls pass whose results fit 32 bits and are multiplied by 1. */
#pragma once

#include "widen.h"

static bool is_one(int64_t multiplier, int64_t shift) {
    return shift >= 0 && shift < 62 && multiplier == (int64_t)1 << shift;
}

/* Whether the results are those of integers, neither rounded nor clamped nor moved by a zero point. */
static bool is_exact(const qrt_binary_args *args, int64_t parameter) {
    const qrt_requant *requant = &args->requant;
    if (args->a != args->b || requant->rule != QRT_FIXED || requant->container != QRT_I32 ||
        requant->storage_min != INT32_MIN || requant->storage_max != INT32_MAX || requant->zero_point[parameter])
        return false;
    const int64_t multiplier = requant->multiplier[parameter], shift = requant->shift[parameter];
    const int64_t most_a = qrt_largest_difference(args->a, args->a_zero_point + parameter, 1);
    const int64_t most_b = qrt_largest_difference(args->b, args->b_zero_point + parameter, 1);
    if (most_a > MOST_ZERO_POINT || most_b > MOST_ZERO_POINT)
        return false;
    if (args->kind == QRT_MUL)
        return is_one(multiplier, shift) && most_a * most_b <= INT32_MAX;
    return multiplier == 1 && is_one(args->a_multiplier[parameter], shift) &&
           is_one(args->b_multiplier[parameter], shift) && most_a + most_b <= INT32_MAX;
}

QRT_INLINE __m256i exact_eight(qrt_binary_kind kind, __m256i left, __m256i right, __m256i za, __m256i zb) {
    left = _mm256_sub_epi32(left, za);
    right = _mm256_sub_epi32(right, zb);
    return kind == QRT_ADD   ? _mm256_add_epi32(left, right)
           : kind == QRT_SUB ? _mm256_sub_epi32(left, right)
                             : _mm256_mullo_epi32(left, right);
}

/* Eight elements side by side, or one eight times. */
QRT_INLINE __m256i eight(qrt_container container, const char *source, int64_t stride, int64_t i) {
    return stride ? widen_eight(container, source + i * qrt_container_size(container))
                  : _mm256_set1_epi32((int)qrt_load(container, source, 0));
}

QRT_INLINE void exact_of(qrt_container container, qrt_binary_kind kind, const char *a, int64_t a_stride, const char *b,
                         int64_t b_stride, int32_t za, int32_t zb, int64_t count, int32_t *target) {
    const __m256i a_zeros = _mm256_set1_epi32(za), b_zeros = _mm256_set1_epi32(zb);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_si256((__m256i *)(target + i), exact_eight(kind, eight(container, a, a_stride, i),
                                                                 eight(container, b, b_stride, i), a_zeros, b_zeros));
    for (; i < count; i++) {
        const int64_t left = qrt_load(container, a, i * a_stride) - za;
        const int64_t right = qrt_load(container, b, i * b_stride) - zb;
        target[i] = (int32_t)(kind == QRT_ADD ? left + right : kind == QRT_SUB ? left - right : left * right);
    }
}

/* The strides are 0 or 1. */
static void exact_row(const qrt_binary_args *args, const char *a, int64_t a_stride, const char *b, int64_t b_stride,
                      int32_t *target, int64_t count, int64_t parameter) {
    const int32_t za = (int32_t)args->a_zero_point[parameter], zb = (int32_t)args->b_zero_point[parameter];
    if (args->kind == QRT_ADD)
        BY_CONTAINER(exact_of, args->a, QRT_ADD, a, a_stride, b, b_stride, za, zb, count, target);
    else if (args->kind == QRT_SUB)
        BY_CONTAINER(exact_of, args->a, QRT_SUB, a, a_stride, b, b_stride, za, zb, count, target);
    else
        BY_CONTAINER(exact_of, args->a, QRT_MUL, a, a_stride, b, b_stride, za, zb, count, target);
}
