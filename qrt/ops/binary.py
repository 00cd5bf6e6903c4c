"""add, sub, mul: element by element, NumPy's broadcasting, one requantization at the end.

``add`` and ``sub``: both operands go to the result's scale in 64-bit fixed point with 20 fractional bits, ``m_i =
half_even(s_i / s_out * 2**20)``, and ``(sum of (q_i - z_i) * m_i + 2**19) >> 20`` is rounded once, half up. ``mul``:
as ``matmul`` with K = 1.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.accumulate import check_expressed, without_zero_point
from qrt.ops.core import (
    Array,
    Attributes,
    BoundCall,
    Constants,
    OpFamily,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    parameter_index,
    parameters_of,
    quantized,
    row_major_strides,
    static_shape,
)
from qrt.ops.declare import Declaration, Operand
from qrt.ops.requant import REQUANT, check_rule, combined_parameters, max_magnitude
from qrt.types import TensorType, UniformType

Dims = tuple[int | None, ...]
_SIGNS = {"add": 1, "sub": -1}


def broadcast_shape(op: str, types: Types) -> Dims:
    """The shape of both operands together, by NumPy's rules."""
    a, b = types[0].shape, types[1].shape
    if a is None or b is None:
        fail(op, "operands must be ranked", types)
    shape: list[int | None] = []
    for i in range(1, max(len(a), len(b)) + 1):
        x, y = (a[-i] if i <= len(a) else 1), (b[-i] if i <= len(b) else 1)
        if x != y and 1 not in (x, y) and None not in (x, y):
            fail(op, f"dimensions {x} and {y} do not broadcast", types, QuantValueError)
        shape.append(y if x == 1 or (x is None and y != 1) else x)
    return tuple(shape[::-1])


def _result_axis(op: str, types: Types, a: UniformType, b: UniformType, rank: int) -> int | None:
    """The axis of the result that carries the operands' channels, the same one for both."""
    axes = {rank - (t.rank or 0) + q.axis for t, q in ((types[0], a), (types[1], b)) if q.axis is not None}
    if len(axes) > 1:
        fail(op, "the operands' channels lie on different axes of the result: give out_type", types)
    return axes.pop() if axes else None


