# Programs whose every step is a kernel: arguments that fit as they are go straight to the routine.

@cython.final
cdef class Quick:
    cdef Routine routine
    cdef str isa
    cdef bint is_default
    cdef tuple elements, whole, results, shapes, names, initials
    cdef object state

    def __init__(self, Routine routine not None, str isa, bint is_default, tuple elements, tuple whole, tuple results,
                 tuple shapes, state, tuple names, tuple initials):
        if len(elements) != routine.inputs or len(whole) != routine.inputs:
            raise TypeError("a type is needed for each input")
        if len(results) != routine.outputs or len(shapes) != routine.outputs or len(names) != len(initials):
            raise TypeError("a type is needed for each output")
        if len(names) != routine.externals - routine.inputs - routine.outputs:
            raise TypeError("a name is needed for each array of the state")
        self.routine, self.isa, self.is_default = routine, isa, is_default
        self.elements, self.whole, self.results, self.shapes = elements, whole, results, shapes
        self.state, self.names, self.initials = state, names, initials

    def __call__(self, tuple arguments not None):
        cdef PyObject *forced = NULL
        cdef cnp.ndarray array
        cdef Py_ssize_t i
        cdef Tensor tensor
        cdef list made, held
        PyContextVar_Get(FORCED_ISA, NULL, &forced)
        Py_DECREF(<object>forced)  # the context keeps it
        if not self.is_default if <object>forced is None else <object>forced != self.isa:
            return None
        if len(arguments) != self.routine.inputs:
            return None
        held = []  # the arrays as they are now: another thread may give a tensor other data meanwhile
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
            if not self.routine.accepts(<int>i, array, False):
                return None
            held.append(array)
        if not self.names:
            made = self.routine.run_on(held, NOTHING, None)
        else:
            with self.state.lock:
                made = self.routine.run_on(held, self.states(), None)
        for i in range(len(made)):
            if self.results[i] is not None:
                made[i] = tensor_of(<cnp.ndarray>made[i], self.results[i], self.shapes[i])
        return made

    def states(self):
        """The arrays of the globals, which have their initial values where nothing set them. Under the lock."""
        cdef dict arrays = self.state.arrays
        cdef Py_ssize_t i
        cdef list found = []
        for i in range(len(self.names)):
            name = self.names[i]
            if name not in arrays:
                arrays[name] = self.initials[i].copy()
            found.append(arrays[name])
        made = tuple(found)
        self.routine.check_states(made)
        return made

    def with_state(self, state):
        return Quick(self.routine, self.isa, self.is_default, self.elements, self.whole, self.results, self.shapes, state,
                     self.names, self.initials)
