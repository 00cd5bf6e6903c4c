#include "isa/init.inl"

void qrt_init_avxvnni(qrt_kernels *table) {
    install_rows(table);
}
