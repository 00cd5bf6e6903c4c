/* The rows of AVX-VNNI. All others are its parent's. */
#include "isa/rows.h"

const qrt_kernels avxvnni_rows = {
    .gemm = &avxvnni_gemm,
};
