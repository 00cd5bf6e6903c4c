# Control steps: they have no entry, and determine the next step.

cdef dict STEP_KINDS = {"round": QRT_ROUND, "unless": QRT_UNLESS, "jump": QRT_JUMP}
cdef int64_t UNBOUNDED = <int64_t>1 << 62


cdef qrt_status runs_in_executables_only(const void *args, qrt_scratch *scratch) noexcept nogil:
    return QRT_BAD_ARGUMENT


def bind_control(*, str kind, target=0, cost=0):
    cdef KernelCall call = new_call(kind, "ref", runs_in_executables_only, 1)
    call.kind = <qrt_step_kind>choose("control", "kind", STEP_KINDS, kind)
    call.target, call.cost = dimensions(kind, "target, cost", (target, cost))
    call.outputs = 0
    if call.kind == QRT_ROUND and call.cost == 0:
        raise KernelError("round: the cost is 0, expected 1 at least: limits of steps must end every loop")
    if call.kind == QRT_UNLESS:
        add_operand(call, np.bool_, (1,))
    return call


cdef int fill_step(str name, qrt_step *steps, int64_t count, int64_t number, KernelCall call, int64_t operand,
                   int64_t first) except -1:
    """Fill in step `number` of `count`, with targets relative to `first`; return True if it begins rounds.

    A step may jump back only to the round of a loop, so that every loop ends."""
    cdef int64_t target = call.target - first
    if call.kind == QRT_UNLESS or call.kind == QRT_JUMP:
        if not 0 <= target <= count or target <= number and steps[target].kind != QRT_ROUND:
            raise KernelError(
                f"{name}: step {number} ({call.name}) leads to step {target} of {count}, which is not a "
                "round"
            )
    steps[number] = qrt_step(call.entry, call.args, operand, call.kind, target, call.cost)
    return call.kind == QRT_ROUND


cdef int64_t limited(object limit) except? -1:
    """Return a limit in the form that C takes; None means no limit."""
    return UNBOUNDED if limit is None else max(-1, min(limit, UNBOUNDED))


cdef qrt_progress begun(object most_rounds, object max_steps) except *:
    """Fill in a run that has not begun. If its number of steps is limited, its rounds are not."""
    cdef qrt_progress progress
    memset(&progress, 0, sizeof(qrt_progress))
    progress.threads = thread_count()
    progress.most_rounds = limited(most_rounds if max_steps is None else None)
    progress.steps = limited(max_steps)
    return progress


cdef int run_steps(const qrt_step *steps, int64_t count, qrt_progress *progress, bint brief) except -1:
    """Run to the end, or to a failure, and return the status. Signals are handled between rounds that take long."""
    cdef qrt_status status
    while True:
        if brief:
            status = qrt_run(steps, count, progress)
        else:
            with nogil:
                status = qrt_run(steps, count, progress)
        if status != QRT_PAUSED:
            return status
        PyErr_CheckSignals()
