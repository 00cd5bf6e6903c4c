"""Conversions between integers, floats and index, each rounded once; bits reinterpreted.

Integers to floats round to nearest even, floats to floats as ``roundingmode`` says (to nearest even without it). A
float becomes an integer by truncation; a NaN or a number out of the integer's range is undefined and refused, or with
``saturating`` becomes 0 or the nearest bound. Narrowing integers wraps.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError
from qrt.numerics import round_to_format
from qrt.numerics.elements import Function, checked, choose
from qrt.ops.core import expressed_dtype
from qrt.ops.elementwise.signature import I1, Integer, Signature, float_type, integer
from qrt.types import FloatType, Type

ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""``arith``'s rounding modes, in the order of their numbers."""
_RULES = dict(zip(ROUNDING_MODES, ("half_even", "down", "up", "toward_zero", "half_away"), strict=True))


def bind(signature: Signature) -> Function:
    """An op of ``OPS``."""
    return OPS[signature.name](signature)


# -- between float formats ---------------------------------------------------------------------------------------------


def widened(t: FloatType) -> Function:
    """Values of a format up to f64 as float64."""
    expressed_dtype(t)
    return _promoted(np.float64(-0.0))


def _promoted(zero: Any) -> Function:
    """Values as the wider type of ``zero``: adding it converts, at a fraction of what a call of the type costs. A
    float's is -0.0, which changes no zero's sign."""
    return lambda x: x + zero


def rounder(t: FloatType, mode: str = "to_nearest_even") -> Function:
    """float64 to ``t``, rounded once. NaNs of formats without one are undefined; what is too large becomes infinity,
    NaN or the largest value, whichever the format has first."""
    dtype = expressed_dtype(t)
    if not t.format.has_zero:
        return _power_of_two(t, mode)
    if t.name in ("f16", "f32", "f64") and mode == "to_nearest_even":
        return dtype.type  # NumPy's own: one rounding each
    rule = _RULES[mode]
    compute = lambda x: round_to_format(x, t.name, rule).astype(dtype)[()]  # noqa: E731
    if t.special != "none":
        return compute
    return checked(compute, (f"a NaN, which {t} has not", lambda _, x: x != x))


def _power_of_two(t: FloatType, mode: str) -> Function:
    """f8E8M0FNU holds powers of two and a NaN: ties go up, to what is even in its encoding of one bit."""
    if mode != "to_nearest_even":
        raise QuantTypeError(f"roundingmode {mode} to {t} is not executable")
    dtype = expressed_dtype(t)

    def compute(x: Any) -> Any:
        mantissa, exponent = np.frexp(x)
        nearest = np.ldexp(np.float64(1), np.maximum(exponent - 1 + (mantissa >= 0.75), t.min_exponent))
        return np.where(np.isfinite(x) & (nearest <= t.largest), nearest, np.nan).astype(dtype)[()]

    return checked(compute, (f"zero or a negative number, which {t} has not", lambda _, x: x <= 0))


def between_floats(source: FloatType, target: FloatType, mode: str = "to_nearest_even") -> Function:
    """Any float format to any other."""
    if mode == "to_nearest_even":
        if (source.name, target.name) in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")):
            return _promoted(expressed_dtype(target).type(-0.0))
        if (source.name, target.name) == ("f32", "bf16"):
            dtype = expressed_dtype(target)
            return lambda x: x.astype(dtype)
    widen, narrow = widened(source), rounder(target, mode)
    return lambda x: narrow(widen(x))


def _mode(signature: Signature) -> str:
    return ROUNDING_MODES[signature.attributes.get("roundingmode", 0)]


def _float_to_float(signature: Signature) -> Function:
    return between_floats(float_type(signature.operand), float_type(signature.result), _mode(signature))


# -- scaling -----------------------------------------------------------------------------------------------------------

_SCALE = FloatType("f8E8M0FNU")


