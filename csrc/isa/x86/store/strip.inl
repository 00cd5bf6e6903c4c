/* The requantization of vectors of sums of 32 bits, by rule, for vectors of any width. LANES columns, a strip, are
 * computed at a time, and parameters that all elements share are loaded once. A rule has a case in load_strip and in
 * requantize. The including file gives the instructions and their ports. It defines LOGICAL_SHIFTS and, beside
 * vectors.h,
 *
 *   shift_right        shifts 64-bit lanes by a count each; logically, or else arithmetically
 *   interleave         even lanes from the low halves of the first, odd ones from those of the second
 *   all_within         whether the live lanes lie within two bounds
 *
 * fixed is exact for shifts N of 31..62: |acc * M0| <= 2^62, so adding 2^(N-1) <= 2^61 stays within 63 bits. The result
 * is at most 2^31 - 1 in magnitude (M0 < 2^31), so its low half is all of it. It is clamped to [min - zp, max - zp],
 * which zero_point_i32 says fit 32 bits, before the zero point is added, so that nothing wraps. Where shifts are
 * logical, 2^63 is added first and its image 2^63 >> N subtracted after, modulo 2^32: that is floor division of a
 * signed number. float32 is exact where those bounds are exact floats: v is clamped before the conversion and cannot
 * leave 32 bits.
 *
 * fixed_double and half_up_twice take shifts to the right, by r = 0..31. t = (acc * M0 + 2^30) >> 31 needs 32 bits of
 * the 64, which any shift leaves. Its magnitude is below 2^31 - 1, so that 1 may be added or subtracted: t / 2^r, half
 * up, is ((t >> (r-1)) + 1) >> 1, and half away from zero it is that of t - 1 for a negative t.
 *
 * integer takes divisors up to 2^12 and bounds up to 2^17, with which clamped sums have at most 2^29 in magnitude. */
#if !defined V || !defined LOGICAL_SHIFTS
#error "store/strip.inl needs vectors.h and LOGICAL_SHIFTS, whether shift_right fills with zeros"
#endif

#pragma GCC diagnostic error "-Wswitch-enum" /* a rule without a case does not compile */

#define EXACT_ZERO_POINT (1 << 23) /* with it, the bounds minus a zero point need at most 24 bits */

typedef struct {
    integers zero_point, low, high;
    floats scale, low_f32, high_f32;
    integers multiplier_even, multiplier_odd, shift_even, shift_odd, round_even, round_odd;
    integers excess; /* what a logical shift adds */
    /* Twice rounded: r - 1 and 1, or 0 and 0; away: -1 where a negative value is moved before the second rounding. */
    integers places, last, away;
    floats offset;
    integers half, low_acc, high_acc; /* integer: half of the divisor; bounds of sums that matter */
} strip;

QRT_INLINE integers load_i32(const int32_t *values, int64_t parameter, int64_t step) {
    return step ? load_integers(values + parameter, ALL) : V(set1_epi32)(values[parameter]);
}

QRT_INLINE bool load_fixed(const qrt_requant *requant, int64_t parameter, int64_t step, live_lanes live, strip *to) {
    const integers multiplier = load_i32(requant->multiplier, parameter, step);
    const integers shift = load_i32(requant->shift, parameter, step), one = (integers){0} + 1;
    to->multiplier_even = multiplier;
    to->multiplier_odd = V(srli_epi64)(multiplier, 32);
    to->shift_even = shift & 0xffffffff;
    to->shift_odd = V(srli_epi64)(shift, 32);
    to->round_even = V(sllv_epi64)(one, V(sub_epi64)(to->shift_even, one));
    to->round_odd = V(sllv_epi64)(one, V(sub_epi64)(to->shift_odd, one));
    if (LOGICAL_SHIFTS) {
        const integers bias = (integers){0} + INT64_MIN;
        to->round_even |= bias;
        to->round_odd |= bias;
        to->excess = interleave(shift_right(bias, to->shift_even), shift_right(bias, to->shift_odd));
    }
    return all_within(shift, 31, 62, live);
}

