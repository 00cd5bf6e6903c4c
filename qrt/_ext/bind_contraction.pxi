# contraction: a loop nest that adds products of two float32 or int32 operands to the elements of a result.


def bind_contraction(*, str isa, loops, extents, strides, offsets, sizes, bint fused, b_constant=None,
                     init_constant=None, stored=None, bint integers=False):
    cdef KernelCall call = new_call("contraction", isa, qrt_contraction, sizeof(qrt_contraction_args))
    cdef qrt_contraction_args *args = <qrt_contraction_args *>call.args
    cdef qrt_contraction_problem *problem = &args.problem
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_status status
    args.kernels = find_kernels(call.name, isa)
    a_size, b_size, init_size, out_size = sizes = dimensions(call.name, "sizes", sizes, QRT_CONTRACTION_OPERANDS)
    fill_contraction(call, problem, loops, extents, strides, offsets, sizes)
    problem.fused, problem.integers = fused, integers
    dtype = np.int32 if integers else np.float32
    call.release, call.packed_parts = qrt_contraction_release, qrt_contraction_packed
    add_operand(call, dtype, (a_size,))
    if b_constant is None:
        add_operand(call, dtype, (b_size,))
    else:
        problem.b_constant = <const float *>constant(call, "the constant b", b_constant, dtype, b_size)
    if init_constant is None:
        add_operand(call, dtype, (init_size,))
    else:
        problem.init_constant = <const float *>constant(call, "the constant init", init_constant, dtype, init_size)
    add_operand(call, dtype, (out_size,))
    problem.stored = &given
    with nogil:
        status = qrt_contraction_prepare(args)
    problem.stored = NULL
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    if b_constant is not None:  # packed: the copy is not needed any more
        forget(call, <const void **>&problem.b_constant)
    return call


cdef fill_contraction(KernelCall call, qrt_contraction_problem *problem, object loops, object extents, object strides,
                      object offsets, object sizes):
    """Fill in the loops after checking that no iteration leaves an operand."""
    cdef int operand, loop
    batches, rows, depth = dimensions(call.name, "loops", loops, 3, 0, QRT_CONTRACTION_RANK)
    rank = batches + rows + depth + 1
    if rank > QRT_CONTRACTION_RANK:
        raise KernelError(f"{call.name}: {rank} loops, {QRT_CONTRACTION_RANK} at most")
    problem.batches, problem.rows, problem.depth = batches, rows, depth
    extents = dimensions(call.name, "extents", extents, rank)
    element_count(call.name, extents[: batches + rows] + extents[rank - 1 :])
    element_count(call.name, extents[:batches] + extents[batches + rows :])
    offsets = dimensions(call.name, "offsets", offsets, QRT_CONTRACTION_OPERANDS)
    named = ("a", "b", "init", "the output")
    strides = [dimensions(call.name, f"the strides of {name}", given, rank, -MAX_ELEMENTS)
               for name, given in zip(named, strides, strict=True)]
    for loop in range(rank):
        problem.extent[loop] = extents[loop]
        for operand in range(QRT_CONTRACTION_OPERANDS):
            problem.stride[operand][loop] = strides[operand][loop]
    for operand, (name, given, offset, size) in enumerate(zip(named, strides, offsets, sizes, strict=True)):
        problem.offset[operand] = offset
        # init and the result are used without a step of the depth loops too.
        reached = extents if operand < 2 else [1 if 0 <= i - batches - rows < depth else extents[i] for i in range(rank)]
        check_reach(call.name, name, tuple(reached), given, offset, size)
        apart = given[rank - 1]
        if operand != 1 and apart != 1 and (apart != 0 or operand == 3):
            raise KernelError(f"{call.name}: {name} has columns {apart} elements apart")
    if any(strides[1][batches : batches + rows]):
        raise KernelError(f"{call.name}: b differs between rows")
    if any(strides[operand][batches + rows + i] for operand in (2, 3) for i in range(depth)):
        raise KernelError(f"{call.name}: the result is indexed by a loop that is summed")
