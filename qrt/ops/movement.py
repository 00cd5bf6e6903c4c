"""reshape, transpose, concat: move elements of any type without changing their values.

A per-axis type keeps its channel axis through all three (a reshape that splits or merges it is an error). ``concat``
along the channel axis joins the lists of scales; an operand of another type than the result's is requantized first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ops import strided
from qrt.ops.accumulate import check_expressed
from qrt.ops.casts import REQUANTIZE
from qrt.ops.checks import Dims, check_no_blocks
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
    declared_element,
    element_dtype,
    fail,
    keep_element,
    one_axis,
    row_major_strides,
    static_shape,
    storage_dtype,
    uniform,
)
from qrt.ops.declare import FOLLOWING, Attribute, Declaration, Operand, Result, Traits
from qrt.ops.requant import REQUANT, check_rule, max_magnitude
from qrt.ops.traits import permute_axis
from qrt.types import TensorType, Type, UniformType


def _infer_reshape(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    (x,) = types
    element = any_element(x, "reshape", "q")
    if result is None or result.shape is None:
        raise QuantTypeError(f"reshape: the result type must be a ranked tensor type, got {result or 'none'}")
    shape = _resolved_shape(x, result.shape, open_axes(types, result.shape, attributes))
    if isinstance(element, UniformType):
        element = reshaped_element(element, x.shape, shape, result)
    return checked_result("reshape", shape, element)


def open_axes(types: Types, shape: Dims, attributes: Attributes) -> tuple[int, ...]:
    """Return the attribute ``open_axes`` after checking it.

    It has an entry for each dynamic dimension of the result: the axis of the operand with the same size, or -1 for the
    dimension whose size follows from the number of elements. Without the attribute, all entries are -1.
    """
    given, count = attributes["open_axes"], shape.count(None)
    if given is None:
        return (-1,) * count
    rank = types[0].rank
    axes = tuple(given)
    if len(axes) != count and count:
        fail(
            "reshape",
            f"'open_axes' must have one axis of 'q' for each of the {count} dynamic dimensions of the result, got "
            f"{list(axes)}",
            types,
        )
    if axes.count(-1) > 1 or any(axis < -1 or (rank is not None and axis >= rank) for axis in axes):
        wanted = "different axes of 'q', or -1 once" if rank is None else f"axes from 0 to {rank - 1}, or -1 once"
        fail("reshape", f"'open_axes' must have {wanted}, got {list(axes)}", types)
    return axes if count else ()


def _resolved_shape(x: TensorType, shape: Dims, axes: Sequence[int]) -> Dims:
    """Return the result's shape, with dynamic dimensions replaced by their sizes if the operand's shape is static.

    ``axes`` is the result of `open_axes`.
    """
    if x.shape is None or None in x.shape:
        return shape
    if any(axis >= 0 for axis in axes):
        sizes = iter(None if axis < 0 else x.shape[axis] for axis in axes)
        shape = tuple(next(sizes) if size is None else size for size in shape)
    size = prod(static_shape(x, "reshape"))
    known = prod(d for d in shape if d is not None)
    unknown = shape.count(None)
    if unknown == 1 and known and size % known == 0:
        return tuple(size // known if d is None else d for d in shape)
    if unknown or known != size:
        raise QuantTypeError(f"reshape: the result must have as many elements as {x}, got the shape {list(shape)}")
    return shape


def reshaped_element(t: UniformType, old: Dims | None, new: Dims, result: TensorType | None = None) -> UniformType:
    """Return the element type after a reshape: a per-axis type follows its channel axis, which must stay one axis.

    A per-axis type of a single channel may have its channel axis along any dimension of size 1. The declared result
    type then chooses the dimension, even if the shape is unchanged.
    """
    declared = getattr(result and result.element, "axis", None)
    if t.is_per_layer or (old == new and declared in (None, t.axis)):
        return t
    if t.is_per_axis and old is not None:
        candidates = _channel_axes(t, old, new)
        if candidates:
            return t.with_(axis=declared if declared in candidates else candidates[0])
    raise QuantTypeError(
        f"reshape: the result must keep the channel axis of {t}, got a reshape from {list(old or ())} to {list(new)}: "
        "requantize to a per-layer type first"
    )


def _channel_axes(t: UniformType, old: Dims, new: Dims) -> list[int]:
    """Return the axes of the new shape that may be a type's channel axis after a reshape, in order of preference.

    An axis fits if it has the channel axis's size, and if the axes before it, and the axes after it, have as many
    elements as in the old shape. If no axis fits, an axis for which only one of these two counts is equal may be the
    channel axis. A single channel may be along any axis of size 1.
    """
    assert t.axis is not None
    outer, inner, channels = old[: t.axis], old[t.axis + 1 :], len(t.scales)
    same = {
        axis: (_same_count(new[:axis], outer), _same_count(new[axis + 1 :], inner))
        for axis, size in enumerate(new)
        if size == channels
    }
    # with a size of 0 one matching count may suffice; an unknown count matches nothing
    exact, loose = ([axis for axis, counts in same.items() if holds(counts)] for holds in (all, any))
    return list(dict.fromkeys([*exact, *loose, *same])) if channels == 1 else exact or loose


def _same_count(a: Dims, b: Dims) -> bool:
    return None not in a and None not in b and prod(d or 0 for d in a) == prod(d or 0 for d in b)


def _reshaped_type(types: Types, attributes: Attributes, declared: TensorType) -> Type:
    element = any_element(types[0], "reshape", "q")
    if not isinstance(element, UniformType):
        return element
    return reshaped_element(element, types[0].shape, declared.shape or (), declared)


def _reference_reshape(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    return arrays[0].reshape(static_shape(result, "reshape"))


def _bind_reshape(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    size = prod(static_shape(types[0], "reshape"))
    return strided.bind_parts(element_dtype(result.element), [strided.whole((size,), (1,))], size)


def transposed_element(t: UniformType, permutation: Sequence[int]) -> UniformType:
    """Return the element type of a tensor after a transpose by ``permutation``."""
    if t.is_per_axis:
        assert t.axis is not None
        return t.with_(axis=list(permutation).index(t.axis))
    if t.is_sub_channel:
        position = {old: new for new, old in enumerate(permutation)}

        def moved(values: Sequence[float]) -> Any:
            return np.array(values).reshape(t.scales_shape).transpose(permutation).tolist()

        blocks = sorted((position[axis], block) for axis, block in t.block_sizes or ())
        return t.with_(scales=moved(t.scales), zero_points=moved(t.zero_points), block_sizes=dict(blocks))
    return t


def axes_order(types: Types, attributes: Attributes) -> tuple[int, ...]:
    (x,) = types
    if x.shape is None:
        fail("transpose", f"'q' must be a ranked tensor, got {x}", types)
    rank = len(x.shape)
    given = attributes["permutation"]
    permutation = tuple(range(rank))[::-1] if given is None else tuple(given)
    if sorted(permutation) != list(range(rank)):
        fail("transpose", f"'permutation' must have each of the {rank} axes once, got {given}", types)
    return permutation


def _infer_transpose(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    element = any_element(types[0], "transpose", "q")
    permutation = axes_order(types, attributes)
    if isinstance(element, UniformType):
        element = transposed_element(element, permutation)
    shape = types[0].shape or ()
    return checked_result("transpose", tuple(shape[p] for p in permutation), element)


def _reference_transpose(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    return arrays[0].transpose(axes_order(types, attributes))


def _permuted_strides(types: Types, attributes: Attributes) -> Shape:
    """Return the operand's strides in elements, permuted to the order of the result's axes."""
    source = row_major_strides(static_shape(types[0], "transpose"))
    return tuple(source[axis] for axis in axes_order(types, attributes))


def _transpose_offset(types: Types, result: TensorType, attributes: Attributes) -> int | None:
    return 0 if strided.is_contiguous(static_shape(result, "transpose"), _permuted_strides(types, attributes)) else None


def _bind_transpose(
    types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    shape = static_shape(result, "transpose")
    part = strided.StridedPart(shape, _permuted_strides(types, attributes), row_major_strides(shape), prod(shape))
    return strided.bind_parts(element_dtype(result.element), [part], prod(shape))


def _infer_concat(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    if not types:
        raise QuantTypeError("concat: expected at least one operand, got none")
    axis = one_axis("concat", types, attributes)
    elements = [any_element(t, "concat", f"operand {i}") for i, t in enumerate(types)]
    shape = list(types[0].shape or ())
    for t in types[1:]:
        if t.rank != len(shape):
            fail("concat", f"all operands must have the same rank, got {len(shape)} and {t.rank}", types)
        for d, size in enumerate(t.shape or ()):
            here = shape[d]
            if d == axis:
                shape[d] = None if here is None or size is None else here + size
            elif here is not None and size is not None and here != size:
                fail("concat", f"all operands must have the same size along axis {d}, got {here} and {size}", types)
            else:
                shape[d] = size if here is None else here
    return checked_result("concat", shape, _concat_element(types, elements, axis, attributes, result))


def _concat_element(
    types: Types, elements: list[Type], axis: int, attributes: Attributes, result: TensorType | None
) -> Type:
    """Return the element type of a concatenation's result, from the declared type or else from the operands' types.

    Quantized operands may have other types than the result, to which they are then requantized.
    """
    quantized_ones = [t for t in elements if isinstance(t, UniformType)]
    if len(quantized_ones) < len(elements):
        others = [t for t in elements[1:] if t != elements[0] and not isinstance(t, UniformType)] or quantized_ones
        if others:
            wanted = "quantized types or the same element type"
            fail("concat", f"all operands must have {wanted}, got {elements[0]} and {others[0]}", types)
        return keep_element("concat", elements[0], types, result)
    element = declared_element("concat", result) or _joined_element(types, quantized_ones, axis)
    check_expressed("concat", *quantized_ones, element)
    check_rule("concat", attributes["requant"], max(map(max_magnitude, quantized_ones)))
    for i, t in enumerate(quantized_ones):
        check_no_blocks("concat", types, f"operand {i}", t)
    check_no_blocks("concat", types, "the result", element)
    return element


def _joined_element(types: Types, elements: list[UniformType], axis: int) -> UniformType:
    first = elements[0]
    if all(
        t.axis == axis
        and t.is_per_axis
        and t.with_(scales=first.scales[:1], zero_points=first.zero_points[:1])
        == first.with_(scales=first.scales[:1], zero_points=first.zero_points[:1])
        for t in elements
    ):
        return first.with_(
            scales=[s for t in elements for s in t.scales], zero_points=[z for t in elements for z in t.zero_points]
        )
    if any(t != first for t in elements[1:]) or (first.is_per_axis and first.axis == axis):
        fail(
            "concat",
            "no exact result type exists for operands of different types: give out_type, as in qrt.concat(tensors, "
            "axis, out_type=t)",
            types,
        )
    return first


def concat_pieces(types: Types, result: TensorType, attributes: Attributes) -> list[TensorType]:
    """Return the type of each operand's part of the result.

    If the channels are along the concatenated axis, the type of a part has only the scales of its channels. Raises
    QuantTypeError if the number of an operand's channels is dynamic.
    """
    axis, element = one_axis("concat", types, attributes), result.element
    if not isinstance(element, UniformType) or not element.is_per_axis or element.axis != axis:
        return [t.with_(element=element) for t in types]
    pieces, start = [], 0
    for t in types:
        size = (t.shape or ())[axis]
        if size is None:
            fail("concat", f"operands must have a static size along axis {axis}, the channel axis, got {t}", types)
        pieces.append(t.with_(element=_channels(element, start, size)))
        start += size
    return pieces


def _channels(t: UniformType, start: int, count: int) -> UniformType:
    """Return the type of ``count`` channels of a per-axis type, from channel ``start`` on.

    If ``count`` is 0, the result is per layer, because a per-axis type needs at least one scale.
    """
    if count == 0:
        return t.with_(scales=t.scales[0], zero_points=t.zero_points[0], axis=None)
    span = slice(start, start + count)
    return t.with_(scales=t.scales[span], zero_points=t.zero_points[span])


def _reference_concat(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    parts = [
        q if t == piece else REQUANTIZE.reference([q], (t,), piece, {"requant": attributes["requant"]})
        for q, t, piece in zip(arrays, types, concat_pieces(types, result, attributes), strict=True)
    ]
    return np.concatenate(parts, axis=one_axis("concat", types, attributes))


@dataclass(frozen=True)
class _RequantizedConcat:
    """A call that requantizes operands of another type than the result's into temporaries, then copies all operands."""

    calls: tuple[KernelCall | None, ...]
    pieces: tuple[TensorType, ...]
    copy: KernelCall

    def __call__(self, *arrays: Array) -> None:
        *inputs, out = arrays
        ready = []
        for q, call, piece in zip(inputs, self.calls, self.pieces, strict=True):
            if call is not None:
                target = np.empty(static_shape(piece, "concat"), storage_dtype(uniform(piece)))
                call(q, target)
                q = target
            ready.append(q)
        self.copy(*ready, out)


