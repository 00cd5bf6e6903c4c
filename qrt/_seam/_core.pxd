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
    cdef int count
    cdef int outputs  # how many of the operands it writes: the last ones
    cdef Operand operands[QRT_MAX_OPERANDS]
    cdef int64_t largest  # elements of the largest operand, constants included
    cdef bint elementwise  # an element of the output takes a few steps, whatever the operands' sizes
    cdef list keep  # arrays that args points into
    cdef readonly str name
    cdef readonly str isa
    cdef readonly str microkernel  # of an 8-bit GEMM
    cdef readonly tuple operand_shapes
    cdef readonly tuple operand_dtypes


cdef int run(Call call, void **pointers) except -1
cdef int overlapped_operand(Call call, void **pointers, const int32_t *slots) noexcept
