/* The microkernels for signed A. */
#define QRT_SIGNED_A
#include "kernels.h"

const qrt_gemm_kernel *qrt_amx_i8(const qrt_gemm_kernel *otherwise) {
    return make_kernels("amx-i8", "amx-i8-short", otherwise);
}
