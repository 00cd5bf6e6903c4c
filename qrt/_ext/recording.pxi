# The recorder of calls that are bound: a saved program binds them again.

recorder = ContextVar("recorder", default=None)


def _recorded(bind):
    """Decorate a bind_* function: it reports its name, its arguments and its result to the recorder, if there is one."""

    @wraps(bind)
    def bound(**arguments):
        call = bind(**arguments)
        record = recorder.get()
        if record is not None:
            record(bind.__name__, arguments, call)
        return call

    return bound


for name in [name for name in globals() if name.startswith("bind_")]:
    globals()[name] = _recorded(globals()[name])
del name


def layout():
    """Return a number that differs if the memory layout of C structs, and so of packed weights, may differ."""
    cdef int64_t sizes[9]
    sizes[:] = [sizeof(void *), sizeof(qrt_gemm_args), sizeof(qrt_gemm_microkernel), sizeof(qrt_depthwise_args),
                sizeof(qrt_float_matmul_args), sizeof(qrt_mixed_matmul_args), sizeof(qrt_requant),
                QRT_PARAMETER_PADDING, QRT_STORED_ALIGNMENT]
    return qrt_checksum(sizes, sizeof(sizes))
