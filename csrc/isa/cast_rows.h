/* How casts computed in f32 walk rows of elements: included by an ISA's cast.c behind what it defines,
 *
 *   LANES, BLOCK, STREAMS      of a vector; four vectors; whether there are stores past the caches
 *   floats, integers           vectors
 *   lanes, load_lanes          a vector's parameters of qcast, and quantize, which uses them
 *   sink, make_sink            where results go; store_block puts BLOCK of them there, unless may_be_wrong says that
 *                              they have to be computed again
 *   dcast_lanes, load_dcast_lanes, dcast_vector      the same for dcast
 *   qcast_ends, dcast_ends     the elements of a row from one to another, a vector at a time, with the clamp
 *
 * Long casts fetch their source and own the lines of their target ahead. With `each`, parameters advance with the
 * elements, and rows are walked together, so that a vector of parameters is loaded once for all of them. */

/* Where one straddles two lines, all do. */
#define VECTORS_ARE_LINES (LANES * sizeof(float) == 64)

/* qcast_ends compiled for a variant: out of line, so that loops keep their registers. */
typedef void (*qcast_ends_of)(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                              int64_t index, const char *source, char *target, int64_t count);

QRT_INLINE void qcast_rows(const qrt_cast_args *args, const qrt_cast_parameters *parameters, int64_t index,
                           const char *source, char *target, int64_t count, int64_t rows, const sink *to,
                           qrt_qcast_mode mode, qcast_ends_of ends) {
    const int source_size = qrt_qcast_source_size(mode);
    const int64_t source_row = count * source_size, target_row = count * to->size;
    const int64_t reads = QRT_READ_AHEAD / source_size >> (rows > 1), writes = QRT_WRITE_AHEAD / to->size >> (rows > 1);
    const lanes shared = load_lanes(parameters, index, mode);
    int64_t i = 0;
    if ((mode.fetch || VECTORS_ARE_LINES) && count >= QRT_ALIGN_COUNT)
        i = mode.stream ? qrt_cast_until_aligned(target, to->size) : qrt_cast_until_aligned(source, source_size);
    if (i > 0)
        for (int64_t r = 0; r < rows; r++)
            ends(args, parameters, mode.each, index, source + r * source_row, target + r * target_row, i);
    for (; i + BLOCK <= count; i += BLOCK) {
        const int64_t read = qrt_cast_ahead(i, reads, count, rows), write = qrt_cast_ahead(i, writes, count, rows);
        const int64_t first = mode.each ? index + i : index;
        lanes p[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            p[j] = mode.each ? load_lanes(parameters, first + LANES * j, mode) : shared;
        for (int64_t r = 0; r < rows; r++) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            floats x[4];
            integers q[4];
            if (mode.fetch)
                qrt_cast_fetch(from + read * source_size, BLOCK * source_size);
            if (mode.fetch && !mode.stream)
                qrt_cast_own(into + write * to->size, BLOCK * to->size);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                x[j] = load_expressed(from + (i + LANES * j) * source_size, mode.expressed);
            quantize(x, p, 4, mode, q);
            if (mode.trial && __builtin_expect(may_be_wrong(q, to), false))
                ends(args, parameters, mode.each, first, from + i * source_size, into + i * to->size, BLOCK);
            else
                store_block(into + i * to->size, q, to, mode.stream);
        }
    }
    if (i < count)
        for (int64_t r = 0; r < rows; r++)
            ends(args, parameters, mode.each, mode.each ? index + i : index, source + r * source_row + i * source_size,
                 target + r * target_row + i * to->size, count - i);
}

QRT_INLINE void qcast_runs_in(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                              char *target, int64_t run, int64_t runs, const sink *to, qrt_qcast_mode mode,
                              qcast_ends_of ends) {
    const int64_t source_row = run * qrt_qcast_source_size(mode), target_row = run * to->size;
    const qrt_cast_parameters local = *parameters; /* which no store could change */
    if (!mode.each)
        for (int64_t r = 0; r < runs; r++, source += source_row, target += target_row)
            qcast_rows(args, &local, r, source, target, run, 1, to, mode, ends);
    else {
        const int64_t most = qrt_cast_most_rows(args, run, mode.stream);
        for (int64_t r = 0; r < runs; r += most) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            if (most == 1) /* a loop over rows, even over one, took 1.4 times as long */
                qcast_rows(args, &local, 0, from, into, run, 1, to, mode, ends);
            else
                qcast_rows(args, &local, 0, from, into, run, runs - r < most ? runs - r : most, to, mode, ends);
        }
    }
}

