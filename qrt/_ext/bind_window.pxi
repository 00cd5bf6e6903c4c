# Windows over NHWC images, pooling, depthwise convolution.

def window_count(size, kernel, padding, stride, dilation):
    return (size + sum(padding) - (kernel - 1) * dilation - 1) // stride + 1


cdef fill_window(KernelCall call, qrt_window *window, tuple x_shape, object kernel, object strides, object padding,
                 object dilations):
    """Fill in a window without its groups. Extents cannot overflow: sizes, paddings and dilations are below 2**31."""
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
        out.append(max(window_count(x_shape[1 + i], kernel[i], sides[i], strides[i], dilations[i]), 0))
    window.out_height, window.out_width = dimensions(call.name, "the output size", out)
    window.groups = 1


cdef check_windows_are_valid(KernelCall call, const qrt_window *window):
    """Check that every window contains an element of the input, because pooling does not read padding."""
    if window.images * window.out_height * window.out_width == 0:
        return
    for axis, size, out in ((0, window.height, window.out_height), (1, window.width, window.out_width)):
        last = (out - 1) * window.strides[axis] - window.padding[axis]
        if size == 0 or window.padding[axis] >= window.kernel[axis] or last >= size:
            raise KernelError(f"{call.name}: along axis {axis + 1}, a window would contain padding alone")


cdef KernelCall new_pool(str name, str isa, qrt_entry entry, str storage, object x_shape, object kernel, object strides,
                   object padding):
    cdef KernelCall call = new_call(name, isa, entry, sizeof(qrt_pool_args))
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
                    channel_step=0, str order="rows"):
    cdef KernelCall call = new_pool("avg_pool2d", isa, qrt_avg_pool2d, storage, x_shape, kernel, strides, padding)
    cdef qrt_pool_args *args = <qrt_pool_args *>call.args
    largest = min(args.window.kernel[0], args.window.height) * min(args.window.kernel[1], args.window.width)
    args.zero_point = input_zero_points(call, zero_points, 1)
    if last_count(call) != 1:
        args.zero_point = input_zero_points(call, zero_points, args.window.channels)
        args.zero_point_step = 1
    count_step, channel_step = dimensions(call.name, "count_step, channel_step", (count_step, channel_step))
    args.count_step, args.channel_step = count_step, channel_step
    reached = 1 + (max(largest, 1) - 1) * count_step + (max(args.window.channels, 1) - 1) * channel_step
    fill_requant(call, &args.requant, requant, parameter_count(call.name, reached), "floats")
    args.order = <qrt_sum_order>choose(call.name, "order", SUM_ORDERS, order)
    if largest > 1 << 22:
        raise KernelError(f"avg_pool2d: the sum of a window of {largest} elements could overflow 64 bits")
    add_operand(call, CONTAINERS[requant.storage], pooled_shape(&args.window))
    return call


def bind_max_pool2d(*, str isa, str storage, x_shape, kernel, strides, padding):
    cdef KernelCall call = new_pool("max_pool2d", isa, qrt_max_pool2d, storage, x_shape, kernel, strides, padding)
    add_operand(call, CONTAINERS[storage], pooled_shape(&(<qrt_pool_args *>call.args).window))
    return call


