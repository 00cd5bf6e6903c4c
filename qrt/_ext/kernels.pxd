"""Kernel calls and executables, as other Cython modules see them."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from qrt._ext.qrt cimport *


cdef struct Operand:
    int type_number
    int64_t elements
    int64_t nbytes


@cython.final
cdef class KernelCall:
    cdef object __weakref__
    cdef qrt_entry entry
    cdef void *args
    cdef void *extra  # a second block that args points into
    cdef void (*release)(void *args) noexcept nogil  # what binding allocated; NULL: nothing
    cdef int (*packed_parts)(const void *args, qrt_packed_part *to) noexcept nogil  # what binding packed; NULL: it never packs
    cdef int count
    cdef readonly int outputs  # how many of the operands it writes: the last ones
    cdef Operand operands[QRT_MAX_OPERANDS]
    cdef int64_t largest  # elements of the largest operand, constants included
    cdef bint elementwise  # an element of the output takes a few steps, whatever the operands' sizes
    cdef int aliased  # so many of the first operands may have the memory of the output
    cdef list keep  # arrays that args points into
    cdef readonly str name
    cdef readonly str isa
    cdef readonly str microkernel  # of an 8-bit GEMM
    cdef qrt_step_kind kind  # of a step of control, which has no entry
    cdef int64_t target, cost
    cdef tuple slice  # of a slice: the shape of x, offsets, sizes, strides, axes with numbers
    cdef readonly tuple operand_shapes
    cdef readonly tuple operand_dtypes


@cython.final
cdef class Frame:
    cdef void **pointers  # the operands of all steps, one after the other
    cdef int64_t *rounds  # by step; NULL where no step is a round
    cdef void *arena
    cdef Executable executable  # None in a frame that an executable keeps for its own runs
    cdef readonly tuple arrays
    cdef bint running


@cython.final
cdef class Executable:
    cdef qrt_step *steps
    cdef Operand *expected  # of each external array: inputs, outputs, states
    cdef void **template
    cdef int64_t *first  # of the operands in an external array, the arena last
    cdef int64_t *patched
    cdef int64_t *offset  # of an operand in its array
    cdef int64_t count, operand_count
    cdef readonly int64_t arena_bytes, most_rounds
    cdef bint has_loops
    cdef readonly int inputs, outputs, externals
    cdef bint brief  # keeps the GIL
    cdef readonly tuple calls
    cdef tuple shapes, dtypes
    cdef list keep, frames
    cdef check(self, int64_t step, tuple places, object bases)
    cdef Frame take(self)
    cdef void point(self, Frame frame, int external, void *start) noexcept
    cdef void place(self, Frame frame, int external, object array) noexcept
    cdef bint accepts(self, int external, object value, bint written)
    cdef int64_t execute(self, Frame frame, object most_rounds, object max_steps, double *seconds) except? -2
    cdef list run_on(self, list inputs, tuple states, object max_steps)
    cdef misfit(self, str what, int position, object value, int external)
    cdef check_states(self, tuple states)


cdef int run(KernelCall call, void **pointers) except -1
cdef bint may_be_overwritten(KernelCall call, int operand) noexcept
cdef int overlapped_operand(KernelCall call, void **pointers) noexcept
