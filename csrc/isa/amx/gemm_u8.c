/* The microkernels for unsigned A, by tdpbusd. kernels.h says what they compute. They are the first of the chain, and
 * leave signed A to those of gemm_i8.c. */
#define NAME "amx-u8"
#define FALLBACK qrt_amx_gemm_i8
#include "kernels.h"

const qrt_gemm_microkernel amx_gemm = FOR_SHORT;
