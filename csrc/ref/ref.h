/* What the reference kernels share. They are scalar and plain, because every other ISA is tested against them. */
#pragma once

#include <math.h>

#include "qrt/qrt.h"

typedef __int128 int128;

/* `value` lies within the storage bounds, so the container holds it. */
static inline void ref_store_value(qrt_container container, void *target, int64_t i, int64_t value) {
    if (qrt_container_size(container) == 1)
        ((uint8_t *)target)[i] = (uint8_t)value;
    else if (qrt_container_size(container) == 2)
        ((uint16_t *)target)[i] = (uint16_t)value;
    else
        ((uint32_t *)target)[i] = (uint32_t)value;
}

static inline int64_t ref_clamp(int128 value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : (int64_t)value;
}

/* Rounds half away from zero, exactly: x - trunc(x) has no rounding error, x + 0.5 would have one. */
static inline double ref_round_half_away(double x) {
    const double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : whole;
}

/* requant.c: requantizes an exact accumulator by any rule. */
int64_t ref_requantize(const qrt_requant *requant, int128 acc, int64_t parameter);
/* The rule fixed_double before the zero point and the clamp. */
int64_t ref_scale_fixed_double(int128 acc, int32_t multiplier, int32_t shift);
int64_t ref_scale_half_up_twice(int128 acc, int32_t multiplier, int32_t shift);
/* Its first step: a shift to the left that saturates, then a doubling high multiply. */
int32_t ref_doubling_high_multiply(int128 acc, int32_t multiplier, int32_t shift);
/* The last steps of the rules fixed and float32; sub-channel weights form their sums themselves. */
int64_t ref_epilogue_fixed(const qrt_requant *requant, int128 product, int shift, int64_t zero_point);
int64_t ref_epilogue_float32(const qrt_requant *requant, float scaled, int64_t zero_point);

/* ref defines every row. The linker reports one that is missing, because it is hidden. */
#pragma GCC visibility push(hidden)
#define QRT_ROW(result, name, parameters) result ref_##name parameters;
#include "rows.def"

extern const qrt_gemm_microkernel ref_gemm;
extern const qrt_kernels ref_rows;
#pragma GCC visibility pop
