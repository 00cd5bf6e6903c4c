/* Why the SIMD casts are exact.
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
 * reciprocal, (1 - 2^-8) of it), before and after; adding |zero point| <= 2^24 leaves it beyond every bound of 16 bits
 * and inside 32 bits. Addition, rounding and clamping are monotone, so both give the same saturated result.
 *
 * Trial. Without the clamp, in f32, the quotient is wrong only where x is no finite number or something overflows: then
 * q0 is infinite and e*r infinite of the other sign, or q is infinite, or there is a NaN, and what is converted to 32
 * bits is no number of theirs: the conversion gives -2^31 for it, as for a sum beyond 32 bits, and saturation to 16
 * bits -2^15. So where no such word stands among the results, for 8-bit storage, all of them are right; where one
 * does, be it a number so far below, the block is computed again with the clamp.
 *
 * NaN. In f32, x = 0 stands in for a NaN: 0/s is 0 and rounds to the zero point, which is then clamped, as the rule
 * says. In f16 and bf16 f(zp) may not be the zero point, and a reciprocal or f(zp) may be infinite: there NaNs are
 * carried to the end and replaced.
 *
 * f16 and bf16 are computed in f32, each step rounded to f32 and then to the format. For p = 11 and 8 bits, 24 >= 2p +
 * 2: such a double rounding of +, -, * and / equals one rounding (Figueroa, "When is double rounding innocuous?",
 * 1995). Subnormal results too: sums that are subnormal are exact; products have 2p <= 22 bits, exact down to half the
 * least subnormal of either format and below it rounded to 0; a quotient X/S that is not a midpoint M*2^k (X, S < 2^p,
 * M < 2^(p+1)) differs from it by a relative 1/(S*M) > 2^-(2p+1), more than f32's error, as f32's subnormals begin
 * 16 bits below bf16's. For the quotient that f32 computes this bound is all the proof above needs.
 *
 * f(q) of a container. 16 bits are exact in f32, so rounding to f16 or bf16 follows once. Of 32 bits f32 keeps 24; a
 * larger q is infinite in f16 (beyond 65519), so f16 is right too; bf16 would be rounded twice and goes to the parent.
 * A zero point that is infinite in f16 goes there too: less another infinity it is a NaN, and the processor's is not
 * the one that numerics.md names. */
#ifndef QRT_ISA_CAST_GUARD_H
#define QRT_ISA_CAST_GUARD_H

#include "qrt/qrt.h"

#define QRT_SCALE_LEAST 0x1p-64f
#define QRT_SCALE_MOST 0x1p64f
#define QRT_QUOTIENT_BOUND 0x1p26f

/* The largest number below one half: truncating x + copysign(this, x) rounds half away from zero for every x. */
#define QRT_BELOW_HALF_F32 0x1.fffffep-2f
#define QRT_BELOW_HALF_F64 0x1.fffffffffffffp-2

/* Bytes between a load and its prefetch; and between a store and the prefetch of its line, for which the core must own
 * the line. */
#define QRT_READ_AHEAD 4096
#define QRT_WRITE_AHEAD 2048

/* Elements from which it pays to align a row of a long cast: its ends are walked vector by vector. */
#define QRT_ALIGN_COUNT 2048

/* Whether qcast may compute in f32: the quotient is proven, and the result has at most 16 bits. */
static inline bool qrt_qcast_in_f32(const qrt_cast_args *args) {
    const qrt_cast_plan *plan = &args->plan;
    return plan->zero_point_i32 && args->problem.container <= QRT_U16 && plan->scale_least >= QRT_SCALE_LEAST &&
           plan->scale_most <= QRT_SCALE_MOST;
}

/* Whether dcast may compute in f32. */
static inline bool qrt_dcast_in_f32(const qrt_cast_args *args) {
    const qrt_cast_problem *problem = &args->problem;
    return problem->expressed != QRT_F64 && args->plan.finite_zero_points &&
           (problem->expressed != QRT_BF16 || problem->container <= QRT_U16);
}

/* Whether the storage bounds of qcast are those of an 8-bit container. */
static inline bool qrt_cast_is_full(const qrt_cast_problem *problem, qrt_container container) {
    const int64_t low = problem->storage_min, high = problem->storage_max;
    return container == QRT_I8 ? low == INT8_MIN && high == INT8_MAX
                               : container == QRT_U8 && low == 0 && high == UINT8_MAX;
}

/* Fetches the lines of what a long cast will read. */
QRT_INLINE void qrt_cast_fetch(const char *source, int bytes) {
    _Pragma("GCC unroll 8") for (int line = 0; line < bytes; line += 64) __builtin_prefetch(source + line, 0);
}

/* Owns the lines of what a long cast will write: a store that waits for its line holds up those behind it. */
QRT_INLINE void qrt_cast_own(const char *target, int bytes) {
    _Pragma("GCC unroll 8") for (int line = 0; line < bytes; line += 64) __builtin_prefetch(target + line, 1);
}

/* Where, seen from its row, the element stands that is walked `ahead` elements after the i-th of it: `rows` rows of
 * `count` elements are walked together, then as many behind them. */
QRT_INLINE int64_t qrt_cast_ahead(int64_t i, int64_t ahead, int64_t count, int64_t rows) {
    return i + ahead < count ? i + ahead : i + ahead + (rows - 1) * count;
}

/* How many rows to walk together, that a load of parameters serves them all: the processor mispredicts where such a
 * loop ends, so of short rows more. Of a long cast each is a stream of memory, and few are best. Rows may differ in
 * alignment, so stores past the caches go row by row. */
QRT_INLINE int64_t qrt_cast_most_rows(const qrt_cast_args *args, int64_t count, bool stream) {
    if (args->plan.prefetch)
        return stream ? 1 : 4;
    return count < 256 ? 4096 / count : 16;
}

/* What a variant of a loop is compiled for; fields that are not constants are branches that never change. */
typedef struct {
    qrt_expressed expressed;
    qrt_container container; /* dcast */
    qrt_rounding rounding;   /* qcast, and what follows */
    bool divide, before;     /* scale mode, zero point order */
    bool trial;              /* blocks are first tried without the clamp */
    bool each;               /* parameters advance with the elements, */
    bool table;              /* and come from the table */
    bool fetch;              /* memory is fetched ahead */
    bool stream;             /* stores pass the caches */
} qrt_cast_mode;

QRT_INLINE qrt_cast_mode qrt_qcast_mode_of(const qrt_cast_problem *problem, qrt_expressed expressed) {
    return (qrt_cast_mode){.expressed = expressed,
                           .rounding = problem->rounding,
                           .divide = problem->scale_mode == QRT_SCALE_DIVIDE,
                           .before = problem->zero_point_order == QRT_ZERO_POINT_BEFORE};
}

/* What most casts ask for. */
static inline bool qrt_qcast_is_default(const qrt_cast_problem *problem) {
    return problem->rounding == QRT_HALF_EVEN && problem->scale_mode == QRT_SCALE_DIVIDE &&
           problem->zero_point_order == QRT_ZERO_POINT_BEFORE;
}

#endif
