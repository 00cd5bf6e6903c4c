# Gathering, extremes, the k largest, and resized images.

cdef dict NUMBERS = {
    np.dtype(np.int8): QRT_NUMBER_I8, np.dtype(np.uint8): QRT_NUMBER_U8, np.dtype(np.int16): QRT_NUMBER_I16,
    np.dtype(np.uint16): QRT_NUMBER_U16, np.dtype(np.int32): QRT_NUMBER_I32, np.dtype(np.uint32): QRT_NUMBER_U32,
    np.dtype(np.int64): QRT_NUMBER_I64, np.dtype(np.float32): QRT_NUMBER_F32, np.dtype(np.float64): QRT_NUMBER_F64
}
cdef dict RESIZE_RULES = {
    "fixed11": QRT_FIXED11, "fixed10_away": QRT_FIXED10_AWAY, "products_float32": QRT_PRODUCTS_F32,
    "lines_float32": QRT_LINES_F32
}


def bind_gather(*, dtype, index_dtype, batches, outer, sizes, count, inner, indices=None):
    cdef KernelCall call = new_call("gather", "ref", qrt_gather, sizeof(qrt_gather_args))
    cdef qrt_gather_args *args = <qrt_gather_args *>call.args
    cdef int i
    dtype, index_dtype = np.dtype(dtype), np.dtype(index_dtype)
    if dtype.hasobject or index_dtype not in (np.int32, np.int64):
        raise KernelError(f"gather: indices must be of int32 or int64, got {index_dtype}; the items are of {dtype}")
    batches, outer, count, inner = dimensions("gather", "batches, outer, count, inner", (batches, outer, count, inner))
    args.batches, args.outer, args.count = batches, outer, count
    sizes = dimensions("gather", "sizes", sizes)
    x_shape, out_shape = (batches, outer, *sizes, inner), (batches, outer, count, inner)
    element_count("gather", x_shape)
    element_count("gather", out_shape)
    element_count("gather", (batches, count, len(sizes)))
    args.inner_bytes, args.columns = inner * dtype.itemsize, len(sizes)
    for i in range(args.columns):
        args.sizes[i] = sizes[i]
    args.wide = index_dtype.itemsize == 8
    add_operand(call, dtype, x_shape)
    if indices is None:
        add_operand(call, index_dtype, (batches, count, len(sizes)))
    else:
        args.indices = constant(call, "the indices", indices, index_dtype, batches * count * len(sizes))
    add_operand(call, dtype, out_shape)
    return call


def bind_extremum(*, str isa, dtype, x_shape, axes, least, index_dtype=None):
    cdef KernelCall call = new_call("extremum", isa, qrt_extremum, sizeof(qrt_extremum_args))
    cdef qrt_extremum_args *args = <qrt_extremum_args *>call.args
    cdef int64_t stride
    cdef int d, kept
    args.kernels = find_kernels("extremum", isa)
    dtype = np.dtype(dtype)
    args.number = <qrt_number>choose("extremum", "element", NUMBERS, dtype)
    x_shape = dimensions("extremum", "x_shape", x_shape)
    element_count("extremum", x_shape)
    axes = set(dimensions("extremum", "axes", axes, -1, 0, len(x_shape) - 1))
    shape = tuple(size for d, size in enumerate(x_shape) if d not in axes)
    args.least, out_dtype = bool(least), dtype
    args.total = element_count("extremum", shape)
    args.count = element_count("extremum", tuple(size for d, size in enumerate(x_shape) if d in axes))
    if args.count == 0 and args.total:
        raise KernelError("extremum: the axis must have elements, got size 0")
    if index_dtype is not None:
        out_dtype = np.dtype(index_dtype)
        if out_dtype not in (np.int32, np.int64) or args.count > np.iinfo(out_dtype).max:
            raise KernelError(
                f"extremum: the dtype of the indices must represent numbers below {args.count}, got "
                f"{out_dtype}"
            )
        args.index_bytes = out_dtype.itemsize
    joined = joined_axes(x_shape, axes)
    args.rank, args.reduced_rank = len(shape), len(joined)
    for d, (size, stride) in enumerate(joined):
        args.reduced_shape[d], args.reduced_strides[d] = size, stride
    kept, stride = args.rank, 1
    for d in reversed(range(len(x_shape))):
        if d not in axes:
            kept -= 1
            args.shape[kept], args.strides[kept] = x_shape[d], stride
        stride *= x_shape[d]
    add_operand(call, dtype, x_shape)
    add_operand(call, out_dtype, shape)
    return call


