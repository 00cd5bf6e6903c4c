/* Packed weights that a file holds: a call that is bound to them does not pack. */
#pragma once

#include "qrt/base.h"

#define QRT_STORED_ALIGNMENT 64
/* The most parts of one call. */
#define QRT_MAX_PACKED_PARTS 8

/* The packed weights of one call, one part after the other, each at a multiple of 64 bytes. The memory outlives the
 * call; the struct is read while the call is bound. */
typedef struct {
    const char *data;
    int64_t bytes, used;
} qrt_stored;

/* A part of what a call has packed. */
typedef struct {
    const void *data;
    int64_t bytes;
} qrt_packed_part;

QRT_INLINE int64_t qrt_stored_bytes(int64_t bytes) {
    return qrt_round_up(bytes, QRT_STORED_ALIGNMENT);
}

/* Takes the next part. NULL: there is none of that size, and the caller packs. */
static inline void *qrt_take_stored(qrt_stored *stored, int64_t bytes) {
    if (!stored || bytes < 0 || qrt_stored_bytes(bytes) > stored->bytes - stored->used)
        return NULL;
    const char *part = stored->data + stored->used;
    stored->used += qrt_stored_bytes(bytes);
    return (void *)part;
}
