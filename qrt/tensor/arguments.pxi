# The description of a call's arguments as words, which are the key of the call cache.

# The words of a call begin with the function, the ISA that `kernels.use` forces, and a bit for each parameter that has
# its default. The first word of each description says how many follow, so that none begins another.
cdef enum:
    FUNCTION
    FORCED
    DEFAULTS
    FIRST_DESCRIPTION

cdef enum:
    SINGLETON  # identity of None, True or False
    INTEGER  # its value
    FLOAT  # its bits
    NUMBER  # NumPy's: its type, its bits
    TEXT  # | bytes << 8, three words
    TUPLE  # | items << 8
    INTERNED  # identity
    ARRAY  # | rank << 8 | dtype << 16, the shape
    TENSOR  # type, then an array
    KEEPER  # the number of a tensor that keeps calls, then as above

cdef struct Arguments:
    int words
    int arrays
    int types
    int out  # which array is written, or -1
    uint64_t word[MAX_WORDS]
    PyObject *array[MAX_ARRAYS]
    bint constant[MAX_ARRAYS]  # of a tensor that keeps calls: it may be part of a call
    PyObject *type[MAX_WORDS]  # the objects that the words name by identity
    PyObject *keeper  # the first such tensor but for the first operand


cdef inline bint put(Arguments *to, uint64_t word) noexcept:
    if to.words == MAX_WORDS:
        return False
    to.word[to.words] = word
    to.words += 1
    return True


cdef inline bint put_identity(Arguments *to, uint64_t kind, object value) noexcept:
    if not put(to, kind) or not put(to, <uint64_t><PyObject *>value):
        return False
    to.type[to.types] = <PyObject *>value
    to.types += 1
    return True


cdef inline bint describe_array(Arguments *to, cnp.ndarray array) noexcept:
    cdef int d, rank = cnp.PyArray_NDIM(array)
    if (to.arrays == MAX_ARRAYS or to.words + 1 + rank > MAX_WORDS or not PyArray_ISNOTSWAPPED(array)
            or not cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)):
        return False
    to.word[to.words] = ARRAY | <uint64_t>rank << 8 | <uint64_t>cnp.PyArray_TYPE(array) << 16
    for d in range(rank):
        to.word[to.words + 1 + d] = <uint64_t>cnp.PyArray_DIM(array, d)
    to.words += 1 + rank
    to.array[to.arrays], to.constant[to.arrays] = <PyObject *>array, False
    to.arrays += 1
    return True


cdef inline bint describe_tensor(Arguments *to, Tensor tensor) noexcept:
    cdef int i = to.arrays
    if tensor._data is None:  # made by __new__ alone
        return False
    if tensor._cache is not None and not (put(to, KEEPER) and put(to, <uint64_t>(<CallCache>tensor._cache).number)):
        return False
    if not put_identity(to, TENSOR, tensor.type) or not describe_array(to, tensor._data):
        return False
    to.constant[i] = tensor._cache is not None
    if to.constant[i] and i > 0 and to.keeper == NULL:
        to.keeper = <PyObject *>tensor
    return True


cdef bint describe_text(Arguments *to, object text) noexcept:
    cdef Py_ssize_t size = 0
    cdef const char *letters
    if not PyUnicode_IS_COMPACT_ASCII(text) or to.words + 1 + MAX_TEXT // 8 > MAX_WORDS:
        return False
    letters = PyUnicode_AsUTF8AndSize(text, &size)  # of ASCII it is a pointer into the object
    if size > MAX_TEXT:
        return False
    to.word[to.words] = TEXT | <uint64_t>size << 8
    to.word[to.words + 1] = to.word[to.words + 2] = to.word[to.words + 3] = 0
    memcpy(&to.word[to.words + 1], letters, size)
    to.words += 1 + MAX_TEXT // 8
    return True


cdef bint describe_tuple(Arguments *to, tuple items) noexcept:
    if not put(to, TUPLE | <uint64_t>len(items) << 8):
        return False
    for item in items:
        if not describe(to, item):
            return False
    return True


cdef bint describe(Arguments *to, object value) noexcept:
    """Append the words of one argument; return False if it has no description. Runs no Python code."""
    cdef double number
    cdef int overflow
    cdef long long integer
    cdef uint64_t bits
    if cnp.PyArray_CheckExact(value):
        return describe_array(to, <cnp.ndarray>value)
    if <PyObject *>(<PyObject *>value).ob_type == UNIFORM_TYPE:
        return put_identity(to, INTERNED, value)
    # Comparisons of pointers come first: isinstance calls a function, which walks the bases of any other object.
    if (<PyObject *>value).ob_type == tensor_class or isinstance(value, Tensor):
        return describe_tensor(to, <Tensor>value)
    if value is None or value is True or value is False:
        return put(to, SINGLETON) and put(to, <uint64_t><PyObject *>value)
    if PyUnicode_CheckExact(value):
        return describe_text(to, value)
    if PyLong_CheckExact(value):
        integer = PyLong_AsLongLongAndOverflow(value, &overflow)
        return not overflow and put(to, INTEGER) and put(to, <uint64_t>integer)
    if PyFloat_CheckExact(value):
        number = value
        memcpy(&bits, &number, sizeof(bits))
        return put(to, FLOAT) and put(to, bits)
    if <PyObject *>(<PyObject *>value).ob_type == TENSOR_TYPE:
        return put_identity(to, INTERNED, value)
    if type(value) in NUMBER_TYPES:
        bits = 0
        cnp.PyArray_ScalarAsCtype(value, &bits)
        return put_identity(to, NUMBER, type(value)) and put(to, bits)
    return PyTuple_CheckExact(value) and describe_tuple(to, <tuple>value)


cdef bint describe_key(Arguments *to, tuple key) noexcept:
    """Append the words of a key. They begin with its number of items, in place of a function."""
    to.words = to.types = to.arrays = 0
    return describe_tuple(to, key) and to.arrays == 0
