# Helpers of the bind_* functions: Python values become checked C arguments.

from operator import index as exact_int

cdef dict CONTAINER_NUMBERS = {
    "i8": QRT_I8, "u8": QRT_U8, "i16": QRT_I16, "u16": QRT_U16, "i32": QRT_I32, "u32": QRT_U32
}
cdef dict CONTAINER_BOUNDS = {name: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
                              for name, dtype in CONTAINERS.items()}
cdef dict CONTAINER_SIZES = {name: np.dtype(dtype).itemsize for name, dtype in CONTAINERS.items()}
cdef dict EXPRESSED = {"f16": QRT_F16, "bf16": QRT_BF16, "f32": QRT_F32, "f64": QRT_F64}
cdef dict ROUNDINGS = {"half_even": QRT_HALF_EVEN, "half_away": QRT_HALF_AWAY, "toward_zero": QRT_TOWARD_ZERO}
cdef dict ZERO_POINTS = {"before": QRT_ZERO_POINT_BEFORE, "after": QRT_ZERO_POINT_AFTER}
cdef dict SUM_ORDERS = {"rows": QRT_ROWS, "columns": QRT_COLUMNS, "lanes": QRT_LANES}
cdef dict SCALES = {"divide": QRT_SCALE_DIVIDE, "reciprocal": QRT_SCALE_RECIPROCAL}
cdef dict RULES = {qrt_rule_names[number].decode(): number for number in range(QRT_RULES)}
cdef dict KINDS = {"add": QRT_ADD, "sub": QRT_SUB, "mul": QRT_MUL}
cdef dict PAIR_KINDS = {
    "maximum": QRT_MAXIMUM, "minimum": QRT_MINIMUM, "prelu": QRT_PRELU, "table": QRT_TABLE_OF_PAIRS
}

# Sizes and zero points below these leave every product of the C code inside 64 bits, every sum of products inside 128.
cdef int64_t MAX_ELEMENTS = 1 << 40
cdef int64_t MAX_ZERO_POINT = 1 << 40
cdef int MAX_OPERAND_RANK = 31  # blocked axes are split in two
cdef int USER_DTYPES = 256  # NumPy numbers the dtypes of other packages from here


cdef KernelCall new_call(str name, str isa, qrt_entry entry, size_t args_size):
    cdef KernelCall call = KernelCall.__new__(KernelCall, BINDING)
    call.name, call.isa, call.keep, call.entry, call.outputs = name, isa, [], entry, 1
    call.operand_shapes = call.operand_dtypes = ()
    call.args = calloc(1, args_size)
    if call.args == NULL:
        raise MemoryError(f"{name}: out of memory")
    return call


cdef bint holds_numbers(cnp.dtype dtype):
    """Return True if elements are bools, integers or floats, also of ml_dtypes; not objects, texts, records, subarrays."""
    return dtype.num <= cnp.NPY_FLOAT64 or dtype.num == cnp.NPY_FLOAT16 or dtype.num >= USER_DTYPES


cdef add_operand(KernelCall call, object dtype, tuple shape):
    cdef int i = call.count
    if i == QRT_MAX_OPERANDS:
        raise KernelError(f"{call.name}: expected at most {QRT_MAX_OPERANDS} operands, got more")
    dtype = dtype if isinstance(dtype, cnp.dtype) else np.dtype(dtype)
    if not holds_numbers(dtype):
        raise KernelError(f"{call.name}: operands must be of bools, integers or floats, got {dtype}")
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
        raise KernelError(f"{name}: unknown ISA {isa!r}, expected one that this machine has: {', '.join(isas())}")
    return kernels


cdef int choose(str name, str what, dict table, object value) except? -1:
    if value not in table:
        raise KernelError(f"{name}: unknown {what} {value!r}, expected one of {', '.join(table)}")
    return table[value]


cdef int container_of(str name, object storage) except -1:
    return choose(name, "storage", CONTAINER_NUMBERS, storage)


