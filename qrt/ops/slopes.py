"""leaky_relu, prelu: ``x`` if it is not negative, else ``alpha * x``. Each of the two cases has its own multiplier.

Let ``acc = q - z``. For a non-negative value, the op requantizes ``acc`` with the multiplier ``s_in / s_out``. For a
negative value, it requantizes ``acc`` with ``s_in * alpha / s_out`` if alpha is an attribute, and ``acc * (alpha -
z_alpha)`` with ``s_in * s_alpha / s_out`` if alpha is an operand. A negative attribute alpha has the multiplier of
``-alpha`` with the opposite sign; with alpha = -1, the op is the absolute value.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, prod

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_leaky_relu, bind_pair
from qrt.errors import QuantTypeError
from qrt.numerics.elements import broadcast_arrays
from qrt.ops.accumulate import check_expressed
from qrt.ops.binary import broadcast_shape
from qrt.ops.checks import check_per_layer
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
    quantized,
    real_number,
    static_shape,
    storage_dtype,
    uniform,
)
from qrt.ops.declare import Attribute, Declaration, Operand, Traits
from qrt.ops.lookup import bind_bytes
from qrt.ops.requant import REQUANT, check_rule, max_magnitude
from qrt.types import TensorType, UniformType

SLOPES = replace(REQUANT, choices=(*REQUANT.choices, "fixed8"))


def _element(op: str, types: Types, x: UniformType, result: TensorType | None) -> UniformType:
    """Return the result's element type, by default x's. Raise QuantTypeError unless x and the result are per layer."""
    element = declared_element(op, result) or x
    check_per_layer(op, types, "'x'", x)
    check_per_layer(op, types, "the result", element)
    return element


def _infer_leaky(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = quantized(types[0], "leaky_relu", "x")
    element = _element("leaky_relu", types, x, result)
    check_expressed("leaky_relu", x, element)
    alpha = real_number("leaky_relu", "alpha", attributes["alpha"])
    if not isfinite(alpha):
        raise QuantTypeError(f"leaky_relu: 'alpha' must be finite, got {alpha}")
    check_rule("leaky_relu", attributes["requant"], max_magnitude(x), SLOPES.choices)
    shape = types[0].shape
    return TensorType(None, element) if shape is None else checked_result("leaky_relu", shape, element)


def _infer_prelu(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, alpha = quantized(types[0], "prelu", "x"), quantized(types[1], "prelu", "alpha")
    element = _element("prelu", types, x, result)
    check_expressed("prelu", x, alpha, element)
    check_per_layer("prelu", types, "'alpha'", alpha)
    check_rule("prelu", attributes["requant"], max_magnitude(x) * max(max_magnitude(alpha), 1))
    return checked_result("prelu", broadcast_shape("prelu", types, ("x", "alpha")), element)


def slope_parameters(
    x: UniformType, slope: float, element: UniformType, attributes: Attributes
) -> numerics.RequantParameters:
    """Return requantization parameters with two entries: entry 0 for non-negative values, entry 1 for negative values.

    The multiplier of negative values includes the factor ``slope``.
    """
    parameters = numerics.requant_parameters(
        attributes["requant"],
        container(element),
        element.storage_min,
        element.storage_max,
        [(x.scale, 1.0), (x.scale, abs(slope) or 1.0)],
        [(element.scale,), (element.scale,)],
        [element.zero_point] * 2,
    )
    signs = np.array([1, np.sign(slope)])
    arrays = {name: getattr(parameters, name) for name in ("multiplier", "scale_f32", "scale_f64")}
    signed = {name: (values * signs).astype(values.dtype) for name, values in arrays.items() if values.size}
    return replace(parameters, **signed)


def _leaky(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, element = uniform(types[0]), uniform(result)
    acc = arrays[0].astype(np.int64) - x.zero_point
    parameters = slope_parameters(x, float(attributes["alpha"]), element, attributes)
    return numerics.requantize(acc, parameters, (acc < 0).astype(np.int64))


def _prelu(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x, alpha = uniform(types[0]), uniform(types[1])
    left, right = (q.astype(np.int64) - t.zero_point for q, t in zip(arrays, (x, alpha), strict=True))
    left, right = broadcast_arrays(left, right)
    parameters = slope_parameters(x, alpha.scale, uniform(result), attributes)
    return numerics.requantize(np.where(left < 0, left * right, left), parameters, (left < 0).astype(np.int64))


def _bind_leaky(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    x, element = uniform(types[0]), uniform(result)
    size = prod(static_shape(types[0], "leaky_relu"))
    if x.storage_width <= 8:
        q = np.sort(np.arange(256, dtype=np.uint8).astype(storage_dtype(x)))
        stored = np.clip(q, x.storage_min, x.storage_max)  # bytes that no value has are treated as the nearest bound
        table = _leaky([stored], types, result, attributes).astype(storage_dtype(element))
        return bind_bytes(container(x), container(element), size, table)
    return bind_leaky_relu(
        isa=kernels.active(),
        storage=container(x),
        size=size,
        zero_point=x.zero_point,
        requant=slope_parameters(x, float(attributes["alpha"]), element, attributes),
    )


def _bind_prelu(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    x, alpha, element = (uniform(t) for t in (*types, result))
    return bind_pair(
        isa=kernels.active(),
        kind="prelu",
        a=container(x),
        b=container(alpha),
        out=container(element),
        a_shape=static_shape(types[0], "prelu"),
        b_shape=static_shape(types[1], "prelu"),
        zero_points=(x.zero_point, alpha.zero_point),
        requant=slope_parameters(x, alpha.scale, element, attributes),
    )


FAMILIES = (
    OpFamily(
        Declaration(
            "leaky_relu",
            operands=(Operand("x"),),
            attributes=(Attribute("alpha", "number", 0.25, positional=True), SLOPES),
            public=False,
        ),
        infer=_infer_leaky,
        reference=_leaky,
        bind=_bind_leaky,
        traits=Traits(is_elementwise=True),
    ),
    OpFamily(
        Declaration(
            "prelu", operands=(Operand("x"), Operand("alpha", "broadcast")), attributes=(REQUANT,), public=False
        ),
        infer=_infer_prelu,
        reference=_prelu,
        bind=_bind_prelu,
        traits=Traits(is_elementwise=True),
    ),
)
