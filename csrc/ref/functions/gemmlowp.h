/* gemmlowp's fixed-point arithmetic, and its functions, of 16 or 32 bits. A number with k integer bits has bits - 1 - k
 * fractional ones. What a function gives has no integer bits, and its 1 is the largest integer.
 * qrt/numerics/gemmlowp.py and fixed_functions.py say the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline int64_t gemmlowp_saturate(int64_t x, int bits) {
    const int64_t end = (int64_t)1 << (bits - 1);
    return x < -end ? -end : x > end - 1 ? end - 1 : x;
}

/* SaturatingRoundingDoublingHighMul: a * b / 2^(bits - 1). Its nudge, which a division by truncation follows, rounds
 * half up. */
static inline int64_t gemmlowp_multiply(int64_t a, int64_t b, int bits) {
    const int64_t half = (int64_t)1 << (bits - 2), quotient = (a * b + half) >> (bits - 1);
    return quotient < 2 * half ? quotient : 2 * half - 1;
}

/* RoundingDivideByPOT: x / 2^exponent, half away from zero. */
static inline int64_t gemmlowp_divide(int64_t x, int exponent) {
    if (exponent > 31)
        return 0;
    const int64_t mask = ((int64_t)1 << exponent) - 1;
    return (x >> exponent) + ((x & mask) > (mask >> 1) + (x < 0));
}

/* A constant of 32 bits at another width. */
static inline int64_t gemmlowp_constant(int64_t value, int bits) {
    return gemmlowp_divide(value, 32 - bits);
}

/* exp(a) of numbers from 0 down: a Taylor polynomial around -1/8 of the rest above -1/4, and a factor for each bit of
 * the quarters below it. */
