/* The table of an ISA's kernels. */
#pragma once

#include "qrt/cast.h"
#include "qrt/requantize.h"
#include "qrt/products/gemm.h"
#include "qrt/products/float_matmul.h"
#include "qrt/products/mixed_matmul.h"
#include "qrt/products/contraction.h"
#include "qrt/products/depthwise.h"
#include "qrt/elementwise.h"
#include "qrt/float_loops.h"
#include "qrt/products/transpose_conv.h"
#include "qrt/reduce.h"
#include "qrt/movement.h"
#include "qrt/recurrent.h"
#include "qrt/select.h"
#include "qrt/integers.h"

/* The type of each row is qrt_<name>_fn. */
#define QRT_ROW(result, name, parameters) typedef result(*qrt_##name##_fn) parameters;
#include "rows.def"

struct qrt_kernels {
    const char *name;
    bool streams; /* stores of large results are faster past the caches than to owned cache lines */
    qrt_gemm_microkernel gemm;
    const qrt_depthwise_microkernel *depthwise; /* NULL: depthwise_pixel computes all */
#define QRT_ROW(result, name, parameters) qrt_##name##_fn name;
#include "rows.def"
};

/* An ISA's init receives a copy of its parent's table and sets its own rows in it. It runs once per process, before
 * anybody can read the table; see isa/init.inl. */
typedef void (*qrt_init)(qrt_kernels *table);

/* The available tables, from ref to the best; NULL past the last. Any thread may call these. */
const qrt_kernels *qrt_kernels_at(int index);
const qrt_kernels *qrt_kernels_named(const char *name);

/* The names of the rows, gemm and depthwise included; NULL past the last. qrt_row_is_own says whether a table's row
 * differs from its parent's or, in a table without a parent, is set. */
const char *qrt_row_name(int row);
bool qrt_row_is_own(const qrt_kernels *kernels, int row);

const char *qrt_status_text(qrt_status status);
