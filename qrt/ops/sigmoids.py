"""logistic and tanh of 16-bit values, as LiteRT computes them: the result is in units of 2^-15.

    table_uint16  a table of 256 values of the logistic function, interpolated with 8 or 9 fractional bits
    gemmlowp      a polynomial in 16-bit fixed point; the scale is 2^-12, or 2^-11 for tanh

docs/numerics_functions.md has the rules. For 8-bit values, the op ``lookup`` computes these functions.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_lookup_interpolated
from qrt.errors import QuantTypeError
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import required_element
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    fail,
    quantized,
    static_shape,
    uniform,
)
from qrt.ops.declare import DECLARED, Attribute, Declaration, Operand, Traits
from qrt.ops.requant import check_choice
from qrt.types import TensorType, UniformType


def _infer(name: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, rule = quantized(types[0], name, "q"), attributes["requant"]
    check_choice(name, rule, numerics.SIGMOID_RULES)
    if not is_symmetric_16(x):
        fail(name, f"'q' must have a per-layer type with storage i16 and zero point 0, got {x}", types)
    if not x.scale < numerics.LARGEST_SCALE:
        fail(name, f"the scale of 'q' must be below {numerics.LARGEST_SCALE:.6g}, got {x.scale}", types)
    if rule == "gemmlowp":
        numerics.gemmlowp_shift(name, x.scale)
    element = required_element(name, result)
    check_expressed(name, x, element)
    if not is_symmetric_16(element) or element.scale != 2.0**-15:
        wanted = "a per-layer type with storage i16, scale 2**-15 and zero point 0"
        raise QuantTypeError(f"{name}: the result must have {wanted}, got {element}")
    return TensorType(None, element) if types[0].shape is None else checked_result(name, types[0].shape, element)


def is_symmetric_16(t: UniformType) -> bool:
    """Return True for a per-layer i16 type with zero point 0 and without narrower storage bounds."""
    whole = (t.storage_min, t.storage_max) == (-(1 << 15), (1 << 15) - 1) and t.is_signed
    return whole and t.is_per_layer and t.zero_point == 0


def _reference(name: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    table = numerics.sigmoid_results(name, uniform(types[0]).scale, attributes["requant"])
    return table.astype(np.int64)[arrays[0].astype(np.int64) + (1 << 15)]


def _bind(
    name: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> KernelCall | None:
    table = numerics.sigmoid_results(name, uniform(types[0]).scale, attributes["requant"])
    return bind_lookup_interpolated(
        name=name,
        isa=kernels.active(),
        fraction=0,
        size=prod(static_shape(types[0], name)),
        table=np.append(table, table[-1:]),
    )


FAMILIES = tuple(
    OpFamily(
        Declaration(
            name,
            operands=(Operand("q"),),
            attributes=(Attribute("requant", "choice", "table_uint16", numerics.SIGMOID_RULES),),
            result=replace(DECLARED, required=True),
            public=False,
        ),
        infer=partial(_infer, name),
        reference=partial(_reference, name),
        bind=partial(_bind, name),
        traits=Traits(is_elementwise=True, float_op="math.tanh" if name == "tanh" else ""),
    )
    for name in ("logistic", "tanh")
)
