/* What the files of this folder offer its init.c: each replaces its entries of the table. */
#ifndef QRT_ISA_AVX512VNNI_H
#define QRT_ISA_AVX512VNNI_H

#include "qrt/qrt.h"

void qrt_avx512vnni_install_depthwise(qrt_kernels *table);
void qrt_avx512vnni_install_gemm(qrt_kernels *table);
void qrt_avx512vnni_install_mixed_matmul(qrt_kernels *table);

#endif
