/* Between expressed values and storage: operands x, out. */
#ifndef QRT_CAST_H
#define QRT_CAST_H

#include "qrt/layout.h"

typedef struct {
    qrt_layout layout;
    qrt_expressed expressed;
    qrt_container container;
    int64_t storage_min, storage_max;
    qrt_rounding rounding;
    qrt_zero_point_order zero_point_order;
    qrt_scale_mode scale_mode;
    const double *scale; /* already values of the expressed type */
    const int64_t *zero_point;
} qrt_cast_problem;

/* qrt_cast_prepare derives the layout and what stands beside it; whoever binds, all that is made of parameters. */
typedef struct {
    qrt_layout layout;       /* of rows: per layer and per axis, whatever the axis, the whole tensor is one */
    int64_t run, period;     /* parameters of a row: each for `run` elements, `period` of them, then anew */
    bool prefetch;           /* long enough to fetch a page ahead: the hardware streams stop at page boundaries */
    bool stream;             /* the result is larger than the caches: what is stored is not read back from them */
    bool finite_zero_points; /* every zero point is finite in the expressed type */
    double scale_least, scale_most;
    /* For f16, bf16 and f32, else NULL. zero_point_f32 is rounded to the expressed type, and so is reciprocal_f32 where
     * it is multiplied by; where it is divided by the scale, reciprocal_f32 is f32(1 / scale). */
    const float *scale_f32, *reciprocal_f32, *zero_point_f32;
    const int32_t *zero_point_i32; /* NULL when some zero point needs more than 24 bits */
    /* For f32 and f64, else NULL: 1 / scale and the zero point rounded to the expressed type, the zero point itself. */
    const double *reciprocal_f64, *rounded_zero_point_f64, *zero_point_f64;
} qrt_cast_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_cast_problem problem;
    qrt_cast_plan plan;
} qrt_cast_args;

/* QRT_BAD_ARGUMENT where the problem's layout cannot be prepared. */
qrt_status qrt_cast_prepare(qrt_cast_args *args);
qrt_status qrt_qcast(const void *args, qrt_scratch *scratch);
qrt_status qrt_dcast(const void *args, qrt_scratch *scratch);

#endif