def _scaled(t: FloatType, scale: Type) -> Function:
    """A scale as a power of two (rounded to f8E8M0FNU where it is of another type) in ``t``."""
    given, spread = float_type(scale), between_floats(_SCALE, t)
    if given is _SCALE:
        return spread
    cut = between_floats(given, _SCALE)
    return lambda x: spread(cut(x))


def _scaling_extf(signature: Signature) -> Function:
    """``extf(in) * extf(scale)``, as upstream expands it."""
    source, target = float_type(signature.operand), float_type(signature.result)
    extend, scale = between_floats(source, target), _scaled(target, signature.operands[1])
    multiply = _in_type(target, np.multiply)
    return lambda x, s: multiply(extend(x), scale(s))


def _scaling_truncf(signature: Signature) -> Function:
    """``truncf(in / extf(scale))``, as upstream expands it."""
    source, target = float_type(signature.operand), float_type(signature.result)
    scale, narrow = _scaled(source, signature.operands[1]), between_floats(source, target, _mode(signature))
    divide = _in_type(source, np.divide)
    return lambda x, s: narrow(divide(x, scale(s)))


def _in_type(t: FloatType, compute: Callable[[Any, Any], Any]) -> Function:
    """An operation by a power of two, rounded to ``t`` once."""
    if t.name == "f64":
        return compute
    widen, narrow = widened(t), rounder(t)
    return lambda a, b: narrow(compute(widen(a), widen(b)))


# -- between integers and floats ---------------------------------------------------------------------------------------


def _int_to_float(signed: bool) -> Callable[[Signature], Function]:
    """f16, f32 and f64 by NumPy: one rounding each (to f16 it goes by f32, which is exact below 2^24; above, both
    overflow). To other formats by float64, whose low bit says whether any bit was lost: rounded to odd, it has enough
    bits to be rounded again."""

    def bind(signature: Signature) -> Function:
        t, target = integer(signature.operand), float_type(signature.result)
        dtype = expressed_dtype(target)
        read = reading(signature.operand, t, signed)
        if target.name in ("f16", "f32", "f64"):
            return lambda x: dtype.type(read(x))
        narrow = rounder(target)
        if t.width <= 53:
            return lambda x: narrow(read(x).astype(np.float64))
        return lambda x: narrow(_odd(read(x)).astype(np.float64))

    return bind


def _odd(x: Any) -> Any:
    """A 64-bit integer that float64 holds: from 2^53 on, one bit stands for the twelve lowest."""
    low = x & 0xFFF
    return choose((x >> 53 == 0) | (x >> 53 == -1), x, (x ^ low) | (low != 0) * x.dtype.type(1 << 11))


def reading(type: Type, t: Integer, signed: bool) -> Function:
    """The value as NumPy converts it to floats: a bool or an integer, of the dtype's own signedness if unsigned."""
    if type is I1:
        return (lambda x: np.int8(0) - x) if signed else (lambda x: np.int8(0) + x)
    return (lambda x: x) if signed else t.unsigned


def _float_to_int(signed: bool) -> Callable[[Signature], Function]:
    def bind(signature: Signature) -> Function:
        source, t, name = float_type(signature.operand), integer(signature.result), signature.result
        widen, finish = widened(source), _held(signature.result, t, signed)
        # the bounds are exact in float64: the upper one is the first integer too large
        low, beyond = (float(t.low), float(-t.low)) if signed else (0.0, float(1 << t.width))
        if signature.saturating:
            least, greatest = (t.low, -t.low - 1) if signed else (0, -1)  # all ones, as they are held
            bounds = [bool(bound) if signature.result is I1 else t.dtype.type(bound) for bound in (least, greatest)]
            return _saturated(widen, finish, low, beyond, *map(np.asarray, bounds))

        def call(x: Any) -> Any:
            whole = np.trunc(widen(x))
            fits = low <= whole < beyond if not whole.ndim else bool(((whole >= low) & (whole < beyond)).all())
            if not fits:
                raise UndefinedError(f"a NaN or a number out of the range of {'' if signed else 'unsigned '}{name}")
            return finish(whole)

        return call

    return bind


