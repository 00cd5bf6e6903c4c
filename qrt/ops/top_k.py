"""top_k: the k largest elements of each line along the last axis, in descending order, and their indices.

Elements are compared as in argmax; equal elements are in ascending order of their indices. If only the run knows the
size of the axis, a size of less than k is an error at run time.
"""

from collections.abc import Sequence

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_top_k
from qrt.errors import UndefinedError, shown
from qrt.ops.checks import check_comparable, shape_of_least_rank
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    element_dtype,
    fail,
    keep_element,
    static_shape,
)
from qrt.ops.declare import REQUIRED, Attribute, Declaration, Operand, Result
from qrt.ops.extremes import INDEX_TYPES, comparable_element, has_kernel
from qrt.types import TensorType

_NUMBERS = INDEX_TYPES[1]
_MOST = 1 << 31


def _infer(types: Types, attributes: Attributes, results: tuple[TensorType | None, ...]) -> Types:
    x, k = comparable_element("top_k", types), attributes["k"]
    shape = shape_of_least_rank("top_k", types, 0, "x", 1)
    check_comparable("top_k", types, x, [len(shape) - 1])
    size = shape[-1]
    if not isinstance(k, (int, np.integer)) or k < 0 or (size is not None and k > size):
        fail(
            "top_k",
            f"'k' must be an integer from 0 to {'the size of the last axis' if size is None else size}, got {shown(k)}",
            types,
        )
    if size is not None and size >= _MOST:
        fail("top_k", f"the last axis of 'x' must have a size below 2**31, got {types[0]}", types)
    values, numbers = results
    taken = (*shape[:-1], int(k))
    return (
        checked_result("top_k", taken, keep_element("top_k", x, types, values)),
        checked_result("top_k", taken, keep_element("top_k", _NUMBERS, types, numbers)),
    )


def _reference(
    arrays: Sequence[Array], types: Types, results: tuple[TensorType, ...], attributes: Attributes
) -> tuple[Array, Array]:
    """Return the k largest elements, NaNs first, and their indices; a stable sort keeps equal elements in order."""
    (x,) = arrays
    if not attributes["k"] <= x.shape[-1] < _MOST:
        raise UndefinedError(
            f"top_k: the last axis of 'x' must have a size from 'k' = {attributes['k']} to 2**31 - 1, got {x.shape[-1]}"
        )
    if x.dtype.kind in "iub":
        order = np.argsort(~x, axis=-1, kind="stable")
    else:
        order = np.lexsort((-x, ~np.isnan(x)), axis=-1)
    order = order[..., : attributes["k"]]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


def _bind(
    types: Types, results: tuple[TensorType, ...], attributes: Attributes, constants: Constants
) -> KernelCall | None:
    if not has_kernel(types[0].element):
        return None
    *rest, size = static_shape(types[0], "top_k")
    return bind_top_k(
        isa=kernels.active(),
        dtype=element_dtype(types[0].element),
        rows=int(np.prod(rest, dtype=np.int64)),
        size=size,
        k=int(attributes["k"]),
    )


FAMILIES = (
    OpFamily(
        Declaration(
            "top_k",
            operands=(Operand("x", note="of any element type"),),
            attributes=(Attribute("k", "integer", 1, given=REQUIRED),),
            result=Result("values of the operand's type, and indices of i32"),
            results=("values", "indices"),
            public=False,
        ),
        infer=_infer,
        reference=_reference,
        bind=_bind,
    ),
)
