"""Calls into the C kernels: bind once, run many times with the GIL released. _core.pyi says what functions take."""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.math cimport isfinite
from libc.string cimport memcmp, memcpy, memset

from qrt._seam.qrt cimport *

import os
from contextvars import ContextVar
from functools import wraps
from mmap import mmap
from weakref import WeakValueDictionary

import numpy as np

from qrt import errors, numerics
from qrt.errors import KernelError, shown

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISNOTSWAPPED(cnp.ndarray array)
    bint PyArray_ISWRITEABLE(cnp.ndarray array)

cdef extern from "stdlib.h":
    int posix_memalign(void **made, size_t alignment, size_t size)

cdef dict CONTAINERS = {
    "i8": np.dtype(np.int8), "u8": np.dtype(np.uint8), "i16": np.dtype(np.int16), "u16": np.dtype(np.uint16),
    "i32": np.dtype(np.int32), "u32": np.dtype(np.uint32)
}


# ---- operands ----

cdef inline bint fits(const Operand *expected, object value, bint written):
    """The properties of an operand on which a kernel relies to stay inside it."""
    if not isinstance(value, cnp.ndarray):
        return False
    cdef cnp.ndarray array = value
    return (cnp.PyArray_TYPE(array) == expected.type_number and PyArray_ISNOTSWAPPED(array)
            and cnp.PyArray_SIZE(array) == expected.elements
            and cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISALIGNED(array)
            and (not written or PyArray_ISWRITEABLE(array)))


cdef misfit(str name, str what, int position, int64_t elements, object value, object shape, object dtype):
    """The error for a value that does not fit."""
    given = f"{name}: {what} {position}"
    if not isinstance(value, np.ndarray):
        return KernelError(f"{given} is a {type(value).__name__}, expected an array of {dtype}")
    if value.dtype != dtype:
        return KernelError(f"{given} holds {value.dtype}, expected {dtype}")
    if value.size != elements:
        return KernelError(f"{given} has {value.size} elements, expected {elements} (shape {shape})")
    if not value.flags.c_contiguous or not value.flags.aligned:
        return KernelError(f"{given} is not C-contiguous and aligned")
    return KernelError(f"{given} is written to, and read-only")


cdef inline bint overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) noexcept nogil:
    cdef uintptr_t first = <uintptr_t>a, second = <uintptr_t>b
    return a_bytes > 0 and b_bytes > 0 and first < second + b_bytes and second < first + a_bytes


cdef bint may_be_overwritten(Call call, int operand) noexcept:
    """Whether the output may stand exactly where an operand does."""
    cdef const Operand *read = &call.operands[operand]
    cdef const Operand *written = &call.operands[call.count - 1]
    return operand < call.aliased and read.elements == written.elements and read.nbytes == written.nbytes


cdef int overlapped_operand(Call call, void **pointers, const int32_t *slots) noexcept:
    """The first operand that shares memory with an output behind it, where it may not, or -1. Outputs are behind the
    inputs."""
    cdef int i, output
    cdef const Operand *operands = call.operands
    cdef void *written
    cdef void *read
    for output in range(call.count - call.outputs, call.count):
        written = pointers[slots[output] if slots != NULL else output]
        for i in range(output):
            read = pointers[slots[i] if slots != NULL else i]
            if overlap(read, operands[i].nbytes, written, operands[output].nbytes):
                if read != written or not may_be_overwritten(call, i):
                    return i
    return -1


# ---- calls ----

# An entry of so few steps keeps the GIL: giving it away and taking it back costs some 50 ns, and a wait where another
# thread wants it. No element of an output costs more steps than the largest operand has elements; in an elementwise
# entry it counts as 16, which is much for a kernel and fair for `ref`.
cdef double BRIEF_WORK = 1 << 16
cdef int64_t ELEMENT_STEPS = 16


# new_call alone has this value: without it a Call without an entry could be made, and would be called.
cdef object BINDING = object()


@cython.final
cdef class Call:
    def __cinit__(self, binding=None):
        if binding is not BINDING:
            raise TypeError("a Call is made by the bind_* functions")

    def __dealloc__(self):
        if self.release != NULL:
            self.release(self.args)
        free(self.args)
        free(self.extra)

    def __call__(self, *operands):
        cdef void *pointers[QRT_MAX_OPERANDS]
        cdef int i, count = self.count
        if len(operands) != count:
            raise KernelError(f"{self.name}: {len(operands)} operands given, expected {count}")
        for i in range(count):
            value = operands[i]
            if not fits(&self.operands[i], value, i >= count - self.outputs):
                raise misfit(self.name, "operand", i, self.operands[i].elements, value, self.operand_shapes[i],
                             self.operand_dtypes[i])
            pointers[i] = cnp.PyArray_DATA(<cnp.ndarray>value)
        i = overlapped_operand(self, pointers, NULL)
        if i >= 0:
            raise KernelError(f"{self.name}: the output overlaps operand {i}")
        run(self, pointers)

    @property
    def packed(self):
        """A copy of the packed constant, as `stored` of bind_* takes it; None where nothing is packed."""
        cdef qrt_packed_part parts[QRT_MAX_PACKED_PARTS]
        cdef int i, count = 0 if self.packed_parts == NULL else self.packed_parts(self.args, parts)
        cdef int64_t at = 0
        if count == 0:
            return None
        made = np.zeros(sum([qrt_stored_bytes(parts[i].bytes) for i in range(count)]), np.uint8)
        for i in range(count):
            memcpy(<char *>cnp.PyArray_DATA(<cnp.ndarray>made) + at, parts[i].data, parts[i].bytes)
            at += qrt_stored_bytes(parts[i].bytes)
        return made

    @property
    def in_place(self):
        return tuple(operand for operand in range(self.aliased) if may_be_overwritten(self, operand))

    def __repr__(self):
        operands = ", ".join(f"{dtype}{list(shape)}" for shape, dtype in zip(self.operand_shapes, self.operand_dtypes))
        return f"<Call {self.name} on {self.isa}: {operands}>"