def _saturated(widen: Function, finish: Function, low: float, beyond: float, least: Any, greatest: Any) -> Function:
    def call(x: Any) -> Any:
        whole = np.trunc(widen(x))
        inside = finish(choose((whole >= low) & (whole < beyond), whole, np.float64(0)))
        return choose(whole >= beyond, greatest[()], choose(whole < low, least[()], inside))

    return call


def _held(type: Type, t: Integer, signed: bool) -> Function:
    """Integral float64 values within the range of a type, as it is held."""
    if type is I1:
        return lambda whole: whole != 0
    if signed:
        return t.dtype.type
    return lambda whole: t.signed(whole.astype(t.unsigned_dtype))


# -- between integers --------------------------------------------------------------------------------------------------


def _extension(signed: bool) -> Callable[[Signature], Function]:
    def bind(signature: Signature) -> Function:
        t, target = integer(signature.operand), integer(signature.result)
        zero = target.dtype.type(0)
        if signature.operand is I1:
            return (lambda x: zero - x) if signed else _promoted(zero)
        if signed:
            return _promoted(zero)
        low_bits = target.dtype.type((1 << t.width) - 1)
        return lambda x: (x + zero) & low_bits

    return bind


def _truncation(signature: Signature) -> Function:
    t, target = integer(signature.operand), integer(signature.result)
    promises = signature.attributes.get("overflowFlags", ())
    rules = []
    if "nsw" in promises:
        rules.append(("signed overflow (nsw)", lambda _, x: (x < target.low) | (x >= -target.low)))
    if "nuw" in promises:
        rules.append(("unsigned overflow (nuw)", lambda _, x: t.unsigned(x) >> target.width != 0))
    if signature.result is I1:
        return checked(lambda x: x & 1 != 0, *rules)
    return checked(target.wrapped(target.dtype.type), *rules)


def _index_cast(signed: bool) -> Callable[[Signature], Function]:
    """Between index and an integer: extended to what is wider, else the low bits."""

    def bind(signature: Signature) -> Function:
        t, target = integer(signature.operand), integer(signature.result)
        if t.width == target.width:
            return lambda x: x
        return _extension(signed)(signature) if t.width < target.width else _truncation(signature)

    return bind


# -- bits --------------------------------------------------------------------------------------------------------------


def _bitcast(signature: Signature) -> Function:
    if signature.operand is signature.result:
        return lambda x: x
    bits, value = _bits(signature.operand), _of_bits(signature.result)
    return lambda x: value(bits(x))


def _bits(t: Type) -> Function:
    """A value as unsigned bits, the lowest of an unsigned dtype."""
    if not isinstance(t, FloatType):
        return integer(t).unsigned
    dtype = np.dtype(f"u{expressed_dtype(t).itemsize}")
    if t.name == "tf32":  # the top 19 bits of its float32
        return lambda x: x.view(dtype) >> 13
    return lambda x: x.view(dtype)


def _of_bits(t: Type) -> Function:
    if not isinstance(t, FloatType):
        return integer(t).signed
    dtype = expressed_dtype(t)
    if t.name == "tf32":
        return lambda u: (u << 13).view(dtype)
    return lambda u: u.view(dtype)


OPS: dict[str, Callable[[Signature], Function]] = {
    "arith.extf": _float_to_float,
    "arith.truncf": _float_to_float,
    "arith.scaling_extf": _scaling_extf,
    "arith.scaling_truncf": _scaling_truncf,
    "arith.sitofp": _int_to_float(signed=True),
    "arith.uitofp": _int_to_float(signed=False),
    "arith.fptosi": _float_to_int(signed=True),
    "arith.fptoui": _float_to_int(signed=False),
    "arith.extsi": _extension(signed=True),
    "arith.extui": _extension(signed=False),
    "arith.trunci": _truncation,
    "arith.index_cast": _index_cast(signed=True),
    "arith.index_castui": _index_cast(signed=False),
    "arith.bitcast": _bitcast,
}