QRT_INLINE integers requantize_fixed(integers acc, const strip *s) {
    const integers odd_lanes = V(srli_epi64)(acc, 32);
    integers even = V(add_epi64)(V(mul_epi32)(acc, s->multiplier_even), s->round_even);
    integers odd = V(add_epi64)(V(mul_epi32)(odd_lanes, s->multiplier_odd), s->round_odd);
    even = shift_right(even, s->shift_even);
    odd = shift_right(odd, s->shift_odd);
    const integers pairs = interleave(even, odd), q = LOGICAL_SHIFTS ? V(sub_epi32)(pairs, s->excess) : pairs;
    return V(add_epi32)(V(min_epi32)(V(max_epi32)(q, s->low), s->high), s->zero_point);
}

/* The multipliers of odd lanes are shifted down by the product of fixed; here they stand where mul_epi32 reads them. */
QRT_INLINE bool load_twice(const qrt_requant *requant, int64_t parameter, int64_t step, live_lanes live, qrt_rule rule,
                           strip *to) {
    const integers multiplier = load_i32(requant->multiplier, parameter, step), zero = {0};
    const integers right = V(sub_epi32)(zero, load_i32(requant->shift, parameter, step));
    to->multiplier_even = multiplier;
    to->multiplier_odd = V(srli_epi64)(multiplier, 32);
    to->last = V(min_epi32)(right, V(set1_epi32)(1));
    to->places = V(sub_epi32)(right, to->last);
    to->away = rule == QRT_FIXED_DOUBLE ? V(sub_epi32)(zero, to->last) : zero;
    return all_within(right, 0, 31, live);
}

QRT_INLINE integers requantize_twice(integers acc, const strip *s) {
    const integers half = (integers){0} + (1 << 30);
    const integers even = V(add_epi64)(V(mul_epi32)(acc, s->multiplier_even), half);
    const integers odd = V(add_epi64)(V(mul_epi32)(V(srli_epi64)(acc, 32), s->multiplier_odd), half);
    const integers t = interleave(V(srli_epi64)(even, 31), V(srli_epi64)(odd, 31));
    const integers moved = V(add_epi32)(t, V(srai_epi32)(t, 31) & s->away);
    const integers q = V(srav_epi32)(V(add_epi32)(V(srav_epi32)(moved, s->places), s->last), s->last);
    return V(add_epi32)(V(min_epi32)(V(max_epi32)(q, s->low), s->high), s->zero_point);
}

QRT_INLINE bool load_float32(const qrt_requant *requant, int64_t parameter, int64_t step, live_lanes live,
                             qrt_rule rule, strip *to) {
    to->scale = step ? V(loadu_ps)(requant->scale_f32 + parameter) : V(set1_ps)(requant->scale_f32[parameter]);
    to->low_f32 = V(cvtepi32_ps)(to->low);
    to->high_f32 = V(cvtepi32_ps)(to->high);
    if (rule == QRT_RAW_MEAN)
        to->offset = step ? V(loadu_ps)(requant->offset_f32 + parameter) : V(set1_ps)(requant->offset_f32[parameter]);
    return all_within(to->zero_point, -EXACT_ZERO_POINT, EXACT_ZERO_POINT, live);
}

QRT_INLINE integers requantize_float32(integers acc, const strip *s, qrt_rule rule) {
    floats v = V(mul_ps)(V(cvtepi32_ps)(acc), s->scale);
    if (rule == QRT_RAW_MEAN)
        v = V(add_ps)(v, s->offset);
    v = V(min_ps)(V(max_ps)(v, s->low_f32), s->high_f32);
    return V(add_epi32)(round_half_even(v), s->zero_point);
}

/* With l = ceil(log2(d)) and M = floor(2^(31+l) / d) + 1, n / d is n * M >> (31 + l) for all n below 2^31. Sums are
 * clamped to what the bounds of storage leave, times d, which has to fit 30 bits. */
