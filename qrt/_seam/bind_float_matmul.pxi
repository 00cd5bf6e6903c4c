# float_matmul: a row-major matrix of float32 by float or quantized weights.

cdef dict WEIGHTS = {"f32": QRT_WEIGHTS_F32, "bytes": QRT_WEIGHTS_BYTES, "nibbles": QRT_WEIGHTS_NIBBLES}
# Beyond it the difference of a value and a zero point would not be exact in float32.
cdef int64_t MAX_FLOAT_ZERO_POINT = 1 << 20


def bind_float_matmul(*, str isa, m, n, k, str weights="f32", w="i8", k_block=None, scales=None, zero_points=None,
                      w_constant=None, bias=None):
    cdef Call call = new_call("float_matmul", isa, qrt_float_matmul, sizeof(qrt_float_matmul_args))
    cdef qrt_float_matmul_args *args = <qrt_float_matmul_args *>call.args
    cdef qrt_status status
    args.kernels = find_kernels("float_matmul", isa)
    m, n, k = dimensions("float_matmul", "m, n, k", (m, n, k), 3)
    for shape in ((m, k), (k, n), (m, n)):
        element_count("float_matmul", shape)
    args.m, args.n, args.k = m, n, k
    args.weights = <qrt_weights><int>choose("float_matmul", "weights", WEIGHTS, weights)
    args.k_block = max(k, 1)
    w_dtype = np.float32
    if args.weights != QRT_WEIGHTS_F32:
        w_dtype = bind_quantized_weights(call, args, w, k_block, scales, zero_points)
    add_operand(call, np.float32, (m, k))
    if w_constant is None:
        add_operand(call, w_dtype, (k, n))
    else:
        args.w_constant = constant(call, "the constant weights", w_constant, w_dtype, k * n)
    args.bias = bias is not None
    if isinstance(bias, np.ndarray):
        args.bias_constant = <const float *>constant(call, "the constant bias", bias, np.float32, n)
    elif bias is not None:
        add_operand(call, np.float32, (n,))
    add_operand(call, np.float32, (m, n))
    call.release = qrt_float_matmul_release
    with nogil:
        status = qrt_float_matmul_prepare(args)
    if status != QRT_OK:
        raise failure(call.name, status)
    if w_constant is not None:  # packed: the copy may go
        call.keep = [kept for kept in call.keep if cnp.PyArray_DATA(<cnp.ndarray>kept) != args.w_constant]
        args.w_constant = NULL
    return call


cdef object bind_quantized_weights(Call call, qrt_float_matmul_args *args, object w, object k_block, object scales,
                                   object zero_points):
    """The dtype of the storage."""
    args.w = <qrt_container>container_of(call.name, w)
    if w not in ("i8", "u8"):
        raise KernelError(f"{call.name}: weights of {w} are not packed, expected i8 or u8")
    if k_block is not None:
        (args.k_block,) = dimensions(call.name, "k_block", (k_block,), 1, 1)
    if args.k_block < args.k and args.k_block % QRT_FLOAT_LANES:
        raise KernelError(f"{call.name}: k_block {args.k_block} is not a multiple of {QRT_FLOAT_LANES}")
    cdef int64_t blocks = max(-(-args.k // args.k_block), 1)
    cdef int64_t count = parameter_count(call.name, blocks * args.n)
    args.scale = <const float *>parameters(call, "scales", scales, np.float32, count)
    check_finite(call, "scales")
    args.zero_point = <const float *>parameters(call, "zero_points", zero_points, np.float32, count)
    if not (abs(last_parameters(call)) <= MAX_FLOAT_ZERO_POINT).all():
        raise KernelError(f"{call.name}: zero_points go beyond 2**20")
    return CONTAINERS[w]
