"""Emission of qcasts and dcasts as element-wise `arith` and `math` operations, by the rules of `numerics`."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from qrt.errors import QuantTypeError
from qrt.ir import IntegerAttr, Value
from qrt.ir.passes.elementwise import Emitter
from qrt.numerics.float_text import FloatFormat
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.types import FloatType, IntegerType, UniformType, storage_range

I1, I64 = IntegerType(1), IntegerType(64)
_ROUND = {"half_even": "math.roundeven", "half_away": "math.round", "toward_zero": "math.trunc"}


@dataclass(frozen=True)
class Rules:
    """The arithmetic of a qcast: its attributes (docs/numerics.md, "Casts"), and whether the result saturates."""

    rounding: str
    zero_point: str
    scale: str
    saturating: bool

    @property
    def is_upstream(self) -> bool:
        """True if upstream's lowering has this arithmetic, so that upstream's operations are emitted.

        Any other arithmetic is emitted with saturation, so that every value has a defined result.
        """
        upstream = (self.rounding, self.zero_point, self.scale) == ("toward_zero", "before", "divide")
        return upstream and not self.saturating


def quantize(emitter: Emitter, t: UniformType, rules: Rules) -> Value:
    """Emit the quantization of the emitter's `x` and return the storage integers."""
    return _quantize_upstream(emitter, t) if rules.is_upstream else _quantize_saturating(emitter, t, rules)


def dequantize(emitter: Emitter, t: UniformType, upstream: bool) -> Value:
    """Emit `(f(q) - f(zp)) * s`: `q` is the emitter's `x`, storage integers, and `f` converts to the expressed type.

    A zero point that does not fit the storage type is emitted as a float constant. With `upstream` it is truncated to
    the storage type instead, as upstream does.
    """
    expressed = t.expressed_type
    scale = emitter.parameter(_scales(t), expressed)
    fits = upstream or _zero_points_fit(t)
    zero_point = emitter.parameter(t.zero_points, t.storage_type) if fits else None
    scale = emitter.spread(scale)
    to_float = "arith.sitofp" if t.is_signed else "arith.uitofp"
    value = emitter.emit(to_float, (emitter.x,), expressed)
    if zero_point is None:
        float_zero_point = emitter.constant([_encode(zp, expressed) for zp in t.zero_points], expressed)
        value = emitter.emit("arith.subf", (value, float_zero_point), expressed)
    elif _has_zero_point(t):
        float_zero_point = emitter.emit(to_float, (emitter.spread(zero_point),), expressed)
        value = emitter.emit("arith.subf", (value, float_zero_point), expressed)
    return emitter.emit("arith.mulf", (value, scale), expressed)


# -- upstream's quantize ----------------------------------------------------------------------------------------------


def _quantize_upstream(emitter: Emitter, t: UniformType) -> Value:
    """Emit upstream's quantization: a conversion to integers, then a clamp.

    Values out of range, and NaNs, are undefined.
    """
    expressed, storage = t.expressed_type, t.storage_type
    prefix = "s" if t.is_signed else "u"
    scale = emitter.parameter(_scales(t), expressed)
    zero_point = emitter.parameter(t.zero_points, storage)
    value = emitter.emit("arith.divf", (emitter.x, emitter.spread(scale)), expressed)
    if _has_zero_point(t):
        float_zero_point = emitter.emit(f"arith.{prefix}itofp", (emitter.spread(zero_point),), expressed)
        value = emitter.emit("arith.addf", (value, float_zero_point), expressed)
    stored = emitter.emit(f"arith.fpto{prefix}i", (value,), storage)
    if t.has_default_bounds:
        return stored
    low, high = (emitter.scalar(bound, storage) for bound in (t.storage_min, t.storage_max))
    low, high = emitter.spread(low), emitter.spread(high)
    stored = emitter.emit(f"arith.max{prefix}i", (stored, low), storage)
    return emitter.emit(f"arith.min{prefix}i", (stored, high), storage)


