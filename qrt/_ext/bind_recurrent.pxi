# lstm, svdf, dynamic_matmul, dynamic_lstm: sequences with a state, which is a result too.

cdef fill_multipliers(KernelCall call, object multipliers, int count, int32_t *multiplier, int32_t *shift):
    """Fill in `count` multipliers, given as pairs (M0, shift)."""
    cdef int i
    if len(multipliers) != count or any(len(pair) != 2 for pair in multipliers):
        raise KernelError(f"{call.name}: expected {count} multipliers, each a pair of M0 and a shift")
    for i, (m0, places) in enumerate(multipliers):
        (multiplier[i],) = dimensions(call.name, "multiplier", (m0,), 1, 0, (1 << 31) - 1)
        (shift[i],) = dimensions(call.name, "shift", (places,), 1, -31, 31)


cdef int add_lstm_part(KernelCall call, bint is_there, dtype, shape):
    """Add an operand to the call if it is there, and return its index; return -1 otherwise."""
    if not is_there:
        return -1
    add_operand(call, dtype, shape)
    return call.count - 1


def bind_lstm(*, str isa, steps, batch, inputs, cells, values, time_major, points, gates, made, projection,
              has_projection_bias, cell_exponent, cell_clip, projection_clip):
    cdef KernelCall call = new_call("lstm", isa, qrt_lstm, sizeof(qrt_lstm_args))
    cdef qrt_lstm_args *args = <qrt_lstm_args *>call.args
    cdef qrt_lstm_gate *gate
    cdef int i
    args.kernels = find_kernels("lstm", isa)
    call.outputs = 3
    steps, batch, inputs, cells, values = dimensions("lstm", "sizes", (steps, batch, inputs, cells, values))
    args.steps, args.batch, args.inputs, args.cells, args.values = steps, batch, inputs, cells, values
    args.time_major = time_major
    points = dimensions("lstm", "zero points", points, 4, -128, 128)
    args.x_zero_point, args.hidden_zero_point, args.made_zero_point, args.result_zero_point = points
    gates = tuple(gates)
    if len(gates) != 4 or None in gates[1:]:
        raise KernelError("lstm: the gates forget, cell and output must be given")
    if any(gate is not None and len(gate) != 5 for gate in gates):
        raise KernelError("lstm: expected four multipliers and the least variance for each gate")
    if projection is None and values != cells:
        raise KernelError(f"lstm: {values} hidden values and {cells} cells differ: expected a projection")
    around = (steps, batch) if time_major else (batch, steps)
    add_operand(call, np.int8, (*around, inputs))
    for i in range(4):
        args.gate[i].w = add_lstm_part(call, gates[i] is not None, np.int8, (cells, inputs))
    for i in range(4):
        args.gate[i].r = add_lstm_part(call, gates[i] is not None, np.int8, (cells, values))
    for i in range(4):
        args.gate[i].bias = add_lstm_part(call, gates[i] is not None, np.int32, (cells,))
    args.hidden = add_lstm_part(call, True, np.int8, (batch, values))
    add_operand(call, np.int16, (batch, cells))
    for i in range(4):
        args.gate[i].peephole = add_lstm_part(call, gates[i] is not None and gates[i][2] is not None, np.int16, (cells,))
    for i in range(4):
        args.gate[i].norm = add_lstm_part(call, gates[i] is not None and gates[i][3] is not None, np.int16, (cells,))
    args.projection = add_lstm_part(call, projection is not None, np.int8, (values, cells))
    args.projection_bias = add_lstm_part(call, has_projection_bias, np.int32, (values,))
    for i in range(4):
        if gates[i] is not None:
            gate = &args.gate[i]
            multipliers = [(0, 0) if each is None else each for each in gates[i][:4]]
            fill_multipliers(call, multipliers, 4, gate.multiplier, gate.shift)
            (gate.least_variance,) = dimensions("lstm", "least_variance", gates[i][4:], 1, 1, (1 << 31) - 1)
    fill_multipliers(call, (made, (0, 0) if projection is None else projection), 2, args.multiplier, args.shift)
    (args.cell_exponent,) = dimensions("lstm", "cell_exponent", (cell_exponent,), 1, -15, -9)
    (args.cell_clip,) = dimensions("lstm", "cell_clip", (cell_clip,), 1, 0, 1 << 15)
    (args.projection_clip,) = dimensions("lstm", "projection_clip", (projection_clip,), 1, 0, 128)
    args.first_result = add_lstm_part(call, True, np.int8, (*around, values))
    add_operand(call, np.int8, (batch, values))
    add_operand(call, np.int16, (batch, cells))
    return call


