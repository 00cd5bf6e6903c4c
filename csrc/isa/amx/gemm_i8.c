/* gemm.c for signed A. */
#define QRT_SIGNED_A
#include "gemm.c"
