"""The compiled check of a program's arguments; argument_binder.pyi describes its parameters.

The check is compiled because Python code for each argument would cost over a microsecond in every `program(x)`."""

cimport cython
cimport numpy as cnp
from cpython.contextvars cimport PyContextVar_Get
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from qrt._ext.kernels cimport Executable
from qrt.tensor.calls cimport Tensor, tensor_of

cdef object FORCED_ISA
from qrt.kernels import forced_isa as FORCED_ISA

cnp.import_array()


@cython.final
cdef class ArgumentBinder:
    cdef Executable executable
    cdef str isa
    cdef bint is_default
    cdef tuple elements, whole, results, shapes, names, initials
    cdef object state

    def __init__(self, Executable executable not None, str isa, bint is_default, tuple elements, tuple whole, tuple results,
                 tuple shapes, state, tuple names, tuple initials):
        if len(elements) != executable.inputs or len(whole) != executable.inputs:
            raise TypeError("a type is needed for each input")
        if len(results) != executable.outputs or len(shapes) != executable.outputs or len(names) != len(initials):
            raise TypeError("a type is needed for each output")
        if len(names) != executable.externals - executable.inputs - executable.outputs:
            raise TypeError("a name is needed for each array of the state")
        self.executable, self.isa, self.is_default = executable, isa, is_default
        self.elements, self.whole, self.results, self.shapes = elements, whole, results, shapes
        self.state, self.names, self.initials = state, names, initials

    def __call__(self, tuple arguments not None):
        cdef PyObject *forced = NULL
        cdef cnp.ndarray array
        cdef Py_ssize_t i
        cdef Tensor tensor
        cdef list results, arrays
        PyContextVar_Get(FORCED_ISA, NULL, &forced)
        Py_DECREF(<object>forced)  # the context keeps it
        if not self.is_default if <object>forced is None else <object>forced != self.isa:
            return None
        if len(arguments) != self.executable.inputs:
            return None
        arrays = []  # as they are now: another thread may give a tensor other data meanwhile
        for i in range(len(arguments)):
            value = arguments[i]
            if cnp.PyArray_CheckExact(value):
                if not self.whole[i]:
                    return None
                array = <cnp.ndarray>value
            elif isinstance(value, Tensor):
                tensor = <Tensor>value
                if self.elements[i] is None or tensor.type is not self.elements[i]:
                    return None
                array = tensor._data
            else:
                return None
            if not self.executable.accepts(<int>i, array, False):
                return None
            arrays.append(array)
        if not self.names:
            results = self.executable.run_on(arrays, (), None)
        else:
            with self.state.lock:
                results = self.executable.run_on(arrays, self.states(), None)
        for i in range(len(results)):
            if self.results[i] is not None:
                results[i] = tensor_of(<cnp.ndarray>results[i], self.results[i], self.shapes[i])
        return results

    def states(self):
        """Return the arrays of the globals, after setting those without an array to their initial values.

        The caller must hold the lock of the state."""
        cdef dict arrays = self.state.arrays
        cdef Py_ssize_t i
        cdef list globals = []
        for i in range(len(self.names)):
            name = self.names[i]
            if name not in arrays:
                arrays[name] = self.initials[i].copy()
            globals.append(arrays[name])
        states = tuple(globals)
        self.executable.check_states(states)
        return states

    def with_state(self, state):
        return ArgumentBinder(self.executable, self.isa, self.is_default, self.elements, self.whole, self.results,
                              self.shapes, state, self.names, self.initials)
