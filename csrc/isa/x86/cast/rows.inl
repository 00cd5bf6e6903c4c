/* How casts computed in f32 walk rows of elements. An ISA's cast.c includes this behind lanes.inl and defines STREAMS,
 * whether stores may go past the caches.
 *
 * Long casts fetch their source and own the cache lines of their target ahead. With `each`, parameters advance with the
 * elements: either rows are walked together, so that a vector of parameters is loaded once for all of them, or rows
 * from a table are walked as one. */
#ifndef STREAMS
#error "STREAMS: whether there are stores past the caches"
#endif

/* Then, where one vector straddles two cache lines, all do. */
#define VECTORS_ARE_CACHE_LINES (sizeof(floats) == 64)

/* qcast_ends compiled for a variant. It is not inlined, so that loops keep their registers. */
typedef void (*qcast_ends_of)(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                              int64_t index, const char *source, char *target, int64_t count);

/* Casts `rows` rows of `count` >= BLOCK elements. The last block of a row may overlap the one before it. */
QRT_INLINE void qcast_rows(const qrt_cast_args *args, const qrt_cast_parameters *parameters, int64_t index,
                           const char *source, char *target, int64_t count, int64_t rows, const sink *to,
                           qrt_cast_mode mode, qcast_ends_of ends) {
    const int source_size = qrt_expressed_size(mode.expressed);
    const int64_t source_row = count * source_size, target_row = count * to->size, last = count - BLOCK;
    const int64_t reads = QRT_READ_AHEAD / source_size >> (rows > 1), writes = QRT_WRITE_AHEAD / to->size >> (rows > 1);
    const lanes shared = load_lanes(parameters, index, mode);
    int64_t i = 0;
    if ((mode.fetch || VECTORS_ARE_CACHE_LINES) && count >= QRT_ALIGN_COUNT)
        i = mode.stream ? qrt_cast_until_aligned(target, to->size) : qrt_cast_until_aligned(source, source_size);
    if (i > 0)
        for (int64_t r = 0; r < rows; r++)
            ends(args, parameters, mode.each, index, source + r * source_row, target + r * target_row, i);
    if (mode.each)
        index += i;
    for (;;) {
        const qrt_cast_parameters at = mode.table ? qrt_cast_in_table(parameters, index) : *parameters;
        const int64_t first = mode.table ? 0 : index;
        const int64_t read = qrt_cast_ahead(i, reads, count, rows), write = qrt_cast_ahead(i, writes, count, rows);
        lanes p[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            p[j] = mode.each ? load_lanes(&at, first + LANES * j, mode) : shared;
        for (int64_t r = 0; r < rows; r++) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            floats x[4];
            integers q[4];
            if (mode.fetch)
                qrt_cast_fetch(from + read * source_size, BLOCK * source_size);
            if (mode.fetch && __builtin_expect(!mode.stream, true))
                qrt_cast_own(into + write * to->size, BLOCK * to->size);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                x[j] = load_expressed(from + (i + LANES * j) * source_size, mode.expressed);
            quantize(x, p, 4, mode, q);
            if (mode.trial && __builtin_expect(may_be_wrong(q, to), false)) {
                const qrt_cast_parameters here = at; /* a copy: then `at` stays in registers */
                ends(args, &here, mode.each, first, from + i * source_size, into + i * to->size, BLOCK);
            } else
                store_block(into + i * to->size, q, to, mode.stream);
        }
        i += BLOCK;
        if (mode.each)
            index += BLOCK;
        if (__builtin_expect(i > last, false)) {
            if (i == last + BLOCK)
                break;
            if (mode.each)
                index -= i - last;
            i = last;
        }
        if (mode.table)
            index = index < parameters->repeat ? index : index - parameters->repeat;
    }
}

QRT_INLINE void qcast_runs_in(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                              char *target, int64_t run, int64_t runs, const sink *to, qrt_cast_mode mode,
                              qcast_ends_of ends) {
    const int64_t source_row = run * qrt_expressed_size(mode.expressed), target_row = run * to->size;
    const qrt_cast_parameters local = *parameters; /* a copy, which no store can change */
    if (mode.table)
        qcast_rows(args, &local, 0, source, target, run, 1, to, mode, ends);
    else if (!mode.each)
        for (int64_t r = 0; r < runs; r++, source += source_row, target += target_row)
            qcast_rows(args, &local, r, source, target, run, 1, to, mode, ends);
    else {
        const int64_t most = qrt_cast_most_rows(args, run, mode.stream);
        for (int64_t r = 0; r < runs; r += most)
            qcast_rows(args, &local, 0, source + r * source_row, target + r * target_row, run, qrt_min(runs - r, most),
                       to, mode, ends);
    }
}

/* The default rule has loops of its own, where the only branch is on the outcome of the trial. */
QRT_INLINE void qcast_loops(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                            char *target, int64_t run, int64_t runs, const sink *to, qrt_cast_mode mode,
                            qcast_ends_of ends) {
    qrt_cast_mode fetching = mode, any = mode;
    fetching.fetch = true;
    any.fetch = args->plan.prefetch;
    /* Not for rows walked together: one row at a time would load all parameters again for each. */
    any.stream = STREAMS && args->plan.stream && run >= QRT_ALIGN_COUNT && (!mode.each || mode.table);
    if (mode.trial && !any.fetch)
        qcast_runs_in(args, parameters, source, target, run, runs, to, mode, ends);
    else if (mode.trial && !any.stream)
        qcast_runs_in(args, parameters, source, target, run, runs, to, fetching, ends);
    else
        qcast_runs_in(args, parameters, source, target, run, runs, to, any, ends);
}

