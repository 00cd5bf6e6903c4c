"""slice and tile: elements taken at regular steps, and elements repeated. Values are unchanged.

A per-axis type keeps the parameters of the channels that are taken, or repeats them. ``slice`` takes ``sizes[d]``
elements along each axis, the first at ``offsets[d]``, each ``strides[d]`` after the previous one; a negative stride
goes backwards. A size of -1 takes as many elements as there are.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from qrt.errors import plural, shown
from qrt.ops import strided
from qrt.ops.checks import check_no_blocks
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Shape,
    Types,
    any_element,
    checked_result,
    element_dtype,
    fail,
    row_major_strides,
    static_shape,
)
from qrt.ops.declare import KEPT, REQUIRED, Attribute, Declaration, Operand, Traits
from qrt.ops.traits import permute_lists
from qrt.types import TensorType, Type, UniformType


def integers(op: str, name: str, types: Types, given: Any, default: int | None = None) -> tuple[int, ...]:
    """Return the attribute ``name`` as a tuple with an integer for each axis of the first operand.

    ``given`` is its value; if it is None, each integer is ``default``. Raise QuantTypeError for any other value.
    """
    rank = types[0].rank
    if rank is None:
        fail(op, f"'x' must be a ranked tensor, got {types[0]}", types)
    if given is None and default is not None:
        return (default,) * rank
    listed = tuple(given) if isinstance(given, (tuple, list)) else ()
    if len(listed) != rank or not all(isinstance(n, (int, np.integer)) and abs(int(n)) < 1 << 62 for n in listed):
        fail(op, f"{name!r} must have {plural(rank, 'integer')}, one for each axis, got {shown(given)}", types)
    return tuple(map(int, listed))


class SliceStep(NamedTuple):
    """The elements that ``slice`` takes along an axis: ``offset``, ``offset + stride`` and so on, ``size`` of them.

    The size is None if it depends on a dynamic dimension.
    """

    offset: int
    size: int | None
    stride: int


def steps_of(types: Types, attributes: Attributes) -> list[SliceStep]:
    """Return the elements that ``slice`` takes along each axis. Raise QuantTypeError if some are out of bounds.

    Along an axis of dynamic size the upper bound is not known, and not checked.
    """
    lists = [
        integers("slice", name, types, attributes[name], default)
        for name, default in (("offsets", 0), ("sizes", -1), ("strides", 1))
    ]
    steps = [
        SliceStep(*_resolved(n, *step)) for n, step in zip(types[0].shape or (), zip(*lists, strict=True), strict=True)
    ]
    for d, (n, (first, size, stride)) in enumerate(zip(types[0].shape or (), steps, strict=True)):
        if stride == 0:
            fail("slice", f"'strides' must not be 0 along an axis, got 0 along axis {d}", types)
        if size is not None and size < 0:
            fail("slice", f"'sizes' must be -1 or more, got {size} along axis {d}", types)
        last = first if size is None else first + max(size - 1, 0) * stride
        limit = last + 1 if n is None else n
        if size != 0 and not (0 <= first < max(limit, first + 1 if n is None else 0) and 0 <= last < limit):
            fail(
                "slice",
                f"the slice must be within axis {d}, of {'dynamic size' if n is None else f'size {n}'}, got elements "
                f"{first} to {last}",
                types,
            )
        if size is None and (stride < 0 or n is not None):
            fail("slice", f"'x' must have a static size along axis {d} for the stride {stride}, got {types[0]}", types)
    return steps


def _resolved(n: int | None, first: int, size: int, stride: int) -> tuple[int, int | None, int]:
    if size != -1 or stride == 0:
        return first, size, stride
    if n is None:
        return first, None, stride
    span = n - first if stride > 0 else first + 1
    return first, max(-(-span // abs(stride)), 0), stride


def with_channels(t: UniformType, chosen: Sequence[int]) -> UniformType:
    """Return a per-axis type with only the ``chosen`` channels.

    If ``chosen`` is empty, the result is per layer, because a per-axis type needs at least one scale.
    """
    if not len(chosen):
        return t.with_(scales=t.scales[0], zero_points=t.zero_points[0], axis=None)
    index = np.asarray(chosen)
    return t.with_(scales=t.scale_array.ravel()[index].tolist(), zero_points=t.zero_point_array.ravel()[index].tolist())


def _chosen(op: str, t: Type, types: Types, positions: Mapping[int, Sequence[int]]) -> Type:
    """Return the element type of a result that takes elements ``positions[axis]`` of the operand along some axes.

    A per-axis type gets the scales of the channels that are taken.
    """
    if not isinstance(t, UniformType) or t.is_per_layer:
        return t
    check_no_blocks(op, types, "'x'", t)
    assert t.axis is not None
    return with_channels(t, positions[t.axis]) if t.axis in positions else t


def _infer_slice(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = any_element(types[0], "slice", "x")
    steps = steps_of(types, attributes)
    taken = {
        d: range(step.offset, step.offset + step.size * step.stride, step.stride)
        for d, step in enumerate(steps)
        if step.size is not None
    }
    return checked_result("slice", [step.size for step in steps], _chosen("slice", x, types, taken))


def _reference_slice(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (x,) = arrays
    for d, (first, size, stride) in enumerate(steps_of((types[0].with_(shape=x.shape),), attributes)):
        assert size is not None  # an array has a shape
        x = x.take(np.arange(size) * stride + first, axis=d)
    return x


def _slice_layout(types: Types, attributes: Attributes) -> tuple[int, Shape]:
    """Return (index of the slice's first element in the row-major operand, strides of the slice in elements)."""
    steps, strides = steps_of(types, attributes), row_major_strides(static_shape(types[0], "slice"))
    offset = strided.offset([step.offset for step in steps], strides)
    return offset, tuple(stride * step.stride for stride, step in zip(strides, steps, strict=True))


def _slice_offset(types: Types, result: TensorType, attributes: Attributes) -> int | None:
    shape, (first, strides) = static_shape(result, "slice"), _slice_layout(types, attributes)
    return first if prod(shape) and strided.is_contiguous(shape, strides) else None


def _bind_slice(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    shape, (first, strides) = static_shape(result, "slice"), _slice_layout(types, attributes)
    size = prod(static_shape(types[0], "slice"))
    part = strided.StridedPart(shape, strides, row_major_strides(shape), size, first if prod(shape) else 0)
    return strided.bind_parts(element_dtype(types[0].element), [part], prod(shape))


def multiples_of(types: Types, attributes: Attributes) -> tuple[int, ...]:
    multiples = integers("tile", "multiples", types, attributes["multiples"])
    if min(multiples, default=1) < 0:
        fail("tile", f"'multiples' must be non-negative integers, got {shown(attributes['multiples'])}", types)
    return multiples


def _infer_tile(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = any_element(types[0], "tile", "x")
    multiples = multiples_of(types, attributes)
    repeated: dict[int, list[int]] = {}
    if isinstance(x, UniformType) and x.axis is not None and x.axis < len(multiples):
        channels = len(x.scales) * multiples[x.axis]
        if channels > _MOST_CHANNELS:
            fail(
                "tile",
                f"the result must have at most {_MOST_CHANNELS} channels with scales of their own, got {channels}: "
                "requantize to a per-layer type first",
                types,
            )
        repeated[x.axis] = list(range(len(x.scales))) * multiples[x.axis]
    element = _chosen("tile", x, types, repeated)
    shape = [None if n is None else n * count for n, count in zip(types[0].shape or (), multiples, strict=True)]
    return checked_result("tile", shape, element)


def _reference_tile(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    return np.tile(arrays[0], multiples_of(types, attributes))


def _bind_tile(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    """Bind a copy with two axes for each axis of x: one of repetitions, with source stride 0, and one of elements."""
    own, shape = static_shape(types[0], "tile"), static_shape(result, "tile")
    multiples = multiples_of(types, attributes)
    source, target = row_major_strides(own), row_major_strides(shape)
    axes = [
        axis
        for n, count, s, t in zip(own, multiples, source, target, strict=True)
        for axis in ((count, 0, t * n), (n, s, t))
    ]
    sizes, s, t = zip(*axes, strict=True) if axes else ((), (), ())
    part = strided.StridedPart(tuple(sizes), tuple(s), tuple(t), prod(own))
    return strided.bind_parts(element_dtype(types[0].element), [part], prod(shape))


_MOST_CHANNELS = 1 << 24
"""The most scales of a type that is inferred here: a short program could otherwise ask for more than fits in memory."""
_ONE_EACH = "one for each axis"

FAMILIES = (
    OpFamily(
        Declaration(
            "slice",
            operands=(Operand("x", note="of any element type"),),
            attributes=(
                Attribute("offsets", "axes", note="0"),
                Attribute("sizes", "axes", note="-1, which takes all remaining elements"),
                Attribute("strides", "axes", note="1; a negative stride goes backwards"),
            ),
            result=KEPT,
            public=False,
        ),
        infer=_infer_slice,
        reference=_reference_slice,
        bind=_bind_slice,
        view_offset=_slice_offset,
        traits=Traits(constraint="same_scale", is_movement=True, permute=permute_lists("offsets", "sizes", "strides")),
    ),
    OpFamily(
        Declaration(
            "tile",
            operands=(Operand("x", note="of any element type"),),
            attributes=(Attribute("multiples", "axes", note=_ONE_EACH, given=REQUIRED),),
            result=KEPT,
            public=False,
        ),
        infer=_infer_tile,
        reference=_reference_tile,
        bind=_bind_tile,
        traits=Traits(constraint="same_scale", is_movement=True),
    ),
)
