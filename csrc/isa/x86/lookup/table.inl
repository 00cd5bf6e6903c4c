/* A table as every lookup_row reads it: with an entry for each byte, whatever the storage type's width and sign, so
 * that no byte reaches outside and none has to be moved. */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define BYTES 256
/* Spreading the table costs as much as so many elements of the parent's. */
#define FEW 16

typedef struct {
    _Alignas(64) char entries[BYTES * sizeof(int32_t)];
} byte_table;

/* Sets entry b to table[(b - least) modulo 2^width]: -least, half the table, is the sign bit of a signed type. */
QRT_INLINE void spread(const qrt_unary_args *args, byte_table *to) {
    const size_t size = (size_t)qrt_container_size(args->out), all = size << args->width;
    const size_t first = args->container == QRT_I8 ? all / 2 : 0;
    memcpy(to->entries, (const char *)args->table + first, all - first);
    memcpy(to->entries + all - first, args->table, first);
    for (size_t filled = all; filled < BYTES * size; filled *= 2)
        memcpy(to->entries + filled, to->entries, filled);
}

/* One element after the other: a load of the byte, one of its entry, a store. */
QRT_INLINE void find_each(const byte_table *table, int size, const uint8_t *source, void *target, int64_t i,
                          int64_t count) {
#define FIND(type)                                                                                                     \
    for (; i < count; i++)                                                                                             \
    ((type *)target)[i] = ((const type *)table->entries)[source[i]]
    if (size == 1)
        FIND(uint8_t);
    else if (size == 2)
        FIND(uint16_t);
    else
        FIND(uint32_t);
#undef FIND
}
