"""Element-wise add, sub and mul with NumPy's broadcasting, and one requantization at the end.

``add`` and ``sub`` have their own requantization rules (``numerics.SUM_RULES``). The rule ``fixed`` scales both
operands to the result's scale in 64-bit fixed point with 20 fractional bits, ``m_i = half_even(s_i / s_out * 2**20)``,
and rounds the sum once, half up: ``(sum of (q_i - z_i) * m_i + 2**19) >> 20``. ``mul`` computes as a ``matmul`` with
K = 1; its rule ``zero_point_first`` adds the result's zero point before rounding.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, get_args

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_binary
from qrt.errors import QuantTypeError, QuantValueError
from qrt.numerics.elements import broadcast_arrays, broadcast_shapes
from qrt.ops.accumulate import check_expressed, without_zero_point
from qrt.ops.checks import Dims, check_no_blocks, ranked_shape, spell_shape
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
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
    uniform,
)
from qrt.ops.declare import Declaration, Operand, Traits
from qrt.ops.requant import REQUANT, check_choice, check_rule, combined_parameters, max_magnitude, say_how_to_give_type
from qrt.types import TensorType, UniformType

_SIGNS = {"add": 1, "sub": -1}
MUL_RULES: tuple[str, ...] = get_args(numerics.MulName)


def broadcast_shape(op: str, types: Types, names: tuple[str, str] = ("a", "b")) -> Dims:
    """Return the shape to which both operands broadcast by NumPy's rules; ``names`` are their names in errors."""
    a, b = (ranked_shape(op, types, i, name) for i, name in enumerate(names))
    shape: list[int | None] = []
    for i in range(1, max(len(a), len(b)) + 1):
        x, y = (a[-i] if i <= len(a) else 1), (b[-i] if i <= len(b) else 1)
        if x != y and 1 not in (x, y) and None not in (x, y):
            shapes = f"{spell_shape(a)} and {spell_shape(b)}"
            both = " and ".join(map(repr, names))
            fail(op, f"{both} must have shapes that broadcast, got {shapes}", types, QuantValueError)
        shape.append(y if x == 1 or (x is None and y != 1) else x)
    return tuple(shape[::-1])


def _result_axis(op: str, types: Types, a: UniformType, b: UniformType, rank: int) -> int | None:
    """Return the result's axis along which the channels of per-axis operands are; None if both are per layer.

    Raise QuantTypeError if the operands' channels are along different axes of the result.
    """
    axes = {rank - (t.rank or 0) + q.axis for t, q in ((types[0], a), (types[1], b)) if q.axis is not None}
    if len(axes) > 1:
        instead = say_how_to_give_type(op, "a, b", None)
        fail(
            op,
            "no exact result type exists for operands with scales along different axes of the result, "
            f"{' and '.join(map(str, sorted(axes)))}: {instead}",
            types,
        )
    return axes.pop() if axes else None


