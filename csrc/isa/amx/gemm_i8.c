/* The microkernels for signed A: tdpbssd multiplies it as it is. kernels.h says what they compute. They are the last of
 * amx, and leave calls to the microkernel of its ancestors. */
#define QRT_SIGNED_A
#define NAME "amx-i8"
#define FALLBACK avx512vnni_gemm
#include "kernels.h"

const qrt_gemm_microkernel qrt_amx_gemm_i8 = FOR_SHORT;
