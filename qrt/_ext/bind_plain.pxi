# Plain integers and bools, element by element.

cdef dict PLAIN = {
    np.dtype(np.bool_): QRT_PLAIN_BOOL, np.dtype(np.int8): QRT_PLAIN_8, np.dtype(np.int16): QRT_PLAIN_16,
    np.dtype(np.int32): QRT_PLAIN_32, np.dtype(np.int64): QRT_PLAIN_64
}
cdef dict PLAIN_SIZES = {1: QRT_PLAIN_8, 2: QRT_PLAIN_16, 4: QRT_PLAIN_32, 8: QRT_PLAIN_64}
# By name: the kind, and whether the operands change places.
cdef dict PLAIN_KINDS = {
    "addi": (QRT_PLAIN_ADD, False), "subi": (QRT_PLAIN_SUB, False), "muli": (QRT_PLAIN_MUL, False),
    "andi": (QRT_PLAIN_AND, False), "ori": (QRT_PLAIN_OR, False), "xori": (QRT_PLAIN_XOR, False),
    "maxsi": (QRT_PLAIN_MAX, False), "minsi": (QRT_PLAIN_MIN, False), "maxui": (QRT_PLAIN_MAX_U, False),
    "minui": (QRT_PLAIN_MIN_U, False), "divsi": (QRT_PLAIN_DIVIDE, False),
    "floordivsi": (QRT_PLAIN_FLOOR_DIVIDE, False), "remsi": (QRT_PLAIN_REMAINDER, False),
    "eq": (QRT_PLAIN_EQUAL, False), "ne": (QRT_PLAIN_NOT_EQUAL, False), "slt": (QRT_PLAIN_LESS, False),
    "sle": (QRT_PLAIN_LESS_EQUAL, False), "sgt": (QRT_PLAIN_LESS, True), "sge": (QRT_PLAIN_LESS_EQUAL, True),
    "ult": (QRT_PLAIN_LESS_U, False), "ule": (QRT_PLAIN_LESS_EQUAL_U, False), "ugt": (QRT_PLAIN_LESS_U, True),
    "uge": (QRT_PLAIN_LESS_EQUAL_U, True)
}
# The logical operation for each operation on one bit, whose value 1 is -1 in signed operations.
cdef dict ON_BOOLS = {
    "addi": "xori", "subi": "xori", "muli": "andi", "andi": "andi", "ori": "ori", "xori": "xori", "maxsi": "andi",
    "minsi": "ori", "maxui": "ori", "minui": "andi", "eq": "eq", "ne": "ne", "slt": "ugt", "sle": "uge", "sgt": "ult",
    "sge": "ule", "ult": "ult", "ule": "ule", "ugt": "ugt", "uge": "uge"
}


cdef KernelCall new_plain(str name, str isa, qrt_entry entry, object size, object steps, int operands):
    cdef KernelCall call = new_call(name, isa, entry, sizeof(qrt_plain_args))
    cdef qrt_plain_args *args = <qrt_plain_args *>call.args
    cdef int i
    args.kernels = find_kernels(name, isa)
    (args.count,) = dimensions(name, "size", (size,))
    steps = dimensions(name, "steps", (1,) * operands if steps is None else steps, operands, 0, 1)
    for i in range(operands):
        args.strides[i] = steps[i]
    call.elementwise, call.aliased = True, operands
    return call


cdef add_plain_operand(KernelCall call, object dtype, int operand):
    cdef qrt_plain_args *args = <qrt_plain_args *>call.args
    add_operand(call, dtype, (args.count if args.strides[operand] else 1,))


def bind_plain(*, str isa, str kind, dtype, size, steps=None):
    cdef KernelCall call = new_plain(kind, isa, qrt_plain, size, steps, 2)
    cdef qrt_plain_args *args = <qrt_plain_args *>call.args
    dtype = np.dtype(dtype)
    args.element = <qrt_plain_element>choose(kind, "element", PLAIN, dtype)
    if kind not in PLAIN_KINDS or (args.element == QRT_PLAIN_BOOL and kind not in ON_BOOLS):
        raise KernelError(f"{kind}: no such operation is defined for operands of {dtype}")
    if args.element == QRT_PLAIN_BOOL:
        args.element, kind = QRT_PLAIN_8, ON_BOOLS[kind]
    number, swapped = PLAIN_KINDS[kind]
    args.kind, args.swapped = <qrt_plain_kind><int>number, swapped
    out = dtype if args.kind < QRT_PLAIN_EQUAL else np.dtype(np.bool_)
    args.out = args.element if args.kind < QRT_PLAIN_EQUAL else QRT_PLAIN_BOOL
    add_plain_operand(call, dtype, 0)
    add_plain_operand(call, dtype, 1)
    add_operand(call, out, (args.count,))
    return call


def bind_plain_select(*, str isa, dtype, size, steps=None):
    cdef KernelCall call = new_plain("select", isa, qrt_plain_select, size, steps, 3)
    cdef qrt_plain_args *args = <qrt_plain_args *>call.args
    dtype = np.dtype(dtype)
    if dtype.hasobject or dtype.itemsize not in PLAIN_SIZES:
        raise KernelError(f"select: items must have 1, 2, 4 or 8 bytes, got {dtype}")
    args.kind, args.element = QRT_PLAIN_SELECT, <qrt_plain_element><int>PLAIN_SIZES[dtype.itemsize]
    args.out = args.element
    add_plain_operand(call, np.dtype(np.bool_), 0)
    add_plain_operand(call, dtype, 1)
    add_plain_operand(call, dtype, 2)
    add_operand(call, dtype, (args.count,))
    return call


def bind_plain_cast(*, str isa, dtype, out, size, bint unsigned=False):
    cdef KernelCall call = new_plain("cast", isa, qrt_plain_cast, size, None, 1)
    cdef qrt_plain_args *args = <qrt_plain_args *>call.args
    dtype, out = np.dtype(dtype), np.dtype(out)
    args.kind = QRT_PLAIN_CAST_U if unsigned else QRT_PLAIN_CAST
    args.element = <qrt_plain_element>choose("cast", "element", PLAIN, dtype)
    args.out = <qrt_plain_element>choose("cast", "element", PLAIN, out)
    add_plain_operand(call, dtype, 0)
    add_operand(call, out, (args.count,))
    return call
