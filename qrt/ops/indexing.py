"""The effect of basic indexing on a quantized element type."""

from operator import index
from typing import Any, SupportsIndex

import numpy as np

from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Shape
from qrt.types import UniformType


def indexed_element(t: UniformType, shape: Shape, key: Any) -> UniformType:
    """The element type of ``q[key]`` for a tensor of ``shape``.

    Indexing along the channel axis of a per-axis type selects channels; an integer there leaves that channel's
    per-layer type. Blocks of a sub-channel type may be cut only along whole blocks.
    """
    items = _expanded(key, len(shape))
    if t.is_per_layer:
        return t
    selections: list[tuple[int, Any]] = []
    axis = 0
    for item in items:
        if item is None:
            selections.append((-1, None))
            continue
        selections.append((axis, item))
        axis += 1
    if t.is_per_axis:
        return _per_axis(t, selections)
    return _sub_channel(t, shape, selections)


def _expanded(key: Any, rank: int) -> list[Any]:
    """The key as one item per axis (plus None for new axes), the ellipsis spelled out."""
    items = list(key) if isinstance(key, tuple) else [key]
    for item in items:
        # NumPy reads a bool and a 0-d array as masks and advanced indices.
        basic = item is None or item is Ellipsis or isinstance(item, (slice, SupportsIndex))
        if not basic or isinstance(item, (bool, np.ndarray, type)):
            raise QuantTypeError(f"only integers, slices, ... and None index a quantized tensor, got {shown(item)}")
        if isinstance(item, SupportsIndex) and abs(index(item)) >= 1 << 62:
            raise IndexError(f"index {shown(item)} is out of bounds for every axis")
        if isinstance(item, slice):
            try:
                item.indices(0)
            except (TypeError, ValueError) as error:
                raise QuantTypeError(f"{shown(item)} does not index a tensor: {error}") from None
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > rank:
        raise QuantTypeError(f"{used} indices for a tensor of rank {rank}")
    gap = [slice(None)] * (rank - used)
    if Ellipsis in items:
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        return items[:at] + gap + [item for item in items[at + 1 :] if item is not Ellipsis]
    return items + gap


def _per_axis(t: UniformType, selections: list[tuple[int, Any]]) -> UniformType:
    position = 0
    for axis, item in selections:
        if axis == t.axis:
            if not isinstance(item, slice):
                channel = index(item)
                if not -len(t.scales) <= channel < len(t.scales):
                    raise IndexError(f"index {channel} is out of bounds for axis {axis} with size {len(t.scales)}")
                return t.with_(scales=t.scales[channel], zero_points=t.zero_points[channel], axis=None)
            if not t.scales[item]:
                raise QuantTypeError(f"no channel of {t} is left: a per-axis type needs at least one")
            return t.with_(scales=list(t.scales[item]), zero_points=list(t.zero_points[item]), axis=position)
        position += axis < 0 or isinstance(item, slice)
    raise QuantTypeError(f"axis {t.axis} of {t} is beyond the tensor")


def _sub_channel(t: UniformType, shape: Shape, selections: list[tuple[int, Any]]) -> UniformType:
    blocks = dict(t.block_sizes or ())
    scales = np.array(t.scales, np.float64).reshape(t.scales_shape)
    zero_points = np.array(t.zero_points, np.int64).reshape(t.scales_shape)
    keys: list[Any] = []
    kept: dict[int, int] = {}
    position = 0
    for axis, item in selections:
        if axis < 0 or not isinstance(item, slice):
            if axis < 0 or axis in blocks:
                raise QuantTypeError(f"{t} has one parameter axis per dimension: index it with slices")
            keys.append(0)
            continue
        start, stop, step = item.indices(shape[axis])
        block = blocks.get(axis)
        if block is None:
            keys.append(slice(None))
        else:
            if step != 1 or start % block or (stop % block and stop != shape[axis]):
                raise QuantTypeError(f"axis {axis} of {t} is cut inside a block of {block}")
            keys.append(slice(start // block, -(-stop // block)))
            kept[position] = block
        position += 1
    return t.with_(scales=scales[tuple(keys)].tolist(), zero_points=zero_points[tuple(keys)].tolist(), block_sizes=kept)
