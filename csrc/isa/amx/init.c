#include "gemm.h"

void qrt_init_amx(qrt_kernels *table);

void qrt_init_amx(qrt_kernels *table) {
    static qrt_gemm_kernel parents;
    parents = table->gemm;
    table->streams = true;
    table->gemm = *qrt_amx_u8(qrt_amx_i8(&parents));
}
