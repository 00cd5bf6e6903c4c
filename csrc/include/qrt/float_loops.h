/* Loop nests in float32, float64, int32 and int64: a chain of element-wise steps in each iteration, over strided
 * operands. Results are kept over some of the loops, and pass through the others in order. */
#pragma once

#include "qrt/base.h"

#define QRT_LOOPS_RANK 16
#define QRT_LOOPS_REGISTERS 64
#define QRT_LOOPS_LANES 256 /* iterations of the innermost kept loop that are computed at once */
#define QRT_LOOPS_ALIGN 16  /* steps compute a multiple of so many lanes */

/* A register holds floats, integers, which are extended to 32 bits by their sign, or flags: all bits of a lane are set
 * or none. Lanes of float64 and int64 have 8 bytes. */
typedef enum {
    QRT_LOOPS_F32,
    QRT_LOOPS_BOOL,
    QRT_LOOPS_I8,
    QRT_LOOPS_I16,
    QRT_LOOPS_I32,
    QRT_LOOPS_F64,
    QRT_LOOPS_I64,
} qrt_loops_type;

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
    /* From here on by the row wide_steps. First the steps above on float64, from ADD to MINNUM, in their order. */
    QRT_STEP_ADD_F64,
    QRT_STEP_SUB_F64,
    QRT_STEP_MUL_F64,
    QRT_STEP_DIV_F64,
    QRT_STEP_FMA_F64,
    QRT_STEP_SQRT_F64,
    QRT_STEP_NEG_F64,
    QRT_STEP_ABS_F64,
    QRT_STEP_FLOOR_F64,
    QRT_STEP_CEIL_F64,
    QRT_STEP_TRUNC_F64,
    QRT_STEP_ROUNDEVEN_F64,
    QRT_STEP_MAXIMUM_F64,
    QRT_STEP_MINIMUM_F64,
    QRT_STEP_MAXNUM_F64,
    QRT_STEP_MINNUM_F64,
    QRT_STEP_ROUND_F64, /* half away from zero */
    QRT_STEP_REM_F64,
    QRT_STEP_ROUND_F32,
    QRT_STEP_REM_F32,
    /* Flags are in lanes of 4 bytes, those of SELECT_64 too. */
    QRT_STEP_LESS_F64,
    QRT_STEP_LESS_EQUAL_F64,
    QRT_STEP_EQUAL_F64,
    QRT_STEP_UNORDERED_F64,
    QRT_STEP_LESS_I64,
    QRT_STEP_BELOW_I64, /* less, as unsigned numbers */
    QRT_STEP_EQUAL_I64,
    QRT_STEP_LESS_I32,
    QRT_STEP_BELOW_I32,
    QRT_STEP_EQUAL_I32,
    QRT_STEP_SELECT_64,
    /* On int64. Sums and products wrap. */
    QRT_STEP_AND_I64,
    QRT_STEP_OR_I64,
    QRT_STEP_XOR_I64,
    QRT_STEP_ADD_I64,
    QRT_STEP_SUB_I64,
    QRT_STEP_MUL_I64,
    QRT_STEP_MAX_I64,
    QRT_STEP_MIN_I64,
    /* Conversions: the name has the result, behind it what is converted. */
    QRT_STEP_F64_OF_F32,
    QRT_STEP_F32_OF_F64, /* rounded to nearest even */
    QRT_STEP_F64_OF_I32,
    QRT_STEP_F64_OF_I64, /* rounded to nearest even, as is F32_OF_I64 */
    QRT_STEP_F32_OF_I64,
    QRT_STEP_I64_OF_I32,
    QRT_STEP_I32_OF_I64, /* the low bits */
    /* Of float64, truncated. `b` has the least integer, and `c` the first one that is too large, both as float64. What
     * lies outside makes the call undefined, or becomes the nearest bound, and a NaN 0. */
    QRT_STEP_I64_OF_F64,
    QRT_STEP_SATURATE_I64,
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
    bool is_wide;          /* registers have 8 bytes for a lane, because some hold numbers of 64 bits */
    int registers, values; /* the last `values` registers hold constants */
    const float *value;
} qrt_float_loops_args;

/* Operands: what is read and not constant, in order, then the results. */
qrt_status qrt_float_loops(const void *args, qrt_scratch *scratch);
