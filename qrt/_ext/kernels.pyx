"""Calls into the C kernels: bind once, run many times with the GIL released. kernels.pyi describes the functions."""

cimport cython
cimport numpy as cnp
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.math cimport isfinite
from libc.string cimport memcmp, memcpy, memset

from qrt._ext.qrt cimport *

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
    """Return True if an array has the dtype, size and layout on which a kernel relies to stay inside it."""
    if not isinstance(value, cnp.ndarray):
        return False
    cdef cnp.ndarray array = value
    return (cnp.PyArray_TYPE(array) == expected.type_number and PyArray_ISNOTSWAPPED(array)
            and cnp.PyArray_SIZE(array) == expected.elements
            and cnp.PyArray_IS_C_CONTIGUOUS(array) and cnp.PyArray_ISALIGNED(array)
            and (not written or PyArray_ISWRITEABLE(array)))


cdef misfit(str name, str what, int position, int64_t elements, object value, object shape, object dtype):
    """Return the error for a value that does not fit."""
    given = f"{name}: {what} {position}"
    if not isinstance(value, np.ndarray):
        return KernelError(f"{given} must be an array of {dtype}, got a {type(value).__name__}")
    if value.dtype != dtype:
        return KernelError(f"{given} must be an array of {dtype}, got dtype {value.dtype}")
    if value.size != elements:
        return KernelError(f"{given} must have {elements} elements (shape {shape}), got {value.size}")
    if not value.flags.c_contiguous or not value.flags.aligned:
        return KernelError(f"{given} must be C-contiguous and aligned")
    return KernelError(f"{given} must be writable, got a read-only array")


cdef inline bint overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) noexcept nogil:
    cdef uintptr_t first = <uintptr_t>a, second = <uintptr_t>b
    return a_bytes > 0 and b_bytes > 0 and first < second + b_bytes and second < first + a_bytes


cdef bint may_be_overwritten(KernelCall call, int operand) noexcept:
    """Return True if the output may have exactly the memory of an operand."""
    cdef const Operand *read = &call.operands[operand]
    cdef const Operand *written = &call.operands[call.count - 1]
    return operand < call.aliased and read.elements == written.elements and read.nbytes == written.nbytes


cdef int overlapped_operand(KernelCall call, void **pointers) noexcept:
    """Return the first operand that must not share memory with a later output but does, or -1. Outputs follow inputs."""
    cdef int i, output
    cdef const Operand *operands = call.operands
    cdef void *written
    cdef void *read
    for output in range(call.count - call.outputs, call.count):
        written = pointers[output]
        for i in range(output):
            read = pointers[i]
            if overlap(read, operands[i].nbytes, written, operands[output].nbytes):
                if read != written or not may_be_overwritten(call, i):
                    return i
    return -1


# ---- calls ----

# An entry of at most this many steps keeps the GIL: releasing and acquiring it costs about 50 ns, and more if another
# thread waits for it. No element of an output costs more steps than the largest operand has elements; in an elementwise
# entry it counts as 16, which is much for a kernel and fair for `ref`.
cdef double BRIEF_WORK = 1 << 16
cdef int64_t ELEMENT_STEPS = 16


# Only new_call has this value: otherwise Python code could create, and call, a KernelCall without an entry.
cdef object BINDING = object()


@cython.final
cdef class KernelCall:
    def __cinit__(self, binding=None):
        if binding is not BINDING:
            raise TypeError("a KernelCall comes from a bind_* function")

    def __dealloc__(self):
        if self.release != NULL:
            self.release(self.args)
        free(self.args)
        free(self.extra)

    def __call__(self, *operands):
        cdef void *pointers[QRT_MAX_OPERANDS]
        cdef int i, count = self.count
        if len(operands) != count:
            raise KernelError(f"{self.name}: expected {count} operands, got {len(operands)}")
        for i in range(count):
            value = operands[i]
            if not fits(&self.operands[i], value, i >= count - self.outputs):
                raise misfit(self.name, "operand", i, self.operands[i].elements, value, self.operand_shapes[i],
                             self.operand_dtypes[i])
            pointers[i] = cnp.PyArray_DATA(<cnp.ndarray>value)
        i = overlapped_operand(self, pointers)
        if i >= 0:
            raise KernelError(f"{self.name}: the output overlaps operand {i}")
        run(self, pointers)

    @property
    def packed(self):
        """Return a copy of the packed constant, for `stored` of bind_*; None if nothing is packed."""
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
        return f"<KernelCall {self.name} on {self.isa}: {operands}>"


