/* How the SIMD casts walk a span: as runs of one parameter, as lines whose parameters advance with the elements, or,
 * where both are short, through a table in L1 of each element's parameters. */
#ifndef QRT_ISA_CAST_SPAN_H
#define QRT_ISA_CAST_SPAN_H

#include <string.h>

#include "isa/x86/cast/guard.inl"

/* Shorter runs and lines go through the table, where a run is at most QRT_PARAMETER_PADDING elements, and so do lines
 * of long casts that fit: L1 holds them beside the operands. */
#define QRT_LEAST_RUN 32
#define QRT_LEAST_LINE 64
#define QRT_LEAST_TABLE 256
#define QRT_TABLE 1024

/* Arrays of float and int32_t, or of double: NULL where the kernel reads none. */
enum { QRT_SCALES, QRT_RECIPROCALS, QRT_ROUNDED_ZERO_POINTS, QRT_ZERO_POINTS, QRT_CAST_ARRAYS };

/* `line` is 0, or arrays are those of a table, which repeats after so many elements and goes on for a block. */
typedef struct {
    const char *array[QRT_CAST_ARRAYS];
    int64_t line;
} qrt_cast_parameters;

/* `runs` runs of `run` elements, parameter i for run i; with `each` parameter i for element i of every run. */
typedef void (*qrt_cast_runs)(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                              const char *source, char *target, int64_t run, int64_t runs);

typedef struct {
    const qrt_cast_args *args;
    qrt_cast_runs fn;
    qrt_cast_parameters parameters; /* of index 0 of the span */
    int word;                       /* bytes of a parameter: 4 or 8 */
    int source_size, target_size;
} qrt_cast_job;

typedef char qrt_cast_table[QRT_CAST_ARRAYS][(QRT_TABLE + QRT_PARAMETER_PADDING) * sizeof(double)];

/* Parameters from element `index` of a table on, by one pointer: arrays lie a constant apart, and a vector instruction
 * whose operand in memory has an index takes one more uop. */
QRT_INLINE qrt_cast_parameters qrt_cast_in_table(const qrt_cast_parameters *table, int64_t index) {
    const char *first = table->array[0] + index * (int64_t)sizeof(float);
    __asm__("" : "+r"(first));
    qrt_cast_parameters at = {.line = table->line};
    for (int a = 0; a < QRT_CAST_ARRAYS; a++)
        at.array[a] = first + a * (int64_t)sizeof(qrt_cast_table) / QRT_CAST_ARRAYS;
    return at;
}

/* How many of the first elements lie before a line of the cache. */
QRT_INLINE int64_t qrt_cast_until_aligned(const void *target, int size) {
    return (int64_t)(-(uintptr_t)target & 63) / size;
}

static inline qrt_cast_parameters qrt_cast_parameters_at(const qrt_cast_job *job, int64_t index) {
    qrt_cast_parameters at = job->parameters;
    for (int a = 0; a < QRT_CAST_ARRAYS; a++)
        if (at.array[a])
            at.array[a] += index * job->word;
    return at;
}

static inline void qrt_cast_long_runs(const qrt_cast_job *job, const char *source, char *target, const qrt_span *span) {
    int64_t index = span->phase / span->run, inside = span->phase % span->run;
    for (int64_t left = span->count; left > 0;) {
        const bool whole = inside == 0 && left >= span->run;
        const int64_t rest = span->run - inside, run = whole || rest < left ? rest : left;
        const int64_t most = span->period - index;
        const int64_t runs = !whole ? 1 : left / span->run < most ? left / span->run : most;
        const qrt_cast_parameters at = qrt_cast_parameters_at(job, index);
        job->fn(job->args, &at, false, source, target, run, runs);
        source += run * runs * job->source_size;
        target += run * runs * job->target_size;
        left -= run * runs;
        inside = 0;
        index = index + runs == span->period ? 0 : index + runs;
    }
}