def _has_zero_point(t: UniformType) -> bool:
    """Return True if subtracting the zero points must be emitted.

    A single zero point that is 0 modulo `2**storage_width` is not emitted, as in upstream.
    """
    return not t.is_per_layer or t.zero_points[0] % (1 << t.storage_width) != 0


def _zero_points_fit(t: UniformType) -> bool:
    low, high = storage_range(t.storage_width, t.is_signed)
    return all(low <= zp <= high for zp in t.zero_points)


# -- quantize with every value defined --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Saturation:
    """The constants of a saturating quantization, one per channel or block.

    `low`, `high` and `nan` are the integers for values below the bounds, values above the bounds, and NaN. With
    `zero_point = "after"` they lack the zero point, which is added later. `float_low` and `float_high` are the bit
    patterns of the floats to which values are clamped; `float_nan` is that of the float that replaces NaN. If the float
    format cannot represent one of the integers, its float is a representable value within the bounds, and its flag
    `..._is_exact` is False.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    nan: tuple[int, ...]
    float_low: tuple[int, ...]
    float_high: tuple[int, ...]
    float_nan: tuple[int, ...]
    low_is_exact: bool
    high_is_exact: bool
    nan_is_exact: bool
    integer: IntegerType
    """A type that holds `low`, `high`, `nan` and their sums with the zero points."""
    is_signed: bool


def _quantize_saturating(emitter: Emitter, t: UniformType, rules: Rules) -> Value:
    """Emit a clamp in floats, then the conversion to integers, so that every value is defined.

    A NaN stores the zero point, clamped to the storage bounds.
    """
    expressed = t.expressed_type
    offsets = t.zero_points if rules.zero_point == "after" else (0,) * len(t.zero_points)
    plan = _saturation(t, offsets)
    value = _scaled(emitter, t, rules)
    is_nan = None
    if expressed.special != "none":
        is_nan = _compare(emitter, "uno", value, value)
        value = emitter.emit("arith.select", (is_nan, emitter.constant(plan.float_nan, expressed), value), expressed)
    value = emitter.emit(_ROUND[rules.rounding], (value,), expressed)
    low, high = (emitter.constant(bounds, expressed) for bounds in (plan.float_low, plan.float_high))
    clamped = emitter.emit("arith.maximumf", (value, low), expressed)
    clamped = emitter.emit("arith.minimumf", (clamped, high), expressed)
    stored = emitter.emit("arith.fptosi" if plan.is_signed else "arith.fptoui", (clamped,), plan.integer)
    if not plan.low_is_exact:
        stored = _choose(emitter, _compare(emitter, "olt", value, low), plan.low, stored, plan)
    if not plan.high_is_exact:
        stored = _choose(emitter, _compare(emitter, "ogt", value, high), plan.high, stored, plan)
    if is_nan is not None and not plan.nan_is_exact:
        stored = _choose(emitter, is_nan, plan.nan, stored, plan)
    if any(offsets):
        stored = emitter.emit("arith.addi", (stored, emitter.constant(offsets, plan.integer)), plan.integer)
    if plan.integer is not t.storage_type:
        stored = emitter.emit("arith.trunci", (stored,), t.storage_type)
    return stored


def _scaled(emitter: Emitter, t: UniformType, rules: Rules) -> Value:
    expressed = t.expressed_type
    if rules.scale == "reciprocal":
        reciprocals = emitter.constant([_reciprocal(scale, expressed) for scale in t.scales], expressed)
        value = emitter.emit("arith.mulf", (emitter.x, reciprocals), expressed)
    else:
        value = emitter.emit("arith.divf", (emitter.x, emitter.constant(_scales(t), expressed)), expressed)
    if rules.zero_point == "before" and any(t.zero_points):
        zero_points = emitter.constant([_encode(zp, expressed) for zp in t.zero_points], expressed)
        value = emitter.emit("arith.addf", (value, zero_points), expressed)
    return value


def _compare(emitter: Emitter, predicate: str, left: Value, right: Value) -> Value:
    number = IntegerAttr(tuple(FLOAT_PREDICATES).index(predicate), I64)
    return emitter.emit("arith.cmpf", (left, right), I1, {"predicate": number})


def _choose(emitter: Emitter, condition: Value, numbers: Sequence[int], other: Value, plan: _Saturation) -> Value:
    return emitter.emit("arith.select", (condition, emitter.constant(numbers, plan.integer), other), plan.integer)


@lru_cache(maxsize=1024)
def _saturation(t: UniformType, offsets: tuple[int, ...]) -> _Saturation:
    expressed = t.expressed_type
    form = expressed.format
    if not form.has_zero or form.largest.denominator != 1:
        raise QuantTypeError(
            f"the expressed type {expressed} of {t} is not supported: rounding to integers needs a float type with "
            "zero "
            "whose largest value is an integer"
        )
    low = tuple(t.storage_min - zp for zp in offsets)
    high = tuple(t.storage_max - zp for zp in offsets)
    clamped = (min(max(zp, t.storage_min), t.storage_max) for zp in t.zero_points)
    nan = tuple(zp - offset for zp, offset in zip(clamped, offsets, strict=True))
    inside_low = [-_at_most(-bound, form) for bound in low]
    inside_high = [_at_most(bound, form) for bound in high]
    for index, (least, greatest) in enumerate(zip(inside_low, inside_high, strict=True)):
        if least > greatest:
            bounds = f"[{low[index]}, {high[index]}]"
            raise QuantTypeError(f"{expressed} has no integer in {bounds}, the range to which a cast to {t} clamps")
    float_nan = [n if _at_most(abs(n), form) == abs(n) else safe for n, safe in zip(nan, inside_low, strict=True)]
    integer, is_signed = _working_type(t, (*low, *high, *nan, *offsets))
    return _Saturation(
        low,
        high,
        nan,
        tuple(_encode(bound, expressed) for bound in inside_low),
        tuple(_encode(bound, expressed) for bound in inside_high),
        tuple(_encode(number, expressed) for number in float_nan),
        inside_low == list(low),
        inside_high == list(high),
        float_nan == list(nan),
        integer,
        is_signed,
    )


def _working_type(t: UniformType, numbers: Sequence[int]) -> tuple[IntegerType, bool]:
    low, high = storage_range(t.storage_width, t.is_signed)
    if all(low <= number <= high for number in numbers):
        return IntegerType(t.storage_width), t.is_signed
    for width in (8, 16, 32, 64):
        if width >= t.storage_width and all(-(1 << (width - 1)) <= n < 1 << (width - 1) for n in numbers):
            return IntegerType(width), True
    raise QuantTypeError(
        f"with zero_point = 'after' the zero points of {t} need integers of more than 64 bits; 'before' does not"
    )


def _at_most(bound: int, form: FloatFormat) -> int:
    """Return the greatest integer of the format that is at most `bound`.

    If there is none, return a number below `-form.largest`.
    """
    excess = max(abs(bound).bit_length() - form.precision, 0)
    return min(bound >> excess << excess, int(form.largest))


# -- constants --------------------------------------------------------------------------------------------------------


def _scales(t: UniformType) -> list[int]:
    return [_encode_float(scale, t.expressed_type) for scale in t.scales]


@lru_cache(maxsize=4096)
def _encode_float(value: float, expressed: FloatType) -> int:
    return expressed.format.encode_float(value)


@lru_cache(maxsize=4096)
def _encode(value: int, expressed: FloatType) -> int:
    """Return the bit pattern of an integer rounded to the expressed type."""
    return expressed.format.encode(Fraction(abs(value)), value < 0)


def _reciprocal(scale: float, expressed: FloatType) -> int:
    """Return the bit pattern of `1 / s`, rounded, where `s` is the scale rounded to the expressed type."""
    form = expressed.format
    rounded = form.decode(_encode_float(scale, expressed))
    return form.encode(1 / Fraction(rounded))
