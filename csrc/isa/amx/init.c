/* The rows of AMX. All others are its parent's. */
#include "isa/rows.h"

const qrt_kernels amx_rows = {
    .streams = true,
    .gemm = &amx_gemm,
};
