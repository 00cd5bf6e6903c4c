# Helpers of the bind_* functions: Python values become checked C arguments.

from operator import index as exact_int

cdef dict CONTAINER_NUMBERS = {
    "i8": QRT_I8, "u8": QRT_U8, "i16": QRT_I16, "u16": QRT_U16, "i32": QRT_I32, "u32": QRT_U32
}
cdef dict EXPRESSED = {"f16": QRT_F16, "bf16": QRT_BF16, "f32": QRT_F32, "f64": QRT_F64}
cdef dict ROUNDINGS = {"half_even": QRT_HALF_EVEN, "half_away": QRT_HALF_AWAY, "toward_zero": QRT_TOWARD_ZERO}
cdef dict ZERO_POINTS = {"before": QRT_ZERO_POINT_BEFORE, "after": QRT_ZERO_POINT_AFTER}
cdef dict SCALES = {"divide": QRT_SCALE_DIVIDE, "reciprocal": QRT_SCALE_RECIPROCAL}
cdef dict RULES = {
    "fixed": QRT_FIXED, "fixed_double": QRT_FIXED_DOUBLE, "float32": QRT_FLOAT32, "float64_away": QRT_FLOAT64_AWAY,
    "half_up_twice": QRT_HALF_UP_TWICE, "raw_mean": QRT_RAW_MEAN, "integer": QRT_INTEGER,
    "dequantized": QRT_DEQUANTIZED
}
cdef dict KINDS = {"add": QRT_ADD, "sub": QRT_SUB, "mul": QRT_MUL}
cdef dict PAIR_KINDS = {
    "maximum": QRT_MAXIMUM, "minimum": QRT_MINIMUM, "prelu": QRT_PRELU, "table": QRT_TABLE_OF_PAIRS
}

# Sizes and zero points below these leave every product of the C code inside 64 bits, every sum of products inside 128.
cdef int64_t MAX_ELEMENTS = 1 << 40
cdef int64_t MAX_ZERO_POINT = 1 << 40
cdef int MAX_OPERAND_RANK = 31  # blocked axes are split in two


cdef Call new_call(str name, str isa, qrt_entry entry, size_t args_size):
    cdef Call call = Call.__new__(Call, BINDING)
    call.name, call.isa, call.keep, call.entry, call.outputs = name, isa, [], entry, 1
    call.operand_shapes = call.operand_dtypes = ()
    call.args = calloc(1, args_size)
    if call.args == NULL:
        raise MemoryError(f"{name}: out of memory")
    return call


cdef add_operand(Call call, object dtype, tuple shape):
    cdef int i = call.count
    if i == QRT_MAX_OPERANDS:
        raise KernelError(f"{call.name}: more than {QRT_MAX_OPERANDS} operands")
    dtype = np.dtype(dtype)
    call.operands[i].type_number = dtype.num
    call.operands[i].elements = element_count(call.name, shape)
    call.operands[i].nbytes = call.operands[i].elements * <int64_t>dtype.itemsize
    call.largest = max(call.largest, call.operands[i].elements)
    call.operand_shapes += (shape,)
    call.operand_dtypes += (dtype,)
    call.count += 1


cdef const qrt_kernels *find_kernels(str name, str isa) except NULL:
    cdef const qrt_kernels *kernels = qrt_kernels_named(isa.encode())
    if kernels == NULL:
        raise KernelError(f"{name}: unknown ISA {isa!r}, this machine has {', '.join(isas())}")
    return kernels


cdef int choose(str name, str what, dict table, object value) except? -1:
    if value not in table:
        raise KernelError(f"{name}: unknown {what} {value!r}, expected one of {', '.join(table)}")
    return table[value]


cdef int container_of(str name, object storage) except -1:
    return choose(name, "storage", CONTAINER_NUMBERS, storage)


cdef tuple dimensions(str name, str what, object values, int rank=-1, int64_t least=0, int64_t most=MAX_ELEMENTS):
    """A tuple of integers in [least, most], `rank` of them if given."""
    given = tuple(exact_int(value) for value in values)
    if rank >= 0 and len(given) != rank:
        raise KernelError(f"{name}: {what} has {len(given)} entries, expected {rank}")
    if any(not least <= value <= most for value in given):
        raise KernelError(f"{name}: {what} {given} is not within {least} and {most}")
    return given


cdef int64_t element_count(str name, tuple shape) except -1:
    count = 1
    for size in shape:
        # Zero-sized dimensions do not excuse absurd ones.
        count *= max(size, 1)
    if count > MAX_ELEMENTS or len(shape) > MAX_OPERAND_RANK:
        raise KernelError(f"{name}: the shape {shape} is beyond {MAX_OPERAND_RANK} dimensions or 2**40 elements")
    return 0 if 0 in shape else count


