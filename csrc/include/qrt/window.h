/* The windows of convolutions and pooling, over NHWC images. */
#pragma once

#include "qrt/base.h"

typedef struct {
    int64_t images, height, width, channels; /* those of the input */
    int64_t out_height, out_width;
    int64_t kernel[2], strides[2], dilations[2], padding[2]; /* padding: top, left */
    int64_t groups;
} qrt_window;
