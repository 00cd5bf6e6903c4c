/* Rows of lookups by vpshufb, which knows 16 entries: it takes the low four bits of an index, and gives 0 where the top
 * bit is set. The including file gives the instructions and their ports, and defines broadcast_part.
 *
 * Let T[k] be the 16 entries from 16k on, and D[0] = T[0], D[k] = T[k] ^ T[k-1]. For a byte x below 128 the sum modulo
 * 2 of vpshufb(D[k], x - 16k) over k = 0..7 is the entry: the terms with 16k > x have the top bit set and are 0, the
 * others have the low bits of x, and all but T[x / 16] cancel. From 128 on x itself has the top bit set, and so has
 * every x - 16k, as the subtraction saturates. So these bytes give 0, and the same sum over T[8..15] with x ^ 128 gives
 * 0 to all others. Types of up to 4 bits repeat their entries every 16 bytes: there T[0] and the low bits are enough.
 */
#ifndef V
#error "vectors.h comes first"
#endif
#include "table.inl"

#define BLOCK ((int64_t)sizeof(integers))
#define PART 16
#define PARTS 8 /* of each half */

QRT_INLINE void load_chain(const char *entries, integers chain[PARTS]) {
    chain[0] = broadcast_part(entries);
#pragma GCC unroll 8
    for (int k = 1; k < PARTS; k++)
        chain[k] = broadcast_part(entries + k * PART) ^ broadcast_part(entries + (k - 1) * PART);
}

QRT_INLINE integers follow(const integers chain[PARTS], integers x) {
    integers found = V(shuffle_epi8)(chain[0], x);
#pragma GCC unroll 8
    for (int k = 1; k < PARTS; k++)
        found ^= V(shuffle_epi8)(chain[k], V(subs_epi8)(x, V(set1_epi8)((char)(k * PART))));
    return found;
}

QRT_INLINE int64_t find_few(const byte_table *table, const uint8_t *source, uint8_t *target, int64_t count) {
    const integers part = broadcast_part(table->entries), low = V(set1_epi8)(PART - 1);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK)
        store_whole(target + i, V(shuffle_epi8)(part, load_integers(source + i, ALL) & low), false);
    return i;
}

QRT_INLINE int64_t find_bytes(const byte_table *table, const uint8_t *source, uint8_t *target, int64_t count) {
    integers low[PARTS], high[PARTS];
    const integers top = V(set1_epi8)((char)0x80);
    load_chain(table->entries, low), load_chain(table->entries + BYTES / 2, high);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        const integers x = load_integers(source + i, ALL);
        store_whole(target + i, follow(low, x) ^ follow(high, x ^ top), false);
    }
    return i;
}

void QRT_OF_ISA(lookup_row)(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                            int64_t parameter, int64_t step) {
    if (count < FEW) {
        QRT_OF_ISA(parent).lookup_row(args, source, target, count, parameter, step);
        return;
    }
    const int size = qrt_container_size(args->out);
    byte_table table;
    spread(args, &table);
    int64_t found = 0;
    if (size == 1)
        found = args->width <= 4 ? find_few(&table, source, target, count) : find_bytes(&table, source, target, count);
    find_each(&table, size, source, target, found, count);
}