cdef tuple dimensions(str name, str what, object values, int rank=-1, int64_t least=0, int64_t most=MAX_ELEMENTS):
    """Return a tuple of integers in [least, most], `rank` of them if given."""
    cdef tuple given = tuple([exact_int(value) for value in values])
    if rank >= 0 and len(given) != rank:
        raise KernelError(f"{name}: {what} has {len(given)} entries, expected {rank}")
    for value in given:
        if not least <= value <= most:
            raise KernelError(f"{name}: {what} must be from {least} to {most}, got {given}")
    return given


cdef int64_t element_count(str name, tuple shape) except -1:
    count = 1
    for size in shape:
        # A dimension of size 0 must not hide others that are too large.
        count *= max(size, 1)
    if count > MAX_ELEMENTS or len(shape) > MAX_OPERAND_RANK:
        raise KernelError(
            f"{name}: a shape must have at most {MAX_OPERAND_RANK} dimensions and 2**40 elements, got "
            f"{shape}"
        )
    return 0 if 0 in shape else count


cdef int64_t fill_layout(KernelCall call, qrt_layout *layout, tuple shape, object block, object step) except -1:
    """Fill a layout, unprepared; return the number of parameters that it needs."""
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
        raise KernelError(f"{name}: expected at most 2**40 parameters, got {count}")
    return count


cdef prepare_layout(KernelCall call, qrt_layout *layout, int64_t *a_strides, int64_t *b_strides):
    check_layout(call, qrt_layout_prepare(layout, a_strides, b_strides))


cdef check_layout(KernelCall call, qrt_status status):
    if status != QRT_OK:
        raise KernelError(f"{call.name}: block sizes must divide the shape, along no more axes than kernels support")


# Large parameters of calls, by type, size and checksum. Nobody writes to them once they are complete.
cdef object PARAMETERS = WeakValueDictionary()
cdef int64_t SHARED_BYTES = 2048


cdef const void *keep_parameters(KernelCall call, cnp.ndarray array) except NULL:
    """Keep an array with a call, or an equal array that another call keeps: calls of one tensor share most arrays."""
    cdef int64_t nbytes = cnp.PyArray_NBYTES(array)
    cdef cnp.ndarray earlier
    if nbytes >= SHARED_BYTES:
        key = cnp.PyArray_TYPE(array), nbytes, qrt_checksum(cnp.PyArray_DATA(array), nbytes)
        earlier = PARAMETERS.get(key)
        if earlier is not None and memcmp(cnp.PyArray_DATA(earlier), cnp.PyArray_DATA(array), nbytes) == 0:
            array = earlier
        else:
            PARAMETERS[key] = array
    call.keep.append(array)
    return cnp.PyArray_DATA(array)


cdef const void *parameters(KernelCall call, str what, object values, object dtype, int64_t least) except NULL:
    """Return a flat copy with readable padding, kept with the call; at least `least` values, converted exactly."""
    cdef cnp.ndarray copy = plain_copy(values, dtype, least)
    if copy is not None:
        return keep_parameters(call, copy)
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
        raise KernelError(f"{call.name}: {what} must have values that {dtype} represents, got others or NaN")
    return keep_parameters(call, padded)


cdef qrt_stored stored_weights(KernelCall call, object stored) except *:
    """Return a constant that a call with the same arguments on the same ISA has packed already."""
    cdef qrt_stored given = qrt_stored(NULL, 0, 0)
    if stored is None:
        return given
    if not isinstance(stored, np.ndarray) or stored.dtype != np.uint8 or not stored.flags.c_contiguous:
        raise KernelError(f"{call.name}: stored must be a contiguous array of uint8")
    given.data, given.bytes = <const char *>cnp.PyArray_DATA(<cnp.ndarray>stored), stored.size
    if <uintptr_t>given.data % QRT_STORED_ALIGNMENT:
        raise KernelError(f"{call.name}: stored must be aligned to {QRT_STORED_ALIGNMENT} bytes")
    call.keep.append(stored)
    return given