static inline void qrt_cast_long_lines(const qrt_cast_job *job, const char *source, char *target,
                                       const qrt_span *span) {
    int64_t index = span->phase;
    for (int64_t left = span->count; left > 0;) {
        const bool whole = index == 0 && left >= span->period;
        const int64_t rest = span->period - index, line = rest < left ? rest : left;
        const int64_t lines = whole ? left / line : 1;
        const qrt_cast_parameters at = qrt_cast_parameters_at(job, index);
        job->fn(job->args, &at, true, source, target, line, lines);
        source += line * lines * job->source_size;
        target += line * lines * job->target_size;
        left -= line * lines;
        index = 0;
    }
}

/* `take` words, written in eights: up to seven past the end. */
#define QRT_CAST_REPEAT(type, to, value, take)                                                                         \
    for (int64_t i = 0; i < (take); i += 8)                                                                            \
        for (int lane = 0; lane < 8; lane++)                                                                           \
    ((type *)(to))[i + lane] = (value)

/* table[i] = the parameter of element i of the span, for `count` elements. */
static inline void qrt_cast_fill(char *table, const char *from, int word, const qrt_span *span, int64_t count) {
    int64_t index = span->phase, rest = 1;
    if (span->run > 1) {
        index = span->phase / span->run;
        rest = span->run - span->phase % span->run;
    }
    for (int64_t done = 0; done < count;) {
        int64_t advance = 1;
        char *to = table + done * word;
        if (span->run == 1) {
            advance = span->period - index < count - done ? span->period - index : count - done;
            memcpy(to, from + index * word, (size_t)(advance * word));
            rest = advance;
        } else if (word == 4)
            QRT_CAST_REPEAT(uint32_t, to, ((const uint32_t *)from)[index], rest);
        else
            QRT_CAST_REPEAT(uint64_t, to, ((const uint64_t *)from)[index], rest);
        done += rest;
        rest = span->run;
        index = index + advance == span->period ? 0 : index + advance;
    }
}

/* Lays a pattern of `pattern` elements out in `length` or more: filled once, then doubled. */
static inline void qrt_cast_fill_repeats(char *table, const char *from, int word, const qrt_span *span, int64_t pattern,
                                         int64_t length) {
    qrt_cast_fill(table, from, word, span, pattern);
    for (int64_t done = pattern; done < length; done *= 2)
        memcpy(table + done * word, table, (size_t)((done < length - done ? done : length - done) * word));
}

/* A pattern that fits the table: its repeats are lines. */
static inline void qrt_cast_short_pattern(const qrt_cast_job *job, const char *source, char *target,
                                          const qrt_span *span) {
    _Alignas(64) qrt_cast_table table;
    const int64_t pattern = span->run * span->period;
    const int64_t line = pattern < QRT_LEAST_TABLE ? QRT_LEAST_TABLE - QRT_LEAST_TABLE % pattern : pattern;
    qrt_cast_parameters at = {.line = line};
    for (int a = 0; a < QRT_CAST_ARRAYS; a++)
        if (job->parameters.array[a]) {
            qrt_cast_fill_repeats(table[a], job->parameters.array[a], job->word, span, pattern,
                                  line + QRT_PARAMETER_PADDING);
            at.array[a] = table[a];
        }
    const int64_t lines = span->count / line, done = lines * line;
    if (lines > 0)
        job->fn(job->args, &at, true, source, target, line, lines);
    if (done < span->count)
        job->fn(job->args, &at, true, source + done * job->source_size, target + done * job->target_size,
                span->count - done, 1);
}

/* Short runs of a longer pattern, as much of it at a time as the table holds. */
static inline void qrt_cast_short_runs(const qrt_cast_job *job, const char *source, char *target,
                                       const qrt_span *span) {
    _Alignas(64) qrt_cast_table table;
    const int64_t pattern = span->run * span->period;
    qrt_span here = *span;
    for (int64_t left = span->count; left > 0;) {
        const int64_t line = QRT_TABLE < left ? QRT_TABLE : left;
        qrt_cast_parameters at = {.line = 0};
        for (int a = 0; a < QRT_CAST_ARRAYS; a++)
            if (job->parameters.array[a]) {
                qrt_cast_fill(table[a], job->parameters.array[a], job->word, &here, line);
                at.array[a] = table[a];
            }
        job->fn(job->args, &at, true, source, target, line, 1);
        source += line * job->source_size;
        target += line * job->target_size;
        left -= line;
        here.phase = here.phase + line < pattern ? here.phase + line : here.phase + line - pattern;
    }
}

