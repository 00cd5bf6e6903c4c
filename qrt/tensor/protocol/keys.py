"""The order of values: which tensors have their storage in it, and arrays that compare as values do.

The value of an element is the number that ``np.asarray`` gives. Within one type the order of the storage refines that
of the values. It is the same order where the type `is_strictly_increasing`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ops.core import Array
from qrt.tensor.arrays import as_array
from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.elements import first_element, stored
from qrt.types import UniformType

_EXACT_INTEGERS = 1 << 53
"""Float64 holds every integer of this magnitude."""


def have_one_scale(tensors: Sequence[Tensor]) -> bool:
    """Return whether one scale and one zero point are those of all elements of all the tensors."""
    scales: set[float] = set().union(*(q.type.scales for q in tensors))
    return len(scales) == 1 and len(set().union(*(q.type.zero_points for q in tensors))) == 1


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Return axes counted from 0. None are all axes, and NumPy raises for those that are wrong."""
    return tuple(range(rank)) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, rank)


def varies_along(q: Tensor, axis: Any) -> bool:
    """Return whether scales or zero points differ along one of the axes."""
    t: UniformType = q.type
    if t.is_per_layer:
        return False
    axes = axes_of(axis, len(q._shape))
    if t.is_per_axis:
        return t.axis in axes and (len(set(t.scales)) > 1 or len(set(t.zero_points)) > 1)
    parameters = (t.scale_array, t.zero_point_array)
    return any((blocks != blocks.take([0], axis)).any() for blocks in parameters for axis in axes)


@lru_cache(maxsize=256)
def is_strictly_increasing(t: UniformType) -> bool:
    """Return whether a greater integer of one scale and zero point always has a greater value.

    It does where the expressed type holds every integer, zero point and difference, and no product overflows. A
    difference of at most half the precision's range keeps the distance of its neighbours after one rounding.
    """
    half = 1 << t.expressed_type.precision - 1
    distances = [max(t.storage_max - zero, zero - t.storage_min) for zero in t.zero_points]
    if max(distances) > half or max(map(abs, (t.storage_min, t.storage_max, *t.zero_points))) > 2 * half:
        return False
    with np.errstate(over="ignore"):
        scales = numerics.round_to_format(np.array(t.scales), t.expressed_type.name)
        largest = numerics.round_to_format(scales * np.array(distances), t.expressed_type.name)
    return bool((scales > 0).all() and np.isfinite(largest).all())


def comparable(operands: Sequence[Any]) -> list[Array]:
    """Return arrays that NumPy compares exactly as the values of tensors and the numbers of arrays, tensors among them.

    They are storage of one strictly increasing type, floats of one dtype, float64 where it holds all numbers, or
    Python's numbers as objects.
    """
    if all(isinstance(x, Tensor) and is_strictly_increasing(x.type) for x in operands):
        kinds = {(x.type, x._shape) for x in operands}
        if len(kinds) == 1 or have_one_scale(operands):
            return [stored(x) for x in operands]
    arrays = [np.asarray(x) if isinstance(x, Tensor) else as_array(x) for x in operands]
    if len({x.dtype for x in arrays}) == 1 and arrays[0].dtype in _FLOATS:
        return arrays
    return [x.astype(np.float64 if all(map(_is_held, arrays)) else object) for x in arrays]


_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))


def _is_held(array: Array) -> bool:
    """Return whether float64 holds all numbers of an array."""
    if array.dtype.kind in "iub":
        if array.dtype.itemsize < 8 or not array.size:
            return True
        return max(-int(array.min()), int(array.max())) <= _EXACT_INTEGERS
    return array.dtype in _FLOATS or array.dtype.type.__module__ == "ml_dtypes"


def sortable(operands: Sequence[Any]) -> list[Array]:
    """Return `comparable` arrays, which must hold real numbers alone."""
    arrays = comparable(operands)
    if any(x.dtype == object and any(not _is_ordered(item) for item in x.ravel()) for x in arrays):
        raise QuantTypeError("a tensor is compared with real numbers alone")
    return arrays


def _is_ordered(item: Any) -> bool:
    try:
        return isinstance(item < 0.0, bool | np.bool_)
    except TypeError:
        return False


def in_order(q: Tensor, axis: Any) -> Array:
    """Return an array in the order of the elements along the axis, None for all: the storage, or values where scales
    differ there."""
    return np.asarray(q) if varies_along(q, axis) else stored(q)


def reduced(q: Tensor, axis: Any, keepdims: bool = False) -> UniformType:
    """Return the type of a result with one element for those along the axes. Where scales or zero points differ along
    them, it would hold elements of several: an error."""
    require_one_scale(q, axis)
    t: UniformType = q.type
    return t if t.is_per_layer else first_element(t, q._shape, axes_of(axis, len(q._shape)), keepdims)


def require_one_scale(q: Tensor, axis: Any) -> None:
    """Raise where elements of different scales or zero points along the axis, None for all, would need one type."""
    if varies_along(q, axis):
        raise QuantTypeError(
            "the scales or zero points of its operand differ along the axis, so that no type holds the "
            "result: requantize to a per-layer type first, qrt.requantize(q, t)"
        )