static inline int64_t gemmlowp_exp(int64_t a, int integer_bits, int bits) {
    static const int64_t factor[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int fraction = bits - 1 - integer_bits;
    const int64_t one = ((int64_t)1 << (bits - 1)) - 1, quarter = (int64_t)1 << (fraction - 2);
    if (a == 0)
        return one;
    if (integer_bits > 5 && a < -((int64_t)32 << fraction))
        return 0;
    const int64_t rest = (a & (quarter - 1)) - quarter, whole = rest - a;
    const int64_t x = gemmlowp_saturate(rest * ((int64_t)1 << integer_bits), bits) + ((int64_t)1 << (bits - 4));
    const int64_t x2 = gemmlowp_multiply(x, x, bits);
    const int64_t x3 = gemmlowp_multiply(x2, x, bits), x4 = gemmlowp_multiply(x2, x2, bits);
    const int64_t third = gemmlowp_constant(715827883, bits), base = gemmlowp_constant(1895147668, bits);
    const int64_t last = gemmlowp_multiply(gemmlowp_divide(x4, 2) + x3, third, bits) + x2;
    int64_t result = base + gemmlowp_multiply(x + gemmlowp_divide(last, 1), base, bits);
    result = bits == 16 ? gemmlowp_saturate(result, bits) : result;
    for (int i = 0; i < 7 && integer_bits > i - 2; i++)
        if (whole >> (fraction + i - 2) & 1)
            result = gemmlowp_multiply(result, gemmlowp_constant(factor[i], bits), bits);
    return result;
}

/* 2 / (1 + a) of numbers from 0 to 1, with two integer bits, by three steps of Newton. */
static inline int64_t gemmlowp_twice_reciprocal(int64_t a, int bits) {
    const int64_t half = (a + ((int64_t)1 << (bits - 1))) / 2;
    int64_t x =
        gemmlowp_constant(1515870810, bits) + gemmlowp_multiply(half, gemmlowp_constant(-1010580540, bits), bits);
    for (int i = 0; i < 3; i++) {
        const int64_t rest = ((int64_t)1 << (bits - 3)) - gemmlowp_multiply(half, x, bits);
        x += gemmlowp_saturate(gemmlowp_multiply(x, rest, bits) * 4, bits);
    }
    return x;
}

/* 1 / (1 + a) of numbers from 0 to 1. */
static inline int64_t gemmlowp_reciprocal(int64_t a, int bits) {
    return gemmlowp_saturate(gemmlowp_twice_reciprocal(a, bits) * 2, bits);
}

static inline int64_t gemmlowp_logistic(int64_t a, int integer_bits, int bits) {
    if (a == 0)
        return (int64_t)1 << (bits - 2);
    const int64_t positive = gemmlowp_reciprocal(gemmlowp_exp(a < 0 ? a : -a, integer_bits, bits), bits);
    return a > 0 ? positive : ((int64_t)1 << (bits - 1)) - 1 - positive;
}

static inline int64_t gemmlowp_tanh(int64_t a, int integer_bits, int bits) {
    if (a == 0)
        return 0;
    const int64_t two = gemmlowp_twice_reciprocal(gemmlowp_exp(a < 0 ? a : -a, integer_bits + 1, bits), bits);
    const int64_t magnitude = gemmlowp_saturate((two - ((int64_t)1 << (bits - 3))) * 4, bits);
    return a < 0 ? -magnitude : magnitude;
}

static inline int gemmlowp_leading_zeros(int64_t x) {
    return __builtin_clz((uint32_t)x);
}

/* 1 / sqrt(x) of integers from 1 up: the result / 2^31, shifted to the right, by five steps of Newton from 1 with three
 * integer bits. */
static inline int64_t gemmlowp_inverse_root(int64_t x, int *right) {
    *right = 0;
    if (x <= 1)
        return ((int64_t)1 << 31) - 1;
    const bool is_large = x >= (int64_t)1 << 29;
    x = is_large ? x >> 2 : x;
    const int pairs = (gemmlowp_leading_zeros(x) - 1) / 2 - 1;
    const int64_t half = gemmlowp_divide(x << 2 * pairs >> 1, 1), three_halves = (1 << 28) + (1 << 27);
    int64_t root = 1 << 28;
    for (int i = 0; i < 5; i++) {
        const int64_t square = gemmlowp_multiply(root, root, 32);
        const int64_t cube = gemmlowp_saturate(gemmlowp_multiply(square, root, 32) * 64, 32);
        const int64_t rest = gemmlowp_multiply(three_halves, root, 32) - gemmlowp_multiply(half, cube, 32);
        root = gemmlowp_saturate(rest * 8, 32);
    }
    root = gemmlowp_multiply(root, 1518500250, 32);
    const int places = 11 + is_large - pairs;
    *right = places > 0 ? places : 0;
    return places < 0 ? root << -places : root;
}

/* log(x) of 32-bit numbers from 1 up: log(2) times the nearest quarter of a power of two, and a rational function of
 * the rest. */
static inline int64_t gemmlowp_log(int64_t x, int integer_bits, int result_bits) {
    const int64_t root = 1805811301, accumulated = result_bits + 1, unit = (int64_t)1 << (31 - accumulated);
    const int64_t quarter = gemmlowp_divide((int64_t)1 << 29, (int)accumulated);
    const int above = gemmlowp_leading_zeros(x);
    const int headroom = gemmlowp_leading_zeros(gemmlowp_multiply(x, 1518500250, 32)) - 1;
    const int64_t shifted = gemmlowp_saturate(x * ((int64_t)1 << (above - 1)), 32);
    const int64_t a = gemmlowp_saturate(gemmlowp_multiply(shifted, 1518500250, 32) * 2, 32);
    const int64_t b = gemmlowp_saturate(x * ((int64_t)1 << headroom), 32), r = a < b ? a : b;
    const int64_t upper = gemmlowp_saturate(gemmlowp_saturate((integer_bits - above) * unit, 32) + quarter, 32);
    const int64_t lower = gemmlowp_saturate(gemmlowp_saturate((integer_bits - headroom) * unit, 32) - quarter, 32);
    const int64_t p = (r + root + 1) / 2, q = 2 * (r - root), square = gemmlowp_multiply(q, q, 32);
    const int64_t numerator =
        gemmlowp_multiply(q, r, 32) + gemmlowp_multiply(gemmlowp_multiply(q, square, 32), 117049297, 32);
    const int64_t inner = 1057819769 + q + gemmlowp_multiply(square, 127690142, 32);
    const int64_t denominator = gemmlowp_multiply(p, inner, 32) + gemmlowp_multiply(q, 638450708, 32);
    const int64_t share =
        gemmlowp_multiply(gemmlowp_divide(numerator, (int)accumulated), gemmlowp_reciprocal(denominator, 32), 32);
    return gemmlowp_saturate((gemmlowp_multiply(upper > lower ? upper : lower, 1488522236, 32) + share) * 2, 32);
}
