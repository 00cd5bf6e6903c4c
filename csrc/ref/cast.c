/* qcast: clamp(round(x / s + f(zp))), dcast: (f(q) - f(zp)) * s, every step rounded to the expressed type. */
#include "floats.h"
#include "ref.h"

static double round_integral(qrt_rounding rounding, double x) {
    switch (rounding) {
    case QRT_HALF_EVEN:
        return rint(x);
    case QRT_HALF_AWAY:
        return ref_round_half_away(x);
    case QRT_TOWARD_ZERO:
        return trunc(x);
    }
    return x;
}

static int64_t quantize(const qrt_cast_args *args, double x, int64_t parameter) {
    const qrt_expressed expressed = args->expressed;
    const double scale = args->scale[parameter];
    const int64_t zero_point = args->zero_point[parameter];
    double v;
    if (args->scale_mode == QRT_SCALE_DIVIDE)
        v = ref_round_expressed(expressed, x / scale);
    else
        v = ref_round_expressed(expressed, x * ref_round_expressed(expressed, 1.0 / scale));
    int64_t offset = zero_point;
    if (args->zero_point_order == QRT_ZERO_POINT_BEFORE) {
        v = ref_round_expressed(expressed, v + ref_round_expressed(expressed, (double)zero_point));
        offset = 0;
    }
    /* Not only a NaN input: 0 * (1 / s) and infinity + f(zp) may have none of their operands NaN. */
    if (isnan(v))
        return ref_clamp(zero_point, args->storage_min, args->storage_max);
    const double r = round_integral(args->rounding, v);
    /* The bounds less a zero point are exact in double, and the comparison comes before the conversion. */
    if (r < (double)(args->storage_min - offset))
        return args->storage_min;
    if (r > (double)(args->storage_max - offset))
        return args->storage_max;
    return (int64_t)r + offset;
}

static int64_t parameter_of(const qrt_span *span, int64_t i) {
    return span->parameter + (span->phase + i) / span->run % span->period;
}

void ref_qcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    for (int64_t i = 0; i < span->count; i++)
        ref_store_value(args->container, target, i,
                        quantize(args, ref_load_float(args->expressed, source, i), parameter_of(span, i)));
}

void ref_dcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    const qrt_expressed expressed = args->expressed;
    for (int64_t i = 0; i < span->count; i++) {
        const int64_t p = parameter_of(span, i);
        const double q = ref_round_expressed(expressed, (double)ref_load(args->container, source, i));
        const double zero_point = ref_round_expressed(expressed, (double)args->zero_point[p]);
        const double difference = ref_round_expressed(expressed, q - zero_point);
        ref_store_float(expressed, target, i, ref_round_expressed(expressed, difference * args->scale[p]));
    }
}
