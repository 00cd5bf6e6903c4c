/* The rows of AVX512-VNNI. All others are its parent's. */
#include "isa/rows.h"

const qrt_kernels avx512vnni_rows = {
    .gemm = &avx512vnni_gemm,
    .depthwise = &avx512vnni_depthwise,
    .mixed_row = avx512vnni_mixed_row,
    .mixed_tile = avx512vnni_mixed_tile,
};
