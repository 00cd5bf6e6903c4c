/* A step of a rank-decomposed filter with a memory, in integers. */
#include "gemmlowp.h"
#include "ref/ref.h"

void ref_svdf_step(const qrt_svdf_args *args, void *const *operands, const int8_t *x, int16_t *state, int8_t *target) {
    const int8_t *feature = operands[1];
    const int16_t *time = operands[2];
    const int32_t *bias = args->has_bias ? operands[4] : NULL;
    const int64_t memory = args->memory;
    for (int64_t unit = 0; unit < args->units; unit++) {
        int64_t sum = bias ? bias[unit] : 0;
        for (int64_t filter = unit * args->rank; filter < (unit + 1) * args->rank; filter++) {
            int16_t *features = state + filter * memory;
            for (int64_t i = 0; i + 1 < memory; i++)
                features[i] = features[i + 1];
            int64_t found;
            args->kernels->byte_products(x, feature + filter * args->inputs, 1, args->inputs, args->x_zero_point,
                                         &found);
            features[memory - 1] =
                (int16_t)gemmlowp_saturate(ref_scale_fixed_double(found, args->multiplier[0], args->shift[0]), 16);
            for (int64_t i = 0; i < memory; i++)
                sum += (int64_t)features[i] * time[filter * memory + i];
        }
        const int64_t made = ref_scale_fixed_double(sum, args->multiplier[1], args->shift[1]) + args->result_zero_point;
        target[unit] = (int8_t)gemmlowp_saturate(made, 8);
    }
}
