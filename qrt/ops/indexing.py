"""The quantized element type of an indexed tensor, ``q[key]``.

An index along the channel axis of a per-axis type selects the scales of the same channels. Blocks of a sub-channel type
must be selected as a whole. The type of the result depends on shapes and indices, never on the elements.
"""

from operator import index
from types import EllipsisType
from typing import Any, NamedTuple, NoReturn, SupportsIndex

import numpy as np

from qrt.errors import QuantTypeError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array, Shape
from qrt.types import UniformType


class Selection(NamedTuple):
    """The elements that an index selects along one axis of a tensor, and the axis of the result that they form."""

    source: int
    """The axis, counted from 0."""
    items: slice | int | Array
    """The selected positions: a slice, an integer, or an array of positions below the axis's size.

    An array has several axes if the positions vary along several axes of the result.
    """
    target: int | None
    """The axis of the result; None if the elements lie along no axis of the result, or along several."""


_Step = slice | int | Array | EllipsisType | None
"""An entry of an index key: it selects along one axis, except an ellipsis, and None, which adds a new axis."""


def indexed_element(t: UniformType, shape: Shape, key: Any) -> UniformType:
    """Return the element type of ``q[key]`` for a tensor ``q`` of ``shape``. NumPy must accept ``key`` for this shape.

    An integer along the channel axis of a per-axis type gives the per-layer type of that channel. An integer along an
    axis that has blocks gives the type with the scales of the block that it is in.
    """
    if t.is_per_layer:
        return t
    selections, rank = _selections(_steps(key, len(shape)), shape)
    return selected_element(t, shape, selections, rank)


def selected_element(t: UniformType, shape: Shape, selections: list[Selection], rank: int) -> UniformType:
    """Return the element type of a result of rank ``rank``, given the selection along each axis of the operand."""
    if t.is_per_layer:
        return t
    if t.is_per_axis:
        (channels,) = [selection for selection in selections if selection.source == t.axis]
        return _per_axis(t, channels)
    return _sub_channel(t, shape, selections, rank)


def _steps(key: Any, rank: int) -> list[_Step]:
    """Return the entries of an index ``key``, extended so that every axis has one.

    Boolean masks become arrays of positions. Axes that the key leaves out get a full slice.
    """
    steps: list[_Step] = []
    for item in key if isinstance(key, tuple) else (key,):
        if item is None or isinstance(item, (slice, EllipsisType)):
            steps.append(item)
            continue
        array = np.asarray(item)
        if array.dtype == bool:
            if array.ndim == 0:
                raise QuantTypeError(
                    f"the index of a tensor with several scales must not be a boolean scalar, got {shown(item)}: write "
                    "None for a new axis"
                )
            steps += array.nonzero()
        else:
            steps.append(index(item) if isinstance(item, SupportsIndex) and not array.ndim else array.astype(np.intp))
    rest = [slice(None)] * (rank - sum(step is not None and step is not ... for step in steps))
    at = next((i for i, step in enumerate(steps) if step is ...), len(steps))
    return [*steps[: at + 1], *rest, *steps[at + 1 :]]


def _selections(steps: list[_Step], shape: Shape) -> tuple[list[Selection], int]:
    """Return (the selection along each axis, the rank of the result).

    As in NumPy, arrays and integers of a key broadcast together if there is an array. The broadcast axes are placed
    where the first of these entries is, or in front if the entries are not adjacent.
    """
    arrays = [step for step in steps if isinstance(step, np.ndarray)]
    common = broadcast_shapes(*[array.shape for array in arrays])
    group = [i for i, step in enumerate(steps) if isinstance(step, (int, np.ndarray))] if arrays else []
    in_front = bool(group) and group[-1] - group[0] >= len(group)
    source, target = 0, len(common) if in_front else 0
    place = 0
    selections: list[Selection] = []
    for i, step in enumerate(steps):
        if group and i == group[0] and not in_front:
            place, target = target, target + len(common)
        if isinstance(step, np.ndarray):
            selections.append(_of_array(source, step % max(shape[source], 1), place, common))
        elif isinstance(step, int):
            selections.append(Selection(source, step % max(shape[source], 1), None))
        elif isinstance(step, slice):
            selections.append(Selection(source, step, target))
        source += step is not None and step is not ...
        target += step is None or isinstance(step, slice)
    return selections, target


