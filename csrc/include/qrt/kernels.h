/* The table of kernels of an ISA. */
#ifndef QRT_KERNELS_H
#define QRT_KERNELS_H

#include "qrt/cast.h"
#include "qrt/requantize.h"
#include "qrt/gemm.h"
#include "qrt/float_matmul.h"
#include "qrt/mixed_matmul.h"
#include "qrt/depthwise.h"
#include "qrt/elementwise.h"
#include "qrt/reduce.h"
#include "qrt/movement.h"

/* The type of each row: qrt_<name>_fn. */
#define QRT_ROW(result, name, parameters) typedef result(*qrt_##name##_fn) parameters;
#include "rows.def"
#undef QRT_ROW

struct qrt_kernels {
    const char *name;
    bool streams; /* stores past the caches are faster than owned lines, for results larger than the caches */
    qrt_gemm_microkernel gemm;
    const qrt_depthwise_microkernel *depthwise; /* NULL: depthwise_pixel */
#define QRT_ROW(result, name, parameters) qrt_##name##_fn name;
#include "rows.def"
#undef QRT_ROW
};

/* An ISA's init receives a copy of its parent's table and overrides entries. It runs once per process, before the table
 * is published; see isa/init.inl. */
typedef void (*qrt_init)(qrt_kernels *table);

/* Available tables, from ref to the best; NULL past the last. Thread-safe. */
const qrt_kernels *qrt_kernels_at(int index);
const qrt_kernels *qrt_kernels_named(const char *name);

/* What the tables are made of, gemm and depthwise included; NULL past the last. Whether a table's differs from its
 * parent's, or, where it has no parent, is set. */
const char *qrt_row_name(int row);
bool qrt_row_is_own(const qrt_kernels *kernels, int row);

const char *qrt_status_text(qrt_status status);

#endif
