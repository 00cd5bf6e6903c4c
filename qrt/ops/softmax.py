"""softmax, and its logarithm, along an axis: exponentials from a table, their sum, and a quotient for each value.

The table T is indexed by ``d = max(q) - q``. ``requant`` chooses the arithmetic; docs/numerics_functions.md has the
rules.

    table_int32    T[d] with 30 fractional bits, correctly rounded; the exact sum; one quotient in float64
    table_float32  T[d], the sum in order and a product with the inverse, in float32: LiteRT's default
    gemmlowp       32-bit fixed point: LiteRT's reference kernels
    table_int16    16-bit values: exp and 1 / (1 + x), both interpolated in tables of 513 entries
    table_shifted  T[d] as large as float32 sums allow, the sum in order and a quotient, in float32: ONNX Runtime's

A table depends only on types and attributes. Every step is an operation of integer or float ``arith``, or
``math.roundeven`` or ``math.round``, so that a lowered program has the same bits.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_softmax
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import check_per_layer, required_element
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    container,
    fail,
    one_axis,
    quantized,
    real_number,
    static_shape,
    uniform,
)
from qrt.ops.declare import DECLARED, NO_TRAITS, Attribute, Declaration, Operand, Traits
from qrt.ops.requant import check_choice
from qrt.types import TensorType, UniformType

_MOST = {
    "table_int32": 1 << 32, "table_float32": 1 << 40, "gemmlowp": 1 << 12, "table_int16": 1 << 16,
    "table_shifted": 1 << 40,
}  # fmt: skip
"""For each rule, a size that the softmax axis must be below, so that the sum of exponentials cannot overflow."""


def _infer(name: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, beta = quantized(types[0], name, "q"), attributes.get("beta", 1.0)
    rule, dims = _rule(name, attributes), types[0].shape or ()
    if rule == "table_int16" and (not x.is_per_layer or container(x) != "i16" or x.zero_point != 0):
        wanted = "a per-layer type with storage i16 and zero point 0"
        fail(name, f"'q' must have {wanted} for requant = 'table_int16', got {x}", types)
    if rule != "table_int16" and (not x.is_per_layer or x.storage_width > 8):
        fail(name, f"'q' must have a per-layer type with storage of at most 8 bits, got {x}", types)
    if not 0 < real_number(name, "beta", beta) < inf:
        fail(name, f"'beta' must be positive and finite, got {shown(beta)}", types)
    size = dims[one_axis(name, types, attributes)]
    if size is not None and size >= _MOST[rule]:
        bits = {"table_int32": 30, "gemmlowp": 19, "table_int16": 15}.get(rule, 23)
        most = {"table_int32": 62}.get(rule, 31)
        fail(
            name,
            f"the axis must have fewer than {_MOST[rule]} elements, because a sum of more exponentials of {bits} bits "
            f"would overflow {most} bits, got {size}",
            types,
        )
    element = required_element(name, result)
    check_expressed(name, x, element)
    check_per_layer(name, types, "the result", element)
    _check_scales(name, rule, x, float(beta), element)
    if rule == "table_shifted" and size:
        _check_units(name, x, float(beta), element, size)
    return checked_result(name, dims, element)


def _rule(name: str, attributes: Attributes) -> str:
    rule, choices = attributes["requant"], FAMILIES[name == "log_softmax"].declaration.choices["requant"]
    check_choice(name, rule, choices)
    return str(rule)


def _check_scales(name: str, rule: str, x: UniformType, beta: float, element: UniformType) -> None:
    """Raise QuantTypeError unless the rule supports the scales of the operand and the result.

    The rules ``gemmlowp`` and ``table_int16`` allow only one scale and zero point of the result.
    """
    if rule == "table_int32":
        return
    if not all(2.0**-100 <= s <= 2.0**100 for s in (x.scale, beta, x.scale * beta, element.scale)):
        raise QuantTypeError(
            f"{name}: requant = {shown(rule)} needs scales and 'beta' from 2**-100 to 2**100, got {x.scale} for 'q', "
            f"{element.scale} for the result and beta = {beta}"
        )
    if rule in ("table_float32", "table_shifted"):
        return
    if rule == "gemmlowp" and not x.scale * beta * 2.0**26 > 1:
        raise QuantTypeError(
            f"{name}: requant = 'gemmlowp' needs a product of 'beta' and the scale of 'q' above 2**-26, got "
            f"{x.scale * beta}"
        )
    unit, zero_point = _result_parameters(name, rule, element)
    whole = element.storage_width in (8, 16) and (element.storage_min, element.storage_max) == element.default_bounds
    if not whole or abs(element.scale / unit - 1) > 1e-3 or element.zero_point != zero_point:
        raise QuantTypeError(
            f"{name}: requant = {shown(rule)} needs a result with scale {unit} and zero point "
            f"{zero_point}, got {element}"
        )


def _check_units(name: str, x: UniformType, beta: float, element: UniformType, size: int) -> None:
    """Raise QuantTypeError if the largest exponential times ``1 / result scale`` exceeds float32's range.

    This is for the rule ``table_shifted``, whose exponentials are larger if the axis is shorter.
    """
    with np.errstate(over="ignore"):
        largest = numerics.softmax_table_shifted(x.scale, beta, size)[0] * numerics.softmax_units(element.scale)
    if not np.isfinite(largest):
        raise QuantTypeError(
            f"{name}: requant = 'table_shifted' would exceed the range of float32 for an axis of {size} elements and "
            f"a result with scale {element.scale}"
        )


def _result_parameters(name: str, rule: str, element: UniformType) -> tuple[float, int]:
    """Return the only (scale, zero point) that a rule allows for a result with this storage type.

    ``name`` is softmax or log_softmax, ``rule`` the value of the attribute ``requant``.
    """
    if name == "log_softmax":
        return 1 / 16, element.storage_max
    return (2.0**-15, 0) if rule == "table_int16" else (2.0**-element.storage_width, element.storage_min)


def _reference(name: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, element = uniform(types[0]), uniform(result)
    axis, rule, beta = one_axis(name, types, attributes), attributes["requant"], float(attributes.get("beta", 1.0))
    q, end = arrays[0], (element.scale, element.zero_point, element.storage_min, element.storage_max)
    if name == "log_softmax":
        if rule == "gemmlowp":
            return numerics.log_softmax_gemmlowp(q, axis, numerics.log_softmax_parameters(x.scale), *end[1:])
        return numerics.log_softmax_float32(q, axis, x.scale, *end)
    if rule == "table_int16":
        multiplier = numerics.softmax_multiplier_int16(x.scale, beta)
        return numerics.softmax_int16(q, axis, *multiplier, *numerics.softmax_tables_int16())
    if rule == "gemmlowp":
        table = numerics.softmax_table_gemmlowp(x.scale, beta)
        return numerics.softmax_gemmlowp(q, axis, table, element.storage_width, element.storage_min)
    if rule == "table_shifted":
        return numerics.softmax_shifted(q, axis, numerics.softmax_table_shifted(x.scale, beta, q.shape[axis]), *end)
    if rule == "table_float32":
        return numerics.softmax_float32(q, axis, numerics.softmax_table_float32(x.scale, beta), *end)
    return numerics.softmax(q, axis, numerics.softmax_table(x.scale, beta), *end)


def _tables(name: str, rule: str, scale: float, beta: float, size: int) -> dict[str, Any]:
    """Return the keyword arguments of `bind_softmax` that depend on the rule: its tables and multipliers.

    ``scale`` is the operand's scale, ``size`` the size of the axis.
    """
    if rule == "table_shifted":
        return {"table": numerics.softmax_table_shifted(scale, beta, size)}
    if rule == "table_float32":
        return {"table": numerics.softmax_table_float32(scale, beta), "input_scale": np.float32(scale)}
    if rule == "table_int16":
        multiplier, shift = numerics.softmax_multiplier_int16(scale, beta)
        return {"table": numerics.softmax_tables_int16(), "multiplier": multiplier, "shift": shift}
    if rule == "table_int32":
        return {"table": numerics.softmax_table(scale, beta)}
    if name == "softmax":
        return {"table": numerics.softmax_table_gemmlowp(scale, beta)}
    p = numerics.log_softmax_parameters(scale)
    return {"table": p.table, "scaled": p.scaled, "multiplier": p.multiplier, "shift": p.shift, "radius": p.radius}


def _bind(
    name: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    x, element = uniform(types[0]), uniform(result)
    shape, axis = static_shape(types[0], name), one_axis(name, types, attributes)
    beta = float(attributes.get("beta", 1.0))
    return bind_softmax(
        name=name,
        rule=attributes["requant"],
        isa=kernels.active(),
        storage=container(x),
        x_shape=shape,
        axis=axis,
        out=container(element),
        storage_min=element.storage_min,
        storage_max=element.storage_max,
        zero_point=element.zero_point,
        scale=element.scale,
        **_tables(name, attributes["requant"], x.scale, beta, shape[axis]),
    )


def _family(declaration: Declaration, traits: Traits = NO_TRAITS) -> OpFamily:
    name = declaration.name
    return OpFamily(
        declaration,
        infer=partial(_infer, name),
        reference=partial(_reference, name),
        bind=partial(_bind, name),
        traits=traits,
    )


FAMILIES = (
    _family(
        Declaration(
            "softmax",
            operands=(Operand("q"),),
            attributes=(
                Attribute("axis", "integer", -1),
                Attribute("beta", "number", 1.0),
                Attribute("requant", "choice", "table_int32", numerics.SOFTMAX_RULES),
            ),
            result=replace(DECLARED, required=True),
        ),
        Traits(constraint="free", operand_bits=8),
    ),
    _family(
        Declaration(
            "log_softmax",
            operands=(Operand("q"),),
            attributes=(
                Attribute("axis", "integer", -1),
                Attribute("requant", "choice", "table_float32", numerics.LOG_SOFTMAX_RULES),
            ),
            result=replace(DECLARED, required=True),
            public=False,
        )
    ),
)
