/* What the files of this folder offer its init.c: each replaces its entries of the table. */
#ifndef QRT_ISA_AVX2_H
#define QRT_ISA_AVX2_H

#include "qrt/qrt.h"

void qrt_avx2_install_bits(qrt_kernels *table);
void qrt_avx2_install_f64_casts(qrt_kernels *table);
void qrt_avx2_install_casts(qrt_kernels *table);
void qrt_avx2_install_depthwise(qrt_kernels *table);
void qrt_avx2_install_elementwise(qrt_kernels *table);
void qrt_avx2_install_gemm(qrt_kernels *table);
void qrt_avx2_install_reduce(qrt_kernels *table);
void qrt_avx2_install_requantize(qrt_kernels *table);
void qrt_avx2_install_store(qrt_kernels *table);
void qrt_avx2_install_float_matmul(qrt_kernels *table);
void qrt_avx2_install_mixed_matmul(qrt_kernels *table);

#endif
