/* Transposed convolutions: operands x (NHWC), [w] (OHWI), [bias], out. */
#pragma once

#include "qrt/products/gemm.h"

typedef struct {
    const qrt_kernels *kernels;
    int64_t images, height, width, channels;     /* those of x */
    int64_t out_height, out_width, out_channels; /* those of the result */
    int64_t kernel[2], strides[2];
    int64_t padding[2]; /* rows and columns that are cut off at the top and the left */
    qrt_container x, w;
    const int64_t *x_zero_point; /* one value */
    const int64_t *w_zero_point; /* out channel j has index j * w_zero_point_step */
    int64_t w_zero_point_step;
    qrt_requant requant; /* out channel j has index j * requant_step */
    int64_t requant_step;
    const void *w_constant;    /* NULL: w is an operand */
    qrt_bias_kind bias;        /* any kind but f32 */
    const void *bias_constant; /* NULL: bias is an operand */
} qrt_transpose_conv_args;

qrt_status qrt_transpose_conv2d(const void *args, qrt_scratch *scratch);
