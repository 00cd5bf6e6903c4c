/* Transposed convolutions: operands x (NHWC), [w] (OHWI), [bias], out. */
#pragma once

#include "qrt/products/gemm.h"

/* The pixels of the result that lie a stride apart, from (row, column) on: a convolution of x by the taps that reach
 * them. Its result may have rows and columns behind theirs, which nobody reads. */
typedef struct {
    const qrt_gemm_args *conv; /* operands x, [bias], out */
    int64_t row, column, rows, columns;
    int64_t conv_rows, conv_columns;
} qrt_transpose_conv_phase;

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
    /* Where w is constant and each pixel is reached by some tap: the phases that make up the result. Otherwise there
     * are none, and each pixel is computed by itself. */
    const qrt_transpose_conv_phase *phases;
    int phase_count;
} qrt_transpose_conv_args;

qrt_status qrt_transpose_conv2d(const void *args, qrt_scratch *scratch);