QRT_INLINE bool load_integer(const qrt_requant *requant, int64_t parameter, int64_t step, live_lanes live, strip *to) {
    _Alignas(64) int32_t multiplier[LANES], shift[LANES];
    for (int i = 0; i < (step ? LANES : 1); i++) {
        const uint64_t divisor = (uint64_t)qrt_max(requant->multiplier[parameter + i * step], 1);
        const int places = divisor > 1 ? 64 - __builtin_clzll(divisor - 1) : 0;
        multiplier[i] = (int32_t)(uint32_t)(((uint64_t)1 << (31 + places)) / divisor + 1);
        shift[i] = 31 + places;
    }
    const integers divisor = load_i32(requant->multiplier, parameter, step), one = V(set1_epi32)(1);
    const integers most = V(max_epi32)(V(abs_epi32)(to->low), V(abs_epi32)(to->high));
    to->multiplier_even = load_i32(multiplier, 0, step);
    to->multiplier_odd = V(srli_epi64)(to->multiplier_even, 32);
    to->shift_even = load_i32(shift, 0, step) & 0xffffffff;
    to->shift_odd = V(srli_epi64)(load_i32(shift, 0, step), 32);
    to->half = V(srai_epi32)(divisor, 1);
    to->low_acc = V(mullo_epi32)(V(sub_epi32)(to->low, one), divisor);
    to->high_acc = V(mullo_epi32)(V(add_epi32)(to->high, one), divisor);
    return all_within(divisor, 1, 1 << 12, live) && all_within(most, 0, 1 << 17, live);
}

QRT_INLINE integers requantize_integer(integers acc, const strip *s) {
    const integers value = V(min_epi32)(V(max_epi32)(acc, s->low_acc), s->high_acc), sign = V(srai_epi32)(value, 31);
    const integers n = V(add_epi32)(V(abs_epi32)(value), s->half);
    const integers even = V(srlv_epi64)(V(mul_epu32)(n, s->multiplier_even), s->shift_even);
    const integers odd = V(srlv_epi64)(V(mul_epu32)(V(srli_epi64)(n, 32), s->multiplier_odd), s->shift_odd);
    const integers q = V(sub_epi32)(interleave(even, odd) ^ sign, sign);
    return V(add_epi32)(V(min_epi32)(V(max_epi32)(q, s->low), s->high), s->zero_point);
}

/* Loads the parameters of the live columns. Returns false where the rule's formula would not be exact. */
QRT_INLINE bool load_strip(const qrt_requant *requant, int64_t parameter, int64_t step, live_lanes live, qrt_rule rule,
                           strip *to) {
    to->zero_point = load_i32(requant->zero_point_i32, parameter, step);
    to->low = V(sub_epi32)(V(set1_epi32)((int)requant->storage_min), to->zero_point);
    to->high = V(sub_epi32)(V(set1_epi32)((int)requant->storage_max), to->zero_point);
    switch (rule) {
    case QRT_FIXED:
        return load_fixed(requant, parameter, step, live, to);
    case QRT_FIXED_DOUBLE:
    case QRT_HALF_UP_TWICE:
        return load_twice(requant, parameter, step, live, rule, to);
    case QRT_FLOAT32:
    case QRT_RAW_MEAN:
        return load_float32(requant, parameter, step, live, rule, to);
    case QRT_INTEGER:
        return load_integer(requant, parameter, step, live, to);
    case QRT_FLOAT64_AWAY:
    case QRT_DEQUANTIZED:
        break;
    }
    return false;
}

QRT_INLINE integers requantize(integers acc, const strip *s, qrt_rule rule) {
    switch (rule) {
    case QRT_FIXED:
        return requantize_fixed(acc, s);
    case QRT_FIXED_DOUBLE:
    case QRT_HALF_UP_TWICE:
        return requantize_twice(acc, s);
    case QRT_FLOAT32:
    case QRT_RAW_MEAN:
        return requantize_float32(acc, s, rule);
    case QRT_INTEGER:
        return requantize_integer(acc, s);
    case QRT_FLOAT64_AWAY:
    case QRT_DEQUANTIZED:
        break; /* load_strip has not loaded them */
    }
    __builtin_trap();
}

/* The values are within the container, so that their low bytes are all of them. */
QRT_INLINE void store_values(char *to, integers q, live_lanes live, int size) {
    if (size == 1)
        store_bytes(to, low_bytes(q), live);
    else if (size == 2)
        store_words(to, low_words(q), live, false);
    else
        store_integers(to, q, live);
}