def bind_svdf(*, str isa, batch, inputs, units, rank, memory, has_bias, x_zero_point, result_zero_point, multipliers):
    cdef KernelCall call = new_call("svdf", isa, qrt_svdf, sizeof(qrt_svdf_args))
    cdef qrt_svdf_args *args = <qrt_svdf_args *>call.args
    args.kernels = find_kernels("svdf", isa)
    call.outputs = 2
    batch, inputs, units, rank, memory = dimensions("svdf", "sizes", (batch, inputs, units, rank, memory))
    args.batch, args.inputs, args.units, args.rank, args.memory = batch, inputs, units, rank, memory
    dimensions("svdf", "rank and memory", (rank, memory), 2, 1)
    args.has_bias = has_bias
    args.x_zero_point, args.result_zero_point = dimensions(
        "svdf", "zero points", (x_zero_point, result_zero_point), 2, -128, 127
    )
    fill_multipliers(call, multipliers, 2, args.multiplier, args.shift)
    filters = units * rank
    add_operand(call, np.int8, (batch, inputs))
    add_operand(call, np.int8, (filters, inputs))
    add_operand(call, np.int16, (filters, memory))
    add_operand(call, np.int16, (batch, filters * memory))
    if has_bias:
        add_operand(call, np.int32, (units,))
    add_operand(call, np.int8, (batch, units))
    add_operand(call, np.int16, (batch, filters * memory))
    return call


cdef fill_columns(KernelCall call, qrt_dynamic_weights *weights, str name, str storage, object constant_weights,
                  object zero_points_of_columns, object scales, tuple shape):
    """Describe weights, which are an operand unless they are constant."""
    cdef qrt_gemm_problem *problem = &weights.gemm.problem
    cdef int64_t low, high
    choose(call.name, f"storage of {name}", {"i8": 1, "u8": 0}, storage)
    problem.b = <qrt_container>container_of(call.name, storage)
    problem.b_zero_point = zero_points(call, f"{name}_zero_points", zero_points_of_columns, shape[1])
    bounds_of(call, &low, &high)
    least, most = CONTAINER_BOUNDS[storage]
    if not least <= low <= high <= most:
        raise KernelError(f"{call.name}: {name}_zero_points must be from {least} to {most}, got values from {low} to {high}")
    weights.scales = <const float *>parameters(call, f"{name}_scales", scales, np.float32, shape[1])
    if constant_weights is None:
        add_operand(call, CONTAINERS[storage], shape)
    else:
        problem.b_constant = constant(call, f"the constant {name}", constant_weights, CONTAINERS[storage],
                                      element_count(call.name, shape))


def bind_dynamic_matmul(*, str isa, rows, depth, columns, str w, w_zero_points, w_scales, w_constant=None,
                        stored=None):
    cdef KernelCall call = new_call("dynamic_matmul", isa, qrt_dynamic_matmul, sizeof(qrt_dynamic_matmul_args))
    cdef qrt_dynamic_matmul_args *args = <qrt_dynamic_matmul_args *>call.args
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_status status
    args.kernels = find_kernels("dynamic_matmul", isa)
    rows, depth, columns = dimensions("dynamic_matmul", "sizes", (rows, depth, columns), 3, 0, (1 << 31) - 1)
    args.rows, args.depth, args.columns = rows, depth, columns
    add_operand(call, np.float32, (rows, depth))
    fill_columns(call, &args.w, "w", w, w_constant, w_zero_points, w_scales, (depth, columns))
    add_operand(call, np.float32, (rows, columns))
    call.release, call.packed_parts = qrt_dynamic_matmul_release, qrt_dynamic_matmul_packed
    with nogil:
        status = qrt_dynamic_matmul_prepare(args, &given)
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    return call


def bind_dynamic_lstm(*, str isa, steps, batch, inputs, cells, reverse, str w, w_zero_points, w_scales, str r,
                      r_zero_points, r_scales, w_constant=None, r_constant=None, stored=None):
    cdef KernelCall call = new_call("dynamic_lstm", isa, qrt_dynamic_lstm, sizeof(qrt_dynamic_lstm_args))
    cdef qrt_dynamic_lstm_args *args = <qrt_dynamic_lstm_args *>call.args
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_status status
    args.kernels = find_kernels("dynamic_lstm", isa)
    call.outputs = 3
    steps, batch, inputs, cells = dimensions("dynamic_lstm", "sizes", (steps, batch, inputs, cells), 4, 0, (1 << 29) - 1)
    args.steps, args.batch, args.inputs, args.cells = steps, batch, inputs, cells
    args.reverse = reverse
    columns = 4 * cells
    element_count("dynamic_lstm", (steps, batch, columns))  # the sums of all inputs
    add_operand(call, np.float32, (steps, batch, inputs))
    fill_columns(call, &args.w, "w", w, w_constant, w_zero_points, w_scales, (inputs, columns))
    fill_columns(call, &args.r, "r", r, r_constant, r_zero_points, r_scales, (cells, columns))
    add_operand(call, np.float32, (columns,))
    for results in (False, True):
        if results:
            add_operand(call, np.float32, (steps, batch, cells))
        add_operand(call, np.float32, (batch, cells))
        add_operand(call, np.float32, (batch, cells))
    call.release, call.packed_parts = qrt_dynamic_lstm_release, qrt_dynamic_lstm_packed
    with nogil:
        status = qrt_dynamic_lstm_prepare(args, &given)
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    return call
