# What is bound, told to who asks: a saved program binds its calls again.

recorder = ContextVar("recorder", default=None)


def _recorded(bind):
    """A bind_* function that tells the recorder, if there is one, its name, its arguments and what it made."""

    @wraps(bind)
    def bound(**arguments):
        made = bind(**arguments)
        told = recorder.get()
        if told is not None:
            told(bind.__name__, arguments, made)
        return made

    return bound


for each in [name for name in globals() if name.startswith("bind_")]:
    globals()[each] = _recorded(globals()[each])
del each


def layout():
    """A number that differs where structs of C, and so packed weights, may stand otherwise in memory."""
    cdef int64_t sizes[9]
    sizes[:] = [sizeof(void *), sizeof(qrt_gemm_args), sizeof(qrt_gemm_microkernel), sizeof(qrt_depthwise_args),
                sizeof(qrt_float_matmul_args), sizeof(qrt_mixed_matmul_args), sizeof(qrt_requant),
                QRT_PARAMETER_PADDING, QRT_STORED_ALIGNMENT]
    return qrt_checksum(sizes, sizeof(sizes))
