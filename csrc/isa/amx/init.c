#include "gemm.h"
#include "isa/init.inl"

void qrt_init_amx(qrt_kernels *table) {
    install_rows(table);
    table->streams = true;
    table->gemm = *qrt_amx_u8(qrt_amx_i8(&amx_parent.gemm));
}
