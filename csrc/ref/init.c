/* The rows of ref, which are all but `depthwise`. */
#include "ref.h"

const qrt_kernels ref_rows = {
    .gemm = &ref_gemm,
#define QRT_ROW(result, name, parameters) .name = ref_##name,
#include "rows.def"
};
