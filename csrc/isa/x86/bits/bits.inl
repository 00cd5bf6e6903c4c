/* Rows of 1, 2 and 4-bit values, a vector of bytes at a time. The parent's row does the last few. The including file
 * gives the instructions and their ports, and defines bytes_of_words (the low byte of each word), pack_ones and
 * spread_ones (to and from bytes of 0 or 1). */
#ifndef V
#error "vectors.h comes first"
#endif

#define BLOCK ((int64_t)sizeof(integers))

void QRT_OF_ISA(pack_bits_row)(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *values = source;
    uint8_t *bytes = target;
    const int width = args->width;
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        const integers v = load_integers(values + i, ALL);
        if (width == 4) {
            const integers low = v & V(set1_epi8)(15);
            const integers pairs = V(maddubs_epi16)(low, V(set1_epi16)(0x1001));
            store_words(bytes, bytes_of_words(pairs), ALL, false);
        } else if (width == 2) {
            const integers low = v & V(set1_epi8)(3);
            const integers pairs = V(maddubs_epi16)(low, V(set1_epi16)(0x0401));
            store_bytes(bytes, low_bytes(V(madd_epi16)(pairs, V(set1_epi32)(0x00100001))), ALL);
        } else
            pack_ones(bytes, v);
    }
    if (i < count)
        QRT_OF_ISA(parent).pack_bits_row(args, values + i, bytes, count - i);
}

void QRT_OF_ISA(unpack_bits_row)(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *bytes = source;
    uint8_t *values = target;
    const int width = args->width;
    /* (v ^ sign) - sign extends the sign of signed values and leaves unsigned ones as they are. */
    const integers sign = V(set1_epi8)((char)(args->container == QRT_I8 ? 1 << (width - 1) : 0));
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        integers v;
        if (width == 4) {
            v = V(cvtepu8_epi16)(load_words(bytes, ALL));
            v = (v | V(slli_epi16)(v, 4)) & V(set1_epi8)(15);
        } else if (width == 2) {
            v = V(cvtepu8_epi32)(load_bytes(bytes, ALL));
            v = v | V(slli_epi32)(v, 12);
            v = (v | V(slli_epi32)(v, 6)) & V(set1_epi8)(3);
        } else
            v = spread_ones(bytes);
        store_whole(values + i, V(sub_epi8)(v ^ sign, sign), false);
    }
    if (i < count)
        QRT_OF_ISA(parent).unpack_bits_row(args, bytes, values + i, count - i);
}
