# Routines: calls whose operands stand at addresses that are known before the run.

@cython.final
cdef class Frame:
    """The operands of every step, and an arena, of one run at a time."""

    def __dealloc__(self):
        free(self.pointers)
        free(self.rounds)
        free(self.arena)


cdef inline void patch(Routine routine, void **pointers, int external, void *start) noexcept:
    """Has all operands in one array point there."""
    cdef int64_t k
    for k in range(routine.first[external], routine.first[external + 1]):
        pointers[routine.patched[k]] = <char *>start + routine.offset[k]


# With what aligns it, far below where a size leaves 64 bits.
cdef int64_t MOST_ARENA_BYTES = 1 << 48


cdef tuple routine_bases(object given):
    """The bases of a routine: one array has one number, by which operands that may overlap are compared."""
    bases = tuple([base if base is None or isinstance(base, np.ndarray) else exact_int(base) for base in given])
    places = [base for base in bases if not isinstance(base, np.ndarray)]
    if len(set(places)) != len(places):
        raise KernelError("routine: two bases are one array")
    return bases


@cython.final
cdef class Routine:
    def __cinit__(self, calls, operands, bases, externals, int inputs, int outputs, int64_t arena_bytes,
                  int64_t most_rounds):
        cdef Call call
        cdef int64_t i, flat = 0
        cdef int external, dimension
        cdef double work = 0
        self.calls = tuple(calls)
        self.count = len(self.calls)
        bases = routine_bases(bases)
        operands = [tuple([(exact_int(base), exact_int(offset)) for base, offset in places]) for places in operands]
        if len(operands) != self.count:
            raise KernelError(f"routine: {self.count} calls, operands for {len(operands)}")
        self.inputs, self.outputs, self.externals = inputs, outputs, len(externals)
        self.arena_bytes, self.most_rounds = arena_bytes, most_rounds
        if not (0 <= arena_bytes <= MOST_ARENA_BYTES and 0 <= inputs <= self.externals
                and 0 <= outputs <= self.externals - inputs):
            raise KernelError(f"routine: {inputs} inputs and {outputs} outputs of {self.externals} arrays, and an arena "
                              f"of {arena_bytes} bytes: arrays are inputs, outputs, then states, and the arena has at "
                              f"most {MOST_ARENA_BYTES} bytes")
        self.keep = [base for base in bases if isinstance(base, np.ndarray)]
        self.shapes = tuple(dimensions("routine", "shape", shape) for _, shape in externals)
        self.dtypes = tuple(np.dtype(dtype) for dtype, _ in externals)
        total = sum(map(len, operands))
        self.steps = <qrt_step *>calloc(self.count + 1, sizeof(qrt_step))
        self.wanted = <Operand *>calloc(self.externals + 1, sizeof(Operand))
        self.template = <void **>calloc(total + 1, sizeof(void *))
        self.first = <int64_t *>calloc(self.externals + 2, sizeof(int64_t))
        self.patched = <int64_t *>calloc(total + 1, sizeof(int64_t))
        self.offset = <int64_t *>calloc(total + 1, sizeof(int64_t))
        if (self.steps == NULL or self.wanted == NULL or self.template == NULL or self.first == NULL
                or self.patched == NULL or self.offset == NULL):
            raise MemoryError("routine: out of memory")
        for external, (shape, dtype) in enumerate(zip(self.shapes, self.dtypes)):
            if not holds_numbers(dtype):
                raise KernelError(f"routine: array {external} holds {dtype}, expected bools, integers or floats")
            elements = element_count("routine", shape)
            self.wanted[external] = Operand(dtype.num, elements, elements * dtype.itemsize)
        self.operand_count = total
        uses = [[] for _ in range(self.externals + 1)]  # by external, the arena last: operand, offset
        for i in range(self.count):
            call = self.calls[i]
            if call is None or len(operands[i]) != call.count:
                raise KernelError(f"routine: step {i} needs a call, and a place for each of its operands")
            self.has_loops |= fill_step("routine", self.steps, self.count, i, call, flat, 0)
            self.check(i, operands[i], bases)
            if call.outputs:
                work += <double>(ELEMENT_STEPS if call.elementwise else call.largest) * call.operands[call.count - 1].elements
            for base, offset in operands[i]:
                place = bases[base]
                if isinstance(place, np.ndarray):
                    self.template[flat] = <char *>cnp.PyArray_DATA(<cnp.ndarray>place) + <int64_t>offset
                else:
                    uses[self.externals if place is None else place].append((flat, offset))
                flat += 1
        self.brief = work <= BRIEF_WORK and not self.has_loops
        flat = 0
        for external, used in enumerate(uses):
            self.first[external] = flat
            for position, offset in used:
                self.patched[flat], self.offset[flat] = position, offset
                flat += 1
        self.first[self.externals + 1] = flat
        self.frames = []
        told = recorder.get()
        if told is not None:
            told("Routine", {"calls": calls, "operands": operands, "bases": bases, "externals": externals,
                             "inputs": inputs, "outputs": outputs, "arena_bytes": arena_bytes,
                             "most_rounds": most_rounds}, self)

    cdef check(self, int64_t step, tuple places, object bases):
        """Raises KernelError for an operand that leaves its array, is not aligned, or overlaps what the step writes."""
        cdef Call call = self.calls[step]
        cdef int operand, output, written = call.count - call.outputs
        spans = []
        for operand, (base, offset) in enumerate(places):
            if not 0 <= base < len(bases):
                raise KernelError(f"routine: step {step} ({call.name}) names base {base} of {len(bases)}")
            place = bases[base]
            constant = isinstance(place, np.ndarray)
            if constant:
                size = place.nbytes
                if not place.flags.c_contiguous or not place.flags.aligned or not place.dtype.isnative:
                    raise KernelError(f"routine: a constant of step {step} ({call.name}) is not C-contiguous and aligned")
                if not holds_numbers(place.dtype):
                    raise KernelError(f"routine: a constant of step {step} ({call.name}) holds {place.dtype}")
            elif place is None:
                size = self.arena_bytes
            elif 0 <= place < self.externals:
                size = self.wanted[<int>place].nbytes
            else:
                raise KernelError(f"routine: step {step} ({call.name}) names array {place} of {self.externals}")
            nbytes, itemsize = call.operands[operand].nbytes, call.operand_dtypes[operand].itemsize
            if not 0 <= offset <= offset + nbytes <= size or offset % itemsize:
                raise KernelError(
                    f"routine: operand {operand} of step {step} ({call.name}), {nbytes} bytes at {offset}, does not fit "
                    f"into {size}"
                )
            if place is not None and itemsize > (place.dtype if constant else self.dtypes[place]).itemsize:
                raise KernelError(f"routine: operand {operand} of step {step} ({call.name}) may not be aligned")
            if operand >= written and (constant or (place is not None and place < self.inputs)):
                raise KernelError(f"routine: step {step} ({call.name}) writes what it may only read")
            spans.append((base, offset, offset + nbytes))
        for output in range(written, call.count):
            target, begin, end = spans[output]
            for operand, (base, low, high) in enumerate(spans[:output]):
                if base == target and low < end and begin < high and low < high and begin < end:
                    if low == begin and may_be_overwritten(call, operand):
                        continue
                    raise KernelError(f"routine: the output of step {step} ({call.name}) overlaps its operand {operand}")

    def __dealloc__(self):
        free(self.steps)
        free(self.wanted)
        free(self.template)
        free(self.first)
        free(self.patched)
        free(self.offset)

    cdef Frame take(self):
        """A frame that nobody uses. Only with the GIL held."""
        cdef Frame frame
        if self.frames:
            return <Frame>self.frames.pop()
        frame = Frame.__new__(Frame)
        frame.pointers = <void **>calloc(self.operand_count + 1, sizeof(void *))
        if self.has_loops:
            frame.rounds = <int64_t *>calloc(self.count, sizeof(int64_t))
            if frame.rounds == NULL:
                raise MemoryError("a program needs more memory than there is")
        if frame.pointers == NULL or posix_memalign(&frame.arena, 64, self.arena_bytes + 64) != 0:
            raise MemoryError("a program needs more memory than there is")
        memcpy(frame.pointers, self.template, self.operand_count * sizeof(void *))
        patch(self, frame.pointers, self.externals, frame.arena)
        return frame

    cdef bint accepts(self, int external, object value, bint written):
        """Whether an array may stand in the place of an external one."""
        cdef int d
        cdef tuple shape = <tuple>self.shapes[external]
        if not fits(&self.wanted[external], value, written):
            return False
        if cnp.PyArray_NDIM(<cnp.ndarray>value) != len(shape):
            return False
        for d in range(len(shape)):
            if cnp.PyArray_DIM(<cnp.ndarray>value, d) != <int64_t>shape[d]:
                return False
        return True

    cdef int execute(self, Frame frame, object max_steps) except -1:
        cdef qrt_progress progress = begun(self.most_rounds, max_steps)
        progress.pointers, progress.rounds = frame.pointers, frame.rounds
        cdef qrt_status status = <qrt_status>run_steps(self.steps, self.count, &progress, self.brief)
        cdef Call call
        if status != QRT_OK:
            call = self.calls[progress.at]
            raise failure(call, f"step {progress.at} ({call.name})", status, progress.at, self.most_rounds)
        return 0

    cdef list run_on(self, list inputs, tuple states, object max_steps):
        """Runs on arrays that fit, one for each input, and returns fresh outputs."""
        cdef Frame frame = self.take()
        cdef cnp.ndarray array
        cdef cnp.npy_intp dims[QRT_MAX_RANK]
        cdef tuple shape
        cdef int external, d
        cdef list made = []
        for external in range(self.inputs):
            patch(self, frame.pointers, external, cnp.PyArray_DATA(<cnp.ndarray>inputs[external]))
        for external in range(self.inputs, self.inputs + self.outputs):
            shape = <tuple>self.shapes[external]
            for d in range(len(shape)):
                dims[d] = shape[d]
            array = cnp.PyArray_EMPTY(len(shape), dims, self.wanted[external].type_number, False)
            patch(self, frame.pointers, external, cnp.PyArray_DATA(array))
            made.append(array)
        for external in range(self.inputs + self.outputs, self.externals):
            patch(self, frame.pointers, external,
                  cnp.PyArray_DATA(<cnp.ndarray>states[external - self.inputs - self.outputs]))
        self.execute(frame, max_steps)
        self.frames.append(frame)
        return made

    def run(self, tuple inputs not None, tuple states not None=(), max_steps=None):
        cdef int i
        if len(inputs) != self.inputs:
            raise KernelError(f"routine: {len(inputs)} inputs given, expected {self.inputs}")
        self.check_states(states)
        for i in range(self.inputs):
            if not self.accepts(i, inputs[i], False):
                raise misfit("routine", "input", i, self.wanted[i].elements, inputs[i], self.shapes[i], self.dtypes[i])
        return self.run_on(list(inputs), states, max_steps)

    cdef check_states(self, tuple states):
        cdef int i, before = self.inputs + self.outputs
        if len(states) != self.externals - before:
            raise KernelError(f"routine: {len(states)} states given, expected {self.externals - before}")
        for i in range(len(states)):
            if not self.accepts(before + i, states[i], True):
                raise misfit("routine", "state", i, self.wanted[before + i].elements, states[i],
                             self.shapes[before + i], self.dtypes[before + i])

    def bind(self, tuple arrays not None):
        return BoundRoutine(self, arrays)


