# mixed_matmul: a row-major matrix of float32 by quantized weights of 8-bit storage.

# Of 8-bit storage; sums of differences from it fit their 32 bits.
cdef int64_t MAX_MIXED_ZERO_POINT = 255


def bind_mixed_matmul(*, str isa, m, n, k, bint nibbles, str w, scales, zero_points, k_block=None, w_constant=None,
                      bias=None):
    cdef Call call = new_call("mixed_matmul", isa, qrt_mixed_matmul, sizeof(qrt_mixed_matmul_args))
    cdef qrt_mixed_matmul_args *args = <qrt_mixed_matmul_args *>call.args
    cdef qrt_status status
    args.kernels = find_kernels(call.name, isa)
    m, n, k = dimensions(call.name, "m, n, k", (m, n, k), 3)
    for shape in ((m, k), (k, n), (m, n)):
        element_count(call.name, shape)
    args.m, args.n, args.k, args.nibbles = m, n, k, nibbles
    args.w = <qrt_container>container_of(call.name, w)
    if w not in ("i8", "u8"):
        raise KernelError(f"{call.name}: weights of {w} are not packed, expected i8 or u8")
    args.k_block = max(k, 1)
    if k_block is not None:
        (args.k_block,) = dimensions(call.name, "k_block", (k_block,), 1, 1)
    cdef int64_t count = parameter_count(call.name, max(-(-args.k // args.k_block), 1) * args.n)
    args.scale = <const float *>parameters(call, "scales", scales, np.float32, count)
    check_finite(call, "scales")
    args.zero_point = <const int32_t *>parameters(call, "zero_points", zero_points, np.int32, count)
    if not (abs(last_parameters(call)) <= MAX_MIXED_ZERO_POINT).all():
        raise KernelError(f"{call.name}: zero_points go beyond {MAX_MIXED_ZERO_POINT}")
    args.bias = bias is not None
    bind_float_operands(call, CONTAINERS[w], (m, n, k), &args.w_constant, w_constant, &args.bias_constant, bias)
    call.release = qrt_mixed_matmul_release
    with nogil:
        status = qrt_mixed_matmul_prepare(args)
    if status != QRT_OK:
        raise failure(call.name, status)
    if w_constant is not None:  # packed with its parameters: the copies may go
        forget(call, args.w_constant)
        forget(call, args.scale)
        forget(call, args.zero_point)
        args.w_constant, args.scale, args.zero_point = NULL, NULL, NULL
    return call
