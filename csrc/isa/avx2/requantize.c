/* requantize of 8 and 16-bit storage: q - zp as 32-bit accumulators in L1, which the table's row `store` requantizes.
 * An ISA with a better `store` so has a better requantize. The instructions are those of widen.h (per 8 values one
 * vpmov[sz]x on port 5 and one vpsubd) and of `store`. Exact: with |zp| <= 2^30 no difference leaves 32 bits; other
 * zero points go to the parent. Hazard: `store` may read past the last accumulator, so the buffer has 16 more. */
#include "isa/rows.h"
#include "widen.h"

void avx2_requantize_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                         int64_t step) {
    const qrt_requant *requant = &args->requant;
    const int source_size = qrt_container_size(args->container), target_size = qrt_container_size(requant->container);
    if (args->container > QRT_U16) {
        avx2_parent.requantize_row(args, source, target, count, parameter, step);
        return;
    }
    _Alignas(64) int32_t acc[CHUNK + BEHIND];
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t size = count - i < CHUNK ? count - i : CHUNK, index = parameter + i * step;
        const char *from = (const char *)source + i * source_size;
        char *to = (char *)target + i * target_size;
        clear_behind(acc, size);
        if (differences(args->container, from, 1, args->zero_point + index, step, size, acc))
            args->kernels->store(requant, acc, 0, 1, (int)size, to, 0, index, 0, step);
        else
            avx2_parent.requantize_row(args, from, to, size, index, step);
    }
}
