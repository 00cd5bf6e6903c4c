/* Blocks of four vectors of elements of 8 and 16 bits as integers, for vectors of any width. An operand has the stride
 * 0 or 1. The last elements of a row, fewer than a block, go through a buffer, so that nothing behind them is read. */
#pragma once

#include <string.h>

#include "isa/rows.h"

#define BLOCK (4 * LANES)

typedef struct {
    const char *at;
    int64_t stride;
    integers one; /* the element of an operand with the stride 0 */
} operand;

QRT_INLINE integers widen_bytes(qrt_container container, __m128i bytes) {
    return container == QRT_I8 ? V(cvtepi8_epi32)(bytes) : V(cvtepu8_epi32)(bytes);
}

QRT_INLINE integers widen_words(qrt_container container, words values) {
    return container == QRT_I16 ? V(cvtepi16_epi32)(values) : V(cvtepu16_epi32)(values);
}

/* LANES elements from element i on. */
QRT_INLINE integers lanes_of(qrt_container container, const operand *x, int64_t i) {
    if (!x->stride)
        return x->one;
    return container <= QRT_U8 ? widen_bytes(container, load_bytes(x->at + i, ALL))
                               : widen_words(container, load_words(x->at + 2 * i, ALL));
}

QRT_INLINE operand operand_of(qrt_container container, const void *at, int64_t stride) {
    return (operand){at, stride, V(set1_epi32)((int)qrt_load(container, at, 0))};
}

/* The last `count` elements of an operand, behind which the buffer is zero. */
QRT_INLINE operand last_of(qrt_container container, const operand *x, int64_t i, int64_t count, char *buffer) {
    const int size = qrt_container_size(container);
    if (!x->stride)
        return *x;
    memset(buffer, 0, BLOCK * 2);
    memcpy(buffer, x->at + i * size, (size_t)(count * size));
    return (operand){buffer, 1, x->one};
}

/* Stores four vectors of values that are within the container. */
QRT_INLINE void store_block(qrt_container container, char *to, const integers *q) {
    if (container <= QRT_U8) {
        store_whole(to, narrow_bytes(q[0], q[1], q[2], q[3], container == QRT_I8), false);
        return;
    }
    for (int v = 0; v < 4; v++)
        store_words(to + 2 * v * LANES, low_words(q[v]), ALL, false);
}

/* Calls block(to, a, b, i) for all blocks of a row; `to` of the last is a buffer. */
#define BY_BLOCKS(container, a, b, target, count, block)                                                               \
    do {                                                                                                               \
        const int size_ = qrt_container_size(container);                                                               \
        int64_t i_ = 0;                                                                                                \
        for (; i_ + BLOCK <= (count); i_ += BLOCK)                                                                     \
            block((char *)(target) + i_ * size_, &(a), &(b), i_);                                                      \
        if (i_ < (count)) {                                                                                            \
            _Alignas(64) char left_[BLOCK * 2], right_[BLOCK * 2], last_[BLOCK * 2];                                   \
            const operand x_ = last_of(container, &(a), i_, (count) - i_, left_);                                      \
            const operand y_ = last_of(container, &(b), i_, (count) - i_, right_);                                     \
            block(last_, &x_, &y_, 0);                                                                                 \
            memcpy((char *)(target) + i_ * size_, last_, (size_t)(((count) - i_) * size_));                            \
        }                                                                                                              \
    } while (0)
