/* The rows of AVX512-VBMI. All others are its parent's. */
#include "isa/rows.h"

const qrt_kernels avx512vbmi_rows = {
    .lookup_row = avx512vbmi_lookup_row,
};
