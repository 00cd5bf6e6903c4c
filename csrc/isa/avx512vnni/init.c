#include "avx512vnni.h"

void qrt_init_avx512vnni(qrt_kernels *table);

void qrt_init_avx512vnni(qrt_kernels *table) {
    qrt_avx512vnni_install_depthwise(table);
    qrt_avx512vnni_install_gemm(table);
    qrt_avx512vnni_install_mixed_matmul(table);
}
