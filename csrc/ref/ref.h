/* What the reference kernels share. They are scalar and plain: the oracle that every other ISA equals. */
#ifndef QRT_REF_H
#define QRT_REF_H

#include <math.h>

#include "qrt.h"

typedef __int128 int128;

static inline int64_t ref_load(qrt_container container, const void *source, int64_t i) {
    switch (container) {
    case QRT_I8:
        return ((const int8_t *)source)[i];
    case QRT_U8:
        return ((const uint8_t *)source)[i];
    case QRT_I16:
        return ((const int16_t *)source)[i];
    case QRT_U16:
        return ((const uint16_t *)source)[i];
    case QRT_I32:
        return ((const int32_t *)source)[i];
    case QRT_U32:
        return ((const uint32_t *)source)[i];
    }
    return 0;
}

/* `value` lies within the storage bounds, so within the container. */
static inline void ref_store(qrt_container container, void *target, int64_t i, int64_t value) {
    switch (container) {
    case QRT_I8:
    case QRT_U8:
        ((uint8_t *)target)[i] = (uint8_t)value;
        return;
    case QRT_I16:
    case QRT_U16:
        ((uint16_t *)target)[i] = (uint16_t)value;
        return;
    case QRT_I32:
    case QRT_U32:
        ((uint32_t *)target)[i] = (uint32_t)value;
        return;
    }
}

static inline int64_t ref_clamp(int128 value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : (int64_t)value;
}

/* Half away from zero, exactly: x - trunc(x) has no rounding error, x + 0.5 would have. */
static inline double ref_round_half_away(double x) {
    const double whole = trunc(x);
    return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : whole;
}

/* requant.c: an exact accumulator to storage, by any rule. */
int64_t ref_requantize(const qrt_requant *requant, int128 acc, int64_t parameter);
/* The ends of the rules fixed and float32, for sums that sub-channel weights form by themselves. */
int64_t ref_finish_fixed(const qrt_requant *requant, int128 product, int shift, int64_t zero_point);
int64_t ref_finish_float32(const qrt_requant *requant, float scaled, int64_t zero_point);

void ref_store_tile(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns,
                    void *target, int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step);
void ref_store_wide(const qrt_requant *requant, const int64_t *acc, int64_t acc_stride, int rows, int columns,
                    void *target, int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step);
void ref_requantize_row(const qrt_requantize_args *args, const void *source, void *target, int64_t count,
                        int64_t parameter, int64_t step);

void ref_qcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span);
void ref_dcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span);

extern const qrt_gemm_kernel ref_gemm;
qrt_status ref_wide_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                        int64_t *acc);
qrt_status ref_block_row(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b, int64_t matrix,
                         const void *bias, void *target, int64_t parameter);

void ref_depthwise_pixel(const qrt_depthwise_args *args, const void *x, const void *w, int64_t rows, int64_t columns,
                         int32_t *acc);
qrt_status ref_depthwise_wide_pixel(const qrt_depthwise_args *args, const void *x, const void *w, int64_t rows,
                                    int64_t columns, int64_t *acc);

qrt_status ref_binary_row(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b, int64_t b_stride,
                          void *target, int64_t count, int64_t parameter, int64_t step);
void ref_clamp_row(const qrt_clamp_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                   int64_t step);

void ref_lookup_row(const qrt_lookup_args *args, const void *table, const void *source, void *target, int64_t count);

void ref_avg_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, void *target);
void ref_max_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride, void *target);

void ref_mean_row(const qrt_mean_args *args, const void *x, int64_t x_stride, void *target, int64_t count,
                  int64_t parameter, int64_t step);
void ref_softmax_line(const qrt_softmax_args *args, const void *x, void *target);

void ref_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count);
void ref_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count);
void ref_float_rows(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride);
void ref_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums);
void ref_float_axpy(float a, const float *b, int64_t count, float *sums);
void ref_float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                    int64_t out_stride);
void ref_float_short(const qrt_float_panel *panel);
bool ref_mixed_row(const qrt_mixed_matmul_args *args, const float *a, void *digits);
void ref_mixed_tile(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel, float *sums);

#endif
