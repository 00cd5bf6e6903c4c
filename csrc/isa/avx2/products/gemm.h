/* The microkernels of this folder; avx2_gemm, the one for a single row, is the first of them. */
#pragma once

#include "qrt/qrt.h"

extern const qrt_gemm_microkernel qrt_avx2_tiles;
