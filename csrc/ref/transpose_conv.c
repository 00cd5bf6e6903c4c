/* Transposed convolution in portable C: all out channels of one pixel over the taps that reach it, summed in 128
 * bits. */
#include "ref.h"

/* Each product is below 2^68 and the number of taps below 2^40, so that no sum overflows. */
static int128 channel_sum(const qrt_transpose_conv_args *args, const void *x, const void *w, int64_t rows,
                          int64_t columns, int64_t j) {
    const int64_t zw = args->w_zero_point[j * args->w_zero_point_step], channels = args->channels;
    int128 sum = 0;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t column = 0; column < columns; column++) {
            const int64_t pixel = -(row * args->width + column) * channels;
            const int64_t ky = row * args->strides[0], kx = column * args->strides[1];
            const int64_t tap = ((j * args->kernel[0] + ky) * args->kernel[1] + kx) * channels;
            for (int64_t i = 0; i < channels; i++)
                sum += (int128)(qrt_load(args->x, x, pixel + i) - *args->x_zero_point) *
                       (qrt_load(args->w, w, tap + i) - zw);
        }
    return sum;
}

qrt_status ref_transpose_conv_pixel(const qrt_transpose_conv_args *args, const void *x, const void *w, int64_t rows,
                                    int64_t columns, int64_t *acc) {
    for (int64_t j = 0; j < args->out_channels; j++) {
        const int128 sum = acc[j] + channel_sum(args, x, w, rows, columns, j);
        acc[j] = (int64_t)sum;
        if (acc[j] != sum)
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    return QRT_OK;
}
