"""Calls kept: a public function finds the bound call that the same arguments had before. calls.pyi says what it takes.

The arguments of a call are described by words: types by identity (they are interned), attributes by kind and value,
arrays by dtype and shape. Equal words mean equal bound calls. Whatever has no description (a list, an array that a
kernel could not read in place) goes the long way every time.
"""

cimport cython
cimport numpy as cnp
from cpython.contextvars cimport PyContextVar_Get
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from qrt._seam._core cimport QRT_MAX_OPERANDS, Call, overlapping_input, run

from functools import update_wrapper

cdef object FORCED_ISA
from qrt.kernels import forced_isa as FORCED_ISA
from qrt.types import UniformType

cnp.import_array()

cdef extern from *:
    """
    /* Cython has no spelling for a type that is called by PEP 590. */
    static void call_by_vector(PyTypeObject *type, Py_ssize_t offset) {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(type);
    }
    """
    ctypedef object (*vectorcallfunc)(object callable, PyObject *const *args, size_t nargsf, PyObject *names)
    void call_by_vector(PyTypeObject *type, Py_ssize_t offset)
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf)
    object PyObject_Vectorcall(object callable, PyObject *const *args, size_t nargsf, PyObject *names)
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    bint PyUnicode_IS_COMPACT_ASCII(object text)
    long long PyLong_AsLongLongAndOverflow(object value, int *overflow)

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISNOTSWAPPED(cnp.ndarray array)
    bint PyArray_ISWRITEABLE(cnp.ndarray array)

cdef enum:
    MAX_PARAMETERS = 16
    MAX_ARRAYS = 16
    MAX_WORDS = 160
    MAX_TEXT = 24
    WAYS = 4
    SETS = 128  # 512 calls for the whole process
    TENSOR_WAYS = 8  # and 8 for a tensor that keeps its own

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
    TEXT  # | bytes << 8, three words
    TUPLE  # | items << 8
    INTERNED  # identity
    ARRAY  # | rank << 8 | dtype << 16, the shape
    TENSOR  # type, then an array
    KEEPER  # the number of a tensor that keeps calls, then as above

cdef PyObject *INTERNED_TYPE = <PyObject *>UniformType  # immutable, and equal only if identical
cdef int64_t keepers = 0
cdef tuple NOTHING = ()


# ---- tensors ----

cdef class Tensor:
    cdef readonly cnp.ndarray _data
    cdef readonly object type
    cdef readonly tuple _shape
    cdef public object _tensor_type
    cdef Calls calls
    cdef int64_t number

    def _fill(self, cnp.ndarray data not None, object type, tuple shape not None):
        self._data, self.type, self._shape, self._tensor_type = data, type, shape, None

    def _keep_calls(self):
        global keepers
        keepers += 1
        self.calls, self.number = Calls(1, TENSOR_WAYS), keepers


# ---- describing arguments ----

cdef struct Arguments:
    int words
    int arrays
    int types
    int out  # which array is written, or -1
    uint64_t word[MAX_WORDS]
    PyObject *array[MAX_ARRAYS]
    bint constant[MAX_ARRAYS]  # of a tensor that keeps calls: it may be part of a call
    PyObject *type[MAX_WORDS]  # what the words name by identity
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


cdef bint describe_array(Arguments *to, cnp.ndarray array) noexcept:
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


cdef bint describe_tensor(Arguments *to, Tensor tensor) noexcept:
    cdef int i = to.arrays
    if tensor._data is None:  # made by __new__ alone
        return False
    if tensor.calls is not None and not (put(to, KEEPER) and put(to, <uint64_t>tensor.number)):
        return False
    if not put_identity(to, TENSOR, tensor.type) or not describe_array(to, tensor._data):
        return False
    to.constant[i] = tensor.calls is not None
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
    """Appends the words of one argument; False for what has none. Runs no code of Python's."""
    cdef double number
    cdef int overflow
    cdef long long integer
    cdef uint64_t bits
    if cnp.PyArray_CheckExact(value):
        return describe_array(to, <cnp.ndarray>value)
    if <PyObject *>(<PyObject *>value).ob_type == INTERNED_TYPE:
        return put_identity(to, INTERNED, value)
    if isinstance(value, Tensor):  # behind the comparisons of pointers: it walks the bases of what is none
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
    return PyTuple_CheckExact(value) and describe_tuple(to, <tuple>value)


