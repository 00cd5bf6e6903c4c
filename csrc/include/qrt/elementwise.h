/* Element-wise operations. */
#pragma once

#include "qrt/requantize.h"

/* Operands a, b, out. */
typedef enum { QRT_ADD, QRT_SUB, QRT_MUL } qrt_binary_kind;

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout; /* its shape is that of the result; it gives the parameter index */
    qrt_binary_kind kind;
    qrt_container a, b;
    int64_t a_strides[QRT_MAX_RANK], b_strides[QRT_MAX_RANK]; /* in elements; 0 broadcasts */
    const int64_t *a_zero_point, *b_zero_point;               /* they have the indices of requant's arrays */
    /* add, sub: the factors of the operands. requant, fixed with the multiplier 1, or fixed_double, ends the sum. With
     * fixed_double operands are shifted to the left, then scaled by that rule themselves. */
    const int64_t *a_multiplier, *b_multiplier;
    const int32_t *a_shift, *b_shift;
    int left_shift;
    /* add, sub: factors of storage as it is, in fused multiply-adds to requant's offset; NULL for other rules. */
    const float *a_scale, *b_scale;
    /* In whole blocks of so many elements, if not 0, operands are rounded once; the layout is then one row of elements
     * that lie side by side. */
    int block;
    bool rounds_once;
    qrt_requant requant;
} qrt_binary_args;

qrt_status qrt_binary(const void *args, qrt_scratch *scratch);

/* Operands a, b, out. */
typedef enum { QRT_MAXIMUM, QRT_MINIMUM, QRT_PRELU, QRT_TABLE_OF_PAIRS } qrt_pair_kind;

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout; /* its shape is that of the result */
    qrt_pair_kind kind;
    qrt_container a, b, out; /* maximum, minimum: one container; a table: a and b have 8 bits */
    int64_t a_strides[QRT_MAX_RANK], b_strides[QRT_MAX_RANK]; /* in elements; 0 broadcasts */
    const void *table;                  /* 65,536 elements of out, at 256 * byte of a + byte of b */
    int64_t a_zero_point, b_zero_point; /* prelu, whose requant has two parameters */
    qrt_requant requant;
} qrt_pair_args;

qrt_status qrt_pair(const void *args, qrt_scratch *scratch);

/* Operands x, [table], out. Each entry has a member of the union of its own. */
typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_container container, out; /* containers of x and of the result */
    union {
        struct {                       /* requantize; leaky_relu, whose requant has two parameters */
            const int64_t *zero_point; /* zero points of x, with the indices of requant's arrays */
            qrt_requant requant;
        };
        struct { /* clamp */
            const int64_t *lower, *upper;
        };
        struct {               /* lookup: x is QRT_I8 or QRT_U8, the layout one row */
            int width;         /* bits of the storage type, 1 to 8 */
            const void *table; /* NULL: it is an operand */
            /* The table of the elements past the last whole block; NULL: they have no table of their own. */
            const void *tail_table;
            int block;
        };
        struct {                    /* lookup_interpolated: x and the table are QRT_I16, the layout one row */
            int fraction;           /* the low bits of x that lie between two entries: 0 to 15 */
            const int16_t *entries; /* 2^(16 - fraction) + 1 entries; NULL: it is an operand */
        };
    };
} qrt_unary_args;

qrt_status qrt_requantize(const void *args, qrt_scratch *scratch);
qrt_status qrt_leaky_relu(const void *args, qrt_scratch *scratch);
qrt_status qrt_clamp(const void *args, qrt_scratch *scratch);
qrt_status qrt_lookup(const void *args, qrt_scratch *scratch);
qrt_status qrt_lookup_interpolated(const void *args, qrt_scratch *scratch);
