/* Depthwise convolutions: operands x (NHWC), [w], [bias], out. */
#ifndef QRT_DEPTHWISE_H
#define QRT_DEPTHWISE_H

#include "qrt/gemm.h"

typedef struct qrt_depthwise_microkernel qrt_depthwise_microkernel;

typedef struct {
    qrt_window window;    /* groups 1 */
    int64_t out_channels; /* j reads channel j / multiplier */
    int64_t multiplier;
    qrt_container x, w;
    int64_t w_tap_step, w_channel_step; /* elements of w; taps are row-major */
    const int64_t *x_zero_point;        /* one */
    const int64_t *w_zero_point;        /* index j * w_zero_point_step */
    int64_t w_zero_point_step;
    qrt_requant requant; /* index j * requant_step */
    int64_t requant_step;
    const void *w_constant;    /* NULL: w is an operand */
    qrt_bias_kind bias;        /* not f32 */
    const void *bias_constant; /* NULL: bias is an operand */
} qrt_depthwise_problem;

/* Weights as a microkernel reads them, by blocks of channels. */
typedef struct {
    const qrt_depthwise_microkernel *microkernel; /* NULL: none computes this */
    int rows;                                     /* output rows computed together: 1 or 2 */
    int64_t groups;                               /* of input rows that these rows see */
    int64_t blocks, block_bytes;
    void *packed;   /* blocks of block_bytes */
    int32_t *start; /* of sums: compensation and bias, `channels` of each block; NULL: the packed compensation */
} qrt_depthwise_packing;

typedef struct {
    int64_t bias_limit;            /* |bias| up to which every sum fits 31 bits; negative: none */
    qrt_depthwise_packing packing; /* of constant weights, and of the bias where it is one */
} qrt_depthwise_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_depthwise_problem problem;
    qrt_depthwise_plan plan;
} qrt_depthwise_args;

/* Makes the plan: packs constant weights. qrt_depthwise_release frees what it allocated. */
qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args);
void qrt_depthwise_release(void *args);
qrt_status qrt_depthwise_conv2d(const void *args, qrt_scratch *scratch);

/* Bytes of zero point on either side of qrt_depthwise_run.padding, and of a column of a row of padding. */
#define QRT_DEPTHWISE_PADDING 64

/* Out channels [first, first + channels). With two segments the channels fill half a vector at most, and its halves
 * belong to two runs of pixels. */
typedef struct {
    int64_t first;
    int channels, segments;
    int rows;
    int64_t groups;
    const void *packed;
    const int32_t *start; /* what sums begin with */
} qrt_depthwise_block;

/* A run of output pixels in bands of block->rows output rows, one below the other. */
typedef struct {
    const qrt_depthwise_block *block;
    int64_t bands;
    int last_rows; /* of the last band, that exist */
    /* [band][groups * group]: input rows, at the channel that the block's first reads; rows of padding hold zero points
     * wherever a column is read. */
    const char *const *inputs;
    const int64_t *offsets; /* [segment][columns]: bytes from an input row's pointer to each column; -1: padding */
    int64_t columns, pixel_step, tap_step; /* tap t of pixel p is column p * pixel_step + t * tap_step */
    int64_t pixels;                        /* of each segment; two may have one in common */
    char *target; /* the first channel of the first pixel; pixels are out_channels elements apart */
    int64_t row_elements, segment_elements; /* between output rows; between the two segments */
    const char *padding;                    /* zero points, also before it */
    void *interleaved;                      /* room for every column of every tile: columns * groups * group_bytes */
} qrt_depthwise_run;

/* The 8-bit microkernel. core chooses blocks, rows and runs, and owns all memory; the microkernel dictates the packing.
 * Neither |value - zero point| exceeds 255 nor a sum 31 bits. A packed block begins with its compensation. */
struct qrt_depthwise_microkernel {
    int channels;                           /* of a block */
    int segments;                           /* at most */
    int group;                              /* adjacent input rows that one multiply-add takes */
    int pixels;                             /* a run is computed this many at a time, or a divisor of it */
    int64_t header_bytes, group_bytes;      /* of a packed block, of the channels of a group */
    int w_min, w_max;                       /* of weight - zero point */
    const qrt_depthwise_microkernel *wider; /* for the other weights */
    /* `to` holds zeros. */
    void (*pack)(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_block *block, void *to);
    /* start[channels of a block] = the packed compensation plus the bias. */
    void (*add_bias)(const qrt_depthwise_problem *problem, const void *bias, const qrt_depthwise_block *block,
                     int32_t *start);
    void (*run)(const qrt_depthwise_args *args, const qrt_depthwise_run *run);
};

#endif
