/* Average pools by the rule dequantized, with the arguments of the row avg_pool_run. */
#pragma once

#include "qrt/qrt.h"

/* Returns false for what the parent computes: elements of more than 8 bits, and parameters of each channel. */
bool avx2_average_floats(const qrt_pool_args *args, const char *pixels, int64_t rows, int64_t columns,
                         int64_t row_stride, int64_t column_stride, int64_t count, int64_t step, char *target);
