/* The microkernels for unsigned A, by tdpbusd. kernels.h says what they compute. */
#include "kernels.h"

const qrt_gemm_microkernel *qrt_amx_u8(const qrt_gemm_microkernel *fallback) {
    return make_microkernels("amx-u8", "amx-u8-short", fallback);
}
