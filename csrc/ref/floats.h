/* Values of the expressed types as doubles. An operation on two values of a format with p <= 24 bits, done in double
 * and then rounded to the format, equals the operation rounded once, because 53 >= 2p + 2 (Figueroa, "When is double
 * rounding innocuous?", 1995). */
#pragma once

#include <math.h>
#include <string.h>

#include "qrt/products/mixed_matmul.h"

/* Rounds half to even to `precision` bits, where min_exponent is the smallest exponent. Results beyond `largest` are
 * infinite. */
static inline double ref_round_narrow(double x, int precision, int min_exponent, double largest) {
    if (!isfinite(x) || x == 0)
        return x;
    int exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 > min_exponent ? exponent - 1 : min_exponent;
    const int quantum = exponent - (precision - 1);
    const double rounded = ldexp(rint(ldexp(x, -quantum)), quantum);
    return fabs(rounded) > largest ? copysign(INFINITY, x) : rounded;
}

static inline double ref_round_expressed(qrt_expressed expressed, double x) {
    return expressed == QRT_F16    ? ref_round_narrow(x, 11, -14, 65504.0)
           : expressed == QRT_BF16 ? ref_round_narrow(x, 8, -126, 0x1.FEp127)
           : expressed == QRT_F32  ? (float)x
                                   : x;
}

static inline double ref_decode_f16(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* x is a value of f16. */
static inline uint16_t ref_encode_f16(double x) {
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    const double magnitude = fabs(x);
    if (isnan(x))
        return 0x7E00;
    if (isinf(x))
        return sign | 0x7C00;
    if (magnitude < 0x1p-14)
        return sign | (uint16_t)ldexp(magnitude, 24);
    int exponent;
    const double fraction = frexp(magnitude, &exponent); /* in [1/2, 1) */
    return sign | (uint16_t)((exponent + 14) << 10) | (uint16_t)(ldexp(fraction, 11) - 1024);
}

static inline double ref_load_float(qrt_expressed expressed, const void *source, int64_t i) {
    return expressed == QRT_F16    ? ref_decode_f16(((const uint16_t *)source)[i])
           : expressed == QRT_BF16 ? qrt_float_of((uint32_t)((const uint16_t *)source)[i] << 16)
           : expressed == QRT_F32  ? ((const float *)source)[i]
                                   : ((const double *)source)[i];
}

/* x is a value of the expressed type. */
static inline void ref_store_float(qrt_expressed expressed, void *target, int64_t i, double x) {
    if (expressed == QRT_F16)
        ((uint16_t *)target)[i] = ref_encode_f16(x);
    else if (expressed == QRT_BF16)
        ((uint16_t *)target)[i] = (uint16_t)(qrt_bits_of((float)x) >> 16);
    else if (expressed == QRT_F32)
        ((float *)target)[i] = (float)x;
    else
        ((double *)target)[i] = x;
}