cdef fill_resize_axis(KernelCall call, qrt_resize_axis *axis, object given, int64_t size, bint is_float):
    low, high, weight = map(np.ravel, given)
    axis.low = <const int64_t *>parameters(call, "first neighbours", low, np.int64, 0)
    axis.high = <const int64_t *>parameters(call, "second neighbours", high, np.int64, len(low))
    for positions in (low, high):
        if positions.size and not 0 <= positions.min() <= positions.max() < size:
            raise KernelError(f"resize_bilinear: neighbours must be positions from 0 to {size - 1}")
    if is_float:
        axis.weight_f32 = <const float *>parameters(call, "weights", weight, np.float32, len(low))
        check_finite(call, "a weight")
        return
    axis.weight = <const int64_t *>parameters(call, "weights", weight, np.int64, len(low))
    if np.abs(last_parameters(call)).max(initial=0) > 1 << 12:
        raise KernelError("resize_bilinear: weights must be from -2**12 to 2**12")


def bind_resize_bilinear(*, str isa, dtype, str rule, x_shape, rows, columns):
    cdef KernelCall call = new_call("resize_bilinear", isa, qrt_resize_bilinear, sizeof(qrt_resize_args))
    cdef qrt_resize_args *args = <qrt_resize_args *>call.args
    args.kernels = find_kernels("resize_bilinear", isa)
    dtype = np.dtype(dtype)
    args.number = <qrt_number>choose("resize_bilinear", "element", NUMBERS, dtype)
    args.rule = <qrt_resize_rule>choose("resize_bilinear", "rule", RESIZE_RULES, rule)
    allowed = {
        "fixed11": ("i1", "u1"), "fixed10_away": ("i1", "u1", "i2", "u2"), "products_float32": ("u1", "f4"),
        "lines_float32": ("f4",)
    }
    if dtype.str[1:] not in allowed[rule]:
        raise KernelError(f"resize_bilinear: the rule {rule} is not defined for {dtype}")
    x_shape = dimensions("resize_bilinear", "x_shape", x_shape, 4)
    args.images, args.height, args.width, args.channels = x_shape
    if len(rows) != 3 or len(columns) != 3:
        raise KernelError(
            "resize_bilinear: rows and columns must each be three lists: first neighbours, second neighbours, "
            "weights"
        )
    args.out_height, args.out_width = np.size(rows[0]), np.size(columns[0])
    is_float = rule not in ("fixed11", "fixed10_away")
    fill_resize_axis(call, &args.rows, rows, args.height, is_float)
    fill_resize_axis(call, &args.columns, columns, args.width, is_float)
    add_operand(call, dtype, x_shape)
    add_operand(call, dtype, (args.images, args.out_height, args.out_width, args.channels))
    return call


def bind_top_k(*, str isa, dtype, rows, size, k):
    cdef KernelCall call = new_call("top_k", isa, qrt_top_k, sizeof(qrt_top_k_args))
    cdef qrt_top_k_args *args = <qrt_top_k_args *>call.args
    args.kernels = find_kernels("top_k", isa)
    dtype = np.dtype(dtype)
    args.number = <qrt_number>choose("top_k", "element", NUMBERS, dtype)
    args.rows, args.size, args.k = rows, size, k = dimensions("top_k", "rows, size, k", (rows, size, k))
    if k > size or size >= 1 << 31:
        raise KernelError(f"top_k: k must be at most {size}, the size of the axis, got {k}")
    call.outputs = 2
    add_operand(call, dtype, (rows, size))
    add_operand(call, dtype, (rows, k))
    add_operand(call, np.int32, (rows, k))
    return call
