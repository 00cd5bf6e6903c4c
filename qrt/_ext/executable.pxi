# Executables: kernel calls and the locations of their operands, run by one C function over a frame.

@cython.final
cdef class Frame:
    def __dealloc__(self):
        free(self.pointers)
        free(self.rounds)
        free(self.arena)

    def run(self, tuple states not None=()):
        cdef Executable executable = self.executable
        cdef int i, before
        if executable is None:
            raise KernelError("a frame comes from Executable.bind")
        if self.running:
            raise KernelError("the bound program is running in another thread: bind once for each thread")
        before = executable.inputs + executable.outputs
        if states or executable.externals > before:
            executable.check_states(states)
            for i in range(before, executable.externals):
                executable.place(self, i, states[i - before])
        self.running = True
        try:
            executable.execute(self, executable.most_rounds, None, NULL)
        finally:
            self.running = False


# With what aligns it, far below where a size leaves 64 bits.
cdef int64_t MOST_ARENA_BYTES = 1 << 48


cdef tuple checked_bases(object given):
    """Return the bases of an executable.

    Each external array has one number: operands that may overlap are compared by it."""
    bases = tuple([base if base is None or isinstance(base, np.ndarray) else exact_int(base) for base in given])
    places = [base for base in bases if not isinstance(base, np.ndarray)]
    if len(set(places)) != len(places):
        raise KernelError("executable: the bases must be different arrays")
    return bases


