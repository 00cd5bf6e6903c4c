# lookups, mean, softmax: tables and sums along axes.

cdef int byte_container(KernelCall call, object storage) except -1:
    if storage not in ("i8", "u8"):
        raise KernelError(f"{call.name}: the storage for a table must be i8 or u8, got {storage!r}")
    return container_of(call.name, storage)


def bind_lookup(*, str isa, str storage, width, str out, size, table=None, tail_table=None, block=1):
    cdef KernelCall call = new_unary("lookup", isa, qrt_lookup, storage, out)
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    byte_container(call, storage)
    (args.width,) = dimensions("lookup", "width", (width,), 1, 1, 8)
    shape = dimensions("lookup", "size", (size,))
    fill_layout(call, &args.layout, shape, None, None)
    prepare_layout(call, &args.layout, NULL, NULL)
    add_operand(call, CONTAINERS[storage], shape)
    if table is None:
        add_operand(call, CONTAINERS[out], (1 << args.width,))
    else:
        args.table = constant(call, "the table", table, CONTAINERS[out], 1 << args.width)
    if tail_table is not None:
        if table is None:
            raise KernelError("lookup: with tail_table, expected a table too")
        args.tail_table = constant(call, "the tail_table", tail_table, CONTAINERS[out], 1 << args.width)
        (args.block,) = dimensions("lookup", "block", (block,), 1, 1, 1 << 20)
    add_operand(call, CONTAINERS[out], shape)
    return call


def bind_lookup_interpolated(*, str name="lookup_interpolated", str isa, fraction, size, table=None):
    cdef KernelCall call = new_unary(name, isa, qrt_lookup_interpolated, "i16", "i16")
    cdef qrt_unary_args *args = <qrt_unary_args *>call.args
    (args.fraction,) = dimensions(name, "fraction", (fraction,), 1, 0, 15)
    shape, entries = dimensions(name, "size", (size,)), (1 << (16 - args.fraction)) + 1
    fill_layout(call, &args.layout, shape, None, None)
    prepare_layout(call, &args.layout, NULL, NULL)
    add_operand(call, np.int16, shape)
    if table is None:
        add_operand(call, np.int16, (entries,))
    else:
        args.entries = <const int16_t *>constant(call, "the table", table, np.int16, entries)
    add_operand(call, np.int16, shape)
    return call


cdef list joined_axes(x_shape, axes):
    """Return (size, stride) of the axes ``axes`` of an array. Neighbours are joined to one axis."""
    joined, stride = [], 1
    for d in reversed(range(len(x_shape))):
        if d in axes:
            if d + 1 in axes:
                joined[0] = joined[0][0] * x_shape[d], joined[0][1]
            else:
                joined.insert(0, (x_shape[d], stride))
        stride *= x_shape[d]
    return joined


def bind_mean(*, str isa, str storage, x_shape, axes, zero_points, requant, step=None):
    cdef KernelCall call = new_call("mean", isa, qrt_mean, sizeof(qrt_mean_args))
    cdef qrt_mean_args *args = <qrt_mean_args *>call.args
    cdef int64_t stride, count
    cdef int d, kept
    args.kernels = find_kernels("mean", isa)
    args.container = <qrt_container>container_of("mean", storage)
    x_shape = dimensions("mean", "x_shape", x_shape)
    element_count("mean", x_shape)
    axes = dimensions("mean", "axes", axes, -1, 0, len(x_shape) - 1)
    shape = tuple(x_shape[d] for d in range(len(x_shape)) if d not in axes)
    reduced = tuple(x_shape[d] for d in range(len(x_shape)) if d in axes)
    count = fill_layout(call, &args.layout, shape, None, step)
    args.zero_point = input_zero_points(call, zero_points, count)
    zp = last_parameters(call)
    fill_requant(call, &args.requant, requant, count)
    args.count = element_count("mean", reduced)
    info = np.iinfo(CONTAINERS[storage])
    if zp.size and args.count * (info.max - info.min + max(int(zp.max()), -int(zp.min()))) >= 1 << 63:
        raise KernelError(f"mean: a sum of {args.count} elements could overflow 64 bits")
    if args.count == 0 and element_count("mean", shape):
        raise KernelError("mean: expected a sum of at least one element")

    joined = joined_axes(x_shape, axes)
    args.reduced_rank = len(joined)
    for d, (size, stride) in enumerate(joined):
        args.reduced_shape[d], args.reduced_strides[d] = size, stride
    kept, stride = len(shape), 1
    for d in reversed(range(len(x_shape))):
        if d not in axes:
            kept -= 1
            args.x_strides[kept] = stride
        stride *= x_shape[d]
    prepare_layout(call, &args.layout, args.x_strides, NULL)
    add_operand(call, CONTAINERS[storage], x_shape)
    add_operand(call, CONTAINERS[requant.storage], shape)
    return call