@cython.final
cdef class BoundRoutine:
    def __cinit__(self, Routine routine not None, tuple arrays not None):
        cdef int i, j, count = routine.inputs + routine.outputs
        if len(arrays) != count:
            raise KernelError(f"routine: {len(arrays)} arrays given, expected {count}")
        for i in range(count):
            if not routine.accepts(i, arrays[i], i >= routine.inputs):
                raise misfit("routine", "array", i, routine.wanted[i].elements, arrays[i], routine.shapes[i],
                             routine.dtypes[i])
            for j in range(i if i >= routine.inputs else 0):
                if overlap(cnp.PyArray_DATA(<cnp.ndarray>arrays[i]), routine.wanted[i].nbytes,
                           cnp.PyArray_DATA(<cnp.ndarray>arrays[j]), routine.wanted[j].nbytes):
                    raise KernelError(f"routine: array {i}, which is written, overlaps array {j}")
        self.routine, self.arrays = routine, arrays
        self.frame = routine.take()
        for i in range(count):
            patch(routine, self.frame.pointers, i, cnp.PyArray_DATA(<cnp.ndarray>arrays[i]))

    def __call__(self):
        self.run(())

    def run(self, tuple states not None):
        cdef Routine routine = self.routine
        cdef int i, before = routine.inputs + routine.outputs
        if self.running:
            raise KernelError("it is running in another thread: bind once for each")
        if states or routine.externals > before:
            routine.check_states(states)
            for i in range(before, routine.externals):
                patch(routine, self.frame.pointers, i, cnp.PyArray_DATA(<cnp.ndarray>states[i - before]))
        self.running = True
        try:
            routine.execute(self.frame, None)
        finally:
            self.running = False
