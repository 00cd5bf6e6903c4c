/* Depthwise convolutions: operands x (NHWC), [w], [bias], out. */
#pragma once

#include "qrt/products/gemm.h"

typedef struct qrt_depthwise_microkernel qrt_depthwise_microkernel;

typedef struct {
    qrt_window window;    /* with one group */
    int64_t out_channels; /* out channel j reads channel j / multiplier */
    int64_t multiplier;
    qrt_container x, w;
    int64_t w_tap_step, w_channel_step; /* in elements; taps are row-major */
    const int64_t *x_zero_point;        /* one value */
    const int64_t *w_zero_point;        /* out channel j has index j * w_zero_point_step */
    int64_t w_zero_point_step;
    qrt_requant requant; /* out channel j has index j * requant_step */
    int64_t requant_step;
    const void *w_constant;    /* NULL: w is an operand */
    qrt_bias_kind bias;        /* any kind but f32 */
    const void *bias_constant; /* NULL: bias is an operand */
    qrt_stored *stored;        /* as in a GEMM */
} qrt_depthwise_problem;

/* Weights in the order in which a microkernel reads them, by blocks of channels. */
typedef struct {
    const qrt_depthwise_microkernel *microkernel; /* NULL: no microkernel computes this */
    int rows;                                     /* output rows computed together: 1 or 2 */
    int64_t groups;                               /* groups of input rows under these output rows */
    int64_t blocks, block_bytes;
    void *packed;   /* blocks of block_bytes */
    int32_t *start; /* what sums begin with, `channels` of each block: compensation and bias; NULL: it is packed */
    bool stored;    /* `packed` is part of problem.stored */
} qrt_depthwise_packing;

typedef struct {
    int64_t bias_limit;            /* the largest |bias| with which every sum fits 31 bits; negative: there is none */
    qrt_depthwise_packing packing; /* constant weights, and the bias where it is constant too */
} qrt_depthwise_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_depthwise_problem problem;
    qrt_depthwise_plan plan;
} qrt_depthwise_args;

/* Makes the plan and packs constant weights. qrt_depthwise_release frees what it allocated. */
qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args);
void qrt_depthwise_release(void *args);
int qrt_depthwise_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_depthwise_conv2d(const void *args, qrt_scratch *scratch);

/* Bytes of zero points on either side of qrt_depthwise_run.padding, and under a column of the row of padding. */
#define QRT_DEPTHWISE_PADDING 64

/* The out channels [first, first + channels). With two segments the channels fill at most half a vector, and the halves
 * of a vector belong to two runs of pixels. */
typedef struct {
    int64_t first;
    int channels, segments;
    int rows;
    int64_t groups;
    const void *packed;
    const int32_t *start; /* the values that sums begin with */
} qrt_depthwise_block;

/* A run of output pixels in bands, one below the other. A band has block->rows output rows. */
typedef struct {
    const qrt_depthwise_block *block;
    int64_t bands;
    int last_rows; /* output rows of the last band that exist */
    /* Pointers to input rows, [band][groups * group], at the channel that the block's first channel reads. A row of
     * padding holds zero points wherever a column is read. */
    const char *const *inputs;
    const int64_t *offsets; /* [segment][columns]: bytes from an input row's pointer to each column; -1 for padding */
    int64_t columns, pixel_step, tap_step; /* tap t of pixel p is column p * pixel_step + t * tap_step */
    int64_t pixels;                        /* pixels of each segment; two segments may share one pixel */
    char *target; /* the first channel of the first pixel; pixels are out_channels elements apart */
    int64_t row_elements, segment_elements; /* elements between output rows, and between the two segments */
    const char *padding;                    /* zero points, QRT_DEPTHWISE_PADDING of them before and behind */
    void *interleaved; /* working memory for every column of every tile: columns * groups * group_bytes */
} qrt_depthwise_run;

/* The 8-bit microkernel. core chooses blocks, rows and runs, and owns all memory; the microkernel dictates the packing.
 * No |value - zero point| exceeds 255, and no sum exceeds 31 bits. A packed block begins with its compensation. */
struct qrt_depthwise_microkernel {
    int channels;                      /* channels of a block */
    int segments;                      /* the most segments that it supports */
    int group;                         /* adjacent input rows that one multiply-add takes */
    int pixels;                        /* pixels of a run that are computed together; a tile may take a divisor of it */
    int64_t header_bytes, group_bytes; /* bytes of a packed block's header, and of the channels of one group */
    int w_min, w_max;                  /* bounds of weight - zero point */
    const qrt_depthwise_microkernel *wider; /* computes the other weights; NULL: none does */
    /* Packs a block; `to` holds zeros. */
    void (*pack)(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_block *block, void *to);
    /* Writes the packed compensation plus the bias to start[channels of a block]. */
    void (*add_bias)(const qrt_depthwise_problem *problem, const void *bias, const qrt_depthwise_block *block,
                     int32_t *start);
    void (*run)(const qrt_depthwise_args *args, const qrt_depthwise_run *run);
};
