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
    const qrt_gemm_microkernel *gemm;
    const qrt_depthwise_microkernel *depthwise; /* NULL: depthwise_pixel computes all */
#define QRT_ROW(result, name, parameters) qrt_##name##_fn name;
#include "rows.def"
};

/* An ISA of the build, which this CPU may lack. */
typedef struct {
    const char *name, *parent;
    uint32_t features;       /* those of core/cpu.h that it needs beyond its parent's */
    const qrt_kernels *rows; /* its own; the others are NULL. They may be read without the ISA, and not called */
} qrt_isa;

/* Parents first; NULL past the last. Any thread may call all of these functions. */
const qrt_isa *qrt_isa_at(int index);

/* The available tables, from ref to the best; NULL past the last. */
const qrt_kernels *qrt_kernels_at(int index);
const qrt_kernels *qrt_kernels_named(const char *name);

/* The names of the rows, gemm and depthwise included; NULL past the last. */
const char *qrt_row_name(int row);
/* Whether a row of two tables is not the same. */
bool qrt_row_differs(const qrt_kernels *kernels, const qrt_kernels *other, int row);

const char *qrt_status_text(qrt_status status);