cdef int run(KernelCall call, void **pointers) except -1:
    """Run the entry on operands that fit, without checks."""
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
        raise failure(call, call.name, status, pointers)
    return 0


cdef failure(KernelCall call, str name, qrt_status status, void **pointers=NULL, int64_t step=-1, int64_t most_rounds=0):
    """Return the error for a status of a call. `pointers` are the operands, if the call was run."""
    if status == QRT_NO_MEMORY:
        return MemoryError(f"{name}: out of memory")
    reason = qrt_status_text(status).decode()
    if status == QRT_TOO_MANY_STEPS:
        reason = errors.MANY_STEPS
    if status == QRT_TOO_MANY_ROUNDS:
        reason = errors.many_rounds(most_rounds)
    if status == QRT_QUOTIENT_OUT_OF_RANGE:
        reason = f"signed overflow: {np.iinfo(call.operand_dtypes[0]).min} / -1"
    if status == QRT_INDEX_OUT_OF_RANGE and call.slice is not None and pointers != NULL:
        reason = slice_out_of_bounds(call, pointers)
    if status == QRT_NO_INTEGER:
        reason = errors.no_integer(*integer_of_loops(call))
    error = KernelError(f"{name}: {reason}")
    error.reason, error.step = reason, None if step < 0 else step
    error.is_limit = status == QRT_TOO_MANY_ROUNDS or status == QRT_TOO_MANY_STEPS
    return error


include "control.pxi"


# ---- the process ----

def isas():
    names = []
    while qrt_kernels_at(len(names)) != NULL:
        names.append(qrt_kernels_at(len(names)).name.decode())
    return tuple(names)


def rows():
    names = []
    while qrt_row_name(len(names)) != NULL:
        names.append(qrt_row_name(len(names)).decode())
    return tuple(names)


cdef tuple rows_that_differ(const qrt_kernels *kernels, const qrt_kernels *other):
    return tuple([name for row, name in enumerate(rows()) if qrt_row_differs(kernels, other, row)])


def built_isas():
    cdef qrt_kernels empty
    cdef const qrt_isa *isa
    memset(&empty, 0, sizeof(empty))
    isas = []
    while qrt_isa_at(len(isas)) != NULL:
        isa = qrt_isa_at(len(isas))
        isas.append((isa.name.decode(), isa.parent.decode(), rows_that_differ(isa.rows, &empty)))
    return tuple(isas)


def differing_rows(str isa, str other):
    return rows_that_differ(find_kernels("differing_rows", isa), find_kernels("differing_rows", other))


cdef inline int thread_count() except 0:
    cdef int count = qrt_get_num_threads()
    if count == 0:
        raise KernelError(
            "QRT_NUM_THREADS must be an integer from 1 to 256, got "
            f"{os.environ.get('QRT_NUM_THREADS')!r}"
        )
    return count


def get_num_threads():
    return thread_count()


def set_num_threads(threads):
    if not isinstance(threads, int) or not 1 <= threads <= 256:
        raise KernelError(f"set_num_threads: expected an integer from 1 to 256, got {shown(threads)}")
    qrt_set_num_threads(threads)


def checksum(const unsigned char[::1] data not None):
    cdef int64_t count = data.shape[0]
    return qrt_checksum(&data[0] if count else NULL, count)


include "arguments.pxi"
include "executable.pxi"
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
