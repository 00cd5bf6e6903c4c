/* The microkernels for unsigned A. */
#include "kernels.h"

const qrt_gemm_kernel *qrt_amx_u8(const qrt_gemm_kernel *otherwise) {
    return make_kernels("amx-u8", "amx-u8-short", otherwise);
}