def _of_array(source: int, positions: Array, place: int, common: Shape) -> Selection:
    """Return the selection along axis ``source`` by an index array.

    All index arrays broadcast to the shape ``common``, whose first axis is axis ``place`` of the result. The selection
    goes to the axis of the result along which ``positions`` vary: their only axis of another size than 1, or the last
    one. It goes to no axis if ``positions`` vary along several.
    """
    own = [d for d in range(-positions.ndim, 0) if positions.shape[d] != 1] or [-1]
    if len(own) > 1:
        return Selection(source, positions, None)
    line = np.broadcast_to(positions.reshape(-1), (common[own[0]],))
    return Selection(source, line, place + len(common) + own[0])


def _per_axis(t: UniformType, channels: Selection) -> UniformType:
    if isinstance(channels.items, int):
        channel = channels.items
        return t.with_(scales=t.scales[channel], zero_points=t.zero_points[channel], axis=None)
    if channels.target is None:
        _refuse_mixed(t, channels.source)
    if isinstance(channels.items, slice) and channels.items == slice(None):
        return t.with_(axis=channels.target)
    scales = t.scale_array.ravel()[channels.items]
    if not scales.size:
        raise QuantTypeError(f"the index must select at least one channel of {t}, got an index that selects none")
    zero_points = t.zero_point_array.ravel()[channels.items]
    return t.with_(scales=scales, zero_points=zero_points, axis=channels.target)


def _sub_channel(t: UniformType, shape: Shape, selections: list[Selection], rank: int) -> UniformType:
    blocks = dict(t.block_sizes or ())
    new_blocks: dict[int, int] = {}
    lines: list[Any] = [np.zeros(1, np.intp)] * len(shape)
    for source, items, target in selections:
        block = blocks.get(source)
        if isinstance(items, int):
            lines[source] = np.array([items // (block or shape[source])])
        elif block is not None:
            if target is None or target in new_blocks:
                _refuse_mixed(t, source)
            lines[source], new_blocks[target] = _whole_blocks(t, source, np.arange(shape[source])[items], block), block
    grid = np.ix_(*lines)
    order = [s for s in range(len(shape)) if len(lines[s]) == 1]  # axes of size 1, whose place does not matter
    moved = {source: target for source, _, target in selections if len(lines[source]) > 1}
    order += sorted(moved, key=lambda source: moved[source] or 0)
    sizes = [len(lines[source]) for source in moved]
    final = [1] * rank
    for target, size in zip(moved.values(), sizes, strict=True):
        final[target or 0] = size

    def selected(values: Array) -> Any:
        return values.reshape(t.scales_shape)[grid].transpose(order).reshape(final)

    scales, zero_points = selected(t.scale_array.ravel()), selected(t.zero_point_array.ravel())
    if new_blocks:
        return t.with_(scales=scales, zero_points=zero_points, block_sizes=dict(sorted(new_blocks.items())))
    return t.with_(scales=scales.item(), zero_points=zero_points.item(), block_sizes=None)


def _whole_blocks(t: UniformType, axis: int, positions: Array, block: int) -> Array:
    """Return, for each block of the result, the number of the operand's block along ``axis``.

    ``positions`` are the selected elements. Raise QuantTypeError if they take only a part of a block.
    """
    if not positions.size:
        raise QuantTypeError(f"the index must select at least one block of {t}, got an index that selects none")
    if not positions.size % block:
        rows = (positions // block).reshape(-1, block)
        if (rows == rows[:, :1]).all():
            first: Array = rows[:, 0]
            return first
    raise QuantTypeError(f"the index must select whole blocks of {block} elements along axis {axis} of {t}")


def _refuse_mixed(t: UniformType, axis: int) -> NoReturn:
    raise QuantTypeError(
        f"the index would mix the different scales along axis {axis} of {t}: index np.asarray(q) for the values, or "
        "qrt.requantize to a type per layer first"
    )
