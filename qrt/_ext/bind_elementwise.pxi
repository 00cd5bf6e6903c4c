# Casts, requantize, add, sub, mul, clamp.

cdef expressed_dtype(str name, str expressed):
    choose(name, "expressed type", EXPRESSED, expressed)
    if expressed == "bf16":
        import ml_dtypes  # NumPy has no bfloat16 of its own

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[expressed])


cdef KernelCall new_cast(str name, str isa, qrt_entry entry, str expressed, str storage, object shape, object block,
                   object step, object scales, object zero_point_values, str scale_mode="divide"):
    cdef KernelCall call = new_call(name, isa, entry, sizeof(qrt_cast_args))
    cdef qrt_cast_args *args = <qrt_cast_args *>call.args
    cdef qrt_cast_problem *problem = &args.problem
    cdef int64_t count
    args.kernels = find_kernels(name, isa)
    call.elementwise = True
    problem.expressed = <qrt_expressed>choose(name, "expressed type", EXPRESSED, expressed)
    problem.container = <qrt_container>container_of(name, storage)
    problem.scale_mode = <qrt_scale_mode>choose(name, "scale", SCALES, scale_mode)
    count = fill_layout(call, &problem.layout, dimensions(name, "shape", shape), block, step)
    problem.scale = <const double *>parameters(call, "scales", scales, np.float64, count)
    scale = last_parameters(call)
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise KernelError(f"{name}: scales are not positive and finite")
    problem.zero_point = zero_points(call, "zero_points", zero_point_values, count)
    plan_cast_parameters(call, args, expressed, scale, last_parameters(call), count)
    check_layout(call, qrt_cast_prepare(args))
    return call


cdef plan_cast_parameters(KernelCall call, qrt_cast_args *args, str expressed, object scale, object zero_point,
                          int64_t count):
    """Fill in each parameter in the precisions in which kernels compute."""
    cdef qrt_cast_plan *plan = &args.plan
    cdef qrt_expressed kind = args.problem.expressed
    if scale.size:
        plan.scale_least, plan.scale_most = scale.min(), scale.max()
    # A division in f32 starts from the f32 reciprocal, whatever the format of its result.
    form = expressed if args.problem.scale_mode == QRT_SCALE_RECIPROCAL or kind == QRT_F64 else "f32"
    with np.errstate(over="ignore"):
        reciprocal = numerics.round_to_format(1.0 / scale, form)
    rounded = numerics.round_to_format(zero_point.astype(np.float64), expressed)
    plan.finite_zero_points = np.isfinite(rounded).all()
    if kind != QRT_F64:
        plan.scale_f32 = <const float *>parameters(call, "scales", scale, np.float32, count)
        plan.reciprocal_f32 = <const float *>parameters(call, "reciprocals", reciprocal, np.float32, count)
        plan.zero_point_f32 = <const float *>parameters(call, "zero_points", rounded, np.float32, count)
        if zero_point.size and max(int(zero_point.max()), -int(zero_point.min())) < 1 << 24:
            plan.zero_point_i32 = <const int32_t *>parameters(call, "zero_points", zero_point, np.int32, count)
    if kind == QRT_F32 or kind == QRT_F64:
        plan.reciprocal_f64 = <const double *>parameters(call, "reciprocals", reciprocal, np.float64, count)
        plan.rounded_zero_point_f64 = <const double *>parameters(call, "zero_points", rounded, np.float64, count)
        plan.zero_point_f64 = <const double *>parameters(call, "zero_points", zero_point, np.float64, count)


def bind_qcast(*, str isa, str expressed, str storage, shape, block=None, step=None, scales, zero_points, storage_min,
               storage_max, str rounding, str zero_point, str scale):
    cdef KernelCall call = new_cast("qcast", isa, qrt_qcast, expressed, storage, shape, block, step, scales, zero_points, scale)
    cdef qrt_cast_problem *problem = &(<qrt_cast_args *>call.args).problem
    check_bounds("qcast", storage, storage_min, storage_max)
    problem.storage_min, problem.storage_max = storage_min, storage_max
    problem.rounding = <qrt_rounding>choose("qcast", "rounding", ROUNDINGS, rounding)
    problem.zero_point_order = <qrt_zero_point_order>choose("qcast", "zero_point", ZERO_POINTS, zero_point)
    shape = dimensions("qcast", "shape", shape)
    add_operand(call, expressed_dtype("qcast", expressed), shape)
    add_operand(call, CONTAINERS[storage], shape)
    return call


def bind_dcast(*, str isa, str expressed, str storage, shape, block=None, step=None, scales, zero_points):
    cdef KernelCall call = new_cast("dcast", isa, qrt_dcast, expressed, storage, shape, block, step, scales, zero_points)
    shape = dimensions("dcast", "shape", shape)
    add_operand(call, CONTAINERS[storage], shape)
    add_operand(call, expressed_dtype("dcast", expressed), shape)
    return call


