"""Public functions that find the bound call of equal arguments in the call cache. calls.pyi says what they take.

The arguments of a call are described by words: types by identity (they are interned), attributes by kind and value,
arrays by dtype and shape. Equal words mean equal bound calls. A call with an argument that has no description (a list,
an array that a kernel could not read in place) is bound every time.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.contextvars cimport PyContextVar_Get
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from qrt._ext.kernels cimport QRT_MAX_OPERANDS, KernelCall, Operand, overlapped_operand, run

from functools import update_wrapper
from inspect import signature

import numpy as np

cdef object FORCED_ISA
from qrt.kernels import forced_isa as FORCED_ISA
from qrt.errors import is_of_call, misfit
from qrt.types import TensorType, UniformType

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
    object PyVectorcall_Call(object callable, object args, object kwargs)
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

# Types are interned: told apart by identity.
cdef PyObject *UNIFORM_TYPE = <PyObject *>UniformType
cdef PyObject *TENSOR_TYPE = <PyObject *>TensorType
cdef frozenset NUMBER_TYPES = frozenset([np.dtype(code).type for code in "?bBhHiIlLqQefd"])  # of 8 bytes at most
cdef int64_t caches = 0
cdef PyTypeObject *tensor_class = NULL
cdef tuple NOTHING = ()


cdef class Tensor:
    def _fill(self, cnp.ndarray data not None, object type, tuple shape not None):
        self._data, self.type, self._shape = data, type, shape

    def _keep_calls(self):
        self._cache = CallCache(1, TENSOR_WAYS)

    @property
    def tensor_type(self):
        return TensorType(self._shape, self.type)


def set_tensor_class(type kind):
    global tensor_class
    Py_INCREF(kind)
    tensor_class = <PyTypeObject *>kind


cpdef Tensor tensor_of(cnp.ndarray data, object element, tuple shape):
    cdef Tensor made = <Tensor>tensor_class.tp_new(<type>tensor_class, <PyObject *>NOTHING, NULL)
    made._data, made.type, made._shape = data, element, shape
    return made


include "arguments.pxi"
include "cache.pxi"


call_cache = CallCache(SETS, WAYS)
cdef CallCache CALL_CACHE = call_cache


cdef object run_cached(CachedCall cached, const Arguments *given, PyObject *out):
    """Return the result, or None if the output is read-only."""
    cdef void *pointers[QRT_MAX_OPERANDS]
    cdef KernelCall call = cached.call
    cdef cnp.ndarray fresh, target
    cdef int i
    for i in range(cached.inputs):
        pointers[i] = cnp.PyArray_DATA(<cnp.ndarray>given.array[cached.input[i]])
    if given.out >= 0:
        target = <cnp.ndarray>given.array[given.out]
        pointers[cached.inputs] = cnp.PyArray_DATA(target)
        if not PyArray_ISWRITEABLE(target):
            return None
        if overlapped_operand(call, pointers) < 0:
            run(call, pointers)
            return <object>out
    fresh = cnp.PyArray_EMPTY(cached.rank, <cnp.npy_intp *>cnp.PyArray_DATA(cached.sizes), cached.dtype, False)
    pointers[cached.inputs] = cnp.PyArray_DATA(fresh)
    run(call, pointers)
    if given.out >= 0:
        memcpy(cnp.PyArray_DATA(target), cnp.PyArray_DATA(fresh), cnp.PyArray_NBYTES(fresh))
        return <object>out
    return fresh if cached.element is None else tensor_of(fresh, cached.element, cached.shape)


cdef inline bint is_operand(const Operand *expected, const PyObject *array) noexcept:
    """Return True if a kernel can read a described array in place."""
    return (cnp.PyArray_TYPE(<cnp.ndarray>array) == expected.type_number
            and cnp.PyArray_SIZE(<cnp.ndarray>array) == expected.elements)


cdef CachedCall keep(const Arguments *given, object family_call, object result):
    """Return a call to cache by its arguments; None if the kernel read copies of them.

    Arrays that fit once fit each time: equal words mean equal dtypes and shapes."""
    cdef CachedCall cached = CachedCall.__new__(CachedCall)
    cdef tuple reads = family_call.reads
    cdef KernelCall call
    cdef int i, index
    cdef cnp.ndarray final = (<Tensor>result)._data if isinstance(result, Tensor) else result
    if not (family_call.is_in_place and isinstance(family_call.call, KernelCall)):
        return None
    call = family_call.call
    cached.call, cached.inputs = call, len(reads)
    if cached.inputs != call.count - 1 or not is_operand(&call.operands[cached.inputs], <PyObject *>final):
        return None
    for i in range(cached.inputs):
        index = reads[i]
        if not 0 <= index < given.arrays or not is_operand(&call.operands[i], given.array[index]):
            return None
        cached.input[i] = index
    for i in range(given.arrays):
        if i not in reads and i != given.out and not given.constant[i]:
            return None  # an attribute, whose values the words do not hold
    cached.rank, cached.dtype = cnp.PyArray_NDIM(final), cnp.PyArray_TYPE(final)
    cached.sizes = np.array((<object>final).shape, np.intp)
    if isinstance(result, Tensor):
        cached.element, cached.shape = (<Tensor>result).type, (<Tensor>result)._shape
    return cached


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
    cdef int required  # from here on every parameter has a default

    def __init__(self, bind):
        cdef int i
        code = bind.__code__
        self.bind = bind
        self.positional, self.parameters = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
        if self.parameters > MAX_PARAMETERS or code.co_posonlyargcount or code.co_flags & 0x0C:
            raise TypeError(f"{bind.__qualname__}: at most {MAX_PARAMETERS} named parameters are taken")
        parameters = signature(bind).parameters
        given = {name: p.default for name, p in parameters.items() if p.default is not p.empty}
        self.names, self.defaults = tuple(parameters), tuple(given.values())
        self.out = self.names.index("out") if "out" in self.names else -1
        for i in range(self.parameters):
            self.name[i] = <PyObject *>self.names[i]
            self.default[i] = <PyObject *>given[self.names[i]] if self.names[i] in given else NULL
            if self.default[i] == NULL:
                self.required = i + 1
        self.vectorcall = call
        update_wrapper(self, bind)

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    def __get__(self, instance, owner):
        """Return the object itself: it is not a method. `help`, `inspect` and `doctest` then treat it as a function."""
        return self

    def __repr__(self):
        return f"<function {self.__module__}.{self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__


cdef bint describe_call(
    Function function, Arguments *to, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject **out
):
    """Append all words of a call; return False if it has no description, as with wrong arguments."""
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
            if matched == named and j >= function.required:  # none is left that is given
                defaults |= (<uint64_t>1 << function.parameters) - (<uint64_t>1 << j)
                break
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
    cdef CallCache calls
    cdef CachedCall cached
    cdef uint64_t hash
    cdef Py_ssize_t count = PyVectorcall_NARGS(nargsf)
    if not describe_call(function, &given, args, count, names, &out):
        return bind_and_run(function, NULL, args, count, names)
    hash = hash_of(&given)
    calls = cache_of(&given)
    cached = calls.find(&given, hash)
    if cached is None:
        return bind_and_run(function, &given, args, count, names)
    calls.hits += 1
    result = run_cached(cached, &given, out)
    return result if result is not None else bind_and_run(function, NULL, args, count, names)


cdef inline CallCache cache_of(const Arguments *given):
    return CALL_CACHE if given.keeper == NULL else <CallCache>(<Tensor>given.keeper)._cache


cdef object bind_and_run(Function function, const Arguments *given, PyObject *const *args, Py_ssize_t count,
                         PyObject *names):
    """Bind and run a call that is not cached by its arguments.

    The bound call is then cached by the arguments, unless they have no description or have changed meanwhile, or the
    kernel read a copy; in these cases it is cached by the key that the function computed."""
    cdef Arguments after
    cdef PyObject *out
    cdef CachedCall cached = None
    try:
        bound = PyObject_Vectorcall(function.bind, args, count, names)
    except TypeError as error:
        if not is_of_call(error):
            raise
        raise misfit(function.bind, count, () if names == NULL else <tuple>names) from None
    result = bound.run()
    if (given != NULL and describe_call(function, &after, args, count, names, &out) and after.words == given.words
            and memcmp(after.word, given.word, after.words * sizeof(uint64_t)) == 0):
        cached = keep(&after, bound.family_call, result)
    if cached is None:
        if bound.key is not None:
            (<CallCache?>bound.cache).put(bound.key, bound.family_call)
    else:
        cache_of(&after).add(cached, &after, hash_of(&after))
    return result


cdef prepare_type():
    cdef Function instance = Function.__new__(Function)
    call_by_vector(<PyTypeObject *>Function, <char *>&instance.vectorcall - <char *><PyObject *>instance)


prepare_type()
