"""Checks that several op families share, each with one error message."""

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Attributes, Types, declared_element, fail
from qrt.types import FloatType, TensorType, Type, UniformType

Dims = tuple[int | None, ...]


def spell_shape(shape: Sequence[int | None]) -> str:
    """Return a shape as errors print it, with ``?`` for a dynamic size.

    >>> spell_shape((2, None, 3)), spell_shape(())
    ('[2, ?, 3]', '[]')
    """
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def spell_rank(t: TensorType) -> str:
    """Return the rank of a type as errors print it."""
    return "an unranked tensor" if t.rank is None else f"rank {t.rank}"


def check_shape(op: str, types: Types, index: int, what: str, wanted: Sequence[int | None]) -> None:
    """Raise QuantTypeError unless operand number ``index`` has the shape ``wanted``; None matches any size.

    ``what`` is the name of the operand.
    """
    given = types[index].shape
    fits = given is not None and len(given) == len(wanted)
    if not fits or any(None not in pair and pair[0] != pair[1] for pair in zip(given or (), wanted, strict=True)):
        got = spell_rank(types[index]) if given is None else spell_shape(given)
        fail(op, f"{what!r} must have the shape {spell_shape(wanted)}, got {got}", types)


def ranked_shape(op: str, types: Types, index: int, what: str) -> Dims:
    """Return the shape of operand number ``index``, which is named ``what``. Raise QuantTypeError if it is unranked."""
    shape = types[index].shape
    if shape is None:
        fail(op, f"{what!r} must be a ranked tensor, got {types[index]}", types)
    return shape


def shape_of_rank(op: str, types: Types, index: int, what: str, rank: int, layout: str = "") -> Dims:
    """Return the shape of operand number ``index``. Raise QuantTypeError unless it has this rank.

    ``what`` is the name of the operand, and ``layout`` names its axes.
    """
    shape = types[index].shape
    if shape is None or len(shape) != rank:
        wanted = f"the layout {layout}, of rank {rank}" if layout else f"rank {rank}"
        fail(op, f"{what!r} must have {wanted}, got {spell_rank(types[index])}", types)
    return shape


def shape_of_least_rank(op: str, types: Types, index: int, what: str, least: int) -> Dims:
    """Return the shape of operand number ``index``. Raise QuantTypeError unless its rank is ``least`` or more."""
    shape = types[index].shape
    if shape is None or len(shape) < least:
        fail(op, f"{what!r} must have rank {least} or more, got {spell_rank(types[index])}", types)
    return shape


def check_element(op: str, types: Types, index: int, what: str, element: Type) -> None:
    """Raise QuantTypeError unless operand number ``index`` has this element type."""
    if types[index].element != element:
        fail(op, f"{what!r} must have elements of {element}, got {types[index].element}", types)


def check_per_layer(op: str, types: Types, what: str, t: UniformType, reason: str = "") -> None:
    """Raise QuantTypeError unless the type of the operand or result ``what`` is per layer. ``reason`` says why."""
    if not t.is_per_layer:
        fail(op, f"{what} must have a per-layer type{reason and f', because {reason}'}, got {t}", types)


def check_channel_axis(op: str, types: Types, what: str, t: UniformType, axis: int, channels: str) -> None:
    """Raise QuantTypeError unless the type of the operand or result ``what`` is per layer, or per axis along ``axis``.

    ``channels`` describes the axis in the error.
    """
    if t.is_sub_channel or (t.is_per_axis and t.axis != axis):
        fail(op, f"{what} must have a type per layer, or per axis along {channels} (axis {axis}), got {t}", types)


def check_no_blocks(op: str, types: Types, what: str, t: Type | None) -> None:
    """Raise QuantTypeError for a sub-channel type of the operand or result ``what``."""
    if isinstance(t, UniformType) and t.is_sub_channel:
        fail(op, f"{what} must have a type per layer or per axis, got the sub-channel type {t}", types)


def check_comparable(op: str, types: Types, x: Type, axes: Sequence[int]) -> None:
    """Raise QuantTypeError if one of ``axes``, along which an op compares values, is the channel axis of ``x``.

    ``x`` is the element type of the first operand. Its channels have different scales, so they cannot be compared.
    """
    if isinstance(x, UniformType) and x.axis in axes:
        fail(
            op,
            f"values along axis {x.axis} of 'x' cannot be compared, because the channels of {x} have different "
            "scales: requantize to a per-layer type first",
            types,
        )


def refuse_channels(op: str, types: Types, x: UniformType) -> NoReturn:
    """Raise QuantTypeError for indices that select along the channel axis of 'x', the first operand."""
    fail(
        op,
        f"'indices' cannot select along axis {x.axis} of 'x', the channel axis of {x}: requantize to a per-layer type "
        "first",
        types,
    )


def check_contracted(
    op: str, types: Types, names: tuple[str, str], sizes: tuple[int | None, int | None], error: type[QuantTypeError]
) -> None:
    """Raise ``error`` unless the two dimensions that a product sums over have the same size."""
    (first, second), (k, depth) = names, sizes
    if k is not None and depth is not None and k != depth:
        message = f"the contracted dimensions of {first!r} and {second!r} must have the same size, got {k} and {depth}"
        fail(op, message, types, error)


def check_not_empty(op: str, types: Types, what: str, axes: Sequence[int]) -> None:
    """Raise QuantTypeError if one of the reduced ``axes`` of the first operand, which is named ``what``, has size 0."""
    dims = types[0].shape or ()
    empty = [d for d in axes if dims[d] == 0]
    if empty:
        fail(op, f"{what!r} must have elements along axis {empty[0]}, which is reduced, got size 0", types)


def check_flag(op: str, types: Types, attributes: Attributes, name: str) -> None:
    """Raise QuantTypeError unless an attribute is a bool."""
    if not isinstance(attributes[name], (bool, np.bool_)):
        fail(op, f"{name!r} must be true or false, got {shown(attributes[name])}", types)


def check_float_result(op: str, types: Types, result: TensorType | None, element: FloatType) -> None:
    """Raise QuantTypeError if the declared result has another element type than ``element``."""
    if result is not None and result.element != element:
        fail(op, f"the result must have elements of {element}, got {result.element}", types)


def required_element(op: str, result: TensorType | None) -> UniformType:
    """Return the quantized element type of the declared result. Raise QuantTypeError if no type is declared."""
    element = declared_element(op, result)
    if element is None:
        raise QuantTypeError(f"{op}: the result type must be a !quant.uniform type, got none")
    return element
