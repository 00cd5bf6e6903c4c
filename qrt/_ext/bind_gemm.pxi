# matmul and conv2d: one entry, bound from a matrix or from a window.

# The last call that packed a constant, by the address of the constant or of its origin. Other calls share its panels, or
# those of the call before, to which it holds a reference. A call keeps the object at the address alive, so that no other
# object gets the address; a constant that was copied has its own address.
cdef object PACKED = WeakValueDictionary()

cdef dict BIASES = {"i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "f32": np.dtype(np.float32)}
cdef dict BIAS_KINDS = {BIASES["i32"]: QRT_BIAS_I32, BIASES["i64"]: QRT_BIAS_I64, BIASES["f32"]: QRT_BIAS_F32}


def microkernels(str isa):
    cdef const qrt_gemm_microkernel *kernel = find_kernels("microkernels", isa).gemm
    names = []
    while kernel != NULL:
        names.append(kernel.name.decode())
        kernel = kernel.fallback
    return tuple(names)


cdef const qrt_gemm_microkernel *find_microkernel(str name, str isa, str wanted) except NULL:
    cdef const qrt_gemm_microkernel *kernel = find_kernels(name, isa).gemm
    while kernel != NULL and kernel.name.decode() != wanted:
        kernel = kernel.fallback
    if kernel == NULL:
        raise KernelError(
            f"{name}: unknown microkernel {wanted!r}, expected one of those of {isa}: "
            f"{', '.join(microkernels(isa))}"
        )
    return kernel


cdef KernelCall new_gemm(str name, str isa, str a, str b, str microkernel):
    cdef KernelCall call = new_call(name, isa, qrt_gemm, sizeof(qrt_gemm_args))
    cdef qrt_gemm_args *args = <qrt_gemm_args *>call.args
    args.kernels = find_kernels(name, isa)
    if microkernel is not None:
        args.problem.microkernel = find_microkernel(name, isa, microkernel)
    args.problem.a, args.problem.b = <qrt_container>container_of(name, a), <qrt_container>container_of(name, b)
    return call


cdef const void *constant(KernelCall call, str what, object array, object dtype, int64_t elements) except NULL:
    """Return a contiguous array that no other code can change: a copy, unless its memory is a bytes object, or a file
    that is mapped read-only."""
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.size != elements:
        raise KernelError(f"{call.name}: {what} must be an array of {elements} {np.dtype(dtype)}")
    is_fixed = isinstance(array.base, bytes) or (isinstance(array.base, mmap) and not array.flags.writeable)
    if not (is_fixed and array.flags.c_contiguous and array.flags.aligned):
        array = np.array(array, order="C", copy=True)
    call.keep.append(array)
    call.largest = max(call.largest, elements)
    return cnp.PyArray_DATA(<cnp.ndarray>array)


cdef object bind_bias(KernelCall call, qrt_bias_kind *kind, const void **constant_bias, object bias, int64_t elements):
    """Return the dtype of the bias if it is an operand, else None."""
    if bias is None:
        return None
    given = BIASES.get(bias) if isinstance(bias, str) else getattr(bias, "dtype", None)
    if given not in BIAS_KINDS:
        found = bias if isinstance(bias, str) else given
        raise KernelError(f"{call.name}: the bias must be one of {', '.join(BIASES)}, got {found}")
    kind[0] = <qrt_bias_kind><int>BIAS_KINDS[given]
    if isinstance(bias, str):
        return given
    constant_bias[0] = parameters(call, "bias", bias, given, elements)
    return None


cdef replace_saturating_biases(KernelCall call, object bias, object requant):
    """Replace the biases beyond the plan's limit, with which sums leave 32 bits, by the limit, if no result changes.

    With a bias at its limit no sum lies further from it than all products together. If the sum that is nearest to zero
    still requantizes to an end of the storage, then so do all sums of this bias and of a greater one, because
    requantization is monotonic. Such biases stand in channels without weights, whose results are constant."""
    cdef qrt_gemm_args *args = <qrt_gemm_args *>call.args
    cdef int64_t limit = args.plan.bias_limit
    if (bias is None or isinstance(bias, str) or args.plan.microkernel == NULL or args.plan.bias_fits or limit < 0
            or args.problem.k_block or args.problem.requant_steps[1] or args.problem.bias == QRT_BIAS_F32
            or args.problem.batch > 1 and not args.problem.bias_batch_step):
        return
    given = np.asarray(bias).astype(np.int64).ravel()
    channels = np.flatnonzero((given > limit) | (given < -limit))
    if (abs(given[channels].astype(np.float64)) > 2.0**62).any():
        return  # sums of these may leave 64 bits, which is an error
    is_positive = given[channels] > 0
    products = (1 << 31) - 1 - limit
    nearest = np.where(is_positive, limit - products, products - limit)
    index = channels if args.problem.requant_steps[2] else np.zeros_like(channels)
    results = numerics.requantize(nearest, requant, index)
    if (results == np.where(is_positive, requant.storage_max, requant.storage_min)).all():
        replaced = np.clip(given, -limit, limit).astype(np.asarray(bias).dtype)
        args.problem.bias_constant = parameters(call, "bias", replaced, replaced.dtype, replaced.size)
        args.plan.bias_fits = True


cdef prepare_gemm(KernelCall call, object b_constant, object b_dtype, int64_t b_elements, object stored, object bias,
                  object requant):
    """Pack a constant b. A derived array, made of its `origin` for the call, is dropped unless the call reads it."""
    cdef qrt_gemm_args *args = <qrt_gemm_args *>call.args
    cdef KernelCall earlier = None
    cdef object origin = getattr(b_constant, "origin", None)
    cdef uintptr_t address = 0
    cdef qrt_stored given = stored_weights(call, stored)
    cdef qrt_status status
    if b_constant is not None:
        args.problem.b_constant = constant(call, "the constant second operand", b_constant, b_dtype, b_elements)
        address = address_of(origin, args.problem.b_constant)
        earlier = PACKED.get(address) if stored is None else None
    if earlier is not None:
        args.problem.earlier = <const qrt_gemm_args *>earlier.args
    call.release, call.packed_parts = qrt_gemm_release, qrt_gemm_packed
    args.problem.stored = &given
    with nogil:
        status = qrt_gemm_prepare(args)
    args.problem.stored = NULL
    if status != QRT_OK:
        raise failure(call, call.name, status)
    check_taken(call, given)
    replace_saturating_biases(call, bias, requant)
    if args.plan.microkernel != NULL:
        call.microkernel = args.plan.microkernel.name.decode()
    if origin is not None:
        if not qrt_gemm_reads_b(args):
            forget(call, &args.problem.b_constant)
            args.problem.b_constant = cnp.PyArray_DATA(<cnp.ndarray?>origin)  # not read: it marks b as constant
        call.keep.append(origin)
    if earlier is not None:
        call.keep.append(earlier)
    if b_constant is not None and stored is None and qrt_gemm_packs(args):
        PACKED[address] = call


cdef uintptr_t address_of(object origin, const void *constant) except? 0:
    """Return the address by which calls for the same constant recognize each other."""
    return <uintptr_t>constant if origin is None else <uintptr_t>cnp.PyArray_DATA(<cnp.ndarray?>origin)


cdef const int64_t *matrix_index(KernelCall call, str what, object values, int64_t batch, int64_t matrices) except? NULL:
    if values is None:
        if matrices != 1 and matrices != batch:
            raise KernelError(f"{call.name}: {what} is required for {matrices} matrices in a batch of {batch}")
        return NULL
    cdef const int64_t *index = <const int64_t *>parameters(call, what, values, np.int64, batch)
    array = last_parameters(call)
    if array.size and not ((array >= 0) & (array < matrices)).all():
        raise KernelError(f"{call.name}: {what} must be indices of the {matrices} matrices")
    return index


def bind_gemm(*, str isa, str a, str b, m, n, k, a_zero_points, b_zero_points, requant, requant_steps=(0, 0, 0),
              a_zero_point_steps=(0, 0), b_zero_point_steps=(0, 0, 0), batch=1, a_matrices=None, b_matrices=None,
              a_index=None, b_index=None, b_transposed=False, b_constant=None, bias=None, bias_batch_step=0, k_block=0,
              block_scale=None, block_multiplier=None, bias_multiplier=None, str microkernel=None, stored=None):
    cdef KernelCall call = new_gemm("gemm", isa, a, b, microkernel)
    cdef qrt_gemm_problem *problem = &(<qrt_gemm_args *>call.args).problem
    cdef int a_size = CONTAINER_SIZES[a], b_size = CONTAINER_SIZES[b]
    cdef int i
    batch, m, n, k, k_block = dimensions("gemm", "batch, m, n, k, k_block", (batch, m, n, k, k_block))
    a_matrices, b_matrices = dimensions(
        "gemm", "a_matrices, b_matrices",
        (batch if a_matrices is None else a_matrices, 1 if b_matrices is None else b_matrices))
    a_shape = dimensions("gemm", "a", (a_matrices, m, k))
    b_shape = dimensions("gemm", "b", (b_matrices, n, k) if b_transposed else (b_matrices, k, n))
    if n >= 1 << 31:
        raise KernelError(f"gemm: n must be below 2**31, got {n}")
    problem.batch, problem.m, problem.n, problem.k = batch, m, n, k
    problem.a_matrices, problem.b_matrices = a_matrices, b_matrices
    problem.a_index = matrix_index(call, "a_index", a_index, batch, a_matrices)
    problem.b_index = matrix_index(call, "b_index", b_index, batch, b_matrices)
    problem.a_row_stride, problem.a_matrix_stride = k * a_size, m * k * a_size
    problem.b_k_stride, problem.b_n_stride = (b_size, k * b_size) if b_transposed else (n * b_size, b_size)
    problem.b_matrix_stride = k * n * b_size

    za_steps = dimensions("gemm", "a_zero_point_steps", a_zero_point_steps, 2)
    zb_steps = dimensions("gemm", "b_zero_point_steps", b_zero_point_steps, 3)
    steps = dimensions("gemm", "requant_steps", requant_steps, 3)
    for i in range(2):
        problem.a_zero_point_steps[i] = za_steps[i]
    for i in range(3):
        problem.b_zero_point_steps[i], problem.requant_steps[i] = zb_steps[i], steps[i]
    problem.k_block = k_block
    blocks = -(-k // k_block) if k_block else 1
    if zb_steps[1] and not k_block:
        raise KernelError("gemm: b_zero_point_steps along K need k_block")
    problem.a_zero_point = zero_points(call, "a_zero_points", a_zero_points, reach(za_steps, (a_matrices, m)))
    problem.b_zero_point = zero_points(call, "b_zero_points", b_zero_points, reach(zb_steps, (b_matrices, blocks, n)))
    fill_requant(call, &problem.requant, requant, reach(steps, (batch, m, n)), "blocks" if k_block else "full")
    if steps[1] > 1 or steps[2] > 1:
        raise KernelError(f"gemm: the row and column steps of requant must be 0 or 1, got {steps}")
    problem.out_row_stride = n * CONTAINER_SIZES[requant.storage]
    problem.out_matrix_stride = m * problem.out_row_stride

    (problem.bias_batch_step,) = dimensions("gemm", "bias_batch_step", (bias_batch_step,))
    bias_shape = (n,) if bias_batch_step == 0 else (max(batch - 1, 0) * bias_batch_step + n,)
    bias_dtype = bind_bias(call, &problem.bias, &problem.bias_constant, bias, bias_shape[0])
    if k_block:
        fill_blocks(call, problem, blocks, block_scale, block_multiplier, bias_multiplier)
    elif problem.bias == QRT_BIAS_F32:
        raise KernelError("gemm: a float bias is only for sub-channel weights")

    add_operand(call, CONTAINERS[a], a_shape)
    if b_constant is None:
        add_operand(call, CONTAINERS[b], b_shape)
    if bias_dtype is not None:
        add_operand(call, bias_dtype, bias_shape)
    add_operand(call, CONTAINERS[requant.storage], (batch, m, n))
    prepare_gemm(call, b_constant, CONTAINERS[b], element_count("gemm", b_shape), stored, bias, requant)
    return call


cdef object reach(tuple steps, tuple sizes):
    """Return the number of parameters that the steps reach."""
    return parameter_count("gemm", 1 + sum(step * (max(size, 1) - 1) for step, size in zip(steps, sizes)))


cdef fill_blocks(KernelCall call, qrt_gemm_problem *problem, object blocks, object block_scale, object block_multiplier,
                 object bias_multiplier):
    cdef int64_t count = parameter_count(call.name, blocks * problem.n)
    if problem.bias_batch_step:
        raise KernelError(f"{call.name}: sub-channel weights need one bias for the whole batch")
    if problem.requant.rule == QRT_FIXED:
        if block_multiplier is None or (problem.bias != QRT_BIAS_NONE and bias_multiplier is None):
            raise KernelError(f"{call.name}: the rule fixed needs block_multiplier, and bias_multiplier for a bias")
        if problem.bias == QRT_BIAS_F32:
            raise KernelError(f"{call.name}: the rule fixed needs an integer bias")
        problem.block_multiplier = <const int64_t *>parameters(
            call, "block_multiplier", block_multiplier, np.int64, count
        )
        if problem.bias != QRT_BIAS_NONE:
            problem.bias_multiplier = <const int64_t *>parameters(
                call, "bias_multiplier", bias_multiplier, np.int64, problem.n
            )
    elif problem.requant.rule == QRT_FLOAT32:
        if block_scale is None or problem.bias not in (QRT_BIAS_NONE, QRT_BIAS_F32):
            raise KernelError(f"{call.name}: the rule float32 needs block_scale, and a float bias")
        problem.block_scale = <const float *>parameters(call, "block_scale", block_scale, np.float32, count)
        check_finite(call, "block_scale")
    else:
        raise KernelError(f"{call.name}: sub-channel weights need the rule fixed or float32")


def bind_conv2d(*, str isa, str x, str w, x_shape, w_shape, x_zero_point, w_zero_points, requant, strides, padding,
                dilations, groups, w_constant=None, bias=None, str microkernel=None, stored=None):
    return new_conv2d(isa, x, w, x_shape, w_shape, x_zero_point, w_zero_points, requant, strides, padding, dilations,
                      groups, w_constant, bias, microkernel, stored)


cdef KernelCall new_conv2d(str isa, str x, str w, object x_shape, object w_shape, object x_zero_point,
                           object w_zero_points, object requant, object strides, object padding, object dilations,
                           object groups, object w_constant, object bias, str microkernel, object stored):
    """Bind a convolution that is not recorded: it may be a part of another call."""
    cdef KernelCall call = new_gemm("conv2d", isa, x, w, microkernel)
    cdef qrt_gemm_problem *problem = &(<qrt_gemm_args *>call.args).problem
    cdef qrt_window *window = <qrt_window *>calloc(1, sizeof(qrt_window))
    cdef int x_size = CONTAINER_SIZES[x], w_size = CONTAINER_SIZES[w]
    call.extra = window
    if window == NULL:
        raise MemoryError("conv2d: out of memory")
    x_shape, w_shape = dimensions("conv2d", "x_shape", x_shape, 4), dimensions("conv2d", "w_shape", w_shape, 4)
    element_count("conv2d", x_shape)
    element_count("conv2d", w_shape)
    fill_window(call, window, x_shape, w_shape[1:3], strides, padding, dilations)
    out_channels = w_shape[0]
    (groups,) = dimensions("conv2d", "groups", (groups,), 1, 1)
    if out_channels % groups or w_shape[3] * groups != x_shape[3]:
        raise KernelError(f"conv2d: {groups} groups of weights {w_shape} do not match the input {x_shape}")
    window.groups = groups
    out_shape = (x_shape[0], window.out_height, window.out_width, out_channels)
    element_count("conv2d", out_shape)

    problem.window = window
    problem.batch = problem.b_matrices = groups
    problem.a_matrices = 1
    problem.m = x_shape[0] * window.out_height * window.out_width
    problem.n, problem.k = out_channels // groups, w_shape[1] * w_shape[2] * w_shape[3]
    problem.a_row_stride = problem.k * x_size
    problem.b_k_stride, problem.b_n_stride = w_size, problem.k * w_size
    problem.b_matrix_stride = problem.n * problem.b_n_stride
    problem.a_zero_point = zero_points(call, "x_zero_point", [x_zero_point], 1)
    if not CONTAINER_BOUNDS[x][0] <= x_zero_point <= CONTAINER_BOUNDS[x][1]:
        if any(sum(sides) for sides in padding):
            raise KernelError(f"conv2d: with padding, the zero point of x must be a value of {x}, got {x_zero_point}")
    problem.b_zero_point = zero_points(call, "w_zero_points", w_zero_points, 1)
    count = last_count(call)
    if count != 1:
        problem.b_zero_point = zero_points(call, "w_zero_points", w_zero_points, out_channels)
        problem.b_zero_point_steps[0], problem.b_zero_point_steps[2] = problem.n, 1
    count = np.size(requant.zero_point)
    fill_requant(call, &problem.requant, requant, 1 if count == 1 else out_channels)
    if count != 1:
        problem.requant_steps[0], problem.requant_steps[2] = problem.n, 1
    problem.out_row_stride = out_channels * CONTAINER_SIZES[requant.storage]
    problem.out_matrix_stride = problem.n * CONTAINER_SIZES[requant.storage]

    problem.bias_batch_step = problem.n
    bias_dtype = bind_bias(call, &problem.bias, &problem.bias_constant, bias, out_channels)
    if problem.bias == QRT_BIAS_F32:
        raise KernelError("conv2d: a float bias is only for sub-channel weights")
    add_operand(call, CONTAINERS[x], x_shape)
    if w_constant is None:
        add_operand(call, CONTAINERS[w], w_shape)
    if bias_dtype is not None:
        add_operand(call, bias_dtype, (out_channels,))
    add_operand(call, CONTAINERS[requant.storage], out_shape)
    prepare_gemm(call, w_constant, CONTAINERS[w], element_count("conv2d", w_shape), stored, bias, requant)
    return call
