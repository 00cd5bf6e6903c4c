# mixed_matmul: a row-major matrix of float32 by quantized weights of 8-bit storage.

# The bound of zero points of 8-bit storage, with which sums of differences fit 32 bits.
cdef int64_t MAX_MIXED_ZERO_POINT = 255


cdef const int32_t *mixed_zero_points(KernelCall call, str what, object values, int64_t count) except NULL:
    cdef const void *data = parameters(call, what, values, np.int32, count)
    cdef int64_t low, high
    bounds_of(call, &low, &high)  # the absolute value of the least int32 is negative
    if low < -MAX_MIXED_ZERO_POINT or high > MAX_MIXED_ZERO_POINT:
        raise KernelError(
            f"{call.name}: {what} must be from -{MAX_MIXED_ZERO_POINT} to {MAX_MIXED_ZERO_POINT}, got values from "
            f"{low} to {high}"
        )
    return <const int32_t *>data


def bind_mixed_matmul(*, str isa, m, n, k, bint nibbles, str w, scales, zero_points, k_block=None, k_scales=None,
                      k_zero_points=None, w_constant=None, bias=None, stored=None):
    cdef KernelCall call = new_call("mixed_matmul", isa, qrt_mixed_matmul, sizeof(qrt_mixed_matmul_args))
    cdef qrt_mixed_matmul_args *args = <qrt_mixed_matmul_args *>call.args
    cdef qrt_mixed_problem *problem = &args.problem
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_packed_part parts[QRT_MAX_PACKED_PARTS]
    cdef qrt_status status
    args.kernels = find_kernels(call.name, isa)
    problem.nibbles, problem.w = nibbles, <qrt_container>container_of(call.name, w)
    if w not in ("i8", "u8"):
        raise KernelError(f"{call.name}: weights must have storage i8 or u8, got {w}")
    bind_product(call, &problem.product, CONTAINERS[w], (m, n, k), w_constant, bias)
    problem.k_block = max(problem.product.k, 1)
    if k_block is not None:
        (problem.k_block,) = dimensions(call.name, "k_block", (k_block,), 1, 1)
    blocks = max(-(-problem.product.k // problem.k_block), 1)
    cdef int64_t count = parameter_count(call.name, blocks * problem.product.n)
    problem.shared = np.size(scales) == np.size(zero_points) == blocks
    if problem.shared:
        count = blocks
    problem.scale = <const float *>parameters(call, "scales", scales, np.float32, count)
    check_finite(call, "scales")
    problem.zero_point = mixed_zero_points(call, "zero_points", zero_points, count)
    problem.k_scale, problem.k_zero_point = NULL, NULL
    if k_scales is not None:
        if blocks != 1 or np.any(np.not_equal(scales, 1)):
            raise KernelError(f"{call.name}: if k_scales are given, the weights must have one block along K, and all scales must be 1")
        problem.k_scale = <const float *>parameters(call, "k_scales", k_scales, np.float32, problem.product.k)
        check_finite(call, "k_scales")
    if k_zero_points is not None:
        if k_scales is None or np.any(zero_points):
            raise KernelError(f"{call.name}: if k_zero_points are given, k_scales must be given too, and all zero_points must be 0")
        problem.k_zero_point = mixed_zero_points(call, "k_zero_points", k_zero_points, problem.product.k)
    call.release, call.packed_parts = qrt_mixed_matmul_release, qrt_mixed_matmul_packed
    problem.product.stored = &given
    with nogil:
        status = qrt_mixed_matmul_prepare(args)
    problem.product.stored = NULL
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    if qrt_mixed_matmul_packed(args, parts):  # packed with its parameters: the copies are not needed any more
        if stored is None:
            share_packed(call, address_of(getattr(w_constant, "origin", None), problem.product.w_constant), parts,
                         qrt_mixed_matmul_share)
        forget(call, &problem.product.w_constant)
        forget(call, <const void **>&problem.scale)
        forget(call, <const void **>&problem.zero_point)
    return call