# ---- kept calls ----

@cython.internal
@cython.final
cdef class Kept:
    """A bound call, and the words of the arguments it belongs to."""

    cdef Call call
    cdef tuple named  # what the words name by identity stays alive, so that no other object takes its place
    cdef uint64_t hash
    cdef uint64_t *word
    cdef int words
    cdef int inputs
    cdef int input[QRT_MAX_OPERANDS]  # which array each input is
    # The result, where none is given: an array, of a tensor of `tensor_type`.
    cdef int dtype, rank
    cdef cnp.npy_intp *dims
    cdef tuple shape
    cdef object element
    cdef type tensor_type

    def __dealloc__(self):
        PyMem_Free(self.word)
        PyMem_Free(self.dims)


cdef inline uint64_t hash_of(const Arguments *given) noexcept:
    """A sum of independent products: one multiplication per word, none waits for another."""
    cdef uint64_t total = given.words
    cdef int i
    for i in range(given.words):
        total += given.word[i] * MULTIPLIERS[i]
    return total


cdef uint64_t MULTIPLIERS[MAX_WORDS]


cdef fill_multipliers():
    cdef uint64_t state = 0, mixed
    cdef int i
    for i in range(MAX_WORDS):  # splitmix64
        state += <uint64_t>0x9E3779B97F4A7C15
        mixed = (state ^ (state >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
        mixed = (mixed ^ (mixed >> 27)) * <uint64_t>0x94D049BB133111EB
        MULTIPLIERS[i] = mixed | 1


fill_multipliers()


@cython.final
cdef class Calls:
    """Sets of a few calls, the latest used first in each. Only ever touched with the GIL held. `sets` is a power of 2."""

    cdef PyObject **slot
    cdef int sets, ways
    cdef readonly int64_t hits

    def __cinit__(self, int sets, int ways):
        cdef int i
        self.slot = <PyObject **>PyMem_Malloc(sets * ways * sizeof(PyObject *))
        if self.slot == NULL:
            raise MemoryError
        for i in range(sets * ways):
            self.slot[i] = NULL
        self.sets, self.ways = sets, ways

    def __dealloc__(self):
        cdef int i
        if self.slot != NULL:
            for i in range(self.sets * self.ways):
                if self.slot[i] != NULL:
                    Py_DECREF(<object>self.slot[i])
        PyMem_Free(self.slot)

    def __len__(self):
        cdef int i
        return sum([1 for i in range(self.sets * self.ways) if self.slot[i] != NULL])

    cdef PyObject **set_of(self, uint64_t hash) noexcept:
        return self.slot + ((hash >> 40) & <uint64_t>(self.sets - 1)) * self.ways

    cdef Kept find(self, const Arguments *given, uint64_t hash):
        cdef PyObject **first = self.set_of(hash)
        cdef PyObject *found
        cdef int i
        for i in range(self.ways):
            found = first[i]
            if found == NULL:
                return None
            if ((<Kept>found).hash == hash and (<Kept>found).words == given.words
                    and memcmp((<Kept>found).word, given.word, given.words * sizeof(uint64_t)) == 0):
                self.hits += 1
                to_front(first, i)
                return <Kept>found
        return None

    cdef add(self, Kept kept):
        cdef PyObject **first = self.set_of(kept.hash)
        cdef PyObject *oldest = first[self.ways - 1]
        Py_INCREF(kept)
        first[self.ways - 1] = <PyObject *>kept
        to_front(first, self.ways - 1)
        if oldest != NULL:
            Py_DECREF(<object>oldest)  # last: it may run other code


cdef inline void to_front(PyObject **first, int i) noexcept:
    cdef PyObject *moved = first[i]
    while i > 0:
        first[i] = first[i - 1]
        i -= 1
    first[0] = moved


kept_calls = Calls(SETS, WAYS)
cdef Calls KEPT_CALLS = kept_calls


cdef object run_kept(Kept kept, const Arguments *given, PyObject *out):
    """The result, or None where the output is read-only."""
    cdef void *pointers[QRT_MAX_OPERANDS]
    cdef Call call = kept.call
    cdef cnp.ndarray fresh, target
    cdef Tensor result
    cdef int i
    for i in range(kept.inputs):
        pointers[i] = cnp.PyArray_DATA(<cnp.ndarray>given.array[kept.input[i]])
    if given.out >= 0:
        target = <cnp.ndarray>given.array[given.out]
        pointers[kept.inputs] = cnp.PyArray_DATA(target)
        if not PyArray_ISWRITEABLE(target):
            return None
        if overlapping_input(call.operands, call.count, pointers, NULL) < 0:
            run(call, pointers)
            return <object>out
    fresh = cnp.PyArray_EMPTY(kept.rank, kept.dims, kept.dtype, False)
    pointers[kept.inputs] = cnp.PyArray_DATA(fresh)
    run(call, pointers)
    if given.out >= 0:
        memcpy(cnp.PyArray_DATA(target), cnp.PyArray_DATA(fresh), cnp.PyArray_NBYTES(fresh))
        return <object>out
    if kept.tensor_type is None:
        return fresh
    result = <Tensor>(<PyTypeObject *>kept.tensor_type).tp_new(kept.tensor_type, <PyObject *>NOTHING, NULL)
    result._data, result.type, result._shape = fresh, kept.element, kept.shape
    return result


cdef inline bint are_alike(cnp.ndarray a, cnp.ndarray b) noexcept:
    cdef int axis
    if cnp.PyArray_TYPE(a) != cnp.PyArray_TYPE(b) or cnp.PyArray_NDIM(a) != cnp.PyArray_NDIM(b):
        return False
    for axis in range(cnp.PyArray_NDIM(a)):  # not memcmp: an array without axes has no memory of them
        if cnp.PyArray_DIM(a, axis) != cnp.PyArray_DIM(b, axis):
            return False
    return True


cdef Kept keep(const Arguments *given, uint64_t hash, object bound, object result):
    """A call to keep, or None where it did not read the arguments' own arrays, or its output is not the result's."""
    cdef Kept kept = Kept.__new__(Kept)
    cdef tuple inputs = bound.inputs
    cdef cnp.ndarray written = bound.storage, final = result._data if isinstance(result, Tensor) else result
    cdef int i, axis, used = 0
    # Another array of the kind of `out` stood in for it because they overlap.
    if not isinstance(bound.call, Call) or (final is not written and (given.out < 0 or not are_alike(final, written))):
        return None
    kept.call = bound.call
    for i in range(given.arrays):
        if i == given.out:
            if given.array[i] != <PyObject *>final:
                return None
        elif used < len(inputs) and given.array[i] == <PyObject *>inputs[used]:
            kept.input[used] = i
            used += 1
        elif not given.constant[i]:
            return None
    if used != len(inputs) or used != kept.call.count - 1:
        return None
    kept.inputs = used
    kept.named = tuple([<object>given.type[i] for i in range(given.types)])
    kept.hash, kept.words = hash, given.words
    kept.word = <uint64_t *>PyMem_Malloc(given.words * sizeof(uint64_t))
    kept.rank, kept.dtype = cnp.PyArray_NDIM(written), cnp.PyArray_TYPE(written)
    kept.dims = <cnp.npy_intp *>PyMem_Malloc((kept.rank + 1) * sizeof(cnp.npy_intp))
    if kept.word == NULL or kept.dims == NULL:
        raise MemoryError
    memcpy(kept.word, given.word, given.words * sizeof(uint64_t))
    for axis in range(kept.rank):  # not memcpy: an array without axes has none to copy from
        kept.dims[axis] = cnp.PyArray_DIM(written, axis)
    if isinstance(result, Tensor):
        kept.tensor_type, kept.element, kept.shape = type(result), result.type, result._shape
    return kept


# ---- functions ----

@cython.final
cdef class Function:
    cdef vectorcallfunc vectorcall
    cdef dict __dict__
    cdef object __weakref__
    cdef object bind
    cdef tuple names, defaults
    cdef PyObject *name[MAX_PARAMETERS]
    cdef PyObject *default[MAX_PARAMETERS]  # NULL: required
    cdef int parameters, positional, out

    def __init__(self, bind):
        cdef int i
        code = bind.__code__
        self.bind = bind
        self.positional, self.parameters = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        if self.parameters > MAX_PARAMETERS or code.co_posonlyargcount or code.co_flags & 0x0C:
            raise TypeError(f"{bind.__qualname__}: at most {MAX_PARAMETERS} named parameters are taken")
        self.names = code.co_varnames[:self.parameters]
        values = bind.__defaults__ or ()
        given = dict(zip(self.names[self.positional - len(values):self.positional], values)) | (bind.__kwdefaults__ or {})
        self.defaults = tuple(given.values())
        self.out = self.names.index("out") if "out" in self.names else -1
        for i in range(self.parameters):
            self.name[i] = <PyObject *>self.names[i]
            self.default[i] = <PyObject *>given[self.names[i]] if self.names[i] in given else NULL
        self.vectorcall = call
        update_wrapper(self, bind)

    def __call__(self, *args, **kwargs):
        """The same without looking for a kept call: only what asks for this very method comes here."""
        return self.bind(*args, **kwargs).run()

    def __get__(self, instance, owner):
        """What makes `help`, `inspect` and `doctest` see a function. It does not bind: no method is one."""
        return self

    def __repr__(self):
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__


cdef bint describe_call(
    Function function, Arguments *to, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **out
):
    """All words of a call; False where the long way must be gone, wrong arguments included."""
    cdef PyObject *value
    cdef PyObject *isa = NULL
    cdef uint64_t defaults = 0
    cdef Py_ssize_t i, named = 0 if names == NULL else len(<tuple>names), matched = 0
    cdef int j, arrays
    if count > function.positional:
        return False
    to.words, to.types, to.arrays = FIRST_DESCRIPTION, 2, 0
    to.out, to.keeper, out[0] = -1, NULL, NULL
    PyContextVar_Get(FORCED_ISA, NULL, &isa)
    Py_DECREF(<object>isa)  # the context keeps it
    to.type[0], to.type[1] = <PyObject *>function, isa
    to.word[FUNCTION], to.word[FORCED] = <uint64_t><PyObject *>function, <uint64_t>isa
    for j in range(function.parameters):
        value = args[j] if j < count else NULL
        if j >= count:
            for i in range(named):
                if function.name[j] == <PyObject *>(<tuple>names)[i]:
                    value = args[count + i]
                    matched += 1
                    break
        if j == function.out:
            out[0] = value
        if value == NULL or value == function.default[j]:
            if function.default[j] == NULL:
                return False
            defaults |= <uint64_t>1 << j
            continue
        arrays = to.arrays
        if not describe(to, <object>value):
            return False
        if j == function.out and to.arrays > arrays:
            to.out = arrays
    to.word[DEFAULTS] = defaults
    return matched == named  # else a name is unknown, or given by position too


cdef object call(object self, PyObject *const *args, size_t nargsf, PyObject *names):
    cdef Function function = <Function>self
    cdef Arguments given
    cdef PyObject *out
    cdef Calls calls
    cdef Kept kept
    cdef uint64_t hash
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if not describe_call(function, &given, args, count, names, &out):
        return PyObject_Vectorcall(function.bind, args, count, names).run()
    hash = hash_of(&given)
    calls = KEPT_CALLS if given.keeper == NULL else (<Tensor>given.keeper).calls
    kept = calls.find(&given, hash)
    if kept is None:
        return bind_and_keep(function, &given, hash, args, count, names)
    result = run_kept(kept, &given, out)
    return result if result is not None else PyObject_Vectorcall(function.bind, args, count, names).run()


cdef object bind_and_keep(Function function, Arguments *given, uint64_t hash, PyObject *const *args, Py_ssize_t count,
                          PyObject *names):
    """The long way; what it bound is kept unless an argument has changed meanwhile."""
    cdef Arguments after
    cdef PyObject *out
    cdef Calls calls
    bound = PyObject_Vectorcall(function.bind, args, count, names)
    result = bound.run()
    if (describe_call(function, &after, args, count, names, &out) and after.words == given.words
            and memcmp(after.word, given.word, after.words * sizeof(uint64_t)) == 0):
        calls = KEPT_CALLS if after.keeper == NULL else (<Tensor>after.keeper).calls
        kept = keep(&after, hash, bound, result)
        if kept is not None and calls.find(&after, hash) is None:
            calls.add(kept)
    return result


cdef prepare_type():
    cdef Function instance = Function.__new__(Function)
    call_by_vector(<PyTypeObject *>Function, <char *>&instance.vectorcall - <char *><PyObject *>instance)


prepare_type()
