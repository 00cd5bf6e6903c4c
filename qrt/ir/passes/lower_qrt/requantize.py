"""Requantization as scalar operations in a loop body, bit for bit as by each rule of `numerics.ARITHMETICS`.

Values that differ by channel (multipliers, shifts, rounding constants, zero points) are read from constant tensors, at
`indices`. For a channel that does not need a step, the constant makes the step do nothing: a shift by 0, or a rounding
constant of 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import Index, LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I1, I32, I64, Array
from qrt.numerics import ARITHMETICS, Arithmetic, RequantParameters
from qrt.numerics.rules import Domain
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import FloatType, IntegerType, UniformType

_LESS, _GREATER, _EQUAL = (list(INTEGER_PREDICATES).index(name) for name in ("slt", "sgt", "eq"))
_BEYOND = 1 << 33
"""A bound above the magnitude of every stored value minus its zero point: storage has at most 32 bits."""
_LIMIT = 1 << 62
_UNBOUNDED = 1 << 63
"""The largest magnitude of any i64."""
_I32_MIN, _I32_MAX = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class Requantization:
    """Requantization parameters, and the indices of those that apply to each accumulator of a loop nest.

    `channel` is an array of parameter indices; the loop nest reads it at `indices`. `element` is the type of the
    result. `bound` is the largest magnitude of an accumulator.
    """

    parameters: RequantParameters
    channel: Array
    indices: tuple[Index, ...]
    element: UniformType
    bound: int = _UNBOUNDED

    def of(self, values: Array) -> Array:
        """Return `values`, which has one entry per parameter index, as an array that the nest reads at `indices`."""
        return values[self.channel]


def requantize(nest: LoopNest, acc: Value, r: Requantization) -> Value:
    """Emit the requantization of an accumulator to storage.

    The accumulator is an exact sum, i32 or i64; for an arithmetic that adds dequantized elements it is a float sum.
    """
    return finish(nest, scale(nest, acc, r), r)


def scale(nest: LoopNest, acc: Value, r: Requantization) -> Value:
    """Emit the scaling and rounding of an accumulator to an i64; `finish` adds the zero point and clamps."""
    nest.stage("requantize")
    by = ARITHMETICS[r.parameters.rule]
    return _DOMAINS[by.domain](nest, acc, r, by)


def finish(nest: LoopNest, scaled: Value, r: Requantization) -> Value:
    """Emit the conversion of a scaled i64, which `scale` returned, to the storage type."""
    return to_storage(nest, scaled, r.of(r.parameters.zero_point), r.indices, r.element)


def to_storage(
    nest: LoopNest, scaled: Value, zero_points: Array, indices: Sequence[Index], element: UniformType
) -> Value:
    """Add the zero point to an i64 of magnitude at most 2**62, clamp it, and convert it to the storage type."""
    assert isinstance(element.storage_type, IntegerType)  # programs with other storage do not run
    if zero_points.any():
        nest.stage("output zero point")
        zero_point = nest.parameter(zero_points, I64, indices)
        scaled = nest.value("arith.addi", (scaled, zero_point), I64)
    nest.stage("clamp")
    bounded = clamp(nest, scaled, element.storage_min, element.storage_max)
    return nest.value("arith.trunci", (bounded,), element.storage_type)


def clamp(nest: LoopNest, value: Value, low: int, high: int) -> Value:
    """Clamp an i64 to the bounds `low` and `high`."""
    bounded = nest.value("arith.maxsi", (value, nest.constant(low, I64)), I64)
    return nest.value("arith.minsi", (bounded, nest.constant(high, I64)), I64)


# -- fixed -----------------------------------------------------------------------------------------------------------


def _scale_integer(nest: LoopNest, acc: Value, r: Requantization, by: Arithmetic) -> Value:
    multiplier, shift = (r.of(values) for values in (r.parameters.multiplier, r.parameters.shift))
    return _SHIFTS[by.roundings](nest, acc, multiplier, shift, r.indices, r.bound)


def scale_fixed(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int = _UNBOUNDED
) -> Value:
    """Emit `(acc * multiplier + (1 << (shift-1))) >> shift` as an i64, saturated to a magnitude of 2**62.

    A shift above 62 gives 0, a shift of 0 has no rounding term, and a negative shift is an exact left shift. `bound` is
    the largest magnitude of an accumulator.
    """
    return shift_left(nest, _scale_right(nest, acc, multiplier, shift, indices, bound), shift, indices)


def scale_fixed_exactly(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int = _UNBOUNDED
) -> Value:
    """Emit `scale_fixed` without saturation, for accumulators whose results are known to be below 2**62."""
    scaled = _scale_right(nest, acc, multiplier, shift, indices, bound)
    if not (shift < 0).any():
        return scaled
    places = np.clip(-shift, 0, 63)  # a longer shift gives 0
    return nest.value("arith.shli", (scaled, nest.parameter(places, I64, indices)), I64)


def _scale_right(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int
) -> Value:
    """Emit `scale_fixed` with negative shifts replaced by 0.

    64 bits hold the sum for an i32 accumulator: the product is at most 2**62, and the rounding term at most 2**61.
    """
    beyond = shift > 62
    multiplier, shift = (np.where(beyond, 0, values).astype(np.int64) for values in (multiplier, shift))
    wide = nest.extend(acc, I64)
    m0 = nest.parameter(multiplier, I64, indices)
    if acc.type is I32 or _fits_64_bits(bound, multiplier, shift):
        return round_shift(nest, nest.value("arith.muli", (wide, m0), I64), shift, indices)
    low, high = nest.emit("arith.mulsi_extended", (wide, m0), (I64, I64)).results
    return round_shift_128(nest, low, high, shift, indices)


def _fits_64_bits(bound: int, multiplier: Array, shift: Array) -> bool:
    """Return True if 64 bits hold every step for accumulators of a magnitude up to `bound`.

    For each channel, an i64 must hold the product with its rounding term, and the result must be at most 2**62, so that
    a zero point can be added.
    """
    rounding = _rounding(shift)
    for m0, places, half in zip(multiplier.flat, shift.flat, rounding.flat, strict=True):
        largest = bound * int(m0) + int(half)
        if largest >= 1 << 63 or largest >> max(int(places), 0) > _LIMIT:
            return False
    return True


def _rounding(shift: Array) -> Array:
    """Return the rounding terms `1 << (shift-1)`; 0 where the shift is not positive."""
    return np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)


def round_shift(nest: LoopNest, product: Value, shift: Array, indices: Sequence[Index]) -> Value:
    """Emit `(product + (1 << (shift-1))) >> shift` for an i64 sum that cannot overflow.

    The result is `product` where the shift is not positive.
    """
    if not (shift > 0).any():
        return product
    delta = nest.parameter(_rounding(shift), I64, indices)
    rounded = nest.value("arith.addi", (product, delta), I64)
    return nest.value("arith.shrsi", (rounded, nest.parameter(np.maximum(shift, 0), I64, indices)), I64)


def round_shift_128(nest: LoopNest, low: Value, high: Value, shift: Array, indices: Sequence[Index]) -> Value:
    """Emit `round_shift` of a 128-bit product, given as two i64 halves, saturated to an i64 of magnitude 2**62."""
    if (shift > 0).any():
        delta = nest.parameter(_rounding(shift), I64, indices)
        low, high = add_128(nest, (low, high), (delta, nest.constant(0, I64)))
        right = np.maximum(shift, 0)
        places = nest.parameter(right, I64, indices)
        # What leaves the high half, in two steps: a shift by 64 is undefined.
        carried = nest.value("arith.shli", (high, nest.constant(1, I64)), I64)
        carried = nest.value("arith.shli", (carried, nest.parameter(63 - right, I64, indices)), I64)
        low = nest.value("arith.ori", (nest.value("arith.shrui", (low, places), I64), carried), I64)
        high = nest.value("arith.shrsi", (high, places), I64)
    sign = nest.value("arith.shrsi", (low, nest.constant(63, I64)), I64)
    fits = nest.compare(_EQUAL, high, sign)
    negative = nest.compare(_LESS, high, nest.constant(0, I64))
    ends = nest.value("arith.select", (negative, nest.constant(-_LIMIT, I64), nest.constant(_LIMIT, I64)), I64)
    return clamp(nest, nest.value("arith.select", (fits, low, ends), I64), -_LIMIT, _LIMIT)


def add_128(nest: LoopNest, left: Sequence[Value], right: Sequence[Value]) -> tuple[Value, Value]:
    """Emit the sum of two 128-bit integers, each given as (low, high)."""
    low, carry = nest.emit("arith.addui_extended", (left[0], right[0]), (I64, I1)).results
    high = nest.value("arith.addi", (left[1], right[1]), I64)
    return low, nest.value("arith.addi", (high, nest.extend(carry, I64, signed=False)), I64)


def shift_left(nest: LoopNest, scaled: Value, shift: Array, indices: Sequence[Index]) -> Value:
    """Emit `scaled << -shift` where the shift is negative, and `scaled` elsewhere.

    A result that is too large for every storage type keeps its sign and stays too large, but its value may change.
    Values are clamped to `_BEYOND` before a shift by at most 29 places. Two such shifts are enough, because after 58
    places every value but 0 is too large.
    """
    left = np.minimum(np.maximum(-shift, 0), 58)
    while left.any():
        ends = np.where(left > 0, _BEYOND, _LIMIT)
        scaled = nest.value("arith.maxsi", (scaled, nest.parameter(-ends, I64, indices)), I64)
        scaled = nest.value("arith.minsi", (scaled, nest.parameter(ends, I64, indices)), I64)
        places = np.minimum(left, 29)
        scaled = nest.value("arith.shli", (scaled, nest.parameter(places, I64, indices)), I64)
        left = left - places
    return scaled


# -- fixed_double ----------------------------------------------------------------------------------------------------


def _scale_half_up_twice(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int
) -> Value:
    return round_shift(nest, _doubling_high(nest, acc, multiplier, shift, indices, bound), -shift, indices)


def scale_fixed_double(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int
) -> Value:
    """Emit gemmlowp's saturating rounding doubling high multiply, then its rounding divide by a power of two.

    `bound` is the largest magnitude of an accumulator.
    """
    high = _doubling_high(nest, acc, multiplier, shift, indices, bound)
    return _rounding_divide(nest, high, np.maximum(-shift.astype(np.int64), 0), indices)


def scale_once(
    nest: LoopNest, value: Value, multiplier: Array, shift: Array, left: int, indices: Sequence[Index]
) -> Value:
    """Emit `scale_fixed_double` of `value << left` with a single rounding: all shifts precede the multiplication."""
    places = int(shift.flat[0]) + left
    name = "arith.shli" if places > 0 else "arith.shrsi"
    shifted = nest.value(name, (value, nest.constant(abs(places), I64)), I64) if places else value
    product = nest.value("arith.muli", (shifted, nest.parameter(multiplier, I64, indices)), I64)
    return round_shift(nest, product, np.array(31), ())


def _doubling_high(
    nest: LoopNest, acc: Value, multiplier: Array, shift: Array, indices: Sequence[Index], bound: int
) -> Value:
    """Emit gemmlowp's doubling high multiply, `acc * multiplier / 2**31`, after a saturating shift to the left.

    The left shift is by `shift` where it is positive. gemmlowp adds a nudge that depends on the sign, and truncates;
    that is rounding half up, which this emits.
    """
    wide = nest.extend(acc, I64)
    if acc.type is I64 and bound > _I32_MAX:  # saturating first makes room for the shift, and changes no result
        wide = clamp(nest, wide, _I32_MIN, _I32_MAX)
    left = np.maximum(shift.astype(np.int64), 0)
    if left.any():
        wide = nest.value("arith.shli", (wide, nest.parameter(left, I64, indices)), I64)
        wide = clamp(nest, wide, _I32_MIN, _I32_MAX)
    product = nest.value("arith.muli", (wide, nest.parameter(multiplier, I64, indices)), I64)
    return round_shift(nest, product, np.array(31), ())


def _rounding_divide(nest: LoopNest, value: Value, right: Array, indices: Sequence[Index]) -> Value:
    """Emit `value / 2**right`, rounded half away from zero."""
    if not right.any():
        return value
    mask = (np.int64(1) << right) - 1
    remainder = nest.value("arith.andi", (value, nest.parameter(mask, I64, indices)), I64)
    negative = nest.extend(nest.compare(_LESS, value, nest.constant(0, I64)), I64, signed=False)
    threshold = nest.value("arith.addi", (nest.parameter(mask >> 1, I64, indices), negative), I64)
    up = nest.extend(nest.compare(_GREATER, remainder, threshold), I64, signed=False)
    shifted = nest.value("arith.shrsi", (value, nest.parameter(right, I64, indices)), I64)
    return nest.value("arith.addi", (shifted, up), I64)


# -- in floats -------------------------------------------------------------------------------------------------------


def _scale_float(nest: LoopNest, acc: Value, r: Requantization, by: Arithmetic) -> Value:
    """Emit every step of the arithmetic in its float format, then the rounding to an i64.

    A step that adds zero points is omitted if all are 0.
    """
    form = {"float32": F32, "float64": F64}[by.domain]
    scaled = acc if isinstance(acc.type, FloatType) else nest.value("arith.sitofp", (acc,), form)
    for step, name in by.steps:
        values: Array = getattr(r.parameters, name)
        if step != "add" or values.any():
            operand = nest.parameter(r.of(values.astype(by.domain)), form, r.indices)
            scaled = nest.value(_STEPS[step], (scaled, operand), form)
    return _round_to_storage(nest, scaled, by.roundings[0], r)


def round_float32(nest: LoopNest, scaled: Value, r: Requantization) -> Value:
    """Emit a clamp to `[min - zp, max - zp]` in f32, then round half to even to an i64."""
    return _round_to_storage(nest, scaled, "half_even", r)


def _round_to_storage(nest: LoopNest, scaled: Value, rounding: str, r: Requantization) -> Value:
    return round_float(nest, scaled, _ROUNDINGS[rounding], r.of(r.parameters.zero_point), r.indices, r.element)


def round_float(
    nest: LoopNest, scaled: Value, rounding: str, zero_points: Array, indices: Sequence[Index], element: UniformType
) -> Value:
    """Clamp a float that is not a NaN to `[min - zp, max - zp]`, and round it to an i64 by `rounding`, an op of math.

    `min` and `max` are the storage bounds of `element`. The clamp's bounds are rounded to the float's type. These
    bounds are integers, so rounding before the clamp would give the same result.
    """
    form = scaled.type
    assert isinstance(form, FloatType)  # the rules say so
    low, high = (
        nest.parameter((bound - zero_points).astype(f"f{form.width // 8}"), form, indices)
        for bound in (element.storage_min, element.storage_max)
    )
    bounded = nest.value("arith.maximumf", (scaled, low), form)
    bounded = nest.value("arith.minimumf", (bounded, high), form)
    return nest.value("arith.fptosi", (nest.value(rounding, (bounded,), form),), I64)


def _divide_integer(nest: LoopNest, acc: Value, r: Requantization, by: Arithmetic) -> Value:
    """Emit `acc / divisor`, rounded half away from zero; the divisor is the parameter `multiplier`.

    Half of the divisor is added, with the sign of `acc`, before a truncating division.
    """
    divisor = r.of(r.parameters.multiplier).astype(np.int64)
    wide, half = nest.extend(acc, I64), nest.parameter(divisor // 2, I64, r.indices)
    negative = nest.compare(_LESS, wide, nest.constant(0, I64))
    moved = [nest.value(name, (wide, half), I64) for name in ("arith.subi", "arith.addi")]
    numerator = nest.value("arith.select", (negative, *moved), I64)
    return nest.value("arith.divsi", (numerator, nest.parameter(divisor, I64, r.indices)), I64)


_SHIFTS: dict[tuple[str, ...], Callable[[LoopNest, Value, Array, Array, Sequence[Index], int], Value]] = {
    ("half_up",): scale_fixed,
    ("half_up", "half_away"): scale_fixed_double,
    ("half_up", "half_up"): _scale_half_up_twice,
}
_STEPS = {"multiply": "arith.mulf", "divide": "arith.divf", "add": "arith.addf"}
_ROUNDINGS = {"half_even": "math.roundeven", "half_away": "math.round"}
_DOMAINS: dict[Domain, Callable[[LoopNest, Value, Requantization, Arithmetic], Value]] = {
    "integer": _scale_integer,
    "exact": _divide_integer,
    "float32": _scale_float,
    "float64": _scale_float,
}
