/* requantize of 8 and 16-bit storage: q - zp as 32-bit accumulators in L1, which the table's store finishes. An ISA
 * with a better store has a better requantize.
 * With |zp| <= 2^30 no difference leaves 32 bits; the rest is the parent's. */
#include "avx2.h"
#include "widen.h"

static qrt_requantize_row_fn parent;

static void requantize_row(const qrt_requantize_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t step) {
    const qrt_requant *requant = &args->requant;
    const int source_size = qrt_container_size(args->container), target_size = qrt_container_size(requant->container);
    if (args->container > QRT_U16) {
        parent(args, source, target, count, parameter, step);
        return;
    }
    _Alignas(64) int32_t acc[CHUNK + 16] = {0};
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t size = count - i < CHUNK ? count - i : CHUNK, index = parameter + i * step;
        const char *from = (const char *)source + i * source_size;
        char *to = (char *)target + i * target_size;
        if (differences(args->container, from, 1, args->zero_point + index, step, size, acc))
            args->kernels->store(requant, acc, 0, 1, (int)size, to, 0, index, 0, step);
        else
            parent(args, from, to, size, index, step);
    }
}

void qrt_avx2_install_requantize(qrt_kernels *table) {
    parent = table->requantize_row;
    table->requantize_row = requantize_row;
}