@cython.final
cdef class Executable:
    def __cinit__(self, calls, operands, bases, externals, int inputs, int outputs, int64_t arena_bytes,
                  int64_t most_rounds, int64_t first_step=0):
        cdef KernelCall call
        cdef int64_t i, flat = 0
        cdef int external, dimension
        cdef double work = 0
        self.calls = tuple(calls)
        self.count = len(self.calls)
        bases = checked_bases(bases)
        operands = [tuple([(exact_int(base), exact_int(offset)) for base, offset in places]) for places in operands]
        if len(operands) != self.count:
            raise KernelError(
                f"executable: expected operands for each of the {self.count} calls, got them for "
                f"{len(operands)}"
            )
        self.inputs, self.outputs, self.externals = inputs, outputs, len(externals)
        self.arena_bytes, self.most_rounds = arena_bytes, most_rounds
        if not (0 <= arena_bytes <= MOST_ARENA_BYTES and 0 <= inputs <= self.externals
                and 0 <= outputs <= self.externals - inputs):
            raise KernelError(f"executable: {inputs} inputs and {outputs} outputs of {self.externals} arrays, and an arena "
                              f"of {arena_bytes} bytes: arrays are inputs, outputs, then states, and the arena has at "
                              f"most {MOST_ARENA_BYTES} bytes")
        self.keep = [base for base in bases if isinstance(base, np.ndarray)]
        self.shapes = tuple(dimensions("executable", "shape", shape) for _, shape in externals)
        self.dtypes = tuple(np.dtype(dtype) for dtype, _ in externals)
        total = sum(map(len, operands))
        self.steps = <qrt_step *>calloc(self.count + 1, sizeof(qrt_step))
        self.expected = <Operand *>calloc(self.externals + 1, sizeof(Operand))
        self.template = <void **>calloc(total + 1, sizeof(void *))
        self.first = <int64_t *>calloc(self.externals + 2, sizeof(int64_t))
        self.patched = <int64_t *>calloc(total + 1, sizeof(int64_t))
        self.offset = <int64_t *>calloc(total + 1, sizeof(int64_t))
        if (self.steps == NULL or self.expected == NULL or self.template == NULL or self.first == NULL
                or self.patched == NULL or self.offset == NULL):
            raise MemoryError("executable: out of memory")
        for external, (shape, dtype) in enumerate(zip(self.shapes, self.dtypes)):
            if not holds_numbers(dtype):
                raise KernelError(f"executable: array {external} must be of bools, integers or floats, got {dtype}")
            elements = element_count("executable", shape)
            self.expected[external] = Operand(dtype.num, elements, elements * dtype.itemsize)
        self.operand_count = total
        uses = [[] for _ in range(self.externals + 1)]  # by external, the arena last: operand, offset
        for i in range(self.count):
            call = self.calls[i]
            if call is None or len(operands[i]) != call.count:
                raise KernelError(f"executable: step {i} needs a call, and a place for each of its operands")
            self.has_loops |= fill_step("executable", self.steps, self.count, i, call, flat, first_step)
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
        record = recorder.get()
        if record is not None:
            record("Executable", {"calls": calls, "operands": operands, "bases": bases, "externals": externals,
                                  "inputs": inputs, "outputs": outputs, "arena_bytes": arena_bytes,
                                  "most_rounds": most_rounds}, self)

    cdef check(self, int64_t step, tuple places, object bases):
        """Raise KernelError for an operand that leaves its array, is not aligned, or overlaps the step's output."""
        cdef KernelCall call = self.calls[step]
        cdef int operand, output, written = call.count - call.outputs
        spans = []
        for operand, (base, offset) in enumerate(places):
            if not 0 <= base < len(bases):
                raise KernelError(f"executable: step {step} ({call.name}) names base {base} of {len(bases)}")
            place = bases[base]
            constant = isinstance(place, np.ndarray)
            if constant:
                size = place.nbytes
                if not place.flags.c_contiguous or not place.flags.aligned or not place.dtype.isnative:
                    raise KernelError(
                        f"executable: a constant of step {step} ({call.name}) must be C-contiguous and "
                        "aligned"
                    )
                if not holds_numbers(place.dtype):
                    raise KernelError(f"executable: a constant of step {step} ({call.name}) holds {place.dtype}")
            elif place is None:
                size = self.arena_bytes
            elif 0 <= place < self.externals:
                size = self.expected[<int>place].nbytes
            else:
                raise KernelError(f"executable: step {step} ({call.name}) names array {place} of {self.externals}")
            nbytes, itemsize = call.operands[operand].nbytes, call.operand_dtypes[operand].itemsize
            if not 0 <= offset <= offset + nbytes <= size or offset % itemsize:
                raise KernelError(
                    f"executable: operand {operand} of step {step} ({call.name}), {nbytes} bytes at {offset}, does not fit "
                    f"into {size}"
                )
            if place is not None and itemsize > (place.dtype if constant else self.dtypes[place]).itemsize:
                raise KernelError(f"executable: operand {operand} of step {step} ({call.name}) must be aligned")
            if operand >= written and (constant or (place is not None and place < self.inputs)):
                raise KernelError(f"executable: step {step} ({call.name}) must not write to a constant or an input")
            spans.append((base, offset, offset + nbytes))
        for output in range(written, call.count):
            target, begin, end = spans[output]
            for operand, (base, low, high) in enumerate(spans[:output]):
                if base == target and low < end and begin < high and low < high and begin < end:
                    if low == begin and may_be_overwritten(call, operand):
                        continue
                    raise KernelError(
                        f"executable: the output of step {step} ({call.name}) overlaps its operand "
                        f"{operand}"
                    )

    def __dealloc__(self):
        free(self.steps)
        free(self.expected)
        free(self.template)
        free(self.first)
        free(self.patched)
        free(self.offset)

    cdef Frame take(self):
        """Return a frame that no run uses: an earlier one, or a new one with its own arena.

        The pointers to constants and to the arena are set. Call it only with the GIL held."""
        if self.frames:
            return <Frame>self.frames.pop()
        cdef Frame frame = Frame.__new__(Frame)
        frame.pointers = <void **>calloc(self.operand_count + 1, sizeof(void *))
        if self.has_loops:
            frame.rounds = <int64_t *>calloc(self.count, sizeof(int64_t))
            if frame.rounds == NULL:
                raise MemoryError("the program needs more memory than is available")
        if frame.pointers == NULL or posix_memalign(&frame.arena, 64, self.arena_bytes + 64) != 0:
            raise MemoryError("the program needs more memory than is available")
        memcpy(frame.pointers, self.template, self.operand_count * sizeof(void *))
        self.point(frame, self.externals, frame.arena)
        return frame

    cdef inline void point(self, Frame frame, int external, void *start) noexcept:
        """Set the pointers of all operands in one external array, or in the arena."""
        cdef int64_t k
        for k in range(self.first[external], self.first[external + 1]):
            frame.pointers[self.patched[k]] = <char *>start + self.offset[k]

    cdef inline void place(self, Frame frame, int external, object array) noexcept:
        self.point(frame, external, cnp.PyArray_DATA(<cnp.ndarray>array))

    cdef bint accepts(self, int external, object value, bint written):
        """Return True if an array may be used as an external one."""
        cdef int d
        cdef tuple shape = <tuple>self.shapes[external]
        if not fits(&self.expected[external], value, written):
            return False
        if cnp.PyArray_NDIM(<cnp.ndarray>value) != len(shape):
            return False
        for d in range(len(shape)):
            if cnp.PyArray_DIM(<cnp.ndarray>value, d) != <int64_t>shape[d]:
                return False
        return True

    cdef int64_t execute(self, Frame frame, object most_rounds, object max_steps, double *seconds) except? -2:
        """Run the steps, and return the rest of `max_steps`. The time of each step is added to `seconds` unless it is NULL."""
        cdef qrt_progress progress = begun(most_rounds, max_steps)
        progress.pointers, progress.rounds, progress.seconds = frame.pointers, frame.rounds, seconds
        cdef qrt_status status = <qrt_status>run_steps(self.steps, self.count, &progress, self.brief)
        cdef KernelCall call
        if status != QRT_OK:
            call = self.calls[progress.at]
            raise failure(call, f"step {progress.at} ({call.name})", status,
                          frame.pointers + self.steps[progress.at].first, progress.at, progress.most_rounds)
        return progress.steps

    cdef list run_on(self, list inputs, tuple states, object max_steps):
        """Run on arrays that fit, one for each input, and return fresh outputs."""
        cdef Frame frame = self.take()
        cdef cnp.ndarray array
        cdef cnp.npy_intp dims[QRT_MAX_RANK]
        cdef tuple shape
        cdef int external, d
        cdef list outputs = []
        for external in range(self.inputs):
            self.place(frame, external, inputs[external])
        for external in range(self.inputs, self.inputs + self.outputs):
            shape = <tuple>self.shapes[external]
            for d in range(len(shape)):
                dims[d] = shape[d]
            array = cnp.PyArray_EMPTY(len(shape), dims, self.expected[external].type_number, False)
            self.place(frame, external, array)
            outputs.append(array)
        for external in range(self.inputs + self.outputs, self.externals):
            self.place(frame, external, states[external - self.inputs - self.outputs])
        self.execute(frame, self.most_rounds, max_steps, NULL)
        self.frames.append(frame)
        return outputs

    def run(self, tuple inputs not None, tuple states not None=(), max_steps=None):
        cdef int i
        if len(inputs) != self.inputs:
            raise KernelError(f"executable: expected {self.inputs} inputs, got {len(inputs)}")
        self.check_states(states)
        for i in range(self.inputs):
            if not self.accepts(i, inputs[i], False):
                raise self.misfit("input", i, inputs[i], i)
        return self.run_on(list(inputs), states, max_steps)

    def run_over(self, arrays, most_rounds=None, max_steps=None, seconds=None):
        cdef Frame frame
        cdef KernelCall call
        cdef int i, overlapped
        cdef int64_t step, left
        cdef double *times = NULL
        arrays = tuple(arrays)
        if len(arrays) != self.externals:
            raise KernelError(f"executable: expected {self.externals} arrays, got {len(arrays)}")
        for i in range(self.externals):
            if not fits(&self.expected[i], arrays[i], i >= self.inputs):
                raise self.misfit("array", i, arrays[i], i)
        if seconds is not None:
            if not (isinstance(seconds, np.ndarray) and seconds.dtype == np.float64 and seconds.shape == (self.count,)
                    and seconds.flags.carray):
                raise KernelError(f"executable: the seconds must be a writable float64 array of {self.count} elements")
            times = <double *>cnp.PyArray_DATA(<cnp.ndarray>seconds)
        frame = self.take()
        for i in range(self.externals):
            self.place(frame, i, arrays[i])
        for step in range(self.count):  # one array may share memory with another where no single step sees both
            call = self.calls[step]
            overlapped = overlapped_operand(call, frame.pointers + self.steps[step].first)
            if overlapped >= 0:
                raise KernelError(
                    f"executable: the output of step {step} ({call.name}) overlaps its operand {overlapped}"
                )
        left = self.execute(frame, most_rounds, max_steps, times)
        self.frames.append(frame)
        return None if max_steps is None else left

    cdef misfit(self, str what, int position, object value, int external):
        return misfit("executable", what, position, self.expected[external].elements, value, self.shapes[external],
                      self.dtypes[external])

    cdef check_states(self, tuple states):
        cdef int i, before = self.inputs + self.outputs
        if len(states) != self.externals - before:
            raise KernelError(f"executable: expected {self.externals - before} states, got {len(states)}")
        for i in range(len(states)):
            if not self.accepts(before + i, states[i], True):
                raise self.misfit("state", i, states[i], before + i)

    def bind(self, tuple arrays not None):
        cdef Frame frame
        cdef int i, j, count = self.inputs + self.outputs
        if len(arrays) != count:
            raise KernelError(f"executable: expected {count} arrays, got {len(arrays)}")
        for i in range(count):
            if not self.accepts(i, arrays[i], i >= self.inputs):
                raise self.misfit("array", i, arrays[i], i)
            for j in range(i if i >= self.inputs else 0):
                if overlap(cnp.PyArray_DATA(<cnp.ndarray>arrays[i]), self.expected[i].nbytes,
                           cnp.PyArray_DATA(<cnp.ndarray>arrays[j]), self.expected[j].nbytes):
                    raise KernelError(f"executable: array {i}, to which the program writes, must not overlap array {j}")
        frame = self.take()
        frame.executable, frame.arrays = self, arrays
        for i in range(count):
            self.place(frame, i, arrays[i])
        return frame
