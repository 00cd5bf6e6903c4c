# Steps of control: they have no entry, and say which step is next.

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
    """Makes step `number` of `count`, where targets are counted from `first`; returns whether it begins rounds. A step
    jumps back to the round of a loop alone, so that every loop ends."""
    cdef int64_t target = call.target - first
    if call.kind == QRT_UNLESS or call.kind == QRT_JUMP:
        if not 0 <= target <= count or target <= number and steps[target].kind != QRT_ROUND:
            raise KernelError(f"{name}: step {number} ({call.name}) leads to step {target} of {count}, which is no round")
    steps[number] = qrt_step(call.entry, call.args, operand, call.kind, target, call.cost)
    return call.kind == QRT_ROUND


cdef int64_t limited(object limit) except? -1:
    """A limit as C takes it, None as no limit."""
    return UNBOUNDED if limit is None else max(-1, min(limit, UNBOUNDED))


cdef qrt_progress begun(object most_rounds, object max_steps) except *:
    """A run that has not begun. Who says how many steps it may take does not limit the rounds."""
    cdef qrt_progress progress
    memset(&progress, 0, sizeof(qrt_progress))
    progress.threads = thread_count()
    progress.most_rounds = limited(most_rounds if max_steps is None else None)
    progress.steps = limited(max_steps)
    return progress


cdef int run_steps(const qrt_step *steps, int64_t count, qrt_progress *progress, bint brief) except -1:
    """Runs to the end, or to a failure, whose status it returns. Between rounds that take long it asks for signals."""
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