/* Not inlined: one copy serves every kernel of an ISA. */
static void qrt_cast_span(const qrt_cast_job *job, const void *source, void *target, const qrt_span *span) {
    if (span->period == 1)
        job->fn(job->args, &job->parameters, false, source, target, span->count, 1);
    else if (span->run >= QRT_LEAST_RUN)
        qrt_cast_long_runs(job, source, target, span);
    else if (span->run == 1 && span->period >= (job->args->prefetch ? QRT_TABLE + 1 : QRT_LEAST_LINE))
        qrt_cast_long_lines(job, source, target, span);
    else if (span->run * span->period <= QRT_TABLE)
        qrt_cast_short_pattern(job, source, target, span);
    else
        qrt_cast_short_runs(job, source, target, span);
}

/* The span with the parameters of the kernels that compute in f32, and in f64. */
QRT_INLINE void qrt_qcast_span_f32(const qrt_cast_args *args, qrt_cast_runs fn, const void *source, void *target,
                                   const qrt_span *span) {
    const bool before = args->zero_point_order == QRT_ZERO_POINT_BEFORE, f32 = args->expressed == QRT_F32;
    const qrt_cast_job job = {
        args,
        fn,
        {.array = {[QRT_SCALES] = (const char *)(args->scale_f32 + span->parameter),
                   [QRT_RECIPROCALS] = (const char *)(args->reciprocal_f32 + span->parameter),
                   [QRT_ROUNDED_ZERO_POINTS] = before ? (const char *)(args->zero_point_f32 + span->parameter) : NULL,
                   [QRT_ZERO_POINTS] = before && f32 ? NULL : (const char *)(args->zero_point_i32 + span->parameter)}},
        sizeof(float),
        f32 ? 4 : 2,
        qrt_container_size(args->container)};
    qrt_cast_span(&job, source, target, span);
}

QRT_INLINE void qrt_dcast_span_f32(const qrt_cast_args *args, qrt_cast_runs fn, const void *source, void *target,
                                   const qrt_span *span) {
    const qrt_cast_job job = {
        args,
        fn,
        {.array = {[QRT_SCALES] = (const char *)(args->scale_f32 + span->parameter),
                   [QRT_ROUNDED_ZERO_POINTS] = (const char *)(args->zero_point_f32 + span->parameter)}},
        sizeof(float),
        qrt_container_size(args->container),
        args->expressed == QRT_F32 ? 4 : 2};
    qrt_cast_span(&job, source, target, span);
}

QRT_INLINE void qrt_qcast_span_f64(const qrt_cast_args *args, qrt_cast_runs fn, const void *source, void *target,
                                   const qrt_span *span) {
    const bool divide = args->scale_mode == QRT_SCALE_DIVIDE, before = args->zero_point_order == QRT_ZERO_POINT_BEFORE;
    const int64_t first = span->parameter;
    const qrt_cast_job job = {
        args,
        fn,
        {.array = {[QRT_SCALES] = divide ? (const char *)(args->scale + first) : NULL,
                   [QRT_RECIPROCALS] = divide ? NULL : (const char *)(args->reciprocal_f64 + first),
                   [QRT_ROUNDED_ZERO_POINTS] = before ? (const char *)(args->rounded_zero_point_f64 + first) : NULL,
                   [QRT_ZERO_POINTS] = (const char *)(args->zero_point_f64 + first)}},
        sizeof(double),
        args->expressed == QRT_F32 ? 4 : 8,
        qrt_container_size(args->container)};
    qrt_cast_span(&job, source, target, span);
}

QRT_INLINE void qrt_dcast_span_f64(const qrt_cast_args *args, qrt_cast_runs fn, const void *source, void *target,
                                   const qrt_span *span) {
    const qrt_cast_job job = {
        args,
        fn,
        {.array = {[QRT_SCALES] = (const char *)(args->scale + span->parameter),
                   [QRT_ROUNDED_ZERO_POINTS] = (const char *)(args->rounded_zero_point_f64 + span->parameter)}},
        sizeof(double),
        qrt_container_size(args->container),
        sizeof(double)};
    qrt_cast_span(&job, source, target, span);
}

#endif
