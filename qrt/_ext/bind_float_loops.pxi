# float_loops: loop nests whose body is a chain of element-wise steps on floats, integers and flags.

cdef dict LOOPS_TYPES = {
    "f32": QRT_LOOPS_F32, "i1": QRT_LOOPS_BOOL, "i8": QRT_LOOPS_I8, "i16": QRT_LOOPS_I16, "i32": QRT_LOOPS_I32,
    "f64": QRT_LOOPS_F64, "i64": QRT_LOOPS_I64,
}
cdef dict LOOPS_DTYPES = {
    "f32": np.float32, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "f64": np.float64,
    "i64": np.int64,
}


def bind_float_loops(*, str isa, loops, extents, reads, writes, steps, registers, values, in_place=0):
    cdef KernelCall call = new_call("float_loops", isa, qrt_float_loops, sizeof(qrt_float_loops_args))
    cdef qrt_float_loops_args *args = <qrt_float_loops_args *>call.args
    cdef qrt_loops_operand *operands
    cdef qrt_loops_step *made
    cdef int i, each
    args.kernels = find_kernels(call.name, isa)
    args.kept, args.reduced = dimensions(call.name, "loops", loops, 2, 0, QRT_LOOPS_RANK)
    rank = args.kept + args.reduced
    if not 1 <= args.kept <= rank <= QRT_LOOPS_RANK:
        raise KernelError(
            f"{call.name}: expected 1 to {QRT_LOOPS_RANK} loops, got {args.kept} that are kept and "
            f"{args.reduced} that are summed"
        )
    extents = dimensions(call.name, "extents", extents, rank)
    element_count(call.name, extents)
    for i in range(rank):
        args.extent[i] = extents[i]
    reads, writes, steps = tuple(reads), tuple(writes), tuple(tuple(step) for step in steps)
    (registers,) = dimensions(call.name, "registers", (registers,), 1, 1, QRT_LOOPS_REGISTERS)
    args.registers, args.values = registers, len(values)
    if args.values > registers:
        raise KernelError(f"{call.name}: {args.values} values for {registers} registers")
    if args.values:
        args.value = <const float *>constant(call, "the values", np.asarray(values).view(np.float32), np.float32, args.values)
    args.reads, args.writes, args.steps = len(reads), len(writes), len(steps)
    if args.writes < 1 or args.reads + args.writes > QRT_MAX_OPERANDS:
        raise KernelError(f"{call.name}: {args.writes} results of {args.reads} operands")
    # One block: the operands, then the steps.
    call.extra = calloc(1, (args.reads + args.writes) * sizeof(qrt_loops_operand) + args.steps * sizeof(qrt_loops_step))
    if call.extra == NULL:
        raise MemoryError("float_loops: out of memory")
    operands = <qrt_loops_operand *>call.extra
    made = <qrt_loops_step *>(operands + args.reads + args.writes)
    args.operand, args.step = operands, made
    for i in range(args.reads + args.writes):
        fill_loops_operand(call, &operands[i], (reads + writes)[i], i >= args.reads, rank, extents, registers)
    for i in range(args.steps):
        numbers = dimensions(call.name, "a step", steps[i], 5)
        if numbers[0] >= QRT_STEP_CODES or max(numbers[1:]) >= registers:
            raise KernelError(f"{call.name}: the step {numbers} has an unknown code or register")
        if numbers[1] >= registers - args.values:
            raise KernelError(f"{call.name}: the step {numbers} must not write to a constant")
        for each in range(args.reads):
            if operands[each].reg == numbers[1] and not operands[each].once:
                raise KernelError(f"{call.name}: the step {numbers} must not write to the register of an operand")
        args.is_wide = args.is_wide or numbers[0] >= QRT_STEP_ADD_F64
        made[i] = qrt_loops_step(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    call.outputs, call.elementwise = args.writes, args.reduced == 0
    if args.writes == 1:
        (call.aliased,) = dimensions(call.name, "in_place", (in_place,), 1, 0, call.count - 1)
        check_in_place(call, args)
    return call


cdef check_in_place(KernelCall call, const qrt_float_loops_args *args):
    """Check that operands that the result may overwrite are read only by the block that writes them."""
    cdef int i, loop, operand = 0
    cdef const qrt_loops_operand *target = &args.operand[args.reads]
    cdef const qrt_loops_operand *read
    for i in range(args.reads):
        read = &args.operand[i]
        if read.constant != NULL:
            continue
        if operand < call.aliased:
            same = read.offset == target.offset and read.type == target.type and args.reduced == 0
            for loop in range(args.kept):
                same = same and read.stride[loop] == target.stride[loop]
            if not same:
                raise KernelError(
                    f"{call.name}: operand {operand}, which is the result, must be read at the indices at "
                    "which it is written"
                )
        operand += 1


cdef fill_loops_operand(KernelCall call, qrt_loops_operand *to, object given, bint written, int rank, object extents,
                        object registers):
    """Fill in an operand: (type, register, strides, offset, elements, whether it is read once, the constant or None)."""
    cdef int loop
    cdef const qrt_float_loops_args *args = <const qrt_float_loops_args *>call.args
    name, reg, strides, offset, size, once, array = given
    to.type = <qrt_loops_type><int>choose(call.name, "type", LOOPS_TYPES, name)
    (to.reg,) = dimensions(call.name, "register", (reg,), 1, 0, registers - (0 if written else args.values) - 1)
    strides = dimensions(call.name, "strides", strides, rank, -MAX_ELEMENTS)
    (to.offset,) = dimensions(call.name, "offset", (offset,))
    (size,) = dimensions(call.name, "size", (size,))
    for loop in range(rank):
        to.stride[loop] = strides[loop]
    to.once = once
    if name in ("f64", "i64"):
        (<qrt_float_loops_args *>call.args).is_wide = True
    if (written or once) and any(strides[loop] for loop in range(args.kept, rank)):
        raise KernelError(f"{call.name}: a loop over summands must not index a result")
    kept = extents[: args.kept] + ((1,) * args.reduced if written or once else extents[args.kept :])
    check_reach(call.name, "an operand", tuple(kept), strides, offset, size)
    dtype = np.dtype(LOOPS_DTYPES[name])
    if array is None:
        add_operand(call, dtype, (size,))
    else:
        to.constant = constant(call, "a constant", array, dtype, size)


cdef tuple integer_of_loops(KernelCall call):
    """Return the width of the integers to which a call converts floats, and whether they are signed."""
    cdef const qrt_float_loops_args *args = <const qrt_float_loops_args *>call.args
    cdef const qrt_loops_step *step
    cdef double least = 0, beyond = 0
    cdef int i, each
    for i in range(args.steps):
        step = &args.step[i]
        if step.code != QRT_STEP_I64_OF_F64:
            continue
        for each in range(args.reads):
            if args.operand[each].type == QRT_LOOPS_F64 and args.operand[each].constant != NULL:
                if args.operand[each].reg == step.b:
                    least = (<const double *>args.operand[each].constant)[0]
                if args.operand[each].reg == step.c:
                    beyond = (<const double *>args.operand[each].constant)[0]
        if beyond > least:
            return int(beyond - least).bit_length() - 1, least < 0
    return 32, True
