"""The order of elements along an axis: where the storage has it, and the types of results that it chooses.

The value of an element is the number that ``np.asarray`` gives. Within one type the order of the storage refines that
of the values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor
from qrt.errors import QuantTypeError
from qrt.ops.core import Array
from qrt.tensor.protocol.elements import first_element, stored
from qrt.types import UniformType


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