def bind_depthwise_conv2d(*, str isa, str x, str w, x_shape, w_shape, x_zero_point, w_zero_points, requant,
                          strides, padding, dilations, channels_first=False, w_constant=None, bias=None, stored=None):
    cdef KernelCall call = new_call("depthwise_conv2d", isa, qrt_depthwise_conv2d, sizeof(qrt_depthwise_args))
    cdef qrt_depthwise_args *args = <qrt_depthwise_args *>call.args
    cdef qrt_depthwise_problem *problem = &args.problem
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_status status
    args.kernels = find_kernels(call.name, isa)
    problem.x, problem.w = <qrt_container>container_of(call.name, x), <qrt_container>container_of(call.name, w)
    x_shape, w_shape = dimensions(call.name, "x_shape", x_shape, 4), dimensions(call.name, "w_shape", w_shape, 3)
    element_count(call.name, x_shape)
    element_count(call.name, w_shape)
    kernel, channels, out_channels = w_shape[:2], x_shape[3], w_shape[2]
    if channels_first:
        kernel, out_channels = w_shape[1:], w_shape[0]
    fill_window(call, &problem.window, x_shape, kernel, strides, padding, dilations)
    if out_channels % max(channels, 1) or out_channels >= 1 << 31 or (out_channels and not channels):
        raise KernelError(f"{call.name}: weights {w_shape} do not match the input {x_shape}")
    problem.out_channels, problem.multiplier = out_channels, out_channels // max(channels, 1)
    problem.w_tap_step, problem.w_channel_step = out_channels, 1
    if channels_first:
        problem.w_tap_step, problem.w_channel_step = 1, kernel[0] * kernel[1]
    out_shape = (x_shape[0], problem.window.out_height, problem.window.out_width, out_channels)
    element_count(call.name, out_shape)

    problem.x_zero_point = zero_points(call, "x_zero_point", [x_zero_point], 1)
    problem.w_zero_point = zero_points(call, "w_zero_points", w_zero_points, 1)
    problem.w_zero_point_step = channel_step(call, "w_zero_points", last_count(call), out_channels)
    count = np.size(requant.zero_point)
    fill_requant(call, &problem.requant, requant, count)
    problem.requant_step = channel_step(call, "requant", count, out_channels)
    bias_dtype = bind_bias(call, &problem.bias, &problem.bias_constant, bias, out_channels)
    if problem.bias == QRT_BIAS_F32:
        raise KernelError(f"{call.name}: a float bias is only for sub-channel weights")
    add_operand(call, CONTAINERS[x], x_shape)
    if w_constant is None:
        add_operand(call, CONTAINERS[w], w_shape)
    else:
        problem.w_constant = constant(call, "the constant weights", w_constant, CONTAINERS[w],
                                   element_count(call.name, w_shape))
    if bias_dtype is not None:
        add_operand(call, bias_dtype, (out_channels,))
    add_operand(call, CONTAINERS[requant.storage], out_shape)
    call.release, call.packed_parts = qrt_depthwise_release, qrt_depthwise_packed
    problem.stored = &given
    with nogil:
        status = qrt_depthwise_prepare(args)
    problem.stored = NULL
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    return call


def bind_transpose_conv2d(*, str isa, str x, str w, x_shape, w_shape, out_size, x_zero_point, w_zero_points, requant,
                          strides, padding, w_constant=None, bias=None):
    cdef KernelCall call = new_call("transpose_conv2d", isa, qrt_transpose_conv2d, sizeof(qrt_transpose_conv_args))
    cdef qrt_transpose_conv_args *args = <qrt_transpose_conv_args *>call.args
    cdef int64_t most = (1 << 31) - 1
    cdef int i
    args.kernels = find_kernels(call.name, isa)
    args.x, args.w = <qrt_container>container_of(call.name, x), <qrt_container>container_of(call.name, w)
    x_shape = dimensions(call.name, "x_shape", x_shape, 4, 0, most)
    w_shape = dimensions(call.name, "w_shape", w_shape, 4, 0, most)
    out_size = dimensions(call.name, "out_size", out_size, 2, 0, most)
    strides = dimensions(call.name, "strides", strides, 2, 1, most)
    padding = dimensions(call.name, "padding", padding, 2, 0, most)
    out_shape = (x_shape[0], *out_size, w_shape[0])
    for shape in (x_shape, w_shape, out_shape):
        element_count(call.name, shape)
    if x_shape[3] != w_shape[3] or 0 in w_shape[1:3]:
        raise KernelError(f"{call.name}: weights {w_shape} do not match the input {x_shape}")
    args.images, args.height, args.width, args.channels = x_shape
    args.out_height, args.out_width = out_size
    args.out_channels = w_shape[0]
    for i in range(2):
        args.kernel[i], args.strides[i], args.padding[i] = w_shape[1 + i], strides[i], padding[i]
    args.x_zero_point = zero_points(call, "x_zero_point", [x_zero_point], 1)
    args.w_zero_point = zero_points(call, "w_zero_points", w_zero_points, 1)
    args.w_zero_point_step = channel_step(call, "w_zero_points", last_count(call), args.out_channels)
    count = np.size(requant.zero_point)
    fill_requant(call, &args.requant, requant, count)
    args.requant_step = channel_step(call, "requant", count, args.out_channels)
    bias_dtype = bind_bias(call, &args.bias, &args.bias_constant, bias, args.out_channels)
    if args.bias == QRT_BIAS_F32:
        raise KernelError(f"{call.name}: a float bias is only for sub-channel weights")
    add_operand(call, CONTAINERS[x], x_shape)
    if w_constant is None:
        add_operand(call, CONTAINERS[w], w_shape)
    else:
        args.w_constant = constant(call, "the constant weights", w_constant, CONTAINERS[w],
                                   element_count(call.name, w_shape))
    if bias_dtype is not None:
        add_operand(call, bias_dtype, (args.out_channels,))
    add_operand(call, CONTAINERS[requant.storage], out_shape)
    if w_constant is not None:
        add_phases(call, isa, x, w, x_shape, w_shape, x_zero_point, w_zero_points, requant, w_constant, bias)
    return call


