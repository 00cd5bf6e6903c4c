/* The declarations that the files of the 8-bit microkernels share. kernels.h makes two microkernels, one for long K and
 * one for short K. It is compiled twice, for unsigned A and for signed A, so that rows of neither need a flip of their
 * signs and both are read in place. */
#pragma once

#include "qrt/qrt.h"

extern const qrt_gemm_microkernel amx_gemm, qrt_amx_gemm_i8, avx512vnni_gemm;

/* pack.c: panels of B do not depend on the sign of A, so that products of both signs share one packing. */
void qrt_amx_pack_tiles(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                        int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation);
void qrt_amx_pack_short(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                        int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation);