cdef check_taken(KernelCall call, qrt_stored given):
    if given.used != given.bytes:
        raise KernelError(f"{call.name}: stored must have {given.used} bytes, got {given.bytes}")


cdef cnp.ndarray plain_copy(object values, object dtype, int64_t least):
    """Return the copy of values that need no conversion; None if they may need one, or are invalid."""
    if not isinstance(values, cnp.ndarray):
        values = np.asarray(values)
    cdef cnp.ndarray given = values
    cdef int64_t i, count = cnp.PyArray_SIZE(given)
    cdef int number = (<cnp.dtype?>(dtype if isinstance(dtype, cnp.dtype) else np.dtype(dtype))).num
    if (cnp.PyArray_TYPE(given) != number or not PyArray_ISNOTSWAPPED(given) or not cnp.PyArray_IS_C_CONTIGUOUS(given)
            or not cnp.PyArray_ISALIGNED(given) or count < least):
        return None
    if number == cnp.NPY_FLOAT32:
        for i in range(count):
            if (<const float *>cnp.PyArray_DATA(given))[i] != (<const float *>cnp.PyArray_DATA(given))[i]:
                return None
    elif number == cnp.NPY_FLOAT64:
        for i in range(count):
            if (<const double *>cnp.PyArray_DATA(given))[i] != (<const double *>cnp.PyArray_DATA(given))[i]:
                return None
    elif number not in (cnp.NPY_INT16, cnp.NPY_INT32, cnp.NPY_INT64):
        return None
    cdef cnp.npy_intp size = count + QRT_PARAMETER_PADDING
    cdef cnp.ndarray copy = cnp.PyArray_EMPTY(1, &size, number, False)
    cdef int64_t nbytes = cnp.PyArray_NBYTES(given)
    memcpy(cnp.PyArray_DATA(copy), cnp.PyArray_DATA(given), nbytes)
    memset(<char *>cnp.PyArray_DATA(copy) + nbytes, 0, cnp.PyArray_NBYTES(copy) - nbytes)
    return copy


cdef cnp.ndarray last_padded(KernelCall call):
    return call.keep[len(call.keep) - 1]


cdef int64_t last_count(KernelCall call):
    """Return the number of values in the last `parameters`, without the padding."""
    return cnp.PyArray_SIZE(last_padded(call)) - QRT_PARAMETER_PADDING


cdef object last_parameters(KernelCall call):
    """Return the array of the last `parameters`, without its padding."""
    return call.keep[len(call.keep) - 1][:-QRT_PARAMETER_PADDING]


cdef void bounds_of(KernelCall call, int64_t *low, int64_t *high):
    """Return the least and the greatest of the last `parameters`, which are int64 or int32; 0 if there are none."""
    cdef cnp.ndarray array = last_padded(call)
    cdef bint wide = cnp.PyArray_TYPE(array) == cnp.NPY_INT64
    cdef const void *data = cnp.PyArray_DATA(array)
    cdef int64_t i, value
    low[0] = high[0] = 0
    for i in range(last_count(call)):
        value = (<const int64_t *>data)[i] if wide else (<const int32_t *>data)[i]
        if i == 0 or value < low[0]:
            low[0] = value
        if i == 0 or value > high[0]:
            high[0] = value


cdef const int64_t *zero_points(KernelCall call, str what, object values, int64_t least) except NULL:
    cdef const int64_t *found = <const int64_t *>parameters(call, what, values, np.int64, least)
    cdef int64_t low, high
    bounds_of(call, &low, &high)
    if high > MAX_ZERO_POINT or low < -MAX_ZERO_POINT:
        raise KernelError(f"{call.name}: {what} must be from -2**40 to 2**40, got values from {low} to {high}")
    return found


cdef check_bounds(str name, str storage, object low, object high):
    least, most = CONTAINER_BOUNDS[storage]
    if not least <= low <= high <= most:
        raise KernelError(f"{name}: the storage bounds must be an ascending range within {storage}, got {low}:{high}")


