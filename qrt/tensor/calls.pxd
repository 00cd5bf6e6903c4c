"""Tensors, as other Cython modules see them."""

cimport numpy as cnp


cdef class Tensor:
    cdef readonly cnp.ndarray _data
    cdef readonly object type
    cdef readonly tuple _shape
    cdef readonly object _cache  # a CallCache, None but of a tensor that never changes


cpdef Tensor tensor_of(cnp.ndarray data, object element, tuple shape)
