"""A bound call, as other Cython modules see it."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from qrt._seam.qrt cimport *


cdef struct Operand:
    int type_number
    int64_t elements
    int64_t nbytes


@cython.final
cdef class Call:
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
    cdef int aliased  # so many of the first operands are read element by element, each before the output's is written
    cdef list keep  # arrays that args points into
    cdef readonly str name
    cdef readonly str isa
    cdef readonly str microkernel  # of an 8-bit GEMM
    cdef qrt_step_kind kind  # of a step of control, which has no entry
    cdef int64_t target, cost
    cdef readonly tuple operand_shapes
    cdef readonly tuple operand_dtypes


@cython.final
cdef class Frame:
    cdef void **pointers  # the operands of all steps, one after the other
    cdef int64_t *rounds  # by step; NULL where no step is a round
    cdef void *arena


@cython.final
cdef class Routine:
    cdef qrt_step *steps
    cdef Operand *wanted  # of each external array: inputs, outputs, states
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
    cdef bint accepts(self, int external, object value, bint written)
    cdef int execute(self, Frame frame, object max_steps) except -1
    cdef list run_on(self, list inputs, tuple states, object max_steps)
    cdef check_states(self, tuple states)


@cython.final
cdef class BoundRoutine:
    cdef readonly Routine routine
    cdef readonly tuple arrays
    cdef Frame frame
    cdef bint running


cdef int run(Call call, void **pointers) except -1
cdef bint may_be_overwritten(Call call, int operand) noexcept
cdef int overlapped_operand(Call call, void **pointers, const int32_t *slots) noexcept
