/* Requantization: from exact sums, or from storage, to storage. */
#pragma once

#include "qrt/layout.h"

/* The names of rules, which Python gives. */
static const char *const qrt_rule_names[] __attribute__((unused)) = {
#define QRT_RULE(number, name) [number] = #name,
#include "rules.def"
};
enum { QRT_RULES = sizeof qrt_rule_names / sizeof *qrt_rule_names };

typedef struct {
    qrt_rule rule;
    qrt_container container;
    int64_t storage_min, storage_max;
    const int32_t *multiplier; /* fixed, fixed_double, half_up_twice: the multiplier M0; integer: the divisor */
    const int32_t *shift;      /* fixed: N, to the right; the two others: TFLite's, to the left where positive */
    const float *scale_f32;    /* for the rules float32, raw_mean; dequantized: the scale of x */
    const float *offset_f32;   /* for the rule raw_mean; dequantized: the zero point of the result */
    const float *divisor_f32;  /* for the rule dequantized: the scale of the result */
    const double *scale_f64;   /* for the rule float64_away */
    const int64_t *zero_point;
    /* These are derived when a call is bound. */
    const int32_t *zero_point_i32; /* NULL where storage_min - zp or storage_max - zp leaves 32 bits for some zp */
    int32_t shift_min, shift_max;
} qrt_requant;
