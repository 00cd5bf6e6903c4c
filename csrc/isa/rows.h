/* Every kernel file of an ISA's folder includes this file, which declares the ISA's rows by their names. setup.py
 * defines QRT_ISA, the folder's name. init.c lists the rows that the folder defines: the linker finds a row that is
 * listed and not defined, the compiler one of an unknown name, tests/kernels/test_rows.py one that is defined and not
 * listed. */
#pragma once

#include "qrt/qrt.h"

#define QRT_JOIN(a, b) QRT_JOIN_(a, b)
#define QRT_JOIN_(a, b) a##_##b
#define QRT_OF_ISA(name) QRT_JOIN(QRT_ISA, name)

/* Hidden: else the linker would leave a row that nobody defines to be looked for when the library is loaded. */
#pragma GCC visibility push(hidden)

/* init.c: the ISA's own rows; the others are NULL. They are data, so that they can be read on a CPU without the ISA. */
extern const qrt_kernels QRT_OF_ISA(rows);

/* The parent's table. A row leaves to it what it does not compute itself; args->kernels would not do, because it may be
 * a descendant's table. */
extern qrt_kernels QRT_OF_ISA(parent);

#define QRT_ROW(result, name, parameters) result QRT_OF_ISA(name) parameters;
#include "rows.def"
extern const qrt_gemm_microkernel QRT_OF_ISA(gemm);
extern const qrt_depthwise_microkernel QRT_OF_ISA(depthwise);

#pragma GCC visibility pop