cdef int run(Call call, void **pointers) except -1:
    """Runs the entry on operands that fit. It checks nothing."""
    cdef qrt_status status
    cdef qrt_scratch scratch
    scratch.operands = pointers
    scratch.threads = thread_count()
    cdef int64_t steps = ELEMENT_STEPS if call.elementwise else call.largest
    cdef double written = 0
    cdef int i
    for i in range(call.count - call.outputs, call.count):
        written += call.operands[i].elements
    if steps * written <= BRIEF_WORK:
        status = call.entry(call.args, &scratch)
    else:
        with nogil:
            status = call.entry(call.args, &scratch)
    if status != QRT_OK:
        raise failure(call, call.name, status)
    return 0


cdef failure(Call call, str name, qrt_status status, int64_t step=-1, int64_t most_rounds=0):
    if status == QRT_NO_MEMORY:
        return MemoryError(f"{name}: out of memory")
    reason = qrt_status_text(status).decode()
    if status == QRT_TOO_MANY_STEPS:
        reason = errors.MANY_STEPS
    if status == QRT_TOO_MANY_ROUNDS:
        reason = errors.many_rounds(most_rounds)
    if status == QRT_QUOTIENT_OUT_OF_RANGE:
        reason = f"signed overflow: {np.iinfo(call.operand_dtypes[0]).min} / -1"
    error = KernelError(f"{name}: {reason}")
    error.reason, error.step = reason, None if step < 0 else step
    error.is_limit = status == QRT_TOO_MANY_ROUNDS or status == QRT_TOO_MANY_STEPS
    return error


include "control.pxi"


