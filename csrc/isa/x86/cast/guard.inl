/* Why the SIMD casts are exact.
 *
 * Quotient. With r = fl(1/s), q0 = fl(x*r), e = fl(x - q0*s) (fused) and q = fl(q0 + e*r) (fused), q is the correctly
 * rounded x/s whenever nothing underflows. Proof, in ulps of x/s, with S in [2^23, 2^24) the significand of s:
 *   |q0 - x/s| <= 3/2, because r is within half an ulp of 1/s and the product is rounded once more;
 *   e therefore needs at most 25 bits, so it is exact or off by a relative 2^-25;
 *   q0 + e*r differs from x/s by at most (3/2)*S*2^-48 + (3/2)*2^-25 <= 6/(2S), and q is its rounding;
 *   x/s is never a midpoint of two floats, and lies |j|/(2S) from the nearest one for an integer j != 0.
 * So only |j| < 8 can go wrong. Those quotients are finitely many; tests/kernels/division.c tries every one, and none
 * does. Underflow: for |x/s| >= 2^-27 and s >= 2^-64, e is a multiple of ulp(q0)*ulp(s) >= 2^-51 * 2^-87, above the
 * least subnormal 2^-149. For |x/s| < 2^-27 the computed q is below 2^-26 too, and any such value gives the same
 * result: added to a zero point (0, or at least 1 in magnitude, where half a spacing is 2^-25) it vanishes, and alone
 * it rounds to 0 in every mode.
 *
 * Bound. x is first clamped to +-2^26*s, which is exact for s <= 2^64. A clamped x has |x/s| >= 2^26 (or, for the
 * reciprocal, (1 - 2^-8) of it), before and after; adding |zero point| <= 2^24 leaves it beyond every bound of 16 bits
 * and inside 32 bits. Addition, rounding and clamping are monotone, so both give the same saturated result.
 *
 * Trial. Without the clamp, in f32, the quotient is wrong only where x is no finite number or something overflows. Then
 * q0 is infinite and e*r infinite of the other sign, or q is infinite, or there is a NaN. The conversion to 32 bits
 * gives -2^31 for each of these, as for a sum beyond 32 bits, and saturation to 16 bits makes it -2^15. So, for 8-bit
 * storage, all results are right where no such word is among them. Where there is one, even one that stands for a
 * number so far below, the block is computed again with the clamp.
 *
 * NaN. In f32, x = 0 stands in for a NaN: 0/s is 0 and rounds to the zero point, which is then clamped, as the rule
 * says. In f16 and bf16 f(zp) may not be the zero point, and a reciprocal or f(zp) may be infinite: there NaNs are
 * carried to the end and replaced.
 *
 * f16 and bf16 are computed in f32, each step rounded to f32 and then to the format. For p = 11 and 8 bits, 24 >= 2p +
 * 2: such a double rounding of +, -, * and / equals one rounding (Figueroa, "When is double rounding innocuous?",
 * 1995). This holds for subnormal results too. Sums that are subnormal are exact. Products have 2p <= 22 bits: they are
 * exact down to half the least subnormal of either format, and below it rounded to 0. A quotient X/S that is not a
 * midpoint M*2^k (X, S < 2^p, M < 2^(p+1)) differs from it by a relative 1/(S*M) > 2^-(2p+1), more than f32's error, as
 * f32's subnormals begin 16 bits below bf16's. For the quotient that f32 computes this bound is all that the proof
 * above needs.
 *
 * f(q) of a container. 16 bits are exact in f32, so that f16 or bf16 is rounded once. f32 keeps 24 of 32 bits. A larger
 * q is infinite in f16 (beyond 65519), so f16 is right too; bf16 would be rounded twice and goes to the parent. A zero
 * point that is infinite in f16 goes there too: minus another infinity it is a NaN, and that of the processor is not
 * the one that numerics.md names. */
#pragma once

#include "qrt/qrt.h"

#define QRT_SCALE_LEAST 0x1p-64f
#define QRT_SCALE_MOST 0x1p64f
#define QRT_QUOTIENT_BOUND 0x1p26f

/* The largest number below one half. To truncate x + copysign(this, x) rounds half away from zero for every x. */
#define QRT_BELOW_HALF_F32 0x1.fffffep-2f
#define QRT_BELOW_HALF_F64 0x1.fffffffffffffp-2

/* Bytes between a load and its prefetch, and between a store and the prefetch by which the core owns its cache line. */
#define QRT_READ_AHEAD 4096
#define QRT_WRITE_AHEAD 2048

/* It pays to align rows of at least so many elements in a long cast: the ends of a row are walked vector by vector. */
#define QRT_ALIGN_COUNT 2048

/* Whether qcast may compute in f32: the proof covers the quotient, and the result has at most 16 bits. */
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

/* Fetches the cache lines that a long cast will read. */
QRT_INLINE void qrt_cast_fetch(const char *source, int bytes) {
    _Pragma("GCC unroll 8") for (int offset = 0; offset < bytes; offset += 64) __builtin_prefetch(source + offset, 0);
}

/* Owns the cache lines that a long cast will write: a store that waits for its line holds up those behind it. */
QRT_INLINE void qrt_cast_own(const char *target, int bytes) {
    _Pragma("GCC unroll 8") for (int offset = 0; offset < bytes; offset += 64) __builtin_prefetch(target + offset, 1);
}

/* Where the element is, counted from its row, that comes `ahead` elements after element i. `rows` rows of `count`
 * elements are walked together, and as many follow them. */
QRT_INLINE int64_t qrt_cast_ahead(int64_t i, int64_t ahead, int64_t count, int64_t rows) {
    return i + ahead < count ? i + ahead : i + ahead + (rows - 1) * count;
}

/* How many rows to walk together, so that one load of parameters serves them all. The processor mispredicts the end of
 * such a loop, so short rows are taken in larger numbers. In a long cast each row is a stream of memory, and few are
 * best. Rows may differ in alignment, so stores past the caches go row by row. */
QRT_INLINE int64_t qrt_cast_most_rows(const qrt_cast_args *args, int64_t count, bool stream) {
    if (args->plan.prefetch)
        return stream ? 1 : 4;
    return count < 256 ? 4096 / count : 16;
}

/* The constants that a variant of a loop is compiled for. A field that is not constant is a branch that always goes one
 * way. */
typedef struct {
    qrt_expressed expressed;
    qrt_container container; /* used by dcast alone */
    qrt_rounding rounding;   /* used by qcast alone, as are divide, before and trial */
    bool divide, before;     /* scale mode, zero point order */
    bool trial;              /* blocks are first tried without the clamp */
    bool each;               /* parameters advance with the elements */
    bool table;              /* parameters come from the table */
    bool fetch;              /* memory is fetched ahead */
    bool stream;             /* stores pass the caches */
} qrt_cast_mode;

QRT_INLINE qrt_cast_mode qrt_qcast_mode_of(const qrt_cast_problem *problem, qrt_expressed expressed) {
    return (qrt_cast_mode){.expressed = expressed,
                           .rounding = problem->rounding,
                           .divide = problem->scale_mode == QRT_SCALE_DIVIDE,
                           .before = problem->zero_point_order == QRT_ZERO_POINT_BEFORE};
}

/* The rule of most casts. */
static inline bool qrt_qcast_is_default(const qrt_cast_problem *problem) {
    return problem->rounding == QRT_HALF_EVEN && problem->scale_mode == QRT_SCALE_DIVIDE &&
           problem->zero_point_order == QRT_ZERO_POINT_BEFORE;
}