cdef tuple taps_of_phase(object position, object size, object kernel, object stride, object out):
    """Return (first tap, number of taps, padding of the convolution, number of result pixels) of a phase of one axis.

    `position` is the position of the phase's first pixel, before anything is cut off. Return None if no tap reaches the
    phase, or if the convolution would begin inside of the image.
    """
    first = position % stride
    taps = -(-(kernel - first) // stride)
    before = taps - 1 - position // stride
    if taps < 1 or before < 0:
        return None
    behind = max(out - 1 + position // stride - (size - 1), 0)
    return first, taps, (before, behind), out


cdef add_phases(KernelCall call, str isa, str x, str w, tuple x_shape, tuple w_shape, object x_zero_point,
                object w_zero_points, object requant, object w_constant, object bias):
    """Add the convolution of each phase, unless some pixel of the result needs another computation."""
    cdef qrt_transpose_conv_args *args = <qrt_transpose_conv_args *>call.args
    cdef qrt_transpose_conv_phase *phases
    cdef KernelCall conv
    cdef int i
    if not CONTAINER_BOUNDS[x][0] <= x_zero_point <= CONTAINER_BOUNDS[x][1] or 0 in x_shape or w_shape[0] == 0:
        return
    sizes = (args.out_height, args.out_width)
    axes = []
    for i in range(2):
        stride, out = args.strides[i], sizes[i]
        if out < 1:
            return
        axes.append([
            taps_of_phase(start + args.padding[i], x_shape[1 + i], w_shape[1 + i], stride, -(-(out - start) // stride))
            for start in range(min(stride, out))
        ])
    if None in axes[0] or None in axes[1] or len(axes[0]) * len(axes[1]) > 64:
        return
    kernel = np.reshape(w_constant, w_shape)
    phases = <qrt_transpose_conv_phase *>calloc(len(axes[0]) * len(axes[1]), sizeof(qrt_transpose_conv_phase))
    if phases == NULL:
        raise MemoryError("transpose_conv2d: out of memory")
    call.extra = phases
    for row, (top, tall, rows, height) in enumerate(axes[0]):
        for column, (left, wide, columns, width) in enumerate(axes[1]):
            taps = kernel[:, top :: args.strides[0], left :: args.strides[1]][:, ::-1, ::-1]
            conv = new_conv2d(isa, x, w, x_shape, taps.shape, x_zero_point, w_zero_points, requant, (1, 1),
                              (rows, columns), (1, 1), 1, np.ascontiguousarray(taps), bias, None, None)
            call.keep.append(conv)
            phases.conv = <const qrt_gemm_args *>conv.args
            phases.row, phases.column, phases.rows, phases.columns = row, column, height, width
            phases.conv_rows = x_shape[1] + sum(rows) - tall + 1
            phases.conv_columns = x_shape[2] + sum(columns) - wide + 1
            phases += 1
    args.phases, args.phase_count = <const qrt_transpose_conv_phase *>call.extra, len(axes[0]) * len(axes[1])


cdef int64_t channel_step(KernelCall call, str what, int64_t count, int64_t channels) except -1:
    """Return the step of a parameter index from channel to channel: 0 for one parameter, 1 for one per channel."""
    if count != 1 and count < channels:
        raise KernelError(f"{call.name}: {what} has {count} values, expected 1 or {channels}")
    return 0 if count == 1 else 1