def _bind_concat(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    if len(types) > _MOST_OPERANDS:
        return None
    axis = one_axis("concat", types, attributes)
    shape = static_shape(result, "concat")
    strides = row_major_strides(shape)
    parts, start = [], 0
    for t in types:
        own = static_shape(t, "concat")
        parts.append(strided.whole(own, strides, start * strides[axis]))
        start += own[axis]
    copy = strided.bind_parts(element_dtype(result.element), parts, prod(shape))
    pieces = tuple(concat_pieces(types, result, attributes))
    if copy is None or all(t == piece for t, piece in zip(types, pieces, strict=True)):
        return copy
    rule = {"requant": attributes["requant"]}
    calls = tuple(None if t == p else REQUANTIZE.call((t,), p, rule)[0] for t, p in zip(types, pieces, strict=True))
    return _RequantizedConcat(calls, pieces, copy)


_MOST_OPERANDS = 63
"""The most operands of a concatenation: a call of the copy kernel has at most 64 operands, with the result."""
_SHAPE = Result("as declared, which gives the shape", "shape", required=True, keeps_type=True)

FAMILIES = (
    OpFamily(
        Declaration(
            "reshape",
            operands=(Operand("q"),),
            attributes=(Attribute("open_axes", "axes", None, note="axes of q with the dynamic sizes", public=False),),
            result=_SHAPE,
            view=True,
        ),
        infer=_infer_reshape,
        reference=_reference_reshape,
        bind=_bind_reshape,
        view_offset=lambda types, result, attributes: 0,
        traits=Traits(constraint="same_scale", kept_type=_reshaped_type, is_movement=True),
    ),
    OpFamily(
        Declaration(
            "transpose",
            operands=(Operand("q"),),
            attributes=(Attribute("permutation", "axes", note="axes reversed", positional=True),),
            result=FOLLOWING,
            view=True,
        ),
        infer=_infer_transpose,
        reference=_reference_transpose,
        bind=_bind_transpose,
        view_offset=_transpose_offset,
        traits=Traits(constraint="same_scale", is_movement=True, permutation=axes_order),
    ),
    OpFamily(
        Declaration(
            "concat",
            operands=(Operand("tensors", size="*"),),
            attributes=(Attribute("axis", "integer", 0, positional=True), REQUANT),
        ),
        infer=_infer_concat,
        reference=_reference_concat,
        bind=_bind_concat,
        traits=Traits(constraint="free", is_exact=True, is_movement=True, permute=permute_axis),
    ),
)
