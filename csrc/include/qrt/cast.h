/* Casts between expressed values and storage: operands x, out. */
#pragma once

#include "qrt/layout.h"

typedef struct {
    qrt_layout layout;
    qrt_expressed expressed;
    qrt_container container;
    int64_t storage_min, storage_max;
    qrt_rounding rounding;
    qrt_zero_point_order zero_point_order;
    qrt_scale_mode scale_mode;
    const double *scale; /* they are values of the expressed type already */
    const int64_t *zero_point;
} qrt_cast_problem;

/* qrt_cast_prepare sets the layout and the fields beside it. Whoever binds the call sets everything that is made of
 * parameters. */
typedef struct {
    qrt_layout layout;   /* whole rows; a tensor with parameters per layer or per axis is one row, whatever the axis */
    int64_t run, period; /* each parameter of a row serves `run` elements; after `period` of them they repeat */
    bool prefetch; /* the operands are long enough to fetch a page ahead: hardware streams stop at page boundaries */
    bool stream;   /* the result exceeds the caches, so it is stored past them */
    bool finite_zero_points; /* every zero point is finite in the expressed type */
    double scale_least, scale_most;
    /* These serve f16, bf16 and f32, else they are NULL. zero_point_f32 is rounded to the expressed type. So is
     * reciprocal_f32 where casts multiply by it; where they divide by the scale it is f32(1 / scale). */
    const float *scale_f32, *reciprocal_f32, *zero_point_f32;
    const int32_t *zero_point_i32; /* NULL where a zero point needs more than 24 bits */
    /* These serve f32 and f64, else they are NULL: 1 / scale and the zero point, both rounded to the expressed type,
     * and the zero point itself. */
    const double *reciprocal_f64, *rounded_zero_point_f64, *zero_point_f64;
} qrt_cast_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_cast_problem problem;
    qrt_cast_plan plan;
} qrt_cast_args;

/* Returns QRT_BAD_ARGUMENT where the problem's layout cannot be prepared. */
qrt_status qrt_cast_prepare(qrt_cast_args *args);
qrt_status qrt_qcast(const void *args, qrt_scratch *scratch);
qrt_status qrt_dcast(const void *args, qrt_scratch *scratch);
