"""pad: constant elements around a tensor; the type is unchanged.

``padding`` has (before, after) for each dimension. Elements have any type. The new elements have the value ``value``,
which for a quantized tensor is an expressed value, quantized by the default cast rule. Without ``value`` they are 0; in
a quantized tensor, the zero point (the real 0), clamped to the storage bounds. A per-axis type pads each channel with
its own zero point, and its channel axis may not be padded: there are no parameters for more channels.
"""

from collections.abc import Sequence
from math import isfinite, isnan, prod
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import plural, shown
from qrt.ops import strided
from qrt.ops.checks import check_no_blocks
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    any_element,
    checked_result,
    element_dtype,
    fail,
    real_number,
    row_major_strides,
    static_shape,
)
from qrt.ops.declare import KEPT, REQUIRED, Attribute, Declaration, Operand, Traits
from qrt.ops.traits import permute_lists
from qrt.types import TensorType, Type, UniformType


def _padding(types: Types, attributes: Attributes) -> tuple[tuple[int, int], ...]:
    """Return the attribute ``padding`` as (before, after) for each dimension, after checking it."""
    rank, given = types[0].rank, attributes["padding"]
    if rank is None:
        fail("pad", f"'q' must be a ranked tensor, got {types[0]}", types)
    pairs = given if isinstance(given, (tuple, list)) else ()
    checked = tuple(
        (int(pair[0]), int(pair[1]))
        for pair in pairs
        if isinstance(pair, (tuple, list))
        and len(pair) == 2
        and all(isinstance(n, (int, np.integer)) and 0 <= n < 1 << 62 for n in pair)
    )
    if len(checked) != rank or len(checked) != len(pairs):
        wanted = f"{plural(rank, 'pair')} (before, after) of non-negative integers, one for each axis"
        fail("pad", f"'padding' must be {wanted}, got {shown(given)}", types)
    return checked


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = any_element(types[0], "pad", "q")
    padding = _padding(types, attributes)
    _check_value(x, types, attributes["value"])
    if isinstance(x, UniformType):
        check_no_blocks("pad", types, "'q'", x)
        if x.axis is not None and any(padding[x.axis]):
            channels = f"axis {x.axis}, the channel axis of {x}"
            fail("pad", f"'padding' must be (0, 0) along {channels}, got {padding[x.axis]}", types)
    dims = types[0].shape or ()
    shape = [None if n is None else n + sum(pair) for n, pair in zip(dims, padding, strict=True)]
    return checked_result("pad", shape, x)


def _check_value(x: Type, types: Types, value: Any) -> None:
    """Raise QuantTypeError if the elements cannot have the padding value.

    A quantized tensor accepts any real number, because the value is quantized to its type.
    """
    if value is None:
        return
    number = real_number("pad", "value", value)
    if isinstance(x, UniformType) and isnan(number):
        fail("pad", "'value' must be a real number or None, got nan", types)
    dtype = element_dtype(x)
    if dtype.kind in "iub":
        low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not isinstance(x, UniformType) and not (isfinite(number) and low <= int(value) == value <= high):
            fail("pad", f"'value' must be an integer in [{low}, {high}], the range of {x}, got {shown(value)}", types)


def stored_value(t: Type, value: float | None) -> Array:
    """Return the storage values to pad with: one for each scale of a quantized type, else a single one."""
    if not isinstance(t, UniformType):
        return np.array([0 if value is None else value]).astype(element_dtype(t))
    zero_points = t.zero_point_array.ravel()
    if value is None:
        return np.clip(zero_points, t.storage_min, t.storage_max)
    bounds = t.storage_min, t.storage_max, t.expressed_type.name
    return numerics.quantize(float(value), t.scale_array.ravel(), zero_points, *bounds)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    t, shape = types[0].element, static_shape(result, "pad")
    channels = channel_axis(t)
    around = stored_value(t, attributes["value"]).reshape([-1 if d == channels else 1 for d in range(len(shape))])
    padded = np.broadcast_to(around, shape).copy()
    inside = tuple(slice(before, before + n) for n, (before, _) in zip(q.shape, attributes["padding"], strict=True))
    padded[inside] = q
    return padded


def channel_axis(t: Type) -> int | None:
    return t.axis if isinstance(t, UniformType) else None


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    """Bind one strided copy: x into the middle, constants into the parts before and after it along each dimension."""
    t, padding = types[0].element, _padding(types, attributes)
    own, shape = static_shape(types[0], "pad"), static_shape(result, "pad")
    fill = stored_value(t, attributes["value"]).astype(element_dtype(t))
    strides, begin = row_major_strides(shape), [before for before, _ in padding]
    steps = tuple(int(d == channel_axis(t)) for d in range(len(shape)))
    parts = [strided.whole(own, strides, strided.offset(begin, strides))]
    for d, (before, after) in enumerate(padding):
        for start, size in ((0, before), (before + own[d], after)):
            if size:
                slab = (*own[:d], size, *shape[d + 1 :])
                at = strided.offset([*begin[:d], start] + [0] * (len(shape) - d - 1), strides)
                parts.append(strided.StridedPart(slab, steps, strides, fill.size, 0, at, fill))
    return strided.bind_parts(element_dtype(t), parts, prod(shape))


def _scaled_axis(attributes: Attributes, axis: int) -> int | None:
    """Return ``axis`` if factors along it apply to the padded result as well as to the operand, else None.

    The factors apply to the result if the new elements are 0 and none is added along this axis.
    """
    return axis if not attributes["value"] and tuple(attributes["padding"][axis]) == (0, 0) else None


FAMILIES = (
    OpFamily(
        Declaration(
            "pad",
            operands=(Operand("q"),),
            attributes=(
                Attribute("padding", "pairs", note="[before, after] for each axis", positional=True, given=REQUIRED),
                Attribute("value", "number", note="the zero point; otherwise an expressed value", positional=True),
            ),
            result=KEPT,
        ),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(
            constraint="same_scale", is_movement=True, permute=permute_lists("padding"), scaled_axis=_scaled_axis
        ),
    ),
)
