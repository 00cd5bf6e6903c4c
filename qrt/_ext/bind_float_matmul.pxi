# float_matmul: a row-major matrix of float32 by another.


def bind_float_matmul(*, str isa, m, n, k, w_constant=None, bias=None, stored=None):
    cdef KernelCall call = new_call("float_matmul", isa, qrt_float_matmul, sizeof(qrt_float_matmul_args))
    cdef qrt_float_matmul_args *args = <qrt_float_matmul_args *>call.args
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_packed_part parts[QRT_MAX_PACKED_PARTS]
    cdef qrt_status status
    args.kernels = find_kernels(call.name, isa)
    bind_product(call, &args.problem, np.float32, (m, n, k), w_constant, bias)
    call.release, call.packed_parts = qrt_float_matmul_release, qrt_float_matmul_packed
    args.problem.stored = &given
    with nogil:
        status = qrt_float_matmul_prepare(args)
    args.problem.stored = NULL
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    if w_constant is not None:  # packed: the copy is not needed any more
        if stored is None and qrt_float_matmul_packed(args, parts):
            share_packed(call, address_of(getattr(w_constant, "origin", None), args.problem.w_constant), parts,
                         qrt_float_matmul_share)
        forget(call, &args.problem.w_constant)
    return call


cdef object bind_product(KernelCall call, qrt_product *product, object w_dtype, tuple sizes, object w_constant, object bias):
    """Describe a [m, k], w [k, n], the bias [n] and the result [m, n]; constants are not operands."""
    m, n, k = dimensions(call.name, "m, n, k", sizes, 3)
    for shape in ((m, k), (k, n), (m, n)):
        element_count(call.name, shape)
    product.m, product.n, product.k = m, n, k
    product.bias = bias is not None
    add_operand(call, np.float32, (m, k))
    if w_constant is None:
        add_operand(call, w_dtype, (k, n))
    else:
        product.w_constant = constant(call, "the constant weights", w_constant, w_dtype, k * n)
    if isinstance(bias, np.ndarray):
        product.bias_constant = <const float *>constant(call, "the constant bias", bias, np.float32, n)
    elif bias is not None:
        add_operand(call, np.float32, (n,))
    add_operand(call, np.float32, (m, n))


cdef object share_packed(KernelCall call, uintptr_t weights, const qrt_packed_part *own,
                         void (*share)(void *args, const void *panels) noexcept nogil):
    """Share the packed weights of an earlier call for the weights at this address, if the packed bytes are equal.

    Another array may be at the address by now, so the bytes are compared. The weights are one part."""
    cdef qrt_packed_part parts[QRT_MAX_PACKED_PARTS]
    cdef KernelCall earlier = PACKED.get((call.name, weights))
    if (earlier is not None and earlier.packed_parts(earlier.args, parts) == 1 and parts[0].bytes == own.bytes
            and memcmp(parts[0].data, own.data, own.bytes) == 0):
        share(call.args, parts[0].data)
        call.keep.append(earlier)
    else:
        PACKED[call.name, weights] = call


cdef object forget(KernelCall call, const void **data):
    """Free the copy at `data`."""
    call.keep = [kept for kept in call.keep
                 if not isinstance(kept, cnp.ndarray) or cnp.PyArray_DATA(<cnp.ndarray>kept) != data[0]]
    data[0] = NULL
