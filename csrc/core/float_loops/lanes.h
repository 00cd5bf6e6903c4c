/* Lanes of loop nests: blocks of elements of any type, as registers of 32 or 64 bits, and back. */
#pragma once

#include "core/core.h"

static inline int size_of(const qrt_loops_operand *operand) {
    static const int size[] = {
        [QRT_LOOPS_F32] = 4, [QRT_LOOPS_BOOL] = 1, [QRT_LOOPS_I8] = 1,  [QRT_LOOPS_I16] = 2,
        [QRT_LOOPS_I32] = 4, [QRT_LOOPS_F64] = 8,  [QRT_LOOPS_I64] = 8,
    };
    return size[operand->type];
}

/* How many floats of a register a lane takes. */
static inline int64_t floats_of(const qrt_loops_operand *operand) {
    return size_of(operand) == 8 ? 2 : 1;
}

static uint32_t flag_of(uint8_t byte) {
    return byte ? UINT32_MAX : 0;
}

/* One element for all lanes, neighbours, or elements apart. Of blocks of a known size, which alias nothing, gcc makes
 * vectors at -O2. */
#define LOAD_NARROW(name, type, widened)                                                                               \
    static void name(const type *from, int64_t stride, int64_t count, uint32_t *to) {                                  \
        for (; (stride == 0 || stride == 1) && count >= QRT_LOOPS_ALIGN; count -= QRT_LOOPS_ALIGN) {                   \
            type block[QRT_LOOPS_ALIGN];                                                                               \
            uint32_t values[QRT_LOOPS_ALIGN];                                                                          \
            if (stride)                                                                                                \
                memcpy(block, from, sizeof block);                                                                     \
            else                                                                                                       \
                for (int i = 0; i < QRT_LOOPS_ALIGN; i++)                                                              \
                    block[i] = *from;                                                                                  \
            for (int i = 0; i < QRT_LOOPS_ALIGN; i++)                                                                  \
                values[i] = widened(block[i]);                                                                         \
            memcpy(to, values, sizeof values);                                                                         \
            from += stride * QRT_LOOPS_ALIGN, to += QRT_LOOPS_ALIGN;                                                   \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            to[i] = widened(from[i * stride]);                                                                         \
    }

LOAD_NARROW(load_bools, uint8_t, flag_of)
LOAD_NARROW(load_bytes, int8_t, (uint32_t))
LOAD_NARROW(load_halves, int16_t, (uint32_t))
#undef LOAD_NARROW

static void load_words(const uint32_t *from, int64_t stride, int64_t count, uint32_t *to) {
    if (stride == 1) {
        memcpy(to, from, (size_t)count * sizeof *to);
    } else if (stride == 0) {
        uint32_t values[QRT_LOOPS_ALIGN];
        for (int i = 0; i < QRT_LOOPS_ALIGN; i++)
            values[i] = *from;
        for (; count >= QRT_LOOPS_ALIGN; count -= QRT_LOOPS_ALIGN, to += QRT_LOOPS_ALIGN)
            memcpy(to, values, sizeof values);
        memcpy(to, values, (size_t)count * sizeof *to);
    } else {
        for (int64_t i = 0; i < count; i++)
            to[i] = from[i * stride];
    }
}

/* Both ways: lanes of a register lie side by side. */
static void copy_longs(const uint64_t *from, int64_t stride, int64_t count, uint64_t *to, int64_t to_stride) {
    for (int64_t i = 0; i < count; i++)
        to[i * to_stride] = from[i * stride];
}

static inline void load_row(const qrt_loops_operand *operand, const char *from, int64_t stride, int64_t count,
                            float *own) {
    switch (operand->type) {
    case QRT_LOOPS_F32:
    case QRT_LOOPS_I32:
        load_words((const uint32_t *)from, stride, count, (uint32_t *)own);
        break;
    case QRT_LOOPS_BOOL:
        load_bools((const uint8_t *)from, stride, count, (uint32_t *)own);
        break;
    case QRT_LOOPS_I8:
        load_bytes((const int8_t *)from, stride, count, (uint32_t *)own);
        break;
    case QRT_LOOPS_I16:
        load_halves((const int16_t *)from, stride, count, (uint32_t *)own);
        break;
    case QRT_LOOPS_F64:
    case QRT_LOOPS_I64:
        copy_longs((const uint64_t *)from, stride, count, (uint64_t *)own, 1);
    }
}

static void store_words(const uint32_t *from, int64_t stride, int64_t count, uint32_t *to) {
    if (stride == 1)
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        for (int64_t i = 0; i < count; i++)
            to[i * stride] = from[i];
}

#define STORE_NARROW(name, type)                                                                                       \
    static void name(const uint32_t *from, int64_t stride, int64_t count, type *to) {                                  \
        for (; stride == 1 && count >= QRT_LOOPS_ALIGN; count -= QRT_LOOPS_ALIGN) {                                    \
            type block[QRT_LOOPS_ALIGN];                                                                               \
            for (int i = 0; i < QRT_LOOPS_ALIGN; i++)                                                                  \
                block[i] = (type)from[i];                                                                              \
            memcpy(to, block, sizeof block);                                                                           \
            from += QRT_LOOPS_ALIGN, to += QRT_LOOPS_ALIGN;                                                            \
        }                                                                                                              \
        for (int64_t i = 0; i < count; i++)                                                                            \
            to[i * stride] = (type)from[i];                                                                            \
    }

STORE_NARROW(store_bytes, uint8_t)
STORE_NARROW(store_halves, uint16_t)
#undef STORE_NARROW

static void store_bools(const uint32_t *from, int64_t stride, int64_t count, uint8_t *to) {
    for (int64_t i = 0; i < count; i++)
        to[i * stride] = from[i] != 0;
}

static inline void store_row(const qrt_loops_operand *operand, const float *reg, int64_t stride, int64_t count,
                             char *to) {
    const uint32_t *from = (const uint32_t *)reg;
    switch (operand->type) {
    case QRT_LOOPS_F32:
    case QRT_LOOPS_I32:
        store_words(from, stride, count, (uint32_t *)to);
        break;
    case QRT_LOOPS_BOOL:
        store_bools(from, stride, count, (uint8_t *)to);
        break;
    case QRT_LOOPS_I8:
        store_bytes(from, stride, count, (uint8_t *)to);
        break;
    case QRT_LOOPS_I16:
        store_halves(from, stride, count, (uint16_t *)to);
        break;
    case QRT_LOOPS_F64:
    case QRT_LOOPS_I64:
        copy_longs((const uint64_t *)reg, 1, count, (uint64_t *)to, stride);
    }
}