cdef dict SOFTMAX_RULES = {
    ("softmax", "table_int32"): QRT_SOFTMAX_INT32, ("softmax", "table_float32"): QRT_SOFTMAX_FLOAT32,
    ("softmax", "gemmlowp"): QRT_SOFTMAX_GEMMLOWP, ("softmax", "table_int16"): QRT_SOFTMAX_INT16,
    ("softmax", "table_shifted"): QRT_SOFTMAX_SHIFTED,
    ("log_softmax", "table_float32"): QRT_LOG_SOFTMAX_FLOAT32, ("log_softmax", "gemmlowp"): QRT_LOG_SOFTMAX_GEMMLOWP,
}


def bind_softmax(*, str name="softmax", str rule="table_int32", str isa, str storage, x_shape, axis, table=None,
                 str out, storage_min, storage_max, zero_point, scale, input_scale=1.0, scaled=None, multiplier=0,
                 shift=0, radius=0):
    cdef KernelCall call = new_call(name, isa, qrt_softmax, sizeof(qrt_softmax_args))
    cdef qrt_softmax_args *args = <qrt_softmax_args *>call.args
    args.kernels = find_kernels(name, isa)
    if (name, rule) not in SOFTMAX_RULES:
        raise KernelError(f"{name}: unknown rule {rule!r}")
    args.rule = SOFTMAX_RULES[name, rule]
    args.out = <qrt_container>container_of(name, out)
    x_shape = dimensions(name, "x_shape", x_shape)
    (axis,) = dimensions(name, "axis", (axis,), 1, 0, len(x_shape) - 1)
    args.outer = element_count(name, x_shape[:axis])
    args.size = x_shape[axis]
    args.inner = element_count(name, x_shape[axis + 1:])
    most = {QRT_SOFTMAX_INT32: 1 << 32, QRT_SOFTMAX_GEMMLOWP: 1 << 12, QRT_LOG_SOFTMAX_GEMMLOWP: 1 << 12,
            QRT_SOFTMAX_INT16: 1 << 16}
    if args.size >= most.get(args.rule, args.size + 1):
        raise KernelError(f"{name}: with the rule {rule}, a sum of {args.size} elements could overflow")
    check_bounds(name, out, storage_min, storage_max)
    args.storage_min, args.storage_max = storage_min, storage_max
    args.zero_point = input_zero_points(call, [zero_point], 1)[0]
    args.scale = (<const double *>parameters(call, "scale", [scale], np.float64, 1))[0]
    args.input_scale = (<const float *>parameters(call, "input_scale", [input_scale], np.float32, 1))[0]
    if not 0 < scale < float("inf"):
        raise KernelError(f"{name}: the scale must be positive and finite, got {scale}")
    (args.multiplier,) = dimensions(name, "multiplier", (multiplier,), 1, 0, (1 << 31) - 1)
    (args.shift,) = dimensions(name, "shift", (shift,), 1, -31, 31)
    (args.radius,) = dimensions(name, "radius", (radius,), 1, 0, 1 << 31)
    fill_softmax_tables(call, args, storage, table, scaled)
    add_operand(call, CONTAINERS[storage], x_shape)
    add_operand(call, CONTAINERS[out], x_shape)
    return call


cdef fill_softmax_tables(KernelCall call, qrt_softmax_args *args, str storage, object table, object scaled):
    """Fill in the tables of a rule; check that every sum fits and that the entry of the largest value is not 0."""
    if args.rule == QRT_SOFTMAX_INT16:
        if storage != "i16":
            raise KernelError(f"{call.name}: the storage for these tables must be i16, got {storage!r}")
        args.container = QRT_I16
        args.exponential = <const int16_t *>parameters(call, "exponential", table[0], np.int16, 513)
        if (last_parameters(call) < 0).any() or last_parameters(call)[512] < 1 << 14:
            raise KernelError(
                f"{call.name}: the table of exponentials must not have negative entries, or a last entry that "
                "is too small"
            )
        args.reciprocal = <const int16_t *>parameters(call, "reciprocal", table[1], np.int16, 513)
        return
    args.container = <qrt_container>byte_container(call, storage)
    if args.rule in (QRT_SOFTMAX_FLOAT32, QRT_LOG_SOFTMAX_FLOAT32, QRT_SOFTMAX_SHIFTED):
        args.table_f32 = <const float *>parameters(call, "table", table, np.float32, 256)
        largest = float(np.finfo(np.float32).max) if args.rule == QRT_SOFTMAX_SHIFTED else 1
    else:
        args.table = <const int32_t *>parameters(call, "table", table, np.int32, 256)
        largest = 1 << 30 if args.rule == QRT_SOFTMAX_INT32 else (1 << 31) - 1
    entries = last_parameters(call)
    if not ((entries >= 0) & (entries <= largest)).all() or entries[0] == 0:
        raise KernelError(f"{call.name}: the entries of the table must be from 0 to {largest}, and the first above 0")
    if args.table_f32 == NULL and args.rule != QRT_SOFTMAX_INT32 and entries[0] != largest:
        raise KernelError(f"{call.name}: the first entry of the table must be {largest}, got {entries[0]}")
    if args.rule == QRT_LOG_SOFTMAX_GEMMLOWP:
        args.scaled = <const int32_t *>parameters(call, "scaled", scaled, np.int32, 256)