/* A short cast of the default rule has a loop of its own, which asks nothing but whether the trial holds. */
QRT_INLINE void qcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs, qrt_container container,
                           qrt_qcast_mode mode, qcast_ends_of ends) {
    const sink to = make_sink(args, container);
    mode.each = each;
    qrt_qcast_mode fetching = mode;
    fetching.fetch = args->prefetch;
    fetching.stream = STREAMS && args->stream && run >= QRT_ALIGN_COUNT;
    if (mode.trial && !fetching.fetch)
        qcast_runs_in(args, parameters, source, target, run, runs, &to, mode, ends);
    else
        qcast_runs_in(args, parameters, source, target, run, runs, &to, fetching, ends);
}

QRT_INLINE void dcast_rows(const qrt_cast_parameters *parameters, const dcast_lanes *shared, const char *source,
                           char *target, int64_t count, int64_t rows, qrt_dcast_mode mode) {
    const int source_size = qrt_dcast_source_size(mode), target_size = qrt_dcast_target_size(mode);
    const int64_t source_row = count * source_size, target_row = count * target_size;
    const int64_t reads = QRT_READ_AHEAD / source_size >> (rows > 1);
    const int64_t writes = QRT_WRITE_AHEAD / target_size >> (rows > 1);
    int64_t i = 0;
    if ((mode.fetch || VECTORS_ARE_LINES) && count >= QRT_ALIGN_COUNT)
        i = qrt_cast_until_aligned(target, target_size);
    if (i > 0)
        for (int64_t r = 0; r < rows; r++)
            dcast_ends(parameters, shared, source + r * source_row, target + r * target_row, 0, i, mode);
    for (; i + BLOCK <= count; i += BLOCK) {
        const int64_t read = qrt_cast_ahead(i, reads, count, rows), write = qrt_cast_ahead(i, writes, count, rows);
        dcast_lanes p[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            p[j] = mode.each ? load_dcast_lanes(parameters, i + LANES * j, true) : *shared;
        for (int64_t r = 0; r < rows; r++) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            if (mode.fetch)
                qrt_cast_fetch(from + read * source_size, BLOCK * source_size);
            if (mode.fetch && !mode.stream)
                qrt_cast_own(into + write * target_size, BLOCK * target_size);
#pragma GCC unroll 4
            for (int j = 0; j < 4; j++)
                dcast_vector(from + (i + LANES * j) * source_size, into + (i + LANES * j) * target_size, p[j], mode);
        }
    }
    if (i < count)
        for (int64_t r = 0; r < rows; r++)
            dcast_ends(parameters, shared, source + r * source_row, target + r * target_row, i, count, mode);
}

QRT_INLINE void dcast_runs_in(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                              char *target, int64_t run, int64_t runs, qrt_dcast_mode mode) {
    const int64_t source_row = run * qrt_dcast_source_size(mode), target_row = run * qrt_dcast_target_size(mode);
    if (!mode.each)
        for (int64_t r = 0; r < runs; r++, source += source_row, target += target_row) {
            const dcast_lanes shared = load_dcast_lanes(parameters, r, false);
            dcast_rows(parameters, &shared, source, target, run, 1, mode);
        }
    else {
        const qrt_cast_parameters local = *parameters; /* which no store could change */
        const int64_t most = qrt_cast_most_rows(args, run, mode.stream);
        for (int64_t r = 0; r < runs; r += most) {
            const char *from = source + r * source_row;
            char *into = target + r * target_row;
            if (most == 1)
                dcast_rows(&local, NULL, from, into, run, 1, mode);
            else
                dcast_rows(&local, NULL, from, into, run, runs - r < most ? runs - r : most, mode);
        }
    }
}

/* Loops of their own, so that none asks what to do with each vector. */
QRT_INLINE void dcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                           char *target, int64_t run, int64_t runs, qrt_dcast_mode mode) {
    qrt_dcast_mode fetching = mode, streaming = mode;
    fetching.fetch = streaming.fetch = streaming.stream = true;
    if (!args->prefetch)
        dcast_runs_in(args, parameters, source, target, run, runs, mode);
    else if (STREAMS && args->stream && run >= QRT_ALIGN_COUNT)
        dcast_runs_in(args, parameters, source, target, run, runs, streaming);
    else
        dcast_runs_in(args, parameters, source, target, run, runs, fetching);
}
