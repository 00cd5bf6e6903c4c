#include "isa/init.inl"

void qrt_init_avx512vnni(qrt_kernels *table) {
    install_rows(table);
}