cdef check_finite(KernelCall call, str what):
    """Raise KernelError if one of the last `parameters`, which are float32 or float64, is infinite or NaN."""
    cdef cnp.ndarray array = last_padded(call)
    cdef bint wide = cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT64
    cdef const void *data = cnp.PyArray_DATA(array)
    cdef int64_t i
    for i in range(last_count(call)):
        if not isfinite((<const double *>data)[i] if wide else <double>(<const float *>data)[i]):
            raise KernelError(f"{call.name}: {what} must be finite, got {float(last_parameters(call)[i])}")


cdef const int32_t *narrowed(KernelCall call) except NULL:
    """Return the last `parameters`, int64 values that fit 32 bits, as int32."""
    cdef cnp.ndarray wide = last_padded(call)
    cdef cnp.npy_intp size = cnp.PyArray_SIZE(wide)
    cdef cnp.ndarray made = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT32, False)
    cdef int64_t i
    for i in range(size):
        (<int32_t *>cnp.PyArray_DATA(made))[i] = (<const int64_t *>cnp.PyArray_DATA(wide))[i]
    return <const int32_t *>keep_parameters(call, made)


cdef fill_requant(KernelCall call, qrt_requant *to, object requant, int64_t count, str form="full"):
    """Fill in `count` parameters. The form "blocks" leaves out multipliers, "floats" allows rules for float sums."""
    to.container = <qrt_container>container_of(call.name, requant.storage)
    check_bounds(call.name, requant.storage, requant.storage_min, requant.storage_max)
    to.storage_min, to.storage_max = requant.storage_min, requant.storage_max
    to.zero_point = zero_points(call, "requant.zero_point", requant.zero_point, count)
    cdef int64_t low, high, most = 1 << 31
    bounds_of(call, &low, &high)
    # No difference passes 64 bits: zero points are within 2**40.
    if last_count(call) and to.storage_max - low < most and to.storage_min - high >= -most and max(high, -low) < most:
        to.zero_point_i32 = narrowed(call)
    to.rule = <qrt_rule>choose(call.name, "requantization rule", RULES, requant.rule)
    by = numerics.ARITHMETICS[requant.rule]
    if by.element_scale and form != "floats":
        raise KernelError(f"{call.name}: the rule {requant.rule} is only for averages of floats")
    reads = by.reads
    if "scale_f32" in reads:
        to.scale_f32 = <const float *>finite_parameters(call, "requant.scale_f32", requant.scale_f32, np.float32, count)
    if "offset_f32" in reads:
        to.offset_f32 = <const float *>finite_parameters(call, "requant.offset_f32", requant.offset_f32, np.float32, count)
    if "divisor_f32" in reads:
        to.divisor_f32 = <const float *>finite_parameters(call, "requant.divisor_f32", requant.divisor_f32, np.float32, count)
    if "scale_f64" in reads:
        to.scale_f64 = <const double *>finite_parameters(call, "requant.scale_f64", requant.scale_f64, np.float64, count)
    if "multiplier" in reads and form != "blocks":
        to.multiplier = <const int32_t *>parameters(call, "requant.multiplier", requant.multiplier, np.int32, count)
        bounds_of(call, &low, &high)
        if ("divide", "multiplier") in by.steps and last_count(call) and low < 1:
            raise KernelError(f"{call.name}: requant.multiplier must have divisors of at least 1, got {low}")
    if "shift" in reads:
        to.shift = <const int32_t *>parameters(call, "requant.shift", requant.shift, np.int32, count)
        if last_count(call):
            bounds_of(call, &low, &high)
            if max(high, -low) > 1 << 20:
                raise KernelError(f"{call.name}: requant.shift must be from -2**20 to 2**20, got values from {low} to {high}")
            to.shift_min, to.shift_max = low, high


cdef const void *finite_parameters(KernelCall call, str what, object values, object dtype, int64_t least) except NULL:
    """Convert `parameters` that are floats, none of which is infinite or NaN."""
    cdef const void *converted = parameters(call, what, values, dtype, least)
    check_finite(call, what)
    return converted
