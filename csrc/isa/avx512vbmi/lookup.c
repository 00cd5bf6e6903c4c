/* lookup of 64 elements at a time, in a table that stays in registers: four for each byte of an entry.
 *
 *   vperm[it]2b              128 entries by the low seven bits of an index; port 5
 *   vpmovb2m, vpblendmb      choose between the two halves of the table by the top bit; ports 0 and 0, 5
 *   vpermq, vpermd           put the indices where unpacking leaves them in order; port 5
 *   vpunpck[lh]bw, [lh]wd    make entries of their bytes; port 5
 *
 * Port 5 takes 2 uops for 64 entries of one byte, 7 of two and 17 of four. Exact: bytes are moved, none is computed.
 * Hazard: a row may end anywhere, so the last elements of bytes are loaded and stored under a mask; those of wider
 * entries, and rows too short to pay for the bytes of a table, are looked up one by one. */
#include "isa/x86/lookup/table.inl"

#define BLOCK 64
/* Taking a table of wide entries apart costs as much as so many elements one by one. */
#define FEW_WIDE 192

/* One byte of each entry. */
typedef struct {
    __m512i quarter[4];
} plane;

QRT_INLINE __m512i find(const plane *table, __m512i x) {
    const __m512i low = _mm512_permutex2var_epi8(table->quarter[0], x, table->quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(table->quarter[2], x, table->quarter[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high);
}

static void find_bytes(const byte_table *table, const uint8_t *source, uint8_t *target, int64_t count) {
    plane bytes;
    for (int k = 0; k < 4; k++)
        bytes.quarter[k] = _mm512_load_si512(table->entries + k * BLOCK);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        _mm512_storeu_si512(target + i, find(&bytes, _mm512_loadu_si512(source + i)));
    if (i < count) {
        const __mmask64 live = ~(__mmask64)0 >> (BLOCK - (count - i));
        _mm512_mask_storeu_epi8(target + i, live, find(&bytes, _mm512_maskz_loadu_epi8(live, source + i)));
    }
}

static int64_t find_words(const byte_table *table, const uint8_t *source, uint16_t *target, int64_t count) {
    plane bytes[2];
    for (int k = 0; k < 4; k++) {
        const __m512i *const from = (const __m512i *)table->entries + 2 * k;
        for (int b = 0; b < 2; b++) {
            const __m256i low = _mm512_cvtepi16_epi8(_mm512_srli_epi16(from[0], (unsigned)(8 * b)));
            const __m256i high = _mm512_cvtepi16_epi8(_mm512_srli_epi16(from[1], (unsigned)(8 * b)));
            bytes[b].quarter[k] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        }
    }
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        const __m512i x = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(source + i));
        const __m512i low = find(&bytes[0], x), high = find(&bytes[1], x);
        _mm512_storeu_si512(target + i, _mm512_unpacklo_epi8(low, high));
        _mm512_storeu_si512(target + i + BLOCK / 2, _mm512_unpackhi_epi8(low, high));
    }
    return i;
}

static int64_t find_integers(const byte_table *table, const uint8_t *source, uint32_t *target, int64_t count) {
    _Alignas(64) char split[4][BYTES];
    for (int k = 0; k < BYTES / 16; k++) {
        const __m512i from = _mm512_load_si512(table->entries + k * BLOCK);
        for (int b = 0; b < 4; b++)
            _mm_store_si128((__m128i *)(split[b] + 16 * k),
                            _mm512_cvtepi32_epi8(_mm512_srli_epi32(from, (unsigned)(8 * b))));
    }
    plane bytes[4];
    for (int b = 0; b < 4; b++)
        for (int k = 0; k < 4; k++)
            bytes[b].quarter[k] = _mm512_load_si512(split[b] + k * BLOCK);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        const __m512i x = _mm512_permutexvar_epi32(order, _mm512_loadu_si512(source + i));
        const __m512i b0 = find(&bytes[0], x), b1 = find(&bytes[1], x);
        const __m512i b2 = find(&bytes[2], x), b3 = find(&bytes[3], x);
        const __m512i low = _mm512_unpacklo_epi8(b0, b1), low_top = _mm512_unpacklo_epi8(b2, b3);
        const __m512i high = _mm512_unpackhi_epi8(b0, b1), high_top = _mm512_unpackhi_epi8(b2, b3);
        _mm512_storeu_si512(target + i, _mm512_unpacklo_epi16(low, low_top));
        _mm512_storeu_si512(target + i + 16, _mm512_unpackhi_epi16(low, low_top));
        _mm512_storeu_si512(target + i + 32, _mm512_unpacklo_epi16(high, high_top));
        _mm512_storeu_si512(target + i + 48, _mm512_unpackhi_epi16(high, high_top));
    }
    return i;
}

void avx512vbmi_lookup_row(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t step) {
    const int size = qrt_container_size(args->out);
    if (count < FEW) {
        avx512vbmi_parent.lookup_row(args, source, target, count, parameter, step);
        return;
    }
    byte_table table;
    spread(args, &table);
    if (size == 1) {
        find_bytes(&table, source, target, count);
        return;
    }
    int64_t found = 0;
    if (count >= FEW_WIDE)
        found = size == 2 ? find_words(&table, source, target, count) : find_integers(&table, source, target, count);
    find_each(&table, size, source, target, found, count);
}