/* Casts runs of at least BLOCK elements. Each way in which parameters advance has loops of its own. */
QRT_INLINE void qcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs, qrt_container container,
                           qrt_cast_mode mode, qcast_ends_of ends) {
    const sink to = make_sink(&args->problem, container);
    qrt_cast_mode together = mode, table = mode;
    together.each = table.each = table.table = true;
    if (!each)
        qcast_loops(args, parameters, source, target, run, runs, &to, mode, ends);
    else if (!parameters->repeat)
        qcast_loops(args, parameters, source, target, run, runs, &to, together, ends);
    else
        qcast_loops(args, parameters, source, target, run * runs, 1, &to, table, ends);
}

/* The same for dcast. */
QRT_INLINE void dcast_rows(const qrt_cast_parameters *parameters, const dcast_lanes *shared, const char *source,
                           char *target, int64_t count, int64_t rows, qrt_cast_mode mode) {
    const int source_size = qrt_container_size(mode.container), target_size = qrt_expressed_size(mode.expressed);
    const int64_t source_row = count * source_size, target_row = count * target_size, last = count - BLOCK;
    const int64_t reads = QRT_READ_AHEAD / source_size >> (rows > 1);
    const int64_t writes = QRT_WRITE_AHEAD / target_size >> (rows > 1);
    int64_t i = 0;
    if ((mode.fetch || VECTORS_ARE_CACHE_LINES) && count >= QRT_ALIGN_COUNT)
        i = qrt_cast_until_aligned(target, target_size);
    if (i > 0)
        for (int64_t r = 0; r < rows; r++)
            dcast_ends(parameters, shared, source + r * source_row, target + r * target_row, i, mode);
    for (int64_t index = i;;) {
        const qrt_cast_parameters at = mode.table ? qrt_cast_in_table(parameters, index) : *parameters;
        const int64_t first = mode.table ? 0 : index;
        const int64_t read = qrt_cast_ahead(i, reads, count, rows), write = qrt_cast_ahead(i, writes, count, rows);
        dcast_lanes p[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            p[j] = mode.each ? load_dcast_lanes(&at, first + LANES * j, true) : *shared;
        for (int64_t r = 0; r < rows; r++) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            if (mode.fetch)
                qrt_cast_fetch(from + read * source_size, BLOCK * source_size);
            if (mode.fetch && !mode.stream)
                qrt_cast_own(into + write * target_size, BLOCK * target_size);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                dcast_vector(from + (i + LANES * j) * source_size, into + (i + LANES * j) * target_size,
                             mode.table ? load_dcast_lanes(&at, LANES * j, true) : p[j], ALL, mode);
        }
        i += BLOCK;
        index += BLOCK;
        if (__builtin_expect(i > last, false)) {
            if (i == last + BLOCK)
                break;
            index -= i - last;
            i = last;
        }
        if (mode.table)
            index = index < parameters->repeat ? index : index - parameters->repeat;
    }
}

QRT_INLINE void dcast_runs_in(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                              char *target, int64_t run, int64_t runs, qrt_cast_mode mode) {
    const int64_t source_row = run * qrt_container_size(mode.container),
                  target_row = run * qrt_expressed_size(mode.expressed);
    const qrt_cast_parameters local = *parameters; /* a copy, which no store can change */
    if (mode.table)
        dcast_rows(&local, NULL, source, target, run, 1, mode);
    else if (!mode.each)
        for (int64_t r = 0; r < runs; r++, source += source_row, target += target_row) {
            const dcast_lanes shared = load_dcast_lanes(&local, r, false);
            dcast_rows(&local, &shared, source, target, run, 1, mode);
        }
    else {
        const int64_t most = qrt_cast_most_rows(args, run, mode.stream);
        for (int64_t r = 0; r < runs; r += most)
            dcast_rows(&local, NULL, source + r * source_row, target + r * target_row, run, qrt_min(runs - r, most),
                       mode);
    }
}

QRT_INLINE void dcast_loops(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                            char *target, int64_t run, int64_t runs, qrt_cast_mode mode) {
    qrt_cast_mode fetching = mode, streaming = mode;
    fetching.fetch = streaming.fetch = streaming.stream = true;
    if (!args->plan.prefetch)
        dcast_runs_in(args, parameters, source, target, run, runs, mode);
    else if (STREAMS && args->plan.stream && run >= QRT_ALIGN_COUNT)
        dcast_runs_in(args, parameters, source, target, run, runs, streaming);
    else
        dcast_runs_in(args, parameters, source, target, run, runs, fetching);
}

/* Casts runs of fewer than BLOCK elements. */
QRT_INLINE void dcast_short_runs(const qrt_cast_parameters *parameters, bool each, const char *source, char *target,
                                 int64_t run, int64_t runs, qrt_cast_mode mode) {
    const int64_t source_row = run * qrt_container_size(mode.container);
    const int64_t target_row = run * qrt_expressed_size(mode.expressed);
    mode.each = each;
    for (int64_t r = 0; r < runs; r++, source += source_row, target += target_row) {
        const dcast_lanes shared = load_dcast_lanes(parameters, each ? 0 : r, false);
        dcast_ends(parameters, &shared, source, target, run, mode);
    }
}

QRT_INLINE void dcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs, qrt_cast_mode mode) {
    qrt_cast_mode together = mode, table = mode;
    together.each = table.each = table.table = true;
    if (!each)
        dcast_loops(args, parameters, source, target, run, runs, mode);
    else if (!parameters->repeat)
        dcast_loops(args, parameters, source, target, run, runs, together);
    else
        dcast_loops(args, parameters, source, target, run * runs, 1, table);
}
