#include "isa/init.inl"

void qrt_init_avx2(qrt_kernels *table) {
    install_rows(table);
}
