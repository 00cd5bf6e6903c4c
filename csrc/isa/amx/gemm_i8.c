/* The microkernels for signed A: tdpbssd multiplies it as it is. kernels.h says what they compute. */
#define QRT_SIGNED_A
#include "kernels.h"

const qrt_gemm_microkernel *qrt_amx_i8(const qrt_gemm_microkernel *fallback) {
    return make_microkernels("amx-i8", "amx-i8-short", fallback);
}
