"""The rules in exact rationals, rounded step by step, and literal transcriptions of the published integer recipes.

Nothing is shared with `qrt.numerics`: what tests compare with it, and with what is computed from it, stands here.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

# -------------------------------------------------------------------------------------------------------------- floats


PRECISION = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
Number = Fraction | float


def round_half_even(value: Fraction) -> int:
    floor = value.numerator // value.denominator
    rest = value - floor
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))


def to_ieee(value: Number, name: str) -> Number:
    """An exact value rounded to an IEEE format; infinities and NaN stay floats."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    exact = Fraction(value)
    precision, least, greatest = PRECISION[name]
    if exact == 0:
        return exact
    exponent = max(exact.numerator.bit_length() - exact.denominator.bit_length(), least)
    if exponent > least and abs(exact) < Fraction(2) ** exponent:
        exponent -= 1
    ulp = Fraction(2) ** (exponent - precision + 1)
    rounded = round_half_even(exact / ulp) * ulp
    if abs(rounded) >= Fraction(2) ** (greatest + 1):
        return math.inf if exact > 0 else -math.inf
    return rounded


def round_integer(value: Fraction, rounding: str) -> int:
    if rounding == "half_even":
        return round_half_even(value)
    toward_zero = int(value)  # Fraction truncates
    if rounding == "toward_zero":
        return toward_zero
    return toward_zero + (abs(value - toward_zero) >= Fraction(1, 2)) * (1 if value > 0 else -1)


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


# --------------------------------------------------------------------------------------------------------------- casts


def add(a: Number, b: Number, name: str) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        return float(a) + float(b)
    return to_ieee(a + b, name)


def scaled_by(x: Number, s: Fraction, name: str, form: str) -> Number:
    if form == "divide":
        return x / float(s) if isinstance(x, float) else to_ieee(x / s, name)
    reciprocal = to_ieee(1 / s, name)
    if isinstance(x, float) or isinstance(reciprocal, float):
        return float(x) * float(reciprocal)
    return to_ieee(x * reciprocal, name)


def quantize(x: float, s: float, zp: int, low: int, high: int, name: str, rounding: str, order: str, form: str) -> int:
    scale = to_ieee(Fraction(s), name)
    assert isinstance(scale, Fraction)
    value: Number = x if not math.isfinite(x) else Fraction(x)
    scaled = scaled_by(value, scale, name, form)
    if order == "before":
        scaled = add(scaled, to_ieee(Fraction(zp), name), name)
    clamped_zp = min(max(zp, low), high)
    if isinstance(scaled, float):
        return clamped_zp if math.isnan(scaled) else high if scaled > 0 else low
    integer = round_integer(scaled, rounding) + (zp if order == "after" else 0)
    return min(max(integer, low), high)


def dequantize(q: int, s: float, zp: int, name: str) -> Number:
    difference = add(to_ieee(Fraction(q), name), _negated(to_ieee(Fraction(zp), name)), name)
    scale = to_ieee(Fraction(s), name)
    if isinstance(difference, float) or isinstance(scale, float):
        return float(difference) * float(scale)
    return to_ieee(difference * scale, name)


def _negated(value: Number) -> Number:
    return -value


# -------------------------------------------------------------------------------------------------------- multipliers


