/* The tables of the ISAs that this CPU has. Each is a copy of its parent's table with the ISA's own rows put in. */
#include <pthread.h>
#include <string.h>

#include "core/core.h"
#include "core/cpu.h"

/* setup.py defines QRT_BUILD_<name> as 0 or 1 for every entry of isa.def, and an ISA that is not built disappears here.
 * An ISA whose instructions the build emulates (QRT_EMULATE_<name>) needs nothing of the CPU but what its parent
 * needs. */
#define QRT_ISA(name, parent, features) QRT_IF(QRT_BUILD_##name, void qrt_init_##name(qrt_kernels *);)
#include "isa.def"
#undef QRT_ISA

typedef struct {
    const char *name, *parent;
    uint32_t features;
    qrt_init init;
} isa;

#define QRT_ISA(name, parent, features) QRT_IF(QRT_BUILD_##name, ENTRY(name, parent, features))
#define ENTRY(name, parent, features) {#name, #parent, QRT_EMULATE_##name ? 0 : (features), qrt_init_##name},
static const isa isas[] = {
#include "isa.def"
};

#define COUNT (int)(sizeof isas / sizeof isas[0])
static qrt_kernels tables[COUNT];
static int available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const qrt_kernels *find(const char *name) {
    for (int i = 0; i < available; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

static void build_tables(void) {
    const uint32_t features = qrt_cpu_features();
    for (int i = 0; i < COUNT; i++) {
        const qrt_kernels *parent = find(isas[i].parent);
        if ((isas[i].features & features) != isas[i].features || (i > 0 && !parent))
            continue;
        if (parent)
            tables[available] = *parent;
        tables[available].name = isas[i].name;
        isas[i].init(&tables[available]);
        available++;
    }
}

const qrt_kernels *qrt_kernels_at(int index) {
    pthread_once(&once, build_tables);
    return index >= 0 && index < available ? &tables[index] : NULL;
}

const qrt_kernels *qrt_kernels_named(const char *name) {
    pthread_once(&once, build_tables);
    return find(name);
}

static const struct {
    const char *name;
    size_t offset; /* the offset of a pointer in qrt_kernels */
} rows[] = {
    {"gemm", offsetof(qrt_kernels, gemm.run)},
    {"depthwise", offsetof(qrt_kernels, depthwise)},
#define QRT_ROW(result, name, parameters) {#name, offsetof(qrt_kernels, name)},
#include "rows.def"
};

#define ROW_COUNT (int)(sizeof rows / sizeof rows[0])

const char *qrt_row_name(int row) {
    return row >= 0 && row < ROW_COUNT ? rows[row].name : NULL;
}

bool qrt_row_is_own(const qrt_kernels *kernels, int row) {
    static const qrt_kernels none;
    const qrt_kernels *parent = NULL;
    for (int i = 0; i < COUNT; i++)
        if (strcmp(isas[i].name, kernels->name) == 0)
            parent = find(isas[i].parent);
    const char *of_parent = (const char *)(parent == kernels ? &none : parent); /* ref is its own parent */
    return memcmp((const char *)kernels + rows[row].offset, of_parent + rows[row].offset, sizeof(void *)) != 0;
}

const char *qrt_status_text(qrt_status status) {
    static const char *const text[] = {
        "done",
        "out of memory",
        "bad argument",
        "the exact accumulator needs more than 64 bits",
        "an index names no element",
        "division by zero",
        "signed overflow of a quotient",
        "a NaN or a number out of the range of i32",
        "more rounds than a loop may take",
        "more steps than a run may take",
        "paused",
    };
    return status < sizeof text / sizeof *text ? text[status] : "unknown status";
}
