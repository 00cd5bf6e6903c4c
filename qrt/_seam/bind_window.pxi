# Windows over NHWC images, and pooling.

cdef fill_window(Call call, qrt_window *window, tuple x_shape, object kernel, object strides, object padding,
                 object dilations):
    """Everything but groups. The extents stay far from overflow: sizes, paddings and dilations are below 2**31."""
    cdef int64_t most = (1 << 31) - 1
    cdef int i
    kernel = dimensions(call.name, "kernel", kernel, 2, 1, most)
    strides = dimensions(call.name, "strides", strides, 2, 1, most)
    dilations = dimensions(call.name, "dilations", dilations, 2, 1, most)
    sides = [dimensions(call.name, "padding", pair, 2, 0, most) for pair in padding]
    if len(sides) != 2:
        raise KernelError(f"{call.name}: padding has {len(sides)} entries, expected 2")
    window.images, window.height, window.width, window.channels = x_shape
    out = []
    for i in range(2):
        window.kernel[i], window.strides[i], window.dilations[i] = kernel[i], strides[i], dilations[i]
        window.padding[i] = sides[i][0]
        extent = (kernel[i] - 1) * dilations[i] + 1
        out.append(max((x_shape[1 + i] + sum(sides[i]) - extent) // strides[i] + 1, 0))
    window.out_height, window.out_width = dimensions(call.name, "the output size", out)
    window.groups = 1


cdef check_windows_are_valid(Call call, const qrt_window *window):
    """Pooling reads what lies inside the input: every window must hold some of it."""
    if window.images * window.out_height * window.out_width == 0:
        return
    for axis, size, out in ((0, window.height, window.out_height), (1, window.width, window.out_width)):
        last = (out - 1) * window.strides[axis] - window.padding[axis]
        if window.padding[axis] >= window.kernel[axis] or last >= size:
            raise KernelError(f"{call.name}: a window along axis {axis + 1} lies in the padding alone")


cdef Call new_pool(str name, str isa, qrt_entry entry, str storage, object x_shape, object kernel, object strides,
                   object padding):
    cdef Call call = new_call(name, isa, entry, sizeof(qrt_pool_args))
    cdef qrt_pool_args *args = <qrt_pool_args *>call.args
    args.kernels = find_kernels(name, isa)
    args.container = <qrt_container>container_of(name, storage)
    x_shape = dimensions(name, "x_shape", x_shape, 4)
    element_count(name, x_shape)
    fill_window(call, &args.window, x_shape, kernel, strides, padding, (1, 1))
    check_windows_are_valid(call, &args.window)
    add_operand(call, CONTAINERS[storage], x_shape)
    return call


cdef tuple pooled_shape(const qrt_window *window):
    return window.images, window.out_height, window.out_width, window.channels


def bind_avg_pool2d(*, str isa, str storage, x_shape, kernel, strides, padding, zero_points, requant, count_step,
                    channel_step=0):
    cdef Call call = new_pool("avg_pool2d", isa, qrt_avg_pool2d, storage, x_shape, kernel, strides, padding)
    cdef qrt_pool_args *args = <qrt_pool_args *>call.args
    largest = min(args.window.kernel[0], args.window.height) * min(args.window.kernel[1], args.window.width)
    args.zero_point = input_zero_points(call, zero_points, 1)
    if last_parameters(call).size != 1:
        args.zero_point = input_zero_points(call, zero_points, args.window.channels)
        args.zero_point_step = 1
    args.count_step, args.channel_step = dimensions(call.name, "count_step, channel_step", (count_step, channel_step))
    reached = 1 + (max(largest, 1) - 1) * count_step + (max(args.window.channels, 1) - 1) * channel_step
    fill_requant(call, &args.requant, requant, parameter_count(call.name, reached))
    if largest > 1 << 22:
        raise KernelError(f"avg_pool2d: a window of {largest} elements could pass a 64-bit sum")
    add_operand(call, CONTAINERS[requant.storage], pooled_shape(&args.window))
    return call


def bind_max_pool2d(*, str isa, str storage, x_shape, kernel, strides, padding):
    cdef Call call = new_pool("max_pool2d", isa, qrt_max_pool2d, storage, x_shape, kernel, strides, padding)
    add_operand(call, CONTAINERS[storage], pooled_shape(&(<qrt_pool_args *>call.args).window))
    return call