@cython.final
cdef class Plan:
    cdef qrt_step *steps
    cdef int32_t *slots
    cdef Operand *uses  # what each slot must be
    cdef tuple calls, shapes, dtypes
    cdef list written
    cdef int64_t count, used
    cdef int slot_count
    cdef bint has_loops

    def __cinit__(self, calls, slots, int slot_count, int64_t first=0):
        cdef Call call
        cdef int64_t i, used = 0
        cdef int operand, slot
        if slot_count < 0:
            raise KernelError("plan: bad slot count")
        self.calls = tuple(calls)
        slots = [tuple(numbers) for numbers in slots]
        if len(slots) != len(self.calls):
            raise KernelError(f"plan: {len(self.calls)} calls, slots for {len(slots)}")
        self.count = len(self.calls)
        self.slot_count = slot_count
        self.steps = <qrt_step *>calloc(self.count + 1, sizeof(qrt_step))
        self.slots = <int32_t *>calloc(sum(map(len, slots)) + 1, sizeof(int32_t))
        self.uses = <Operand *>calloc(slot_count + 1, sizeof(Operand))
        if self.steps == NULL or self.slots == NULL or self.uses == NULL:
            raise MemoryError("plan: out of memory")
        shapes, dtypes = [None] * slot_count, [None] * slot_count
        self.written = [False] * slot_count
        for i in range(self.count):
            call = self.calls[i]
            if call is None:
                raise KernelError(f"plan: step {i} is None, expected a Call")
            if len(slots[i]) != call.count:
                raise KernelError(
                    f"plan: step {i} ({call.name}) has {call.count} operands, {len(slots[i])} slots given"
                )
            self.has_loops |= fill_step("plan", self.steps, self.count, i, call, used, first)
            for operand, slot in enumerate(slots[i]):
                if not 0 <= slot < slot_count:
                    raise KernelError(f"plan: step {i} ({call.name}) names slot {slot} of {slot_count}")
                if dtypes[slot] is None:
                    self.uses[slot] = call.operands[operand]
                    shapes[slot], dtypes[slot] = call.operand_shapes[operand], call.operand_dtypes[operand]
                elif (self.uses[slot].type_number != call.operands[operand].type_number
                      or self.uses[slot].elements != call.operands[operand].elements):
                    raise KernelError(
                        f"plan: step {i} ({call.name}) uses slot {slot} as {call.operand_dtypes[operand]} of shape "
                        f"{call.operand_shapes[operand]}, an earlier step as {dtypes[slot]} of shape {shapes[slot]}"
                    )
                self.slots[used] = slot
                used += 1
                if operand >= call.count - call.outputs:
                    self.written[slot] = True
        self.used = used
        self.shapes, self.dtypes = tuple(shapes), tuple(dtypes)

    def __dealloc__(self):
        free(self.steps)
        free(self.slots)
        free(self.uses)

    def run(self, buffers, most_rounds=None, max_steps=None):
        return self.execute(buffers, NULL, most_rounds, max_steps)

    def run_timed(self, buffers, most_rounds=None, max_steps=None):
        cdef double *seconds = <double *>calloc(self.count + 1, sizeof(double))
        if seconds == NULL:
            raise MemoryError("plan: out of memory")
        try:
            left = self.execute(buffers, seconds, most_rounds, max_steps)
            return [seconds[i] for i in range(self.count)], left
        finally:
            free(seconds)

    cdef execute(self, buffers, double *seconds, most_rounds, max_steps):
        cdef void **pointers
        cdef int slot, overlapped = -1
        cdef int64_t step, i
        cdef qrt_status status
        cdef qrt_progress progress = begun(most_rounds, max_steps)
        cdef Call call
        buffers = tuple(buffers)
        if len(buffers) != self.slot_count:
            raise KernelError(f"plan: {len(buffers)} buffers given, expected {self.slot_count}")
        pointers = <void **>calloc(self.slot_count + self.used + 1, sizeof(void *))  # by slot, then by operand
        if pointers == NULL:
            raise MemoryError("plan: out of memory")
        try:
            for slot in range(self.slot_count):
                if self.dtypes[slot] is None:
                    continue
                if not fits(&self.uses[slot], buffers[slot], self.written[slot]):
                    raise misfit("plan", "buffer", slot, self.uses[slot].elements, buffers[slot], self.shapes[slot],
                                 self.dtypes[slot])
                pointers[slot] = cnp.PyArray_DATA(<cnp.ndarray>buffers[slot])
            for step in range(self.count):
                call = self.calls[step]
                overlapped = overlapped_operand(call, pointers, self.slots + self.steps[step].first)
                if overlapped >= 0:
                    raise KernelError(
                        f"plan: the output of step {step} ({call.name}) overlaps its operand {overlapped}"
                    )
            for i in range(self.used):
                pointers[self.slot_count + i] = pointers[self.slots[i]]
            progress.pointers, progress.seconds = pointers + self.slot_count, seconds
            if self.has_loops:
                progress.rounds = <int64_t *>calloc(self.count, sizeof(int64_t))
                if progress.rounds == NULL:
                    raise MemoryError("plan: out of memory")
            status = <qrt_status>run_steps(self.steps, self.count, &progress, False)
            if status != QRT_OK:
                call = self.calls[progress.at]
                raise failure(call, f"plan: step {progress.at} ({call.name})", status, progress.at, progress.most_rounds)
            return None if max_steps is None else progress.steps
        finally:
            free(pointers)
            free(progress.rounds)


# ---- the process ----

def isas():
    names = []
    while qrt_kernels_at(len(names)) != NULL:
        names.append(qrt_kernels_at(len(names)).name.decode())
    return tuple(names)


cdef extern from *:
    const char *QRT_COVERAGE  # setup.py's: "isa parent row row;isa parent row"


def rows():
    names = []
    while qrt_row_name(len(names)) != NULL:
        names.append(qrt_row_name(len(names)).decode())
    return tuple(names)


def built_isas():
    lines = [line.split() for line in QRT_COVERAGE.decode().split(";")]
    return tuple((isa, parent, tuple(own)) for isa, parent, *own in lines)


def own_rows(str isa):
    cdef const qrt_kernels *kernels = find_kernels("own_rows", isa)
    return tuple(name for row, name in enumerate(rows()) if qrt_row_is_own(kernels, row))


cdef inline int thread_count() except 0:
    cdef int count = qrt_get_num_threads()
    if count == 0:
        raise KernelError(f"QRT_NUM_THREADS: {os.environ.get('QRT_NUM_THREADS')!r} given, expected 1 to 256")
    return count


def get_num_threads():
    return thread_count()


def set_num_threads(threads):
    if not isinstance(threads, int) or not 1 <= threads <= 256:
        raise KernelError(f"set_num_threads: {shown(threads)} given, expected 1 to 256")
    qrt_set_num_threads(threads)


def checksum(const unsigned char[::1] data not None):
    cdef int64_t count = data.shape[0]
    return qrt_checksum(&data[0] if count else NULL, count)


include "arguments.pxi"
include "routine.pxi"
include "bind_elementwise.pxi"
include "bind_gemm.pxi"
include "bind_float_matmul.pxi"
include "bind_mixed_matmul.pxi"
include "bind_contraction.pxi"
include "bind_float_loops.pxi"
include "bind_window.pxi"
include "bind_lines.pxi"
include "bind_recurrent.pxi"
include "bind_movement.pxi"
include "bind_select.pxi"
include "bind_plain.pxi"
include "recording.pxi"
include "saved_values.pxi"
