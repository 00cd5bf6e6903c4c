/* Casts computed in f64, a vector of doubles at a time: those to and from f64, and qcast from f32 where f32 is not
 * exact (32-bit storage, scales or zero points outside the guard). The including file gives the instructions and their
 * ports. It defines STREAMS and, beside vectors.h,
 *
 *   doubles, DOUBLES               vectors, and how many lanes they have
 *   live_doubles, first_doubles(count)
 *   round_pd(v, mode)              to integers, whatever the control register says; `mode` is constant
 *   numbers, numbers_of(v), where(numbers, v, otherwise)       the lanes that are not NaN
 *   load_values(source, live, expressed), store_values(target, v, live, stream)
 *   load_storage(source, live, container), store_storage(target, v, live, container)
 *
 * Exact: the bounds minus a zero point need at most 42 bits, and so does a rounded value within them plus the zero
 * point. */
#if !defined V || !defined round_pd || !defined DOUBLES || !defined STREAMS
#error "cast/f64.inl needs vectors.h, round_pd, DOUBLES (lanes of 64 bits) and STREAMS (stores past the caches)"
#endif

QRT_INLINE doubles load_f64(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const double *values = (const double *)parameters->array[array] + index;
    return each ? V(loadu_pd)(values) : V(set1_pd)(*values);
}

QRT_INLINE doubles round_integral(doubles v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (rounding == QRT_HALF_AWAY) {
        const doubles sign = V(and_pd)(v, V(set1_pd)(-0.0));
        v = V(add_pd)(v, V(or_pd)(sign, V(set1_pd)(QRT_BELOW_HALF_F64)));
    }
    return round_pd(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

QRT_INLINE doubles clamp(doubles v, doubles low, doubles high) {
    return V(min_pd)(V(max_pd)(v, low), high);
}

/* Returns the integers of a vector, as f64. */
QRT_INLINE doubles quantize(const qrt_cast_problem *problem, const qrt_cast_parameters *parameters, doubles x,
                            int64_t index, qrt_cast_mode mode) {
    const doubles zero = load_f64(parameters, QRT_ZERO_POINTS, index, mode.each);
    doubles low = V(set1_pd)((double)problem->storage_min), high = V(set1_pd)((double)problem->storage_max);
    const doubles missing = clamp(zero, low, high);
    const bool f32 = mode.expressed == QRT_F32;
    doubles v;
    if (mode.divide)
        v = V(div_pd)(x, load_f64(parameters, QRT_SCALES, index, mode.each));
    else
        v = V(mul_pd)(x, load_f64(parameters, QRT_RECIPROCALS, index, mode.each));
    v = f32 ? V(cvtps_pd)(V(cvtpd_ps)(v)) : v;
    if (mode.before) {
        v = V(add_pd)(v, load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each));
        v = f32 ? V(cvtps_pd)(V(cvtpd_ps)(v)) : v;
    } else {
        low = V(sub_pd)(low, zero);
        high = V(sub_pd)(high, zero);
    }
    const numbers number = numbers_of(v);
    v = round_integral(clamp(v, low, high), mode.rounding);
    if (!mode.before)
        v = V(add_pd)(v, zero);
    return where(number, v, missing);
}

QRT_INLINE void qcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs, qrt_expressed expressed) {
    const qrt_cast_problem *problem = &args->problem;
    const int source_size = qrt_expressed_size(expressed), target_size = qrt_container_size(problem->container);
    qrt_cast_mode mode = qrt_qcast_mode_of(problem, expressed);
    mode.each = each;
    for (int64_t r = 0; r < runs; r++, source += run * source_size, target += run * target_size)
        for (int64_t i = 0; i < run; i += DOUBLES) {
            const live_doubles live = first_doubles(run - i);
            const char *from = source + i * source_size;
            char *into = target + i * target_size;
            const doubles x = load_values(from, live, expressed);
            if (args->plan.prefetch) {
                qrt_cast_fetch(from + QRT_READ_AHEAD, DOUBLES * source_size);
                qrt_cast_own(into + QRT_WRITE_AHEAD, DOUBLES * target_size);
            }
            const doubles v = quantize(problem, parameters, x, mode.each ? i : r, mode);
            store_storage(into, v, live, problem->container);
        }
}

static void qcast_to_storage(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                             const char *source, char *target, int64_t run, int64_t runs) {
    if (args->problem.expressed == QRT_F32)
        qcast_runs(args, parameters, each, source, target, run, runs, QRT_F32);
    else
        qcast_runs(args, parameters, each, source, target, run, runs, QRT_F64);
}

void QRT_OF_ISA(qcast_f64)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase) {
    if (args->problem.expressed >= QRT_F32)
        qrt_cast_in(true, true, args, qcast_to_storage, source, target, count, parameter, phase);
    else
        QRT_OF_ISA(parent).qcast_row(args, source, target, count, parameter, phase);
}

static void dcast_to_f64(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                         const char *source, char *target, int64_t run, int64_t runs) {
    const qrt_container container = args->problem.container;
    const int size = qrt_container_size(container);
    for (int64_t r = 0; r < runs; r++, source += run * size, target += run * (int64_t)sizeof(double)) {
        const bool stream = STREAMS && args->plan.stream && run >= QRT_ALIGN_COUNT;
        const int64_t head = stream ? qrt_cast_until_aligned(target, sizeof(double)) : 0;
        for (int64_t i = 0, taken = head ? head : DOUBLES; i < run; i += taken, taken = DOUBLES) {
            const live_doubles live = first_doubles(qrt_min(run - i, taken));
            const int64_t index = each ? i : r;
            const doubles zero = load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, each);
            const doubles q = load_storage(source + i * size, live, container);
            const doubles v = V(mul_pd)(V(sub_pd)(q, zero), load_f64(parameters, QRT_SCALES, index, each));
            double *into = (double *)target + i;
            if (args->plan.prefetch)
                qrt_cast_fetch(source + i * size + QRT_READ_AHEAD, DOUBLES * size);
            if (args->plan.prefetch && !stream)
                qrt_cast_own((char *)into + QRT_WRITE_AHEAD, sizeof v);
            store_values(into, v, live, stream);
        }
    }
}

void QRT_OF_ISA(dcast_f64)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase) {
    if (args->problem.expressed == QRT_F64)
        qrt_cast_in(true, false, args, dcast_to_f64, source, target, count, parameter, phase);
    else
        QRT_OF_ISA(parent).dcast_row(args, source, target, count, parameter, phase);
}
