/* Every init.c includes this file: it puts the ISA's own rows in place of its parent's. */
#include "isa/rows.h"

qrt_kernels QRT_OF_ISA(parent);

void QRT_JOIN(qrt_init, QRT_ISA)(qrt_kernels *table);

static void install_rows(qrt_kernels *table) {
    QRT_OF_ISA(parent) = *table;
#define QRT_ROW(result, name, parameters) QRT_IF(QRT_OWN_##name, table->name = QRT_OF_ISA(name);)
#include "rows.def"
    QRT_IF(QRT_OWN_gemm, table->gemm = QRT_OF_ISA(gemm);)
    QRT_IF(QRT_OWN_depthwise, table->depthwise = &QRT_OF_ISA(depthwise);)
}
