/* How the SIMD casts walk a row: as runs of one parameter, as periods along which parameters advance with the elements,
 * or, where both are short, through a table in L1 that holds the parameters of each element. */
#include "isa/x86/cast/parameters.inl"

/* Shorter runs and periods go through the table, where a run is at most QRT_PARAMETER_PADDING elements. Periods of long
 * casts go through it too if they fit: L1 holds the table beside the operands. */
#define QRT_LEAST_RUN 32
#define QRT_LEAST_PERIOD 64
#define QRT_LEAST_TABLE 256
static qrt_cast_parameters qrt_cast_parameters_at(const qrt_cast_call *call, int64_t index) {
    qrt_cast_parameters at = call->parameters;
    for (int a = 0; a < QRT_CAST_ARRAYS; a++)
        if (at.array[a])
            at.array[a] += index * call->word;
    return at;
}

static void qrt_cast_long_runs(const qrt_cast_call *call, const char *source, char *target, int64_t count,
                               int64_t phase) {
    const int64_t length = call->args->plan.run, period = call->args->plan.period;
    int64_t index = phase / length, inside = phase % length;
    for (int64_t left = count; left > 0;) {
        const bool whole = inside == 0 && left >= length;
        const int64_t run = whole ? length : qrt_min(length - inside, left);
        const int64_t runs = whole ? qrt_min(left / length, period - index) : 1;
        const qrt_cast_parameters at = qrt_cast_parameters_at(call, index);
        call->fn(call->args, &at, false, source, target, run, runs);
        source += run * runs * call->source_size;
        target += run * runs * call->target_size;
        left -= run * runs;
        inside = 0;
        index = index + runs == period ? 0 : index + runs;
    }
}

static void qrt_cast_long_periods(const qrt_cast_call *call, const char *source, char *target, int64_t count,
                                  int64_t phase) {
    const int64_t period = call->args->plan.period;
    for (int64_t left = count; left > 0; phase = 0) {
        const int64_t run = qrt_min(period - phase, left), runs = run == period ? left / period : 1;
        const qrt_cast_parameters at = qrt_cast_parameters_at(call, phase);
        call->fn(call->args, &at, true, source, target, run, runs);
        source += run * runs * call->source_size;
        target += run * runs * call->target_size;
        left -= run * runs;
    }
}

/* Sets table[i] to the parameter of element i from `phase` on, for `count` elements. Vectors write up to 31 bytes past
 * the end. */
static void qrt_cast_fill(char *table, const char *from, int word, int64_t run, int64_t period, int64_t phase,
                          int64_t count) {
    typedef uint32_t eight __attribute__((vector_size(32)));
    typedef uint64_t four __attribute__((vector_size(32)));
    if (run == 1) {
        for (int64_t done = 0, taken; done < count; done += taken, phase = 0) {
            taken = qrt_min(period - phase, count - done);
            memcpy(table + done * word, from + phase * word, (size_t)(taken * word));
        }
        return;
    }
    int64_t index = phase / run, left = run - phase % run;
    for (int64_t done = 0; done < count; done += left, left = run) {
        const char *at = from + index * word;
        const eight value = word == 4 ? *(const uint32_t *)at + (eight){0} : (eight)(*(const uint64_t *)at + (four){0});
        for (int64_t i = 0; i < left * word; i += (int64_t)sizeof value)
            memcpy(table + done * word + i, &value, sizeof value);
        index = index + 1 == period ? 0 : index + 1;
    }
}

/* Fills a table with `filled` elements and doubles them until it has `length`: that takes less time than to fill
 * all. */
static qrt_cast_parameters qrt_cast_fill_table(const qrt_cast_call *call, qrt_cast_table table, int64_t phase,
                                               int64_t filled, int64_t length) {
    const int64_t run = call->args->plan.run, period = call->args->plan.period;
    qrt_cast_parameters at = {.repeat = 0};
    for (int a = 0; a < QRT_CAST_ARRAYS; a++) {
        if (!call->parameters.array[a])
            continue;
        qrt_cast_fill(table[a], call->parameters.array[a], call->word, run, period, phase, filled);
        for (int64_t done = filled; done < length; done *= 2)
            memcpy(table[a] + done * call->word, table[a], (size_t)(qrt_min(done, length - done) * call->word));
        at.array[a] = table[a];
    }
    return at;
}

/* A pattern that fits the table: its repetitions are rows. */
static void qrt_cast_short_pattern(const qrt_cast_call *call, const char *source, char *target, int64_t count,
                                   int64_t phase) {
    _Alignas(64) qrt_cast_table table;
    const int64_t pattern = call->args->plan.run * call->args->plan.period;
    const int64_t repeat = pattern < QRT_LEAST_TABLE ? QRT_LEAST_TABLE - QRT_LEAST_TABLE % pattern : pattern;
    qrt_cast_parameters at = qrt_cast_fill_table(call, table, phase, pattern, repeat + QRT_PARAMETER_PADDING);
    at.repeat = repeat;
    const int64_t rows = count / repeat, done = rows * repeat;
    if (rows > 0)
        call->fn(call->args, &at, true, source, target, repeat, rows);
    if (done < count)
        call->fn(call->args, &at, true, source + done * call->source_size, target + done * call->target_size,
                 count - done, 1);
}

/* Short runs of a longer pattern: as much of it at a time as the table holds. */
static void qrt_cast_short_runs(const qrt_cast_call *call, const char *source, char *target, int64_t count,
                                int64_t phase) {
    _Alignas(64) qrt_cast_table table;
    const int64_t pattern = call->args->plan.run * call->args->plan.period;
    for (int64_t left = count; left > 0;) {
        const int64_t part = qrt_min(QRT_TABLE, left);
        const qrt_cast_parameters at = qrt_cast_fill_table(call, table, phase, part, part);
        call->fn(call->args, &at, true, source, target, part, 1);
        source += part * call->source_size;
        target += part * call->target_size;
        left -= part;
        phase = phase + part < pattern ? phase + part : phase + part - pattern;
    }
}

/* One copy serves every kernel of an ISA. */
void QRT_OF_ISA(cast_row)(const qrt_cast_call *call, const char *source, char *target, int64_t count, int64_t phase) {
    const qrt_cast_plan *plan = &call->args->plan;
    if (plan->period == 1)
        call->fn(call->args, &call->parameters, false, source, target, count, 1);
    else if (plan->run >= QRT_LEAST_RUN)
        qrt_cast_long_runs(call, source, target, count, phase);
    else if (plan->run == 1 && plan->period >= (plan->prefetch ? QRT_TABLE + 1 : QRT_LEAST_PERIOD))
        qrt_cast_long_periods(call, source, target, count, phase);
    else if (plan->run * plan->period <= QRT_TABLE)
        qrt_cast_short_pattern(call, source, target, count, phase);
    else
        qrt_cast_short_runs(call, source, target, count, phase);
}
