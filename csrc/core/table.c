/* The tables of the ISAs that this CPU has. Each is a copy of its parent's table with the ISA's own rows put in. */
#include <pthread.h>
#include <string.h>

#include "core/core.h"
#include "core/cpu.h"

/* setup.py defines QRT_BUILD_<name> as 0 or 1 for every entry of isa.def, and an ISA that is not built disappears here.
 * An ISA whose instructions the build emulates (QRT_EMULATE_<name>) needs nothing of the CPU but what its parent
 * needs. The copies of the parents' tables are those of isa/rows.h. */
#define QRT_ISA(name, parent, features) QRT_IF(QRT_BUILD_##name, DECLARATIONS(name))
#define DECLARATIONS(name)                                                                                             \
    extern const qrt_kernels name##_rows;                                                                              \
    extern qrt_kernels name##_parent;                                                                                  \
    qrt_kernels name##_parent;
#include "isa.def"
#undef QRT_ISA

static const struct {
    qrt_isa isa;
    qrt_kernels *parent;
} built[] = {
#define QRT_ISA(name, parent, features) QRT_IF(QRT_BUILD_##name, ENTRY(name, parent, features))
#define ENTRY(name, parent, features)                                                                                  \
    {{#name, #parent, QRT_EMULATE_##name ? 0 : (features), &name##_rows}, &name##_parent},
#include "isa.def"
};

#define COUNT (int)(sizeof built / sizeof built[0])
static qrt_kernels tables[COUNT];
static int available;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const qrt_kernels *find(const char *name) {
    for (int i = 0; i < available; i++)
        if (strcmp(tables[i].name, name) == 0)
            return &tables[i];
    return NULL;
}

static void install_rows(const qrt_kernels *rows, qrt_kernels *table) {
    table->streams |= rows->streams;
    table->gemm = rows->gemm ? rows->gemm : table->gemm;
    table->depthwise = rows->depthwise ? rows->depthwise : table->depthwise;
#define QRT_ROW(result, name, parameters) table->name = rows->name ? rows->name : table->name;
#include "rows.def"
}

static void build_tables(void) {
    const uint32_t features = qrt_cpu_features();
    for (int i = 0; i < COUNT; i++) {
        const qrt_isa *isa = &built[i].isa;
        const qrt_kernels *parent = find(isa->parent);
        if ((isa->features & features) != isa->features || (i > 0 && !parent))
            continue;
        if (parent)
            tables[available] = *built[i].parent = *parent;
        tables[available].name = isa->name;
        install_rows(isa->rows, &tables[available]);
        available++;
    }
}

const qrt_isa *qrt_isa_at(int index) {
    return index >= 0 && index < COUNT ? &built[index].isa : NULL;
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
    {"gemm", offsetof(qrt_kernels, gemm)},
    {"depthwise", offsetof(qrt_kernels, depthwise)},
#define QRT_ROW(result, name, parameters) {#name, offsetof(qrt_kernels, name)},
#include "rows.def"
};

#define ROW_COUNT (int)(sizeof rows / sizeof rows[0])

const char *qrt_row_name(int row) {
    return row >= 0 && row < ROW_COUNT ? rows[row].name : NULL;
}

bool qrt_row_differs(const qrt_kernels *kernels, const qrt_kernels *other, int row) {
    const size_t offset = rows[row].offset;
    return memcmp((const char *)kernels + offset, (const char *)other + offset, sizeof(void *)) != 0;
}

const char *qrt_status_text(qrt_status status) {
    static const char *const text[] = {
        "done",
        "out of memory",
        "bad argument",
        "the exact accumulator needs more than 64 bits",
        "an index is out of bounds",
        "division by zero",
        "signed overflow of a quotient",
        "a NaN or a number out of the range of i32",
        "more rounds than a loop may take",
        "more steps than a run may take",
        "paused",
    };
    return status < sizeof text / sizeof *text ? text[status] : "unknown status";
}
