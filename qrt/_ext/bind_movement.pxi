# Strided copies, slices, and sub-byte rows.

cdef check_reach(str name, str what, tuple shape, tuple strides, int64_t offset, int64_t size):
    low = high = offset
    for extent, stride in zip(shape, strides):
        reach = (extent - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    if 0 not in shape and not 0 <= low <= high < size:
        raise KernelError(f"{name}: {what} would access elements {low} to {high} of an array of {size}")


def bind_copy(*, dtype, shapes, source_strides, target_strides, source_sizes, target_size, source_offsets=None,
              target_offsets=None, constants=None):
    cdef KernelCall call = new_call("copy", "ref", qrt_copy, sizeof(qrt_copy_args))
    cdef qrt_copy_args *args = <qrt_copy_args *>call.args
    cdef qrt_copy_part *part
    cdef int i, d
    dtype, shapes = np.dtype(dtype), tuple(tuple(shape) for shape in shapes)
    zeros = (0,) * len(shapes)
    lists = [tuple(values) for values in (
        source_strides, target_strides, source_sizes,
        zeros if source_offsets is None else source_offsets, zeros if target_offsets is None else target_offsets,
        (None,) * len(shapes) if constants is None else constants)]
    if any(len(values) != len(shapes) for values in lists):
        raise KernelError(f"copy: every list must have {len(shapes)} entries, one for each part")
    if dtype.itemsize not in (1, 2, 4, 8) or dtype.hasobject:
        raise KernelError(f"copy: items must have 1, 2, 4 or 8 bytes, got {dtype}")
    (target_size,) = dimensions("copy", "target_size", (target_size,))
    for i, what in enumerate(("source_sizes", "source_offsets", "target_offsets"), 2):
        lists[i] = dimensions("copy", what, lists[i])
    part = <qrt_copy_part *>calloc(len(shapes) + 1, sizeof(qrt_copy_part))
    call.extra = part
    if part == NULL:
        raise MemoryError("copy: out of memory")
    args.parts, args.part = len(shapes), part
    for i, (shape, from_strides, to_strides, size, from_offset, to_offset, array) in enumerate(zip(shapes, *lists)):
        shape = dimensions("copy", "shape", shape) or (1,)
        from_strides = dimensions("copy", "source_strides", from_strides or (1,), len(shape), -MAX_ELEMENTS)
        to_strides = dimensions("copy", "target_strides", to_strides or (1,), len(shape), -MAX_ELEMENTS)
        element_count("copy", shape)
        check_reach("copy", f"source {i}", shape, from_strides, from_offset, size)
        check_reach("copy", "the output", shape, to_strides, to_offset, target_size)
        part[i].rank, part[i].itemsize = len(shape), dtype.itemsize
        part[i].source_offset, part[i].target_offset = from_offset, to_offset
        for d in range(part[i].rank):
            part[i].shape[d] = shape[d]
            part[i].source_strides[d], part[i].target_strides[d] = from_strides[d], to_strides[d]
        if array is None:
            add_operand(call, dtype, (size,))
        else:
            part[i].constant = constant(call, f"source {i}", array, dtype, size)
    add_operand(call, dtype, (target_size,))
    return call


def bind_slice(*, dtype, x_shape, offsets, sizes, strides, axes, inserts=False):
    cdef KernelCall call = new_call("slice", "ref", qrt_slice, sizeof(qrt_slice_args))
    cdef qrt_slice_args *args = <qrt_slice_args *>call.args
    cdef qrt_copy_part *part = &args.part
    cdef int64_t step = 1, own = 1, offset = 0
    cdef int d
    dtype = np.dtype(dtype)
    if dtype.itemsize not in (1, 2, 4, 8) or dtype.hasobject:
        raise KernelError(f"slice: items must have 1, 2, 4 or 8 bytes, got {dtype}")
    x_shape = dimensions("slice", "x_shape", x_shape)
    sizes = dimensions("slice", "sizes", sizes, len(x_shape))
    strides = dimensions("slice", "strides", strides, len(x_shape), 1)
    offsets = dimensions("slice", "offsets", offsets, len(x_shape))
    axes = dimensions("slice", "axes", axes, -1, 0, len(x_shape) - 1)
    if len(set(axes)) < len(axes):
        raise KernelError(f"slice: axes must differ, got {axes}")
    call.slice = x_shape, offsets, sizes, strides, axes
    args.bytes, args.inserts = element_count("slice", x_shape) * dtype.itemsize, bool(inserts)
    part.rank, part.itemsize = max(len(x_shape), 1), dtype.itemsize
    part.shape[0], part.source_strides[0], part.target_strides[0] = 1, 1, 1  # of rank 0
    args.axes = len(axes)
    for d in reversed(range(len(x_shape))):
        largest = x_shape[d] - 1 - (sizes[d] - 1) * strides[d] if sizes[d] else x_shape[d]
        if not offsets[d] <= largest:  # as Python's integers: a product of a size and a stride may exceed 64 bits
            raise KernelError(
                f"slice: {sizes[d]} elements from {offsets[d]} with stride {strides[d]} exceed axis {d} of size {x_shape[d]}"
            )
        if d in axes:
            args.most[axes.index(d)], args.strides[axes.index(d)] = largest - offsets[d], step
        offset += offsets[d] * step
        part.shape[d] = sizes[d]
        part.source_strides[d], part.target_strides[d] = strides[d] * step, own
        step *= x_shape[d]
        own *= sizes[d]
    part.source_offset = offset
    if args.inserts:
        for d in range(part.rank):
            part.source_strides[d], part.target_strides[d] = part.target_strides[d], part.source_strides[d]
        part.source_offset, part.target_offset = 0, offset
        call.aliased = 2
        add_operand(call, dtype, sizes)
    add_operand(call, dtype, x_shape)
    for _ in axes:
        add_operand(call, np.int64, ())
    add_operand(call, dtype, x_shape if args.inserts else sizes)
    return call


cdef str slice_out_of_bounds(KernelCall call, void **pointers):
    """Return the reason why a slice at these operands is out of bounds: its first axis that is."""
    cdef const qrt_slice_args *args = <const qrt_slice_args *>call.args
    cdef int64_t number
    x_shape, offsets, sizes, strides, axes = call.slice
    for i in range(args.axes):
        number = (<const int64_t *>pointers[args.inserts + 1 + i])[0]
        if not 0 <= number <= args.most[i]:
            axis = axes[i]
            return errors.slice_out_of_bounds(offsets[axis] + number, sizes[axis], strides[axis], axis, x_shape[axis])
    return qrt_status_text(QRT_INDEX_OUT_OF_RANGE).decode()


cdef KernelCall new_bits(str name, str isa, qrt_entry entry, str storage, object width, object rows, object columns,
                   bint packs):
    cdef KernelCall call = new_call(name, isa, entry, sizeof(qrt_bits_args))
    cdef qrt_bits_args *args = <qrt_bits_args *>call.args
    args.kernels = find_kernels(name, isa)
    if storage not in ("i8", "u8") or width not in (1, 2, 4):
        raise KernelError(
            f"{name}: expected a width of 1, 2 or 4 bits, and storage i8 or u8, got {width} and "
            f"{storage}"
        )
    args.container, args.width = <qrt_container>container_of(name, storage), width
    args.rows, args.columns = rows, columns = dimensions(name, "rows, columns", (rows, columns), 2)
    packed = rows, (columns * <int64_t>args.width + 7) // 8
    add_operand(call, CONTAINERS[storage] if packs else np.uint8, (rows, columns) if packs else packed)
    add_operand(call, np.uint8 if packs else CONTAINERS[storage], packed if packs else (rows, columns))
    return call


def bind_pack_bits(*, str isa, str storage, width, rows, columns):
    return new_bits("pack_bits", isa, qrt_pack_bits, storage, width, rows, columns, True)


def bind_unpack_bits(*, str isa, str storage, width, rows, columns):
    return new_bits("unpack_bits", isa, qrt_unpack_bits, storage, width, rows, columns, False)
