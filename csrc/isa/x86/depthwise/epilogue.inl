/* Depthwise convolution, any vector width: the epilogue, from 32-bit sums to clamped bytes. pack.inl comes first.
 *
 * The including file defines
 *
 *   OP(name)              the intrinsic of that name for the whole vector; `floats` is its type of floats
 *   HIGH(even, odd)       the high halves of even and odd products of 64 bits, as one vector
 *   CLAMPS                whether bytes are clamped even where the bounds are their container's */
#pragma once

#if !defined VECTORS || !defined OP || !defined HIGH || !defined CLAMPS
#error "depthwise/epilogue.inl needs pack.inl, OP, HIGH and CLAMPS"
#endif

typedef struct {
    vector low, high;
    bool is_unsigned, narrow; /* narrow: the bounds are narrower than the container, to which packing saturates */
} byte_limits;

QRT_INLINE byte_limits make_limits(const qrt_requant *requant) {
    const bool narrow = CLAMPS || requant->storage_max - requant->storage_min != 255;
    return (byte_limits){OP(set1_epi8)((char)requant->storage_min), OP(set1_epi8)((char)requant->storage_max),
                         requant->container == QRT_U8, narrow};
}

/* Narrows 16-bit words to clamped bytes. */
QRT_INLINE vector clamped_bytes(vector a, vector b, const byte_limits *limits) {
    vector bytes;
    if (limits->is_unsigned) {
        bytes = OP(packus_epi16)(a, b);
        if (limits->narrow)
            bytes = OP(min_epu8)(OP(max_epu8)(bytes, limits->low), limits->high);
    } else {
        bytes = OP(packs_epi16)(a, b);
        if (limits->narrow)
            bytes = OP(min_epi8)(OP(max_epi8)(bytes, limits->low), limits->high);
    }
    return bytes;
}

/* Rounds half to even, because the entry has set the control register. */
QRT_INLINE vector scale_f32(vector acc, const block_header *header, int v) {
    return OP(cvtps_epi32)(OP(mul_ps)(OP(cvtepi32_ps)(acc), ((const floats *)header->scale)[v]));
}

/* Returns floor(acc * M0 / 2^(N - 1)): the high half of the product, shifted further. Adding one and halving it then
 * gives (acc * M0 + 2^(N - 1)) >> N. */
QRT_INLINE vector scale_fixed(vector acc, const block_header *header, int v) {
    const vector even = OP(mul_epi32)(acc, ((const vector *)header->multiplier)[v]);
    const vector odd = OP(mul_epi32)(OP(srli_epi64)(acc, 32), ((const vector *)header->odd_multiplier)[v]);
    return OP(srav_epi32)(HIGH(even, odd), ((const vector *)header->shift)[v]);
}

/* Narrows to 16 bits and adds the zero point. Both steps saturate. What saturates lies beyond every 8-bit bound in any
 * case, because zero points are within LARGEST_ZERO_POINT. */
QRT_INLINE void narrow(const block_header *header, const vector acc[VECTORS], const bool fixed, vector words[WORDS]) {
    vector q[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
        q[v] = fixed ? scale_fixed(acc[v], header, v) : scale_f32(acc[v], header, v);
#pragma GCC unroll 2
    for (int h = 0; h < WORDS; h++) {
        words[h] = OP(adds_epi16)(OP(packs_epi32)(q[2 * h], q[2 * h + 1]), ((const vector *)header->zero_point)[h]);
        if (fixed)
            words[h] = OP(srai_epi16)(words[h], 1);
    }
}
