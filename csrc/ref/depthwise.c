/* Depthwise convolution in portable C: all out channels of one pixel over the taps inside the input, summed in 128
 * bits. */
#include "ref.h"

/* Each product is below 2^68 and the number of taps below 2^40, so that no sum overflows. */
static int128 channel_sum(const qrt_depthwise_problem *problem, const void *x, const void *w, int64_t rows,
                          int64_t columns, int64_t j) {
    const qrt_window *window = &problem->window;
    const int64_t channel = j / problem->multiplier, zw = problem->w_zero_point[j * problem->w_zero_point_step];
    int128 sum = 0;
    for (int64_t ky = 0; ky < rows; ky++)
        for (int64_t kx = 0; kx < columns; kx++) {
            const int64_t pixel = ky * window->dilations[0] * window->width + kx * window->dilations[1];
            const int64_t tap = ky * window->kernel[1] + kx;
            sum += (int128)(qrt_load(problem->x, x, pixel * window->channels + channel) - *problem->x_zero_point) *
                   (qrt_load(problem->w, w, tap * problem->w_tap_step + j * problem->w_channel_step) - zw);
        }
    return sum;
}

qrt_status ref_depthwise_pixel(const qrt_depthwise_args *args, const void *x, const void *w, int64_t rows,
                               int64_t columns, int64_t *acc) {
    for (int64_t j = 0; j < args->problem.out_channels; j++) {
        const int128 sum = acc[j] + channel_sum(&args->problem, x, w, rows, columns, j);
        acc[j] = (int64_t)sum;
        if (acc[j] != sum)
            return QRT_ACCUMULATOR_OVERFLOW;
    }
    return QRT_OK;
}
