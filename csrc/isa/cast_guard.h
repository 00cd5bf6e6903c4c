/* What the SIMD casts share: the bounds under which they are exact.
 *
 * Quotient. With r = fl(1/s), q0 = fl(x*r), e = fl(x - q0*s) (fused) and q = fl(q0 + e*r) (fused), q is the correctly
 * rounded x/s whenever nothing underflows. Proof, in ulps of x/s, with S in [2^23, 2^24) the significand of s:
 *   |q0 - x/s| <= 3/2, because r is within half an ulp of 1/s and the product is rounded once more;
 *   e therefore needs at most 25 bits, so it is exact or off by a relative 2^-25;
 *   q0 + e*r differs from x/s by at most (3/2)*S*2^-48 + (3/2)*2^-25 <= 6/(2S), and q is its rounding;
 *   x/s is never a midpoint of two floats, and lies |j|/(2S) from the nearest one for an integer j != 0.
 * So only |j| < 8 can go wrong; those quotients are finitely many, and tests/kernels/division.c tries every one: none
 * does. Underflow: for |x/s| >= 2^-27 and s >= 2^-64, e is a multiple of ulp(q0)*ulp(s) >= 2^-51 * 2^-87, above the
 * least subnormal 2^-149. For |x/s| < 2^-27 the computed q is below 2^-26 too, and any such value gives the same
 * result: added to a zero point (0, or at least 1 in magnitude, where half a spacing is 2^-25) it vanishes, and alone
 * it rounds to 0 in every mode.
 *
 * Bound. x is first clamped to +-2^26*s, which is exact for s <= 2^64. A clamped x has |x/s| >= 2^26 (or, for the
 * reciprocal, (1 - 2^-23) of it), before and after; adding |zero point| <= 2^24 leaves it beyond every 8-bit bound and
 * inside 32 bits. Addition, rounding and clamping are monotone, so both give the same saturated result.
 *
 * NaN. x = 0 stands in for a NaN: 0/s is 0 and rounds to the zero point, which is then clamped, as the rule says. */
#ifndef QRT_ISA_CAST_GUARD_H
#define QRT_ISA_CAST_GUARD_H

#include "qrt.h"

#define QRT_SCALE_LEAST 0x1p-64f
#define QRT_SCALE_MOST 0x1p64f
#define QRT_QUOTIENT_BOUND 0x1p26f

/* The largest float below one half: truncating x + copysign(this, x) rounds half away from zero for every float x. */
#define QRT_BELOW_HALF 0x1.fffffep-2f

/* Rows at least this long prefetch a page ahead: the hardware streams stop at page boundaries. */
#define QRT_STREAM_COUNT 16384
#define QRT_STREAM_AHEAD 4096

static inline bool qrt_is_8bit_f32(const qrt_cast_args *args) {
    return args->expressed == QRT_F32 && (args->container == QRT_I8 || args->container == QRT_U8);
}

/* Whether the SIMD row of qcast is exact for these arguments. */
static inline bool qrt_qcast_in_guard(const qrt_cast_args *args) {
    return qrt_is_8bit_f32(args) && args->zero_point_i32 && args->scale_least >= QRT_SCALE_LEAST &&
           args->scale_most <= QRT_SCALE_MOST;
}

#define QRT_INLINE static inline __attribute__((always_inline))

/* What a variant of the qcast loop is compiled for. */
typedef struct {
    qrt_rounding rounding;
    bool divide, before; /* scale mode, zero point order */
    bool each;           /* parameters advance with the elements */
} qrt_qcast_mode;

#endif