cdef KernelCall new_unary(str name, str isa, qrt_entry entry, object storage, object out):
    cdef KernelCall call = new_call(name, isa, entry, sizeof(qrt_unary_args))
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    args.kernels = find_kernels(name, isa)
    call.elementwise, call.aliased = True, 1
    args.container = <qrt_container>container_of(name, storage)
    args.out = <qrt_container>container_of(name, out)
    return call


def bind_requantize(*, str isa, str storage, shape, block=None, step=None, zero_points, requant):
    cdef KernelCall call = new_unary("requantize", isa, qrt_requantize, storage, requant.storage)
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    cdef int64_t count
    shape = dimensions(call.name, "shape", shape)
    count = fill_layout(call, &args.layout, shape, block, step)
    args.zero_point = input_zero_points(call, zero_points, count)
    fill_requant(call, &args.requant, requant, count)
    prepare_layout(call, &args.layout, NULL, NULL)
    add_operand(call, CONTAINERS[storage], shape)
    add_operand(call, CONTAINERS[requant.storage], shape)
    return call


cdef const int64_t *input_zero_points(KernelCall call, object values, int64_t least) except NULL:
    """Call zero_points() where a parameter of that name hides the function."""
    return zero_points(call, "zero_points", values, least)


cdef tuple broadcast_shapes(str name, tuple a, tuple b):
    """Return the broadcast shape. `np.broadcast_shapes` accepts 32 dimensions at most."""
    cdef int d, rank = max(len(a), len(b))
    cdef list shape = []
    if rank > QRT_MAX_RANK:
        raise KernelError(f"{name}: the shapes {a} and {b} are beyond {QRT_MAX_RANK} dimensions")
    for d in range(rank):
        x = a[d - rank + len(a)] if d >= rank - len(a) else 1
        y = b[d - rank + len(b)] if d >= rank - len(b) else 1
        if x != y and x != 1 and y != 1:
            raise KernelError(f"{name}: the shapes {a} and {b} do not broadcast")
        shape.append(y if x == 1 else x)
    return tuple(shape)


cdef broadcast_strides(int64_t *strides, tuple shape, int rank):
    """Return the element strides of a C-contiguous operand along `rank` result axes, 0 where it is repeated."""
    cdef int d
    cdef int64_t stride = 1
    for d in range(rank):
        strides[d] = 0
    for d in range(len(shape)):
        size = shape[len(shape) - 1 - d]
        strides[rank - 1 - d] = 0 if size == 1 else stride
        stride *= size


def bind_binary(*, str isa, str kind, str a, str b, a_shape, b_shape, a_zero_points, b_zero_points, requant,
                a_multipliers=None, b_multipliers=None, a_shifts=None, b_shifts=None, left_shift=0, rounding_block=0,
                a_scales=None, b_scales=None, block=None, step=None):
    cdef KernelCall call
    cdef qrt_binary_args *args
    cdef int64_t count
    cdef int number = choose("binary", "kind", KINDS, kind)
    call = new_call(kind, isa, qrt_binary, sizeof(qrt_binary_args))
    args = <qrt_binary_args *>call.args
    args.kernels = find_kernels(kind, isa)
    call.elementwise, call.aliased = True, 2
    args.kind = <qrt_binary_kind>number
    args.a, args.b = <qrt_container>container_of(kind, a), <qrt_container>container_of(kind, b)
    a_shape, b_shape = dimensions(kind, "a_shape", a_shape), dimensions(kind, "b_shape", b_shape)
    shape = broadcast_shapes(kind, a_shape, b_shape)
    count = fill_layout(call, &args.layout, shape, block, step)
    args.a_zero_point = zero_points(call, "a_zero_points", a_zero_points, count)
    args.b_zero_point = zero_points(call, "b_zero_points", b_zero_points, count)
    if kind != "mul":
        if a_multipliers is None or b_multipliers is None:
            raise KernelError(f"{kind}: a_multipliers and b_multipliers are required")
        args.a_multiplier = <const int64_t *>parameters(call, "a_multipliers", a_multipliers, np.int64, count)
        args.b_multiplier = <const int64_t *>parameters(call, "b_multipliers", b_multipliers, np.int64, count)
        if requant.rule == "fixed_double":
            args.a_shift = right_shifts(call, "a_shifts", a_shifts, count)
            args.b_shift = right_shifts(call, "b_shifts", b_shifts, count)
            (args.left_shift,) = dimensions(kind, "left_shift", (left_shift,), 1, 0, 20)
            (args.block,) = dimensions(kind, "rounding_block", (rounding_block,), 1, 0, 1 << 20)
            if args.block and (count > 1 or len(shape) != 1 or a_shape != b_shape):
                raise KernelError(f"{kind}: blocks need two rows of one length, per layer")
        elif requant.rule == "raw_mean" and a_scales is not None and b_scales is not None:
            args.a_scale = <const float *>parameters(call, "a_scales", a_scales, np.float32, count)
            check_factors(call)
            args.b_scale = <const float *>parameters(call, "b_scales", b_scales, np.float32, count)
            check_factors(call)
        elif requant.rule != "fixed":
            raise KernelError(f"{kind}: the rule of a sum is fixed, fixed_double or fused, not {requant.rule}")
    fill_requant(call, &args.requant, requant, count)
    broadcast_strides(args.a_strides, a_shape, len(shape))
    broadcast_strides(args.b_strides, b_shape, len(shape))
    prepare_layout(call, &args.layout, args.a_strides, args.b_strides)
    add_operand(call, CONTAINERS[a], a_shape)
    add_operand(call, CONTAINERS[b], b_shape)
    add_operand(call, CONTAINERS[requant.storage], shape)
    return call