def _infer(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    a, b = quantized(types[0], op, "a"), quantized(types[1], op, "b")
    shape = broadcast_shape(op, types)
    element = declared_element(op, result)
    for what, t in (("'a'", a), ("'b'", b), ("the result", element)):
        check_no_blocks(op, types, what, t)
    check_expressed(op, a, b, element)
    if element is None:
        element = _exact_result(op, types, a, b, _result_axis(op, types, a, b, len(shape)))
    if op == "mul":
        check_rule(op, attributes["requant"], max_magnitude(a) * max_magnitude(b), MUL_RULES)
    else:
        _check_sum(op, attributes, a, b, element)
        rule = attributes["requant"]
        if numerics.SUM_RULES[rule].block and not (
            _have_equal_shapes(types) and a.is_per_layer and b.is_per_layer and element.is_per_layer
        ):
            fail(op, f"requant = {rule!r} needs operands of the same shape with per-layer types", types)
    return checked_result(op, shape, element)


def _have_equal_shapes(types: Types) -> bool:
    """Return False if the types show that the operands' shapes differ.

    A dynamic size is taken to equal any size except 1, because a size of 1 may have to be broadcast to it.
    """
    a, b = types[0].shape or (), types[1].shape or ()
    return len(a) == len(b) and all(x == y or (None in (x, y) and 1 not in (x, y)) for x, y in zip(a, b, strict=True))


def _check_sum(op: str, attributes: Attributes, a: UniformType, b: UniformType, element: UniformType) -> None:
    rule = attributes["requant"]
    check_choice(op, rule, tuple(numerics.SUM_RULES))
    if numerics.SUM_RULES[rule].is_shifted and max(map(max_magnitude, (a, b))) << _left(a, b, element) >= 1 << 31:
        worst = a if max_magnitude(a) > max_magnitude(b) else b
        raise QuantTypeError(
            f"{op}: requant = '{rule}' needs zero points in the range of the storage type, got {worst}"
        )
    smallest = element.scale_array.min()
    largest = [numerics.add_multiplier(t.scale_array.max(), smallest) for t in (a, b)]
    bound = max_magnitude(a) * largest[0] + max_magnitude(b) * largest[1]
    if rule == "fixed" and bound >= 1 << 62:
        raise QuantTypeError(
            f"{op}: the sum would overflow 64 bits, because the scales of the operands, {a} and {b}, are too large "
            f"for the scale of the result, {element}"
        )


def _left(*elements: UniformType) -> int:
    return numerics.sum_left_shift(tuple(t.storage_width for t in elements))


def _exact_result(op: str, types: Types, a: UniformType, b: UniformType, axis: int | None) -> UniformType:
    """Return the i32 result type, with zero point 0, that represents every result exactly.

    ``a`` and ``b`` are the operands' types, ``axis`` is the result's channel axis. Raise QuantTypeError if there is no
    such type.
    """
    bound = max_magnitude(a) * max_magnitude(b) if op == "mul" else max_magnitude(a) + max_magnitude(b)
    instead = say_how_to_give_type(op, "a, b", bound)
    if op == "mul":
        if a.is_per_axis and b.is_per_axis:
            fail(op, f"no exact result type exists for two operands of per-axis types: {instead}", types)
        scales = [s * t for s in a.scales for t in b.scales]
    else:
        if a.scales != b.scales:
            fail(op, f"no exact result type exists for operands with different scales: {instead}", types)
        scales = list(a.scales)
    if bound >= 1 << 31:
        summed = "" if op == "mul" else ", or add tensors of one type by np.sum(np.stack(tensors), axis=0)"
        reason = f"no exact i32 result type exists, because the result may reach {bound}"
        fail(op, f"{reason}: {instead}{summed}", types)
    return UniformType("i32", a.expressed_type, scales if axis is not None else scales[0], axis=axis)


def _index_in_result(t: UniformType, shape: tuple[int, ...], rank: int) -> Array:
    index = parameter_index(t, shape)
    return index.reshape((1,) * (rank - index.ndim) + index.shape)


def _indices(types: Types, result: TensorType) -> tuple[list[UniformType], list[Array]]:
    """Return (quantized types of a, b and the result; their parameter index arrays, which broadcast to the result)."""
    rank = len(result.shape or ())
    tensors = (*types, result)
    elements = [uniform(t) for t in tensors]
    shapes = [static_shape(t, "binary") for t in tensors]
    return elements, [_index_in_result(e, shape, rank) for e, shape in zip(elements, shapes, strict=True)]


def sum_parameters(
    rule: str, elements: Sequence[UniformType], indices: Sequence[Array], sign: int = 1
) -> tuple[numerics.SumParameters, Array]:
    """Return (requantization parameters, index) for a sum, or with ``sign`` -1 a difference, of two operands.

    ``elements`` are the quantized types of both operands and of the result, ``indices`` their parameter index arrays.
    The parameters have one entry for each combination of indices that occurs. ``index`` gives each element's position
    among the entries.
    """
    columns = broadcast_arrays(*indices)
    sizes = [t.scale_array.size for t in elements]
    flat = np.ravel_multi_index([c.ravel() for c in columns], sizes)
    distinct, inverse = np.unique(flat, return_inverse=True)
    rows = np.unravel_index(distinct, sizes)
    element = elements[2]
    by = numerics.SUM_RULES[rule]
    sums = numerics.Sums(
        (container(element), element.storage_min, element.storage_max),
        [t.scale_array.ravel()[row] for t, row in zip(elements, rows, strict=True)],
        [t.zero_point_array.ravel()[row] for t, row in zip(elements, rows, strict=True)],
        _left(*elements) if by.is_shifted else 0,
        sign,
    )
    return by.form(sums), inverse.reshape(columns[0].shape)


def _reference(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    elements, indices = _indices(types, result)
    a, b = arrays
    if not _is_raw(op, attributes):
        a, b = (without_zero_point(q, parameters_of(e, q.shape)[1]) for q, e in zip(arrays, elements[:2], strict=True))
    if op == "mul":
        return numerics.requantize(a * b, *_mul_parameters(elements, indices, attributes))
    parameters, index = sum_parameters(attributes["requant"], elements, indices, _SIGNS[op])
    return numerics.requantize_sum(a, b, parameters, index, _SIGNS[op])


def _is_raw(op: str, attributes: Attributes) -> bool:
    """Return True if the rule computes with storage values without subtracting zero points first."""
    rules: Mapping[str, numerics.SumRule | numerics.RequantRule] = numerics.RULES if op == "mul" else numerics.SUM_RULES
    return rules[attributes["requant"]].summand == "storage"


def _mul_parameters(
    elements: list[UniformType], indices: list[Array], attributes: Attributes
) -> tuple[numerics.RequantParameters, Array]:
    factors = [(elements[0], indices[0]), (elements[1], indices[1])]
    return combined_parameters(attributes["requant"], factors, elements[2], indices[2])


def _bind(op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    elements, indices = _indices(types, result)
    a, b, _ = elements
    shape = broadcast_shapes(*[i.shape for i in indices])

    def spread(t: UniformType, index: Array) -> Array:
        zero_points = np.zeros((), np.int64) if _is_raw(op, attributes) else t.zero_point_array.ravel()[index]
        return np.broadcast_to(zero_points, shape).ravel()

    arguments: dict[str, Any] = {}
    if op == "mul":
        parameters, index = _mul_parameters(elements, indices, attributes)
        requant = parameters.take(np.broadcast_to(index, shape))
    else:
        sums, index = sum_parameters(attributes["requant"], elements, indices, _SIGNS[op])
        index = np.broadcast_to(index, shape).ravel()
        requant, arguments["left_shift"] = sums.end.take(index), sums.left
        arguments["rounding_block"] = sums.block
        for name in ("a_multiplier", "b_multiplier", "a_shift", "b_shift"):
            values = getattr(sums, name)
            arguments[f"{name}s"] = values[index] if values.size else None
        if sums.a_scale.size:
            arguments["a_scales"], arguments["b_scales"] = sums.a_scale[index], sums.b_scale[index]
    a_shape, b_shape = static_shape(types[0], op), static_shape(types[1], op)
    step = tuple([step if size > 1 else 0 for size, step in zip(shape, row_major_strides(shape), strict=True)])
    if arguments.get("rounding_block"):  # blocks are counted from the first element
        a_shape, b_shape, step = (prod(a_shape),), (prod(b_shape),), (0,)
    return bind_binary(
        isa=kernels.active(),
        kind=op,
        a=container(a),
        b=container(b),
        a_shape=a_shape,
        b_shape=b_shape,
        a_zero_points=spread(a, indices[0]),
        b_zero_points=spread(b, indices[1]),
        requant=requant,
        step=step,
        **arguments,
    )


def _family(op: str) -> OpFamily:
    rule = replace(REQUANT, choices=MUL_RULES if op == "mul" else tuple(numerics.SUM_RULES))
    return OpFamily(
        Declaration(op, operands=(Operand("a"), Operand("b", "broadcast")), attributes=(rule,)),
        infer=partial(_infer, op),
        reference=partial(_reference, op),
        bind=partial(_bind, op),
        traits=Traits(
            is_elementwise=True,
            float_op=f"arith.{op}f",
            constraint="multiplier_scale" if op == "mul" else "sum_scale",
            ends_in_clamp=True,
            is_exact=True,
        ),
    )


FAMILIES = (_family("add"), _family("sub"), _family("mul"))
