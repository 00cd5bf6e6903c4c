"""Pairs of products (matmuls or convolutions) with only homogeneous functions between them.

A function such as relu or a pool is homogeneous: a positive factor of a channel of its input multiplies that channel of
its result.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.ir import Operation, Value
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ops import FAMILIES
from qrt.quantization.forms import KernelForm, form_of
from qrt.quantization.forms.elements import Expression, behind, elements_of, splat_of
from qrt.quantization.scaling.products import (
    Product,
    constant_array,
    has_open_constants,
    is_open,
    product_of,
    shape,
    single_user,
)
from qrt.types import IntegerType, TensorType

Array = npt.NDArray[Any]
_I64 = IntegerType(64)

_NUMBER, _ZERO, _SCALED, _ANSWER = "number", "zero", "scaled", "answer"
"""The kinds of a value: a constant, 0, a value scaled by every positive factor of the input, and a comparison.

No positive factor of the input changes a comparison.
"""
_EITHER = frozenset({_ZERO, _SCALED})
_OF_SCALED = frozenset(
    {
        "arith.addf",
        "arith.subf",
        "arith.negf",
        "arith.maximumf",
        "arith.minimumf",
        "arith.maxnumf",
        "arith.minnumf",
        "math.absf",
    }
)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two matmul or convolution regions, with only homogeneous functions such as relu and pools between them.

    ``channels`` maps each input channel of the second product to an output channel of the first. ``between`` are the
    annotations and regions between the products. Their values change if channels of the first product are multiplied.
    """

    first: Product
    second: Product
    channels: Array
    between: tuple[Operation, ...]


def pair_from(first: Product) -> Pair | None:
    """Return the pair whose first product is ``first``; None if there is none."""
    if not _is_positive(first.form.low, first.form.high) or not has_open_constants(first):
        return None
    value = first.region.results[0]
    passed: list[Operation] = []
    if not is_open(first.region.output_specs[0], value):
        return None
    where = _Channels(len(shape(value)) - 1, np.arange(first.weights.shape[first.output_axis]))
    while True:
        user, annotations = single_user(value, ("quant.stats_ref",))
        passed += annotations
        value = annotations[-1].results[0] if annotations else value
        if not isinstance(user, RegionOp) or len(user.results) != 1 or len(value.uses) != 1:
            return None
        number = user.operands.index(value)
        if not is_open(user.input_specs[number], value):
            return None
        second = product_of(user)
        if second is not None:
            fits = second.channel_axis == where.axis and has_open_constants(second)
            return Pair(first, second, where.channels, tuple(passed)) if fits else None
        moved = _through(user, number, where)
        if moved is None or not is_open(user.output_specs[0], user.results[0]):
            return None
        passed.append(user)
        value, where = user.results[0], moved


def _is_positive(low: float | None, high: float | None) -> bool:
    """Return True if a clamp to these bounds commutes with positive factors, as a relu does."""
    return low in (None, 0.0) and high is None


# -- through a region --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Channels:
    """The axis of a value that runs over a product's channels, and the channel number at each index of the axis."""

    axis: int
    channels: Array


def _through(region: RegionOp, number: int, where: _Channels) -> _Channels | None:
    """Return the channels of a region's result, given the channels of operand ``number``.

    Return None if the region's function of this operand is not homogeneous, or mixes channels.
    """
    form = form_of(region.body, region.kernel)
    if form is None or not _is_positive(form.low, form.high):
        return None
    family = FAMILIES[form.family]
    if family.traits.is_elementwise:
        keeps_shape = region.operands[number].type is region.results[0].type
        return where if keeps_shape and _is_homogeneous(region, number) else None
    if len(region.operands) != 1 or form.operands[0].permutation is not None:
        return None
    if family.traits.scaled_axis is not None:
        axis = family.traits.scaled_axis(form.attributes, where.axis)
        return None if axis is None else _Channels(axis, where.channels)
    return _moved(region, form, where) if family.traits.is_movement else None


def _moved(region: RegionOp, form: KernelForm, where: _Channels) -> _Channels | None:
    """Return the channels of the result of a movement of elements, such as a reshape or a transpose.

    They are found by moving an array of channel numbers in the same way. Returns None if the channels are no longer
    along one axis.
    """
    given, result_shape = shape(region.operands[0]), shape(region.results[0])
    if given.count(None) > 1 or given.count(None) != result_shape.count(None):
        return None
    sizes, wanted = ([2 if size is None else size for size in dimensions] for dimensions in (given, result_shape))
    if np.prod(sizes) != np.prod(wanted):
        return None
    line = [-1 if axis == where.axis else 1 for axis in range(len(sizes))]
    placed = np.broadcast_to(where.channels.reshape(line), sizes)
    family, types = FAMILIES[form.family], [TensorType(tuple(sizes), _I64), TensorType(tuple(wanted), _I64)]
    (placed,) = family.compute([placed], (types[0],), (types[1],), family.complete(form.attributes))
    for axis in range(placed.ndim):
        first = np.moveaxis(placed, axis, -1).reshape(-1, placed.shape[axis])
        if (first == first[:1]).all() and len(where.channels) <= placed.shape[axis]:
            return _Channels(axis, first[0])
    return None


# -- homogeneous functions ---------------------------------------------------------------------------------------------


def _is_homogeneous(region: RegionOp, number: int) -> bool:
    """Return True if a positive factor of operand ``number`` becomes a factor of the result.

    For a power of two, the result is then multiplied exactly.
    """
    body = region.body
    known: dict[Value, str | None] = {body.arguments[number]: _SCALED}
    for argument, value in zip(body.arguments, region.operands, strict=True):
        if constant_array(value) is not None:
            known[argument] = _NUMBER
    return _kind(body.terminator.operands[0], known) == _SCALED


def _kind(value: Value, known: dict[Value, str | None]) -> str | None:
    """Return how a value in a body depends on the operand, such as `_SCALED` for a multiple of it; None if unknown."""
    value = behind(value, [])
    if value not in known:
        known[value] = _kind_of_elements(value, known)
    return known[value]


def _kind_of_elements(value: Value, known: dict[Value, str | None]) -> str | None:
    splat = splat_of(value)
    if splat is not None:
        return _of_number(splat)
    if constant_array(value) is not None:
        return _NUMBER
    elements = elements_of(value)
    if elements is None:
        return None
    return _of_expression(elements.computed, [_kind(operand, known) for operand in elements.inputs])


def _of_number(number: object) -> str | None:
    return (_ZERO if number == 0 else _NUMBER) if isinstance(number, float) and np.isfinite(number) else None


def _of_expression(expression: Expression, inputs: list[str | None]) -> str | None:
    head = str(expression[0])
    if head == "input":
        return inputs[int(str(expression[1]))]
    if head == "constant":
        return _of_number(expression[1])
    parts = [_of_expression(part, inputs) for part in expression[1:] if isinstance(part, tuple)]
    if head in _OF_SCALED and _EITHER.issuperset(parts):
        return _SCALED
    if head == "arith.cmpf" and _EITHER.issuperset(parts):
        return _ANSWER
    if head == "arith.select" and parts[0] == _ANSWER and _EITHER.issuperset(parts[1:]):
        return _SCALED
    if head == "arith.mulf" and sorted(map(str, parts)) == [_NUMBER, _SCALED]:
        return _SCALED
    if head == "arith.divf" and parts == [_SCALED, _NUMBER]:
        return _SCALED
    return None
