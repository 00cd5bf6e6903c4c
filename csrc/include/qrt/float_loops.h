/* Loop nests in float32 and int32: a chain of element-wise steps in each iteration, over strided operands. Results are
 * kept over some of the loops, and pass through the others in order. */
#pragma once

#include "qrt/base.h"

#define QRT_LOOPS_RANK 16
#define QRT_LOOPS_REGISTERS 64
#define QRT_LOOPS_LANES 256 /* iterations of the innermost kept loop that are computed at once */
#define QRT_LOOPS_ALIGN 16  /* steps compute a multiple of so many lanes */

/* A register holds floats, integers, which are extended to 32 bits by their sign, or flags: all bits of a lane are set
 * or none. */
typedef enum { QRT_LOOPS_F32, QRT_LOOPS_BOOL, QRT_LOOPS_I8, QRT_LOOPS_I16, QRT_LOOPS_I32 } qrt_loops_type;

typedef enum {
    QRT_STEP_ADD,
    QRT_STEP_SUB,
    QRT_STEP_MUL,
    QRT_STEP_DIV,
    QRT_STEP_FMA,
    QRT_STEP_SQRT,
    /* The steps before this one make the NaN that numerics.md names, those behind it only pass NaNs on. */
    QRT_STEP_NEG,
    QRT_STEP_ABS,
    QRT_STEP_FLOOR,
    QRT_STEP_CEIL,
    QRT_STEP_TRUNC,
    QRT_STEP_ROUNDEVEN,
    QRT_STEP_MAXIMUM,
    QRT_STEP_MINIMUM,
    QRT_STEP_MAXNUM,
    QRT_STEP_MINNUM,
    QRT_STEP_SELECT, /* the second operand where the first is set, else the third */
    QRT_STEP_AND,
    QRT_STEP_OR,
    QRT_STEP_XOR,
    QRT_STEP_LESS,
    QRT_STEP_LESS_EQUAL,
    QRT_STEP_EQUAL,
    QRT_STEP_UNORDERED,
    /* From here on on integers, by the row integer_steps. Sums and products wrap. */
    QRT_STEP_TO_F32,       /* rounded to nearest even */
    QRT_STEP_TO_I32,       /* truncated; what no integer is makes the call undefined */
    QRT_STEP_SATURATE_I32, /* truncated, or the nearest bound; 0 for a NaN */
    QRT_STEP_TO_I8,        /* the low bits, extended by their sign */
    QRT_STEP_TO_I16,
    QRT_STEP_ADD_I32,
    QRT_STEP_SUB_I32,
    QRT_STEP_MUL_I32,
    QRT_STEP_MAX_I32,
    QRT_STEP_MIN_I32,
    /* From here on functions, by the row float_function. */
    QRT_STEP_EXP,
    QRT_STEP_EXPM1,
    QRT_STEP_LOG,
    QRT_STEP_LOG1P,
    QRT_STEP_TANH,
    QRT_STEP_ERF,
    QRT_STEP_ERFC,
    QRT_STEP_SIN,
    QRT_STEP_COS,
    QRT_STEP_CODES,
} qrt_step_code;

/* register[to] = code(register[a], register[b], register[c]), lane by lane; `to` may be one of the others. */
typedef struct {
    int32_t code, to, a, b, c;
} qrt_loops_step;

typedef struct {
    qrt_loops_type type; /* QRT_LOOPS_BOOL: a byte each, 0 or 1 */
    int reg;
    int64_t stride[QRT_LOOPS_RANK], offset; /* in elements */
    bool once;                              /* read before the first reduced iteration alone */
    const void *constant;                   /* NULL: an operand */
} qrt_loops_operand;

typedef struct {
    const qrt_kernels *kernels;
    int kept, reduced; /* how many loops; kept ones come first, in the order in which the results lie */
    int64_t extent[QRT_LOOPS_RANK];
    int reads, writes;
    const qrt_loops_operand *operand; /* what is read, then what is written */
    int steps;
    const qrt_loops_step *step;
    int registers, values; /* the last `values` registers hold constants */
    const float *value;
} qrt_float_loops_args;

/* Operands: what is read and not constant, in order, then the results. */
qrt_status qrt_float_loops(const void *args, qrt_scratch *scratch);
