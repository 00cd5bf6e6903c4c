/* The two rows of an ISA that computes casts in f32, made of rows.inl, which comes first. The constants of a variant
 * are compiled into its loops. */
#ifndef BLOCK
#error "rows.inl comes first"
#endif

#define QCAST(name, container, ...)                                                                                    \
    static __attribute__((noinline)) void name##_ends(const qrt_cast_args *args,                                       \
                                                      const qrt_cast_parameters *parameters, bool each, int64_t index, \
                                                      const char *source, char *target, int64_t count) {               \
        if (each)                                                                                                      \
            qcast_ends(args, parameters, true, index, source, target, count, container, __VA_ARGS__);                  \
        else                                                                                                           \
            qcast_ends(args, parameters, false, index, source, target, count, container, __VA_ARGS__);                 \
    }                                                                                                                  \
    static __attribute__((noinline)) void name##_runs(const qrt_cast_args *args,                                       \
                                                      const qrt_cast_parameters *parameters, bool each,                \
                                                      const char *source, char *target, int64_t run, int64_t runs) {   \
        qcast_runs(args, parameters, each, source, target, run, runs, container, __VA_ARGS__, name##_ends);            \
    }                                                                                                                  \
    static void name(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each, const char *source,  \
                     char *target, int64_t run, int64_t runs) {                                                        \
        if (run >= BLOCK)                                                                                              \
            name##_runs(args, parameters, each, source, target, run, runs);                                            \
        else                                                                                                           \
            for (int64_t r = 0; r < runs; r++)                                                                         \
                name##_ends(args, parameters, each, each ? 0 : r,                                                      \
                            source + r * run * qrt_expressed_size((__VA_ARGS__).expressed),                            \
                            target + r * run * qrt_container_size(container), run);                                    \
    }

#define DEFAULT_RULE                                                                                                   \
    (qrt_cast_mode) {                                                                                                  \
        .expressed = QRT_F32, .rounding = QRT_HALF_EVEN, .divide = true, .before = true, .trial = true                 \
    }

QCAST(qcast_f32_i8, QRT_I8, DEFAULT_RULE)
QCAST(qcast_f32_u8, QRT_U8, DEFAULT_RULE)
QCAST(qcast_f32, args->problem.container, qrt_qcast_mode_of(&args->problem, QRT_F32))
QCAST(qcast_f16, args->problem.container, qrt_qcast_mode_of(&args->problem, QRT_F16))
QCAST(qcast_bf16, args->problem.container, qrt_qcast_mode_of(&args->problem, QRT_BF16))
#undef QCAST

static qrt_cast_runs choose_qcast(const qrt_cast_problem *problem) {
    if (problem->expressed != QRT_F32)
        return problem->expressed == QRT_F16 ? qcast_f16 : qcast_bf16;
    if (qrt_qcast_is_default(problem) && problem->container <= QRT_U8)
        return problem->container == QRT_I8 ? qcast_f32_i8 : qcast_f32_u8;
    return qcast_f32;
}

void QRT_OF_ISA(qcast_row)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase) {
    if (qrt_qcast_in_f32(args))
        qrt_cast_in(false, true, args, choose_qcast(&args->problem), source, target, count, parameter, phase);
    else
        QRT_OF_ISA(qcast_f64)(args, source, target, count, parameter, phase);
    if (args->plan.stream)
        _mm_sfence();
}

#define DCAST(name, ...)                                                                                               \
    static void name(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each, const char *source,  \
                     char *target, int64_t run, int64_t runs) {                                                        \
        const qrt_cast_mode mode = {__VA_ARGS__};                                                                      \
        if (run >= BLOCK)                                                                                              \
            dcast_runs(args, parameters, each, source, target, run, runs, mode);                                       \
        else                                                                                                           \
            dcast_short_runs(parameters, each, source, target, run, runs, mode);                                       \
    }

DCAST(dcast_i8_f32, .container = QRT_I8, .expressed = QRT_F32)
DCAST(dcast_u8_f32, .container = QRT_U8, .expressed = QRT_F32)
DCAST(dcast_f32, .container = args->problem.container, .expressed = QRT_F32)
DCAST(dcast_f16, .container = args->problem.container, .expressed = QRT_F16)
DCAST(dcast_bf16, .container = args->problem.container, .expressed = QRT_BF16)
#undef DCAST

static qrt_cast_runs choose_dcast(const qrt_cast_problem *problem) {
    if (problem->expressed != QRT_F32)
        return problem->expressed == QRT_F16 ? dcast_f16 : dcast_bf16;
    return problem->container == QRT_I8 ? dcast_i8_f32 : problem->container == QRT_U8 ? dcast_u8_f32 : dcast_f32;
}

void QRT_OF_ISA(dcast_row)(const qrt_cast_args *args, const void *source, void *target, int64_t count,
                           int64_t parameter, int64_t phase) {
    if (qrt_dcast_in_f32(args))
        qrt_cast_in(false, false, args, choose_dcast(&args->problem), source, target, count, parameter, phase);
    else
        QRT_OF_ISA(dcast_f64)(args, source, target, count, parameter, phase);
    if (args->plan.stream)
        _mm_sfence();
}
