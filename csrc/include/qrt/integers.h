/* Element-wise operations on plain integers of 8, 16, 32 and 64 bits, and on bools, which are bytes of 0 and 1. */
#pragma once

#include "qrt/base.h"

typedef enum { QRT_PLAIN_BOOL, QRT_PLAIN_8, QRT_PLAIN_16, QRT_PLAIN_32, QRT_PLAIN_64 } qrt_plain_element;

/* Sums and products wrap. A name with U reads operands as unsigned, the others as signed. Of one operand are the casts:
 * CAST and CAST_U extend by sign or zeros, or keep the low bits. */
typedef enum {
    QRT_PLAIN_ADD,
    QRT_PLAIN_SUB,
    QRT_PLAIN_MUL,
    QRT_PLAIN_AND,
    QRT_PLAIN_OR,
    QRT_PLAIN_XOR,
    QRT_PLAIN_MAX,
    QRT_PLAIN_MIN,
    QRT_PLAIN_MAX_U,
    QRT_PLAIN_MIN_U,
    QRT_PLAIN_DIVIDE,
    QRT_PLAIN_FLOOR_DIVIDE,
    QRT_PLAIN_REMAINDER,
    QRT_PLAIN_EQUAL,
    QRT_PLAIN_NOT_EQUAL,
    QRT_PLAIN_LESS,
    QRT_PLAIN_LESS_EQUAL,
    QRT_PLAIN_LESS_U,
    QRT_PLAIN_LESS_EQUAL_U,
    QRT_PLAIN_SELECT,
    QRT_PLAIN_CAST,
    QRT_PLAIN_CAST_U,
} qrt_plain_kind;

/* Operands a, [b, [c]], out. Those of SELECT are bools, then what is selected where one holds, and where not. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_plain_kind kind;
    qrt_plain_element element; /* of a; of SELECT: of b and c. Pairs of bools are pairs of bytes. */
    qrt_plain_element out;     /* bools for comparisons */
    bool swapped;              /* a and b change places: greater is less, the other way round */
    int64_t count;
    int64_t strides[3]; /* 0: one element for all; 1 */
} qrt_plain_args;

/* A division by zero, or of the least number by -1, is an error wherever it is. */
qrt_status qrt_plain(const void *args, qrt_scratch *scratch);
qrt_status qrt_plain_select(const void *args, qrt_scratch *scratch);
qrt_status qrt_plain_cast(const void *args, qrt_scratch *scratch);
