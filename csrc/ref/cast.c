/* Casts in double, one element at a time: qcast is clamp(round(x / s + f(zp))), dcast is (f(q) - f(zp)) * s. Every step
 * is rounded to the expressed type; floats.h says why that equals the operation in that type. */
#include "floats.h"
#include "ref.h"

static double round_integral(qrt_rounding rounding, double x) {
    return rounding == QRT_HALF_EVEN ? rint(x) : rounding == QRT_HALF_AWAY ? ref_round_half_away(x) : trunc(x);
}

static int64_t quantize(const qrt_cast_problem *problem, double x, int64_t parameter) {
    const qrt_expressed expressed = problem->expressed;
    const double scale = problem->scale[parameter];
    const int64_t zero_point = problem->zero_point[parameter];
    const double quotient =
        problem->scale_mode == QRT_SCALE_DIVIDE ? x / scale : x * ref_round_expressed(expressed, 1.0 / scale);
    double v = ref_round_expressed(expressed, quotient);
    int64_t offset = zero_point;
    if (problem->zero_point_order == QRT_ZERO_POINT_BEFORE) {
        v = ref_round_expressed(expressed, v + ref_round_expressed(expressed, (double)zero_point));
        offset = 0;
    }
    /* v may be a NaN without a NaN among its operands: 0 * (1 / s) and infinity + f(zp) can be NaNs. */
    if (isnan(v))
        return ref_clamp(zero_point, problem->storage_min, problem->storage_max);
    const double r = round_integral(problem->rounding, v);
    /* The bounds minus a zero point are exact in double. The comparison comes before the conversion, which is undefined
     * outside of 64 bits. */
    if (r < (double)(problem->storage_min - offset))
        return problem->storage_min;
    if (r > (double)(problem->storage_max - offset))
        return problem->storage_max;
    return (int64_t)r + offset;
}

static double dequantize(const qrt_cast_problem *problem, int64_t q, int64_t parameter) {
    const qrt_expressed expressed = problem->expressed;
    const double value = ref_round_expressed(expressed, (double)q);
    const double zero_point = ref_round_expressed(expressed, (double)problem->zero_point[parameter]);
    const double difference = ref_round_expressed(expressed, value - zero_point);
    return ref_round_expressed(expressed, difference * problem->scale[parameter]);
}

void ref_qcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                   int64_t phase) {
    const qrt_cast_problem *problem = &args->problem;
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = parameter + (phase + i) / args->plan.run % args->plan.period;
        ref_store_value(problem->container, target, i,
                        quantize(problem, ref_load_float(problem->expressed, source, i), index));
    }
}

void ref_dcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                   int64_t phase) {
    const qrt_cast_problem *problem = &args->problem;
    for (int64_t i = 0; i < count; i++) {
        const int64_t index = parameter + (phase + i) / args->plan.run % args->plan.period;
        ref_store_float(problem->expressed, target, i,
                        dequantize(problem, qrt_load(problem->container, source, i), index));
    }
}
