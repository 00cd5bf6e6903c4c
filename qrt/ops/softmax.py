"""softmax of 8-bit storage, in its table form.

Along ``axis``, with ``d = max(q) - q``:

    T[d] = exp(-beta * s_in * d) with 30 fractional bits, correctly rounded
    y = clamp(half_even(f64(T[d]) / (f64(sum of T) * s_out)) + z_out)

The sum is an exact integer; the multiplication and the division are float64's, each rounded once. ``beta * s_in`` is
the exact product of the two doubles, so the table depends on the text alone. Every step is an operation of integer or
f64 ``arith``, or ``math.roundeven``: a lowering has the same bits.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import check_expressed
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
    one_axis,
    quantized,
    real_number,
    static_shape,
)
from qrt.ops.declare import DECLARED, Attribute, Declaration, Operand
from qrt.types import TensorType


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, beta = quantized(types[0], "softmax", "x"), attributes["beta"]
    if not x.is_per_layer or x.storage_width > 8:
        fail("softmax", f"x must be per layer, with storage of at most 8 bits, not {x}", types)
    if not 0 < real_number("softmax", "beta", beta) < inf:
        fail("softmax", f"beta must be positive and finite, got {shown(beta)}", types)
    dims = types[0].shape or ()
    size = dims[one_axis("softmax", types, attributes)]
    if size is not None and size >= 1 << 32:
        fail("softmax", f"the sum of {size} exponentials of 30 bits needs more than 62", types)
    element = declared_element("softmax", result)
    if element is None:
        raise QuantTypeError("softmax: the result type must be given (out_type)")
    check_expressed("softmax", x, element)
    if not element.is_per_layer:
        fail("softmax", f"the result {element} must be per layer", types)
    return checked_result("softmax", dims, element)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    x, element = quantized(types[0], "softmax", "x"), quantized(result, "softmax", "result")
    axis, table = one_axis("softmax", types, attributes), numerics.softmax_table(x.scale, float(attributes["beta"]))
    return numerics.softmax(q, axis, table, element.scale, element.zero_point, element.storage_min, element.storage_max)


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> BoundCall | None:
    x, element = quantized(types[0], "softmax", "x"), quantized(result, "softmax", "result")
    return _core.bind_softmax(
        isa=kernels.active(),
        storage=container(x),
        x_shape=static_shape(types[0], "softmax"),
        axis=one_axis("softmax", types, attributes),
        table=numerics.softmax_table(x.scale, float(attributes["beta"])),
        out=container(element),
        storage_min=element.storage_min,
        storage_max=element.storage_max,
        zero_point=element.zero_point,
        scale=element.scale,
    )


FAMILIES = (
    OpFamily(
        Declaration(
            "softmax",
            operands=(Operand("q", "at most 8 bits"),),
            attributes=(Attribute("axis", "integer", -1), Attribute("beta", "number", 1.0)),
            result=replace(DECLARED, required=True),
        ),
        infer=_infer,
        reference=_reference,
        bind=_bind,
    ),
)
