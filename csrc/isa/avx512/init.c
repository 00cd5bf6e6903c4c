#include "avx512.h"

void qrt_init_avx512(qrt_kernels *table);

void qrt_init_avx512(qrt_kernels *table) {
    qrt_avx512_install_bits(table);
    qrt_avx512_install_f64_casts(table);
    qrt_avx512_install_casts(table);
    qrt_avx512_install_depthwise(table);
    qrt_avx512_install_gemm(table);
    qrt_avx512_install_store(table);
    qrt_avx512_install_float_matmul(table);
    qrt_avx512_install_mixed_matmul(table);
}