cdef int64_t fill_layout(Call call, qrt_layout *layout, tuple shape, object block, object step) except -1:
    """Fills a layout, unprepared; returns how many parameters it needs."""
    cdef int d
    element_count(call.name, shape)
    blocks = dimensions(call.name, "block", block if block is not None else (1,) * len(shape), len(shape), 1)
    steps = dimensions(call.name, "step", step if step is not None else (0,) * len(shape), len(shape))
    layout.rank = len(shape)
    for d in range(layout.rank):
        layout.shape[d], layout.block[d], layout.step[d] = shape[d], blocks[d], steps[d]
    return parameter_count(call.name, 1 + sum((max(n, 1) - 1) // b * s for n, b, s in zip(shape, blocks, steps)))


cdef int64_t parameter_count(str name, object count) except -1:
    if count > MAX_ELEMENTS:
        raise KernelError(f"{name}: the steps reach parameter {count}")
    return count


cdef prepare_layout(Call call, qrt_layout *layout, int64_t *a_strides, int64_t *b_strides):
    check_layout(call, qrt_layout_prepare(layout, a_strides, b_strides))


cdef check_layout(Call call, qrt_status status):
    if status != QRT_OK:
        raise KernelError(f"{call.name}: the block sizes do not divide the shape, or too many axes are blocked")


cdef const void *parameters(Call call, str what, object values, object dtype, int64_t least) except NULL:
    """A flat copy with readable padding, kept with the call; `least` values or more, each converted exactly."""
    given = np.asarray(values)
    dtype = np.dtype(dtype)
    allowed = "iu" if dtype.kind == "i" else "iuf"
    flat = np.ravel(given)
    if given.dtype.kind not in allowed and flat.size:
        raise KernelError(f"{call.name}: {what} holds {given.dtype}, expected {dtype}")
    if flat.size < least:
        raise KernelError(f"{call.name}: {what} has {flat.size} values, expected {least}")
    padded = np.zeros(flat.size + QRT_PARAMETER_PADDING, dtype)
    with np.errstate(all="ignore"):
        padded[: flat.size] = flat
    if not np.array_equal(padded[: flat.size], flat):
        raise KernelError(f"{call.name}: {what} holds values that {dtype} does not, or NaN")
    call.keep.append(padded)
    return cnp.PyArray_DATA(<cnp.ndarray>padded)


cdef object last_parameters(Call call):
    """The array behind the last `parameters`, without its padding."""
    return call.keep[len(call.keep) - 1][:-QRT_PARAMETER_PADDING]


cdef const int64_t *zero_points(Call call, str what, object values, int64_t least) except NULL:
    cdef const int64_t *found = <const int64_t *>parameters(call, what, values, np.int64, least)
    array = last_parameters(call)
    if array.size and max(int(array.max()), -int(array.min())) > MAX_ZERO_POINT:
        raise KernelError(f"{call.name}: {what} goes beyond 2**40")
    return found


cdef check_bounds(str name, str storage, object low, object high):
    info = np.iinfo(CONTAINERS[storage])
    if not info.min <= low <= high <= info.max:
        raise KernelError(f"{name}: the storage range {low}:{high} is empty or not within {storage}")


cdef check_finite(Call call, str what):
    if not np.isfinite(last_parameters(call)).all():
        raise KernelError(f"{call.name}: {what} is not finite")


cdef fill_requant(Call call, qrt_requant *to, object requant, int64_t count, str form="full"):
    """`count` parameters. form "blocks": all but the multipliers."""
    to.container = <qrt_container>container_of(call.name, requant.storage)
    check_bounds(call.name, requant.storage, requant.storage_min, requant.storage_max)
    to.storage_min, to.storage_max = requant.storage_min, requant.storage_max
    to.zero_point = zero_points(call, "requant.zero_point", requant.zero_point, count)
    zp = last_parameters(call)
    if (zp.size and int(to.storage_max) - int(zp.min()) < 1 << 31 and int(to.storage_min) - int(zp.max()) >= -(1 << 31)
            and max(int(zp.max()), -int(zp.min())) < 1 << 31):
        to.zero_point_i32 = <const int32_t *>parameters(call, "requant.zero_point", zp, np.int32, count)
    to.rule = <qrt_rule>choose(call.name, "requantization rule", RULES, requant.rule)
    if to.rule == QRT_FLOAT32 or to.rule == QRT_RAW_MEAN or to.rule == QRT_DEQUANTIZED:
        to.scale_f32 = <const float *>parameters(call, "requant.scale_f32", requant.scale_f32, np.float32, count)
        check_finite(call, "requant.scale_f32")
        if to.rule != QRT_FLOAT32:
            to.offset_f32 = <const float *>parameters(call, "requant.offset_f32", requant.offset_f32, np.float32, count)
            check_finite(call, "requant.offset_f32")
        if to.rule == QRT_DEQUANTIZED:
            to.divisor_f32 = <const float *>parameters(call, "requant.divisor_f32", requant.divisor_f32, np.float32, count)
            check_finite(call, "requant.divisor_f32")
            to.multiplier = <const int32_t *>parameters(call, "requant.multiplier", requant.multiplier, np.int32, count)
    elif to.rule == QRT_FLOAT64_AWAY:
        to.scale_f64 = <const double *>parameters(call, "requant.scale_f64", requant.scale_f64, np.float64, count)
        check_finite(call, "requant.scale_f64")
    elif to.rule == QRT_INTEGER:
        to.multiplier = <const int32_t *>parameters(call, "requant.multiplier", requant.multiplier, np.int32, count)
        divisor = last_parameters(call)
        if divisor.size and divisor.min() < 1:
            raise KernelError(f"{call.name}: requant.multiplier holds a divisor below 1")
    else:
        if form != "blocks":
            to.multiplier = <const int32_t *>parameters(call, "requant.multiplier", requant.multiplier, np.int32, count)
        to.shift = <const int32_t *>parameters(call, "requant.shift", requant.shift, np.int32, count)
        shift = last_parameters(call)
        if shift.size:
            if max(int(shift.max()), -int(shift.min())) > 1 << 20:
                raise KernelError(f"{call.name}: requant.shift goes beyond 2**20")
            to.shift_min, to.shift_max = shift.min(), shift.max()
