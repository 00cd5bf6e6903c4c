/* What the files of this folder offer its init.c, and avx512vnni's: each replaces its entries of the table. */
#ifndef QRT_ISA_AVX512_H
#define QRT_ISA_AVX512_H

#include "qrt/qrt.h"

void qrt_avx512_install_bits(qrt_kernels *table);
void qrt_avx512_install_f64_casts(qrt_kernels *table);
void qrt_avx512_install_casts(qrt_kernels *table);
void qrt_avx512_install_depthwise(qrt_kernels *table);
void qrt_avx512_install_gemm(qrt_kernels *table);
void qrt_avx512_install_store(qrt_kernels *table);
void qrt_avx512_install_float_matmul(qrt_kernels *table);
void qrt_avx512_install_mixed_matmul(qrt_kernels *table);

#endif
