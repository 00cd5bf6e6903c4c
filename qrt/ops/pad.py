"""pad: constant elements around a tensor; the type is kept.

``padding`` has (before, after) for each dimension. The new elements hold ``value``, an expressed value quantized by the
default cast rule; without one the zero point, which is the real 0, clamped to the storage bounds. A per-axis type pads
each channel with that channel's own, and its axis may not be padded: there are no parameters for more channels.
"""

from collections.abc import Sequence
from math import isnan, prod

import numpy as np

from qrt import numerics
from qrt._seam import _core
from qrt.errors import shown
from qrt.ops.core import (
    Array,
    Attributes,
    BoundCall,
    Constants,
    OpFamily,
    Shape,
    Types,
    checked_result,
    declared_element,
    fail,
    parameter_index,
    quantized,
    real_number,
    row_major_strides,
    static_shape,
    storage_dtype,
)
from qrt.ops.declare import KEPT, REQUIRED, Attribute, Declaration, Operand
from qrt.types import TensorType, UniformType


def _padding(types: Types, attributes: Attributes) -> tuple[tuple[int, int], ...]:
    """(before, after) for each dimension, checked."""
    rank, given = types[0].rank, attributes["padding"]
    if rank is None:
        fail("pad", "x must be ranked", types)
    pairs = given if isinstance(given, (tuple, list)) else ()
    checked = tuple(
        (int(pair[0]), int(pair[1]))
        for pair in pairs
        if isinstance(pair, (tuple, list))
        and len(pair) == 2
        and all(isinstance(n, (int, np.integer)) and 0 <= n < 1 << 62 for n in pair)
    )
    if len(checked) != rank or len(checked) != len(pairs):
        fail("pad", f"padding must be {rank} pairs (before, after) of integers from 0 up, got {shown(given)}", types)
    return checked


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = quantized(types[0], "pad", "x")
    padding, value = _padding(types, attributes), attributes["value"]
    if value is not None and isnan(real_number("pad", "value", value)):
        fail("pad", "value must be a real number or None, got nan", types)
    if x.is_sub_channel:
        fail("pad", "sub-channel types are not supported", types)
    if x.axis is not None and any(padding[x.axis]):
        fail("pad", f"axis {x.axis} holds the {len(x.scales)} channels of {x} and cannot be padded", types)
    element = declared_element("pad", result) or x
    if element != x:
        fail("pad", f"the result must keep the type {x}, not {element}: requantize apart", types)
    dims = types[0].shape or ()
    shape = [None if n is None else n + sum(pair) for n, pair in zip(dims, padding, strict=True)]
    return checked_result("pad", shape, x)


def stored_value(t: UniformType, value: float | None) -> Array:
    """The storage value of the padding, one for each parameter of the type."""
    zero_points = t.zero_point_array.ravel()
    if value is None:
        return np.clip(zero_points, t.storage_min, t.storage_max)
    bounds = t.storage_min, t.storage_max, t.expressed_type.name
    return numerics.quantize(float(value), t.scale_array.ravel(), zero_points, *bounds)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    t, shape = quantized(types[0], "pad", "x"), static_shape(result, "pad")
    padded = np.broadcast_to(stored_value(t, attributes["value"])[parameter_index(t, shape)], shape).copy()
    inside = tuple(slice(before, before + n) for n, (before, _) in zip(q.shape, attributes["padding"], strict=True))
    padded[inside] = q
    return padded


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> BoundCall | None:
    """A strided copy: x into the middle, then for each dimension the slabs before and after what is already there."""
    t, padding = quantized(types[0], "pad", "x"), _padding(types, attributes)
    own, shape = static_shape(types[0], "pad"), static_shape(result, "pad")
    if len(shape) > 31:
        return None
    fill = stored_value(t, attributes["value"]).astype(storage_dtype(t))
    strides, begin = row_major_strides(shape), [before for before, _ in padding]
    steps = tuple(int(d == t.axis) for d in range(len(shape)))
    parts = [(*_merged(own, row_major_strides(own), strides), _offset(begin, strides))]
    for d, (before, after) in enumerate(padding):
        for start, size in ((0, before), (before + own[d], after)):
            slab = (*own[:d], size, *shape[d + 1 :])
            at = [*begin[:d], start] + [0] * (len(shape) - d - 1)
            parts.append((*_merged(slab, steps, strides), _offset(at, strides)))
    return _core.bind_copy(
        dtype=storage_dtype(t),
        shapes=[part[0] for part in parts],
        source_strides=[part[1] for part in parts],
        target_strides=[part[2] for part in parts],
        target_offsets=[part[3] for part in parts],
        source_sizes=[prod(own)] + [fill.size] * (len(parts) - 1),
        target_size=prod(shape),
        constants=[None] + [fill] * (len(parts) - 1),
    )


def _offset(index: Sequence[int], strides: Shape) -> int:
    return sum(i * stride for i, stride in zip(index, strides, strict=True))


def _merged(shape: Shape, source: Shape, target: Shape) -> tuple[Shape, Shape, Shape]:
    """(shape, source strides, target strides) with neighbours merged that both sides walk as one, so that runs are
    long."""
    merged: list[tuple[int, int, int]] = []
    for size, s, t in zip(shape, source, target, strict=True):
        if merged and merged[-1][1:] == (s * size, t * size):
            merged[-1] = (merged[-1][0] * size, s, t)
        else:
            merged.append((size, s, t))
    return tuple(m[0] for m in merged), tuple(m[1] for m in merged), tuple(m[2] for m in merged)


FAMILIES = (
    OpFamily(
        Declaration(
            "pad",
            operands=(Operand("q"),),
            attributes=(
                Attribute("padding", "pairs", note="(before, after) per dimension", positional=True, given=REQUIRED),
                Attribute("value", "number", note="none, the zero point: an expressed value", positional=True),
            ),
            result=KEPT,
        ),
        infer=_infer,
        reference=_reference,
        bind=_bind,
    ),
)
