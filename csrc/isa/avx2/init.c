#include "avx2.h"

void qrt_init_avx2(qrt_kernels *table);

void qrt_init_avx2(qrt_kernels *table) {
    qrt_avx2_install_bits(table);
    qrt_avx2_install_f64_casts(table);
    qrt_avx2_install_casts(table);
    qrt_avx2_install_depthwise(table);
    qrt_avx2_install_gemm(table);
    qrt_avx2_install_elementwise(table);
    qrt_avx2_install_reduce(table);
    qrt_avx2_install_requantize(table);
    qrt_avx2_install_store(table);
    qrt_avx2_install_float_matmul(table);
    qrt_avx2_install_mixed_matmul(table);
}
