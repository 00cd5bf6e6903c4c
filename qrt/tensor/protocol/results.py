"""The types of results that hold elements of their operands, and where results are put."""

from collections.abc import Collection
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor, tensor_of
from qrt.eager.storage import PACKED_WIDTHS, pack
from qrt.errors import QuantTypeError
from qrt.ops.core import Shape
from qrt.tensor.protocol.elements import into
from qrt.tensor.protocol.keys import axes_of, varies_along
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType


def reduced(name: str, q: Tensor, axis: Any, keepdims: bool = False) -> UniformType:
    """The type of a result with one element for those along the axes. Where scales or zero points differ along them,
    it would hold elements of several: an error."""
    t: UniformType = q.type
    if t.is_per_layer:
        return t
    rank = len(q._shape)
    require_one_scale(name, q, axis)
    return without_axes(t, range(rank) if axis is None else axes_of(axis, rank) or (), keepdims)


def require_one_scale(name: str, q: Tensor, axis: Any) -> None:
    """Raises where elements of different scales or zero points along the axis, None for all, would need one type."""
    t: UniformType = q.type
    if not t.is_per_layer and varies_along(t, axes_of(axis, len(q._shape))):
        raise QuantTypeError(
            f"{name}: the scales or zero points of its operand differ along the axis, so that no type holds the "
            "result: requantize to a per-layer type first, qrt.requantize(q, t)"
        )


def without_axes(t: UniformType, axes: Collection[int], keepdims: bool = False) -> UniformType:
    """The type of what stands at the first index of these axes, which are left out or become 1."""
    if t.is_per_axis:
        assert t.axis is not None
        if t.axis in axes:
            return per_layer(t)
        return t if keepdims else t.with_(axis=t.axis - sum(axis < t.axis for axis in axes))
    kept = [axis for axis in range(len(t.scales_shape)) if axis not in axes]
    blocks = {axis: size for axis, size in t.block_sizes or () if axis in kept}
    if not blocks:
        return per_layer(t)
    key = tuple(slice(None) if axis in kept else slice(0, 1) if keepdims else 0 for axis in range(len(t.scales_shape)))
    return t.with_(
        scales=np.array(t.scales).reshape(t.scales_shape)[key],
        zero_points=np.array(t.zero_points, np.int64).reshape(t.scales_shape)[key],
        block_sizes=blocks if keepdims else {kept.index(axis): size for axis, size in blocks.items()},
    )


def per_layer(t: UniformType) -> UniformType:
    """The type of the first element."""
    if t.is_per_layer:
        return t
    return t.with_(scales=t.scales[0], zero_points=t.zero_points[0], axis=None, block_sizes=None)


def broadcast(name: str, t: UniformType, old: Shape, shape: Shape) -> UniformType:
    """The type of a tensor of the type and the old shape, broadcast to the shape."""
    if t.is_per_layer or old == shape:
        return t
    before = len(shape) - len(old)
    if t.is_per_axis:
        assert t.axis is not None
        channels = shape[before + t.axis]
        return per_layer(t) if channels != len(t.scales) else t.with_(axis=before + t.axis)
    blocks = {before + axis: size for axis, size in t.block_sizes or ()}
    if any(old[axis - before] != shape[axis] for axis in blocks):
        raise QuantTypeError(f"{name}: an axis with blocks is not broadcast: give tensors of one shape")
    outer = (1,) * before + t.scales_shape
    return t.with_(
        scales=np.array(t.scales).reshape(outer),
        zero_points=np.array(t.zero_points, np.int64).reshape(outer),
        block_sizes=blocks,
    )


def delivered(name: str, storage: Any, t: UniformType, out: Any = None) -> QuantTensor:
    """A tensor around storage known to be valid, or ``out``, with the storage written to it."""
    storage = np.asarray(storage)
    data = pack(storage, t) if t.storage_type.width in PACKED_WIDTHS else storage
    result: QuantTensor = tensor_of(data, t, storage.shape)
    return result if out is None else into(out, result)


def one_tensor(name: str, a: Any) -> QuantTensor:
    """The operand, which NumPy may have been given as a list of tensors, or beside a tensor as an output."""
    if not isinstance(a, QuantTensor):
        raise QuantTypeError(f"{name}: a QuantTensor is needed, got {type(a).__name__}")
    return a