cdef check_factors(KernelCall call):
    """Raise KernelError unless the last `parameters` are below 2**64: no sum of two products then overflows float32."""
    if not (np.abs(last_parameters(call)) < 2.0**64).all():
        raise KernelError(f"{call.name}: the scales are not within 2**64")


cdef const int32_t *right_shifts(KernelCall call, str what, object values, int64_t least) except NULL:
    """Return the shifts of the rule fixed_double; raise KernelError for a shift to the left."""
    if values is None:
        raise KernelError(f"{call.name}: {what} are required")
    cdef const int32_t *found = <const int32_t *>parameters(call, what, values, np.int32, least)
    shift = last_parameters(call)
    if shift.size and (shift.max() > 0 or shift.min() < -31):
        raise KernelError(f"{call.name}: {what} are not within -31 and 0")
    return found


def bind_pair(*, str isa, str kind, str a, str b, str out, a_shape, b_shape, table=None, zero_points=(0, 0),
              requant=None):
    cdef int number = choose("pair", "kind", PAIR_KINDS, kind)
    cdef const int64_t *points
    cdef KernelCall call = new_call(kind, isa, qrt_pair, sizeof(qrt_pair_args))
    cdef qrt_pair_args *args = <qrt_pair_args *>call.args
    args.kernels = find_kernels(kind, isa)
    call.elementwise, call.aliased = True, 2
    args.kind = <qrt_pair_kind>number
    args.a, args.b = <qrt_container>container_of(kind, a), <qrt_container>container_of(kind, b)
    args.out = <qrt_container>container_of(kind, out)
    if args.kind == QRT_TABLE_OF_PAIRS:
        byte_container(call, a)
        byte_container(call, b)
        if table is None:
            raise KernelError(f"{kind}: the table is required")
        args.table = constant(call, "the table", table, CONTAINERS[out], 1 << 16)
    elif args.kind == QRT_PRELU:
        if requant is None or requant.storage != out:
            raise KernelError(f"{kind}: a requantization to {out} is required")
        points = input_zero_points(call, zero_points, 2)
        args.a_zero_point, args.b_zero_point = points[0], points[1]
        fill_requant(call, &args.requant, requant, 2)
    elif not a == b == out:
        raise KernelError(f"{kind}: the storage differs: {a}, {b}, {out}")
    a_shape, b_shape = dimensions(kind, "a_shape", a_shape), dimensions(kind, "b_shape", b_shape)
    shape = broadcast_shapes(kind, a_shape, b_shape)
    fill_layout(call, &args.layout, shape, None, None)
    broadcast_strides(args.a_strides, a_shape, len(shape))
    broadcast_strides(args.b_strides, b_shape, len(shape))
    prepare_layout(call, &args.layout, args.a_strides, args.b_strides)
    add_operand(call, CONTAINERS[a], a_shape)
    add_operand(call, CONTAINERS[b], b_shape)
    add_operand(call, CONTAINERS[out], shape)
    return call


def bind_leaky_relu(*, str isa, str storage, size, zero_point, requant):
    cdef KernelCall call = new_unary("leaky_relu", isa, qrt_leaky_relu, storage, requant.storage)
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    shape = dimensions("leaky_relu", "size", (size,))
    fill_layout(call, &args.layout, shape, None, None)
    args.zero_point = input_zero_points(call, [zero_point], 1)
    fill_requant(call, &args.requant, requant, 2)
    prepare_layout(call, &args.layout, NULL, NULL)
    add_operand(call, CONTAINERS[storage], shape)
    add_operand(call, CONTAINERS[requant.storage], shape)
    return call


def bind_clamp(*, str isa, str storage, shape, lower, upper, block=None, step=None):
    cdef KernelCall call = new_unary("clamp", isa, qrt_clamp, storage, storage)
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    cdef int64_t count
    shape = dimensions("clamp", "shape", shape)
    count = fill_layout(call, &args.layout, shape, block, step)
    args.lower = <const int64_t *>parameters(call, "lower", lower, np.int64, count)
    low = last_parameters(call)
    args.upper = <const int64_t *>parameters(call, "upper", upper, np.int64, count)
    high = last_parameters(call)
    info = np.iinfo(CONTAINERS[storage])
    if low.size != high.size or not ((info.min <= low) & (low <= high) & (high <= info.max)).all():
        raise KernelError(f"clamp: the bounds are empty or not within {storage}")
    prepare_layout(call, &args.layout, NULL, NULL)
    add_operand(call, CONTAINERS[storage], shape)
    add_operand(call, CONTAINERS[storage], shape)
    return call
