# lookup, mean, softmax: tables and sums along axes.

cdef int byte_container(Call call, object storage) except -1:
    if storage not in ("i8", "u8"):
        raise KernelError(f"{call.name}: a table takes storage of 8 bits, i8 or u8, not {storage!r}")
    return container_of(call.name, storage)


def bind_lookup(*, str isa, str storage, width, str out, size, table=None, tail_table=None, block=1):
    cdef Call call = new_unary("lookup", isa, qrt_lookup, storage, out)
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
            raise KernelError("lookup: a tail_table needs a table")
        args.tail_table = constant(call, "the tail_table", tail_table, CONTAINERS[out], 1 << args.width)
        (args.block,) = dimensions("lookup", "block", (block,), 1, 1, 1 << 20)
    add_operand(call, CONTAINERS[out], shape)
    return call


def bind_mean(*, str isa, str storage, x_shape, axes, zero_points, requant, step=None):
    cdef Call call = new_call("mean", isa, qrt_mean, sizeof(qrt_mean_args))
    cdef qrt_mean_args *args = <qrt_mean_args *>call.args
    cdef int64_t stride = 1, count
    cdef int d, kept, summed
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
        raise KernelError(f"mean: a sum of {args.count} elements could pass 64 bits")
    if args.count == 0 and element_count("mean", shape):
        raise KernelError("mean: a sum over no element")

    args.reduced_rank = len(reduced)
    kept, summed = len(shape), len(reduced)
    for d in reversed(range(len(x_shape))):
        if d in axes:
            summed -= 1
            args.reduced_shape[summed], args.reduced_strides[summed] = x_shape[d], stride
        else:
            kept -= 1
            args.x_strides[kept] = stride
        stride *= x_shape[d]
    prepare_layout(call, &args.layout, args.x_strides, NULL)
    add_operand(call, CONTAINERS[storage], x_shape)
    add_operand(call, CONTAINERS[requant.storage], shape)
    return call


def bind_softmax(*, str isa, str storage, x_shape, axis, table, str out, storage_min, storage_max, zero_point, scale):
    cdef Call call = new_call("softmax", isa, qrt_softmax, sizeof(qrt_softmax_args))
    cdef qrt_softmax_args *args = <qrt_softmax_args *>call.args
    args.kernels = find_kernels("softmax", isa)
    args.container = <qrt_container>byte_container(call, storage)
    args.out = <qrt_container>container_of("softmax", out)
    x_shape = dimensions("softmax", "x_shape", x_shape)
    (axis,) = dimensions("softmax", "axis", (axis,), 1, 0, len(x_shape) - 1)
    args.outer = element_count("softmax", x_shape[:axis])
    args.size = x_shape[axis]
    args.inner = element_count("softmax", x_shape[axis + 1:])
    if args.size >= 1 << 32:
        raise KernelError(f"softmax: a sum of {args.size} elements could pass 62 bits")
    args.table = <const int32_t *>parameters(call, "table", table, np.int32, 256)
    entries = last_parameters(call)
    if not ((entries >= 0) & (entries <= 1 << 30)).all() or entries[0] == 0:
        raise KernelError("softmax: the table goes beyond 0 and 2**30, or begins with 0")
    check_bounds("softmax", out, storage_min, storage_max)
    args.storage_min, args.storage_max = storage_min, storage_max
    args.zero_point = input_zero_points(call, [zero_point], 1)[0]
    args.scale = (<const double *>parameters(call, "scale", [scale], np.float64, 1))[0]
    if not 0 < scale < float("inf"):
        raise KernelError(f"softmax: the scale {scale} is not positive and finite")
    add_operand(call, CONTAINERS[storage], x_shape)
    add_operand(call, CONTAINERS[out], x_shape)
    return call
