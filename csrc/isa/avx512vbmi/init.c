#include "isa/init.inl"

void qrt_init_avx512vbmi(qrt_kernels *table) {
    install_rows(table);
}
