/* The parameters of a SIMD cast, and how a kernel gets them for a row. walk.inl cuts the row. */
#pragma once

#include <string.h>

#include "isa/x86/cast/guard.inl"

/* Arrays of float and int32_t, or of double. An array that the kernel does not read is NULL. */
enum { QRT_SCALES, QRT_RECIPROCALS, QRT_ROUNDED_ZERO_POINTS, QRT_ZERO_POINTS, QRT_CAST_ARRAYS };

/* repeat: 0 for the parameters' own arrays; those of a table repeat after so many elements, and go on for a block. */
typedef struct {
    const char *array[QRT_CAST_ARRAYS];
    int64_t repeat;
} qrt_cast_parameters;

/* Casts `runs` runs of `run` elements. Run i has parameter i; with `each`, element i of every run has it. */
typedef void (*qrt_cast_runs)(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                              const char *source, char *target, int64_t run, int64_t runs);

typedef struct {
    const qrt_cast_args *args;
    qrt_cast_runs fn;
    qrt_cast_parameters parameters; /* from the row's index 0 on */
    int word;                       /* bytes of a parameter: 4 or 8 */
    int source_size, target_size;
} qrt_cast_call;

#define QRT_TABLE 1024 /* elements */
typedef char qrt_cast_table[QRT_CAST_ARRAYS][(QRT_TABLE + QRT_PARAMETER_PADDING) * sizeof(double)];

/* Parameters from element `index` of a table on, by one pointer: the arrays are a constant apart. A vector instruction
 * with an index in its memory operand takes one more uop. */
QRT_INLINE qrt_cast_parameters qrt_cast_in_table(const qrt_cast_parameters *table, int64_t index) {
    const char *first = table->array[0] + index * (int64_t)sizeof(float);
    __asm__("" : "+r"(first));
    qrt_cast_parameters at = {.repeat = table->repeat};
    for (int a = 0; a < QRT_CAST_ARRAYS; a++)
        at.array[a] = first + a * (int64_t)sizeof(qrt_cast_table) / QRT_CAST_ARRAYS;
    return at;
}

/* How many of the first elements lie before the next cache line. */
QRT_INLINE int64_t qrt_cast_until_aligned(const void *target, int size) {
    return (int64_t)(-(uintptr_t)target & 63) / size;
}

/* Defined by walk.inl, once for each ISA. */
void QRT_OF_ISA(cast_row)(const qrt_cast_call *call, const char *source, char *target, int64_t count, int64_t phase);

/* Defined by f64.inl: casts that f32 cannot compute. */
void QRT_OF_ISA(qcast_f64)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase);
void QRT_OF_ISA(dcast_f64)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase);

/* Casts a row by a kernel that computes in f32 or in f64. `first` is the index of its first parameter. */
#define QRT_CAST_FROM(array) ((const char *)((array) + first))

QRT_INLINE void qrt_cast_in(bool f64, bool quantize, const qrt_cast_args *args, qrt_cast_runs fn, const void *source,
                            void *target, int64_t count, int64_t first, int64_t phase) {
    const qrt_cast_problem *problem = &args->problem;
    const qrt_cast_plan *plan = &args->plan;
    const bool before = !quantize || problem->zero_point_order == QRT_ZERO_POINT_BEFORE;
    const bool divide = !quantize || problem->scale_mode == QRT_SCALE_DIVIDE;
    const int expressed_size = qrt_expressed_size(problem->expressed);
    const int container_size = qrt_container_size(problem->container);
    qrt_cast_call call = {.args = args,
                          .fn = fn,
                          .word = f64 ? sizeof(double) : sizeof(float),
                          .source_size = quantize ? expressed_size : container_size,
                          .target_size = quantize ? container_size : expressed_size};
    const char **array = call.parameters.array;
    if (f64) {
        array[QRT_SCALES] = divide ? QRT_CAST_FROM(problem->scale) : NULL;
        array[QRT_RECIPROCALS] = divide ? NULL : QRT_CAST_FROM(plan->reciprocal_f64);
        array[QRT_ROUNDED_ZERO_POINTS] = before ? QRT_CAST_FROM(plan->rounded_zero_point_f64) : NULL;
        array[QRT_ZERO_POINTS] = quantize ? QRT_CAST_FROM(plan->zero_point_f64) : NULL;
    } else {
        const bool rounded = before && (!quantize || problem->expressed == QRT_F32);
        array[QRT_SCALES] = QRT_CAST_FROM(plan->scale_f32);
        array[QRT_RECIPROCALS] = quantize ? QRT_CAST_FROM(plan->reciprocal_f32) : NULL;
        array[QRT_ROUNDED_ZERO_POINTS] = before ? QRT_CAST_FROM(plan->zero_point_f32) : NULL;
        array[QRT_ZERO_POINTS] = rounded ? NULL : QRT_CAST_FROM(plan->zero_point_i32);
    }
    QRT_OF_ISA(cast_row)(&call, source, target, count, phase);
}
#undef QRT_CAST_FROM
