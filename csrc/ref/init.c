#include "ref.h"

void qrt_init_ref(qrt_kernels *table);

void qrt_init_ref(qrt_kernels *table) {
    table->gemm = ref_gemm;
#define QRT_ROW(result, name, parameters) table->name = ref_##name;
#include "rows.def"
}
