/* Every kernel file of an ISA's folder includes this file, which declares the ISA's rows by their names. setup.py
 * defines QRT_ISA, the folder's name, and for every row QRT_OWN_<row>: 1 where a .c file of the folder defines
 * <isa>_<row>, or includes a template that defines QRT_OF_ISA(<row>), else 0. */
#pragma once

#include "qrt/qrt.h"

#define QRT_JOIN(a, b) QRT_JOIN_(a, b)
#define QRT_JOIN_(a, b) a##_##b
#define QRT_OF_ISA(name) QRT_JOIN(QRT_ISA, name)

/* The parent's table. A row leaves to it what it does not compute itself; args->kernels would not do, because it may be
 * a descendant's table. */
extern qrt_kernels QRT_OF_ISA(parent);

#define QRT_ROW(result, name, parameters) QRT_IF(QRT_OWN_##name, result QRT_OF_ISA(name) parameters;)
#include "rows.def"
QRT_IF(QRT_OWN_gemm, extern const qrt_gemm_microkernel QRT_OF_ISA(gemm);)
QRT_IF(QRT_OWN_depthwise, extern const qrt_depthwise_microkernel QRT_OF_ISA(depthwise);)