@cache
def fixed_multiplier(multiplier: Fraction) -> tuple[int, int]:
    """(M0, N): the N that brings the multiplier into [2**30, 2**31), M0 nearest to it."""
    n, scaled = 0, multiplier
    while scaled < 2**30:
        n, scaled = n + 1, scaled * 2
    while scaled >= 2**31:
        n, scaled = n - 1, scaled / 2
    m0 = round_half_even(scaled)
    return (m0 // 2, n - 1) if m0 == 2**31 else (m0, n)


def quantize_multiplier(multiplier: float) -> tuple[int, int]:
    """TFLite's QuantizeMultiplier, transcribed: frexp, round half away, renormalise, flush below -31. Raises Refused
    where the shift would leave no bit of 31."""
    fraction, shift = math.frexp(multiplier)
    m0 = math.floor(Fraction(fraction) * 2**31 + Fraction(1, 2))
    if m0 == 2**31:
        m0, shift = m0 // 2, shift + 1
    if shift > 30:
        raise Refused("a multiplier of 2**30")
    return (0, 0) if shift < -31 else (m0, shift)


Factors = Sequence[float]
"""Scales of which a real multiplier is the product, or the divisors of that."""


def exact_ratio(numerators: Factors, denominators: Factors) -> Fraction:
    return math.prod(map(Fraction, numerators), start=Fraction(1)) / math.prod(map(Fraction, denominators))


class Refused(Exception):
    """A rule is not defined on these numbers: what they are must be refused before anything is computed."""


def rounded_ratio(numerators: Factors, denominators: Factors, name: str) -> Fraction:
    """Each factor and each step rounded to a float format. Raises Refused where a step leaves it."""
    ratio: Number = Fraction(1)
    for factor in numerators:
        ratio = to_ieee(ratio * to_ieee(Fraction(factor), name), name) if isinstance(ratio, Fraction) else ratio
    for factor in denominators:
        divisor = to_ieee(Fraction(factor), name)
        if not isinstance(ratio, Fraction) or not isinstance(divisor, Fraction) or not divisor:
            raise Refused("the ratio leaves its float")
        ratio = to_ieee(ratio / divisor, name)
    if not isinstance(ratio, Fraction) or not ratio:
        raise Refused("the ratio leaves its float")
    return ratio


# ------------------------------------------------------------------------------------------------------- requantization


def requantize(
    rule: str, acc: int, numerators: Factors, scale: float, bounds: tuple[int, int], zero_point: int, count: int = 1
) -> int:
    """An accumulator as storage, by the multiplier `product of the numerators / (scale * count)`."""
    denominators = (scale, float(count))
    if rule in ("fixed", "fixed8"):
        m0, n = fixed_multiplier(exact_ratio(numerators, denominators))
        if rule == "fixed8":
            m0, n = fixed8_multiplier(rounded_ratio(numerators, (scale,), "f32")), 8
        return clamp(fixed(acc, m0, n) + zero_point, *bounds)
    if rule in _TWICE:
        name = "f32" if rule == "fixed_double_f32" else "f64"
        given = numerators
        if rule.endswith("_f32_product"):
            given = [float(rounded_ratio(numerators, (), "f32"))]
        m0, shift = quantize_multiplier(float(rounded_ratio(given, (scale,), name)))
        return clamp(_TWICE[rule](acc, *divided_multiplier(m0, shift, count)) + zero_point, *bounds)
    if rule == "zero_point_first":
        return zero_point_first(acc, rounded_ratio(numerators, denominators, "f32"), bounds, zero_point)
    if rule == "float32_divisor_first":
        divisor = rounded_ratio(denominators, (), "f32")
        return float32(acc, rounded_ratio(numerators, (float(divisor),), "f32"), bounds, zero_point)
    if rule == "float32":
        return float32(acc, rounded_ratio(numerators, denominators, "f32"), bounds, zero_point)
    if rule == "float64_away":
        return float64_away(acc, rounded_ratio(numerators, denominators, "f64"), bounds, zero_point)
    raise ValueError(f"no requantization rule is called {rule}")


def divided_multiplier(m0: int, shift: int, count: int) -> tuple[int, int]:
    """As QuantizedMeanOrSum makes the multiplier of a mean, transcribed: C's division truncates."""
    places = min(count.bit_length() - 1, 32, 31 + shift)
    return (m0 << places) // count, shift - places


def fixed8_multiplier(ratio: Fraction) -> int:
    if not Fraction(1, 256) <= ratio <= 128:
        raise Refused("a ratio that XNNPACK does not take")
    return round_half_even(ratio * 256)


def fixed(acc: int, m0: int, n: int) -> int:
    """floor(acc * M / 2**N + 1/2): the affine lowering's shift, in exact rationals."""
    if n > 62:
        return 0
    value = Fraction(acc * m0) / Fraction(2) ** n
    return math.floor(value + Fraction(1, 2)) if n > 0 else int(value)


def srdhm(a: int, b: int) -> int:
    """gemmlowp's SaturatingRoundingDoublingHighMul, transcribed: C's division truncates."""
    if a == b == -(2**31):
        return 2**31 - 1
    nudged = a * b + (2**30 if a * b >= 0 else 1 - 2**30)
    return int(Fraction(nudged, 2**31))


def rounding_divide_by_pot(x: int, exponent: int) -> int:
    """gemmlowp's RoundingDivideByPOT, transcribed."""
    mask = (1 << exponent) - 1
    remainder = x & mask
    threshold = (mask >> 1) + (1 if x < 0 else 0)
    return (x >> exponent) + (1 if remainder > threshold else 0)


def fixed_double(acc: int, m0: int, shift: int) -> int:
    """TFLite's MultiplyByQuantizedMultiplier, saturated where its left shift overflows."""
    left = clamp(acc << max(shift, 0), -(2**31), 2**31 - 1)
    return rounding_divide_by_pot(srdhm(left, m0), max(-shift, 0))


def half_up_twice(acc: int, m0: int, shift: int) -> int:
    """NEON's vqrdmulh and vrshl: two roundings half up."""
    left = clamp(acc << max(shift, 0), -(2**31), 2**31 - 1)
    high = math.floor(Fraction(left * m0, 2**31) + Fraction(1, 2))
    return math.floor(Fraction(high, 2 ** max(-shift, 0)) + (Fraction(1, 2) if shift < 0 else 0))


def reduced16(acc: int, m0: int, shift: int) -> int:
    """MultiplyByQuantizedMultiplier of 64-bit accumulators, transcribed."""
    reduced = (m0 + (1 << 15)) >> 16 if m0 < 0x7FFF0000 else 0x7FFF
    total = 15 - shift
    return math.floor(Fraction(acc * reduced) / Fraction(2) ** total + (Fraction(1, 2) if total > 0 else 0))


_TWICE = {
    "fixed_double": fixed_double, "fixed_double_f32": fixed_double, "fixed_double_f32_product": fixed_double,
    "half_up_twice": half_up_twice,
    "half_up_twice_f32_product": half_up_twice, "reduced16": reduced16,
}  # fmt: skip


def integer(acc: int, count: int, bounds: tuple[int, int]) -> int:
    """The average pool of TFLite's reference kernels."""
    return clamp(round_integer(Fraction(acc, count), "half_away"), *bounds)


def raw_mean(
    raw: int,
    source: tuple[float, int],
    to: tuple[float, int],
    count: int,
    bounds: tuple[int, int],
    divides: bool = True,
) -> int:
    """XNNPACK's mean of storage as it is, or its sum; (scale, zero point) of the operand and of the result."""
    ratio = rounded_ratio((source[0],), (to[0],), "f32")
    if divides:
        ratio *= _f32(Fraction(1) / _f32(Fraction(count)))
    scale = to_ieee(ratio, "f32")
    if not isinstance(scale, Fraction) or not scale:
        raise Refused("the scale leaves f32")
    moved = to_ieee(_f32(Fraction(count * source[1])) * scale, "f32")
    offset = to_ieee(_f32(Fraction(to[1])) - moved, "f32") if isinstance(moved, Fraction) else moved
    if not isinstance(offset, Fraction):
        raise Refused("the offset leaves f32")
    product = to_ieee(_f32(Fraction(raw)) * scale, "f32")
    total = to_ieee(product + offset, "f32") if isinstance(product, Fraction) else product
    return end_of_float32(total, bounds, 0)


def zero_point_first(acc: int, scale: Fraction, bounds: tuple[int, int], zero_point: int) -> int:
    """ONNX Runtime's QLinearMul: the zero point is added in float32."""
    product = to_ieee(_f32(Fraction(acc)) * scale, "f32")
    total = to_ieee(product + _f32(Fraction(zero_point)), "f32") if isinstance(product, Fraction) else product
    return end_of_float32(total, bounds, 0)


def dequantized(
    rows: list[list[int]], source: tuple[float, int], to: tuple[float, int], bounds: tuple[int, int], rule: str
) -> int:
    """The averages of ONNX Runtime's pools, of the rows of a window: QLinearAveragePool's, whose zero point joins
    before the rounding, and those of floats between casts."""
    if source[0] >= 2**64:
        raise Refused("sums that leave float32")
    scale, divisor = (rounded_ratio((s,), (), "f32") for s in (source[0], to[0]))
    floats = [[to_ieee(scale * _f32(Fraction(value - source[1])), "f32") for value in row] for row in rows]
    values = [value for row in floats for value in row]
    if rule == "dequantized_columns":
        total = _f32_sum([_f32_sum(list(column)) for column in zip(*floats, strict=True)])
    elif rule == "dequantized_lanes":
        whole = len(values) // 4 * 4
        lanes = [_f32_sum(values[lane:whole:4]) for lane in range(4)]
        pairs = [_f32_sum([lanes[lane], lanes[lane + 2]]) for lane in range(2)]
        total = _f32_sum([_f32_sum(pairs), *values[whole:]])
    else:
        total = _f32_sum(values)
    for divided in (_f32(Fraction(len(values))), divisor):
        total = to_ieee(total / divided, "f32") if isinstance(total, Fraction) else total
    if rule != "dequantized":
        return end_of_float32(total, bounds, to[1])
    total = to_ieee(total + _f32(Fraction(to[1])), "f32") if isinstance(total, Fraction) else total
    return end_of_float32(total, bounds, 0)


def _f32_sum(values: list[Number]) -> Number:
    """Numbers added in order, each sum rounded."""
    total: Number = Fraction(0)
    for value in values:
        both = isinstance(total, Fraction) and isinstance(value, Fraction)
        total = to_ieee(total + value, "f32") if both else float(total) + float(value)
    return total


def _f32(value: Fraction) -> Fraction:
    rounded = to_ieee(value, "f32")
    assert isinstance(rounded, Fraction)
    return rounded


Scales = tuple[float, float, float]
"""Of two operands and of their sum."""


def added(
    rule: str, a: int, b: int, sign: int, scales: Scales, bounds: tuple[int, int], zero_point: int, left: int
) -> int:
    """`a + sign * b` of two values without their zero points. `left`: the places of fixed_double."""
    sa, sb, so = scales
    if rule == "fixed":
        multipliers, places = [round_half_even(Fraction(s) / Fraction(so) * 2**20) for s in (sa, sb)], 20
    elif rule == "scaled20":
        ratios = [rounded_ratio((s,), (so,), "f32") for s in (sa, sb)]
        if not all(Fraction(1, 1024) <= r < 256 for r in ratios):
            raise Refused("a ratio that XNNPACK does not take")
        places = 20
        while max(ratios) * 2**places < 2**20:
            places += 1
        while max(ratios) * 2**places >= 2**21:
            places -= 1
        multipliers = [round_half_even(r * 2**places) for r in ratios]
    elif rule == "float32_fused":
        raise AssertionError("its operands are storage: see added_fused")
    else:
        return clamp(_ADDED[rule](a, b, sign, scales, left) + zero_point, *bounds)
    total = Fraction(a * multipliers[0] + sign * b * multipliers[1], 2**places)
    return clamp(math.floor(total + Fraction(1, 2)) + zero_point, *bounds)


def added_fused(
    qa: int, qb: int, sign: int, scales: Scales, zero_points: tuple[int, int, int], bounds: tuple[int, int]
) -> int:
    """ONNX Runtime's QLinearAdd for AVX2, of storage as it is."""
    ra, rb = (rounded_ratio((s,), (scales[2],), "f32") for s in scales[:2])
    if max(ra, rb) >= 2**64:
        raise Refused("a ratio that leaves float32")
    rb *= sign
    za, zb, zo = (_f32(Fraction(z)) for z in zero_points)
    offset = _f32(zo - _f32(ra * za + _f32(rb * zb)))
    total = to_ieee(_f32(Fraction(qa)) * ra + _f32(_f32(Fraction(qb)) * rb + offset), "f32")
    return end_of_float32(total, bounds, 0)


def _added_twice(a: int, b: int, sign: int, scales: Scales, left: int) -> int:
    """TFLite's reference kernels of ADD and SUB: each operand is rounded, then their sum."""
    (ma, ra), (mb, rb), (mo, ro) = sum_multipliers(scales, left)
    return fixed_double(fixed_double(a << left, ma, ra) + sign * fixed_double(b << left, mb, rb), mo, ro)


def _added_once(a: int, b: int, sign: int, scales: Scales, left: int) -> int:
    """Of TFLite's kernel of ADD for NEON: all places are shifted before the multiply, to the right by truncation."""
    (ma, ra), (mb, rb), (mo, ro) = sum_multipliers(scales, left)
    x, y = (math.floor(Fraction(q) * Fraction(2) ** (left + shift)) for q, shift in ((a, ra), (b, rb)))
    return fixed_double(srdhm(x, ma) + sign * srdhm(y, mb), mo, ro)


_ADDED = {"fixed_double": _added_twice, "fixed_double_16": _added_once}


def sum_multipliers(scales: Scales, left: int) -> list[tuple[int, int]]:
    sa, sb, so = scales
    twice = 2 * max(sa, sb)
    if math.inf in (twice, so * 2.0**left):
        raise Refused("the scales leave f64")
    ratios = [rounded_ratio((s,), (d,), "f64") for s, d in ((sa, twice), (sb, twice), (twice, so * 2.0**left))]
    multipliers = [quantize_multiplier(float(r)) for r in ratios]
    if multipliers[2][1] > 0:
        raise Refused("a multiplier of the sum of 1 and more")
    return multipliers


def float32(acc: int, scale: Fraction, bounds: tuple[int, int], zero_point: int) -> int:
    """XNNPACK's rule: one rounding to f32 of the accumulator, one of the product, half-even, then integers."""
    product = to_ieee(to_ieee(Fraction(acc), "f32") * scale, "f32")
    return end_of_float32(product, bounds, zero_point)


def end_of_float32(scaled: Number, bounds: tuple[int, int], zero_point: int) -> int:
    low, high = (to_ieee(Fraction(b - zero_point), "f32") for b in bounds)
    return clamp(round_half_even(Fraction(min(max(scaled, low), high))) + zero_point, *bounds)


def float64_away(acc: int, scale: Fraction, bounds: tuple[int, int], zero_point: int) -> int:
    """The accumulator and the product rounded to f64, then to an integer, ties away from zero."""
    product = to_ieee(to_ieee(Fraction(acc), "f64") * scale, "f64")
    if isinstance(product, float):
        return bounds[1] if product > 0 else bounds[0]
    return clamp(round_integer(product, "half_away") + zero_point, *bounds)
