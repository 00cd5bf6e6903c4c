"""Quotients of two stored integers as scalar operations, by both rules of `qrt.div`; `numerics` defines them."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F64, I64
from qrt.ir.passes.lower_qrt.gemmlowp import Fixed
from qrt.ir.passes.lower_qrt.requantize import round_float, to_storage
from qrt.numerics.multipliers import double_multiplier
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.ops.pairwise import NEAREST, Three
from qrt.types import UniformType

_LESS, _GREATER, _EQUAL = (list(INTEGER_PREDICATES).index(name) for name in ("slt", "sgt", "eq"))


def emit_quotient(nest: LoopNest, stored: Sequence[Value], types: Three, rule: str) -> Value:
    """Emit the stored quotient of two stored integers of at most 16 bits, by the rule ``gemmlowp`` or ``NEAREST``.

    A division by 0 gives the storage bound on the side of the sign of the dividend, and 0 / 0 the zero point.
    """
    fixed, element = Fixed(nest), types[2]
    a, b = (_without_zero_point(nest, value, t) for value, t in zip(stored, types, strict=False))
    is_zero, is_negative = (nest.compare(predicate, b, fixed.value(0)) for predicate in (_EQUAL, _LESS))
    dividend = fixed.select(is_negative, fixed.subtract(0, a), a)
    magnitude = fixed.select(is_negative, fixed.subtract(0, b), b)
    divisor = fixed.select(is_zero, 1, magnitude)
    zero_points = np.array(element.zero_point)
    emit = _emit_nearest if rule == NEAREST else _emit_fixed
    quotient = fixed.select(is_zero, fixed.left(_sign(fixed, dividend), 32), emit(fixed, dividend, divisor, types))
    return to_storage(nest, quotient, zero_points, (), element)


def _without_zero_point(nest: LoopNest, stored: Value, t: UniformType) -> Value:
    wide = nest.extend(stored, I64, t.is_signed)
    return Fixed(nest).subtract(wide, t.zero_point) if t.zero_point else wide


def _sign(fixed: Fixed, x: Value) -> Value:
    return fixed.emit("maxsi", fixed.emit("minsi", x, 1), -1)


def _emit_fixed(fixed: Fixed, dividend: Value, divisor: Value, types: Three) -> Value:
    """Emit the quotient by a positive divisor, as `numerics.quotient` computes it."""
    nest, (x, y, element) = fixed.nest, types
    m0, shift = double_multiplier(float(np.float32(x.scale) / (np.float32(y.scale) * np.float32(element.scale))))
    zeros = fixed.leading_zeros(divisor)
    inverse = fixed.reciprocal(fixed.subtract(fixed.left(divisor, zeros), 1 << 31))
    is_negative = nest.compare(_LESS, dividend, fixed.value(0))
    headroom = fixed.subtract(fixed.leading_zeros(fixed.select(is_negative, fixed.subtract(-1, dividend), dividend)), 1)
    product = fixed.multiply(fixed.multiply(fixed.left(dividend, headroom), inverse), m0)
    places = fixed.subtract(fixed.add(headroom, 31 - shift), zeros)
    is_nonnegative = nest.extend(nest.compare(_GREATER, product, fixed.value(-1)), I64, signed=False)
    wrapped = fixed.add(fixed.right(product, fixed.emit("andi", places, 31)), is_nonnegative)
    rounded = fixed.divide(product, fixed.emit("minsi", fixed.emit("maxsi", places, 0), 31))
    beyond = nest.compare(_GREATER, places, fixed.value(31))
    return fixed.select(nest.compare(_LESS, places, fixed.value(0)), wrapped, fixed.select(beyond, wrapped, rounded))


def _emit_nearest(fixed: Fixed, dividend: Value, divisor: Value, types: Three) -> Value:
    """Emit the nearest quotient by a positive divisor, as `numerics.nearest_quotient` computes it."""
    nest, (x, y, element) = fixed.nest, types
    over, under = (nest.value("arith.sitofp", (value,), F64) for value in (dividend, divisor))
    ratio = float(np.float64(x.scale) / np.float64(y.scale))
    real = nest.value("arith.divf", (over, under), F64)
    real = nest.value("arith.mulf", (real, nest.constant(ratio, F64)), F64)
    real = nest.value("arith.divf", (real, nest.constant(element.scale, F64)), F64)
    return round_float(nest, real, "math.round", np.array(element.zero_point), (), element)