def _infer(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    a, b = quantized(types[0], op, "a"), quantized(types[1], op, "b")
    shape = broadcast_shape(op, types)
    element = declared_element(op, result)
    if a.is_sub_channel or b.is_sub_channel or (element is not None and element.is_sub_channel):
        fail(op, "sub-channel types are not supported", types)
    if element is None:
        element = _exact_result(op, types, a, b, _result_axis(op, types, a, b, len(shape)))
    check_expressed(op, a, b, element)
    if op == "mul":
        check_rule(op, attributes["requant"], max_magnitude(a) * max_magnitude(b))
    else:
        _check_sum(op, attributes, a, b, element)
    return checked_result(op, shape, element)


def _check_sum(op: str, attributes: Attributes, a: UniformType, b: UniformType, element: UniformType) -> None:
    if attributes["requant"] != "fixed":
        raise QuantTypeError(f"{op}: requant must be 'fixed', got {shown(attributes['requant'])}")
    smallest = min(element.scales)
    bound = sum(max_magnitude(t) * numerics.add_multiplier(max(t.scales), smallest) for t in (a, b))
    if bound >= 1 << 62:
        raise QuantTypeError(
            f"{op}: the scales of {a} and {b} are too far from that of {element}: 64 bits do not hold the sum"
        )


def _exact_result(op: str, types: Types, a: UniformType, b: UniformType, axis: int | None) -> UniformType:
    """The i32 result type with zero point 0 that is exact for every value of the operands' types."""
    if op == "mul":
        bound = max_magnitude(a) * max_magnitude(b)
        if a.is_per_axis and b.is_per_axis:
            fail(op, "no exact result type exists for two per-axis operands: give out_type", types)
        scales = [s * t for s in a.scales for t in b.scales]
    else:
        bound = max_magnitude(a) + max_magnitude(b)
        if a.scales != b.scales:
            fail(op, "no exact result type exists for different scales: give out_type", types)
        scales = list(a.scales)
    if bound >= 1 << 31:
        fail(op, f"no exact i32 result type exists (the result may reach {bound}): give out_type", types)
    return UniformType("i32", a.expressed_type, scales if axis is not None else scales[0], axis=axis)


def _index_in_result(t: UniformType, shape: tuple[int, ...], rank: int) -> Array:
    index = parameter_index(t, shape)
    return index.reshape((1,) * (rank - index.ndim) + index.shape)


def _indices(types: Types, result: TensorType) -> tuple[list[UniformType], list[Array]]:
    """The element types of a, b and the result, and their parameter indices over the result's dimensions."""
    rank = len(result.shape or ())
    tensors = (*types, result)
    elements = [quantized(t, "binary", "operand") for t in tensors]
    return elements, [
        _index_in_result(e, static_shape(t, "binary"), rank) for e, t in zip(elements, tensors, strict=True)
    ]


def _multipliers(source: UniformType, index: Array, element: UniformType, out_index: Array) -> Array:
    """The fixed-point multiplier of one operand of a sum, over the broadcast of the indices."""
    i, o = np.broadcast_arrays(index, out_index)
    pairs, inverse = np.unique(np.stack([i.ravel(), o.ravel()]), axis=1, return_inverse=True)
    values = [numerics.add_multiplier(source.scales[p], element.scales[q]) for p, q in pairs.T]
    return np.array(values, np.int64)[inverse].reshape(i.shape)


def _reference(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    elements, indices = _indices(types, result)
    element = elements[2]
    a, b = (without_zero_point(q, parameters_of(e, q.shape)[1]) for q, e in zip(arrays, elements[:2], strict=True))
    if op == "mul":
        parameters, index = _mul_parameters(elements, indices, attributes)
        return numerics.requantize(a * b, parameters, index)
    left, right = (_multipliers(e, i, element, indices[2]) for e, i in zip(elements[:2], indices[:2], strict=True))
    total = a * left + _SIGNS[op] * (b * right)
    zero_point = element.zero_point_array.ravel()[indices[2]]
    return numerics.requantize_sum(total, zero_point, element.storage_min, element.storage_max)


def _mul_parameters(
    elements: list[UniformType], indices: list[Array], attributes: Attributes
) -> tuple[numerics.RequantParameters, Array]:
    factors = [(elements[0], indices[0]), (elements[1], indices[1])]
    return combined_parameters(attributes["requant"], factors, elements[2], indices[2])


def _bind(op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> BoundCall | None:
    elements, indices = _indices(types, result)
    a, b, element = elements
    shape = np.broadcast_shapes(*(i.shape for i in indices))

    def spread(t: UniformType, index: Array) -> Array:
        return np.broadcast_to(t.zero_point_array.ravel()[index], shape).ravel()

    arguments: dict[str, Any] = {}
    if op == "mul":
        parameters, index = _mul_parameters(elements, indices, attributes)
        requant = parameters.take(np.broadcast_to(index, shape))
    else:
        requant = numerics.sum_parameters(
            container(element), element.storage_min, element.storage_max, spread(element, indices[2])
        )
        for name, t, i in (("a_multipliers", a, indices[0]), ("b_multipliers", b, indices[1])):
            arguments[name] = np.broadcast_to(_multipliers(t, i, element, indices[2]), shape).ravel()
    return _core.bind_binary(
        isa=kernels.active(),
        kind=op,
        a=container(a),
        b=container(b),
        a_shape=static_shape(types[0], op),
        b_shape=static_shape(types[1], op),
        a_zero_points=spread(a, indices[0]),
        b_zero_points=spread(b, indices[1]),
        requant=requant,
        step=tuple(step if size > 1 else 0 for size, step in zip(shape, row_major_strides(shape), strict=True)),
        **arguments,
    )


def _family(op: str) -> OpFamily:
    rule = REQUANT if op == "mul" else replace(REQUANT, public=False)  # sums have one rule
    return OpFamily(
        Declaration(op, operands=(Operand("a"), Operand("b", "broadcast")), attributes=(rule,)),
        infer=partial(_infer, op),
        reference=partial(_reference, op),
        bind=partial(_bind, op),
    )


FAMILIES = (_family("add"), _family("sub"), _family("mul"))
