/* Depthwise convolution, 512 bits wide: inputs of which each serves several outputs, and sums to 8-bit results. */
#ifndef QRT_ISA_AVX512_DEPTHWISE512_H
#define QRT_ISA_AVX512_DEPTHWISE512_H

/* ---- multipliers: 16 channels of output to a lane, each lane loaded where its first input is ---- */

typedef struct {
    __m512i order;
    int offset[4];
    __mmask16 live[4];
} repeated_load;

static __attribute__((noinline)) void make_repeated(const qrt_depthwise_args *args, const qrt_depthwise_block *block,
                                                    repeated_load *to) {
    uint8_t order[64] = {0};
    const int64_t base = block->first / args->multiplier;
    for (int lane = 0; lane < 4; lane++) {
        const int64_t first = (block->first + 16 * lane) / args->multiplier;
        to->offset[lane] = (int)(first - base);
        to->live[lane] = 0;
        for (int e = 0; e < 16 && 16 * lane + e < block->channels; e++) {
            const int64_t from = (block->first + 16 * lane + e) / args->multiplier - first;
            order[16 * lane + e] = (uint8_t)from;
            to->live[lane] |= (__mmask16)(1 << from);
        }
    }
    to->order = _mm512_loadu_si512(order);
}

static __m512i load_repeated(const repeated_load *how, const char *from) {
    __m128i lane[4];
    for (int i = 0; i < 4; i++)
        lane[i] = _mm_maskz_loadu_epi8(how->live[i], from + how->offset[i]);
    const __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(lane[0]), lane[1], 1);
    const __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(lane[2]), lane[3], 1);
    const __m512i all = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    return _mm512_shuffle_epi8(all, how->order);
}

/* ---- results ---- */

typedef struct {
    __m512i low, high;
    bool is_unsigned, narrow; /* than the container, to which the packing saturates */
} byte_limits;

QRT_INLINE byte_limits make_limits(const qrt_requant *requant) {
    const bool narrow = requant->storage_max - requant->storage_min != 255;
    return (byte_limits){_mm512_set1_epi8((char)requant->storage_min), _mm512_set1_epi8((char)requant->storage_max),
                         requant->container == QRT_U8, narrow};
}

/* Words of 16 bits to clamped bytes. */
QRT_INLINE __m512i clamped_bytes(__m512i a, __m512i b, const byte_limits *limits) {
    __m512i bytes;
    if (limits->is_unsigned) {
        bytes = _mm512_packus_epi16(a, b);
        if (limits->narrow)
            bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, limits->low), limits->high);
    } else {
        bytes = _mm512_packs_epi16(a, b);
        if (limits->narrow)
            bytes = _mm512_min_epi8(_mm512_max_epi8(bytes, limits->low), limits->high);
    }
    return bytes;
}

QRT_INLINE __m512i scale_f32(__m512i acc, const block_header *header, int v) {
    const __m512 scaled = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), ((const __m512 *)header->scale)[v]);
    return _mm512_cvt_roundps_epi32(scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* floor(acc * M0 / 2^(N - 1)): the high half of the product, shifted further. With one more added and halved it is
 * (acc * M0 + 2^(N - 1)) >> N. */
QRT_INLINE __m512i scale_fixed(__m512i acc, const block_header *header, int v) {
    const __m512i even = _mm512_mul_epi32(acc, ((const __m512i *)header->multiplier)[v]);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(acc, 32), ((const __m512i *)header->odd_multiplier)[v]);
    const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
    return _mm512_srav_epi32(high, ((const __m512i *)header->shift)[v]);
}

#endif
