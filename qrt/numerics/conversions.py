"""Conversions between integers, floats and index, and bitcasts, as functions of NumPy arrays.

Each conversion rounds once. Integers become floats by rounding to nearest even; floats become floats of another format
by ``roundingmode``, which is to nearest even by default; floats become integers by truncation. A NaN, or a float out of
the integer's range, raises an error; with ``saturating`` it becomes 0 or the nearest bound. Narrowing integers wraps.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError, no_integer
from qrt.numerics.elements import Function, checked, choose
from qrt.numerics.float_text import FORMATS
from qrt.numerics.integers import Integer
from qrt.numerics.rounding import round_to_format

ROUNDING_MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""``arith``'s rounding modes, in the order of their numbers."""
_RULES = dict(zip(ROUNDING_MODES, ("half_even", "down", "up", "toward_zero", "half_away"), strict=True))
_DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "tf32": "float32"}

# -- between float formats ---------------------------------------------------------------------------------------------


@lru_cache
def float_dtype(form: str) -> np.dtype[Any]:
    """Return the NumPy dtype of a float format; float32 for tf32. Raise QuantTypeError for f80 and f128."""
    if form in _DTYPES:
        return np.dtype(_DTYPES[form])
    import ml_dtypes

    name = "bfloat16" if form == "bf16" else "float" + form.removeprefix("f").lower().replace("e", "_e", 1)
    if not hasattr(ml_dtypes, name):
        raise QuantTypeError(f"values of type {form} cannot be computed: NumPy has no dtype of this type")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype


def widened(form: str) -> Function:
    """Return a function that converts values of a format, not wider than f64, to float64."""
    float_dtype(form)
    return _promoted(np.float64(-0.0))


def _promoted(zero: Any) -> Function:
    """Return a function that converts values to the dtype of ``zero``, which is wider, by adding ``zero``.

    This takes a fraction of the time of calling the dtype. For floats ``zero`` is -0.0, whose addition keeps the sign
    of every zero.
    """
    return lambda x: x + zero


def rounder(form: str, mode: str = "to_nearest_even") -> Function:
    """Return a function that rounds float64 values once to a format.

    A value that is too large becomes infinity; NaN if the format has no infinity; the largest value if the format has
    neither. A NaN is an error for a format without NaN.
    """
    dtype = float_dtype(form)
    if not FORMATS[form].has_zero:
        return _power_of_two(form, mode)
    if form in ("f16", "f32", "f64") and mode == "to_nearest_even":
        return dtype.type  # NumPy's own: one rounding each
    rule = _RULES[mode]
    compute = lambda x: round_to_format(x, form, rule).astype(dtype)[()]  # noqa: E731
    if FORMATS[form].special != "none":
        return compute
    return checked(compute, (f"a NaN, which {form} has not", lambda _, x: x != x))


def _power_of_two(form: str, mode: str) -> Function:
    """Return a function that rounds to f8E8M0FNU, whose values are powers of two and a NaN. Ties round up."""
    if mode != "to_nearest_even":
        raise QuantTypeError(f"'roundingmode' must be to_nearest_even for the result type {form}, got {mode}")
    dtype, least, largest = float_dtype(form), FORMATS[form].min_exponent, float(FORMATS[form].largest)

    def compute(x: Any) -> Any:
        mantissa, exponent = np.frexp(x)
        nearest = np.ldexp(np.float64(1), np.maximum(exponent - 1 + (mantissa >= 0.75), least))
        return np.where(np.isfinite(x) & (nearest <= largest), nearest, np.nan).astype(dtype)[()]

    return checked(compute, (f"zero or a negative number, which {form} has not", lambda _, x: x <= 0))


def between_floats(source: str, target: str, mode: str = "to_nearest_even") -> Function:
    """Return a function that converts values of the format ``source`` to the format ``target``."""
    if mode == "to_nearest_even":
        if (source, target) in (("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")):
            return _promoted(float_dtype(target).type(-0.0))
        if (source, target) == ("f32", "bf16"):
            dtype = float_dtype(target)
            return lambda x: x.astype(dtype)
    widen, narrow = widened(source), rounder(target, mode)
    return lambda x: narrow(widen(x))


# -- scaling -----------------------------------------------------------------------------------------------------------

_SCALE = "f8E8M0FNU"


def _scaled(form: str, scale: str) -> Function:
    """Return a function that converts scales of the format ``scale`` to f8E8M0FNU (powers of two), then to ``form``."""
    spread = between_floats(_SCALE, form)
    if scale == _SCALE:
        return spread
    cut = between_floats(scale, _SCALE)
    return lambda x: spread(cut(x))


def scaling_extf(source: str, scale: str, target: str) -> Function:
    """Return the function of ``arith.scaling_extf``: ``extf(x) * extf(scale)``, as upstream expands the op."""
    extend, power = between_floats(source, target), _scaled(target, scale)
    multiply = _in_format(target, np.multiply)
    return lambda x, s: multiply(extend(x), power(s))


def scaling_truncf(mode: str, source: str, scale: str, target: str) -> Function:
    """Return the function of ``arith.scaling_truncf``: ``truncf(x / extf(scale))``, as upstream expands the op."""
    power, narrow = _scaled(source, scale), between_floats(source, target, mode)
    divide = _in_format(source, np.divide)
    return lambda x, s: narrow(divide(x, power(s)))


def _in_format(form: str, compute: Callable[[Any, Any], Any]) -> Function:
    """Return a function that computes ``compute`` on operands in float64, and rounds the result once to a format."""
    if form == "f64":
        return compute
    widen, narrow = widened(form), rounder(form)
    return lambda a, b: narrow(compute(widen(a), widen(b)))


# -- between integers and floats ---------------------------------------------------------------------------------------


def int_to_float(t: Integer, target: str, signed: bool) -> Function:
    """Return a function that converts integers of type ``t`` to a float format, with one rounding.

    NumPy converts to f16, f32 and f64 with one rounding (to f16 through f32, which is exact below 2^24; larger integers
    overflow f16 anyway). For other formats, integers are first rounded to odd in float64, where the lowest bit records
    whether any bit was lost. float64 has so many more bits than these formats that both roundings together give the
    same result as one rounding.
    """
    dtype, read = float_dtype(target), integer_values(t, signed)
    if target in ("f16", "f32", "f64"):
        return lambda x: dtype.type(read(x))
    narrow = rounder(target)
    if t.width <= 53:
        return lambda x: narrow(read(x).astype(np.float64))
    return lambda x: narrow(_odd(read(x)).astype(np.float64))


def _odd(x: Any) -> Any:
    """Round a 64-bit integer to odd, so that float64 represents it.

    From 2^53 on, the twelve lowest bits are replaced by one bit, which is set if any of them is.
    """
    low = x & 0xFFF
    return choose((x >> 53 == 0) | (x >> 53 == -1), x, (x ^ low) | (low != 0) * x.dtype.type(1 << 11))


def integer_values(t: Integer, signed: bool) -> Function:
    """Return a function that converts an array of stored integers of type ``t`` to their signed or unsigned values.

    Unsigned values get an unsigned dtype, so that NumPy converts them to floats correctly.
    """
    if t.width == 1:
        return (lambda x: np.int8(0) - x) if signed else (lambda x: np.int8(0) + x)
    return (lambda x: x) if signed else t.unsigned


def float_to_int(source: str, t: Integer, signed: bool, saturating: bool) -> Function:
    """Return a function that truncates floats to integers of type ``t``.

    A NaN or a number out of range raises UndefinedError; with ``saturating`` it becomes 0 or the nearest bound.
    """
    widen, finish = widened(source), _stored_as(t, signed)
    # the bounds are exact in float64: the upper one is the first integer too large
    low, beyond = (float(t.low), float(-t.low)) if signed else (0.0, float(1 << t.width))
    if saturating:
        least, greatest = (t.low, -t.low - 1) if signed else (0, -1)  # the greatest unsigned value is held as -1
        bounds = [bool(bound) if t.width == 1 else t.dtype.type(bound) for bound in (least, greatest)]
        return _saturated(widen, finish, low, beyond, *map(np.asarray, bounds))

    def call(x: Any) -> Any:
        whole = np.trunc(widen(x))
        fits = low <= whole < beyond if not whole.ndim else bool(((whole >= low) & (whole < beyond)).all())
        if not fits:
            raise UndefinedError(no_integer(t.width, signed))
        return finish(whole)

    return call


def _saturated(widen: Function, finish: Function, low: float, beyond: float, least: Any, greatest: Any) -> Function:
    def call(x: Any) -> Any:
        whole = np.trunc(widen(x))
        inside = finish(choose((whole >= low) & (whole < beyond), whole, np.float64(0)))
        return choose(whole >= beyond, greatest[()], choose(whole < low, least[()], inside))

    return call


def _stored_as(t: Integer, signed: bool) -> Function:
    """Return a function that converts whole float64 numbers in the range of ``t`` to the dtype that stores ``t``."""
    if t.width == 1:
        return lambda whole: whole != 0
    if signed:
        return t.dtype.type
    return lambda whole: t.signed(whole.astype(t.unsigned_dtype))


# -- between integers --------------------------------------------------------------------------------------------------


def extension(t: Integer, target: Integer, signed: bool) -> Function:
    """Return a function that extends integers to a wider type, by their sign or by zeros."""
    zero = target.dtype.type(0)
    if t.width == 1:
        return (lambda x: zero - x) if signed else _promoted(zero)
    if signed:
        return _promoted(zero)
    low_bits = target.dtype.type((1 << t.width) - 1)
    return lambda x: (x + zero) & low_bits


def truncation(t: Integer, target: Integer, promises: frozenset[str] = frozenset()) -> Function:
    """Return a function that truncates integers to the low-order bits that ``target`` has.

    With the flag ``nsw`` (``nuw``) in ``promises``, a value that does not fit ``target`` as a signed (unsigned) number
    is an error.
    """
    rules = []
    if "nsw" in promises:
        rules.append(("signed overflow (nsw)", lambda _, x: (x < target.low) | (x >= -target.low)))
    if "nuw" in promises:
        rules.append(("unsigned overflow (nuw)", lambda _, x: t.unsigned(x) >> target.width != 0))
    if target.width == 1:
        return checked(lambda x: x & 1 != 0, *rules)
    return checked(target.wrapped(target.dtype.type), *rules)


def index_cast(t: Integer, target: Integer, signed: bool) -> Function:
    """Return a function that converts between index and an integer type: it extends, or drops high-order bits."""
    if t.width == target.width:
        return lambda x: x
    return extension(t, target, signed) if t.width < target.width else truncation(t, target)


# -- bits --------------------------------------------------------------------------------------------------------------


def bitcast(source: Integer | str, target: Integer | str) -> Function:
    """Return a function that reinterprets the bits of integers or floats as another type of the same width."""
    bits, value = _bits(source), _of_bits(target)
    return lambda x: value(bits(x))


def _bits(t: Integer | str) -> Function:
    """Return a function that converts values to their bits, as unsigned integers. Bits above the type's width are 0."""
    if isinstance(t, Integer):
        return t.unsigned
    dtype = np.dtype(f"u{float_dtype(t).itemsize}")
    if t == "tf32":  # the top 19 bits of its float32
        return lambda x: x.view(dtype) >> 13
    return lambda x: x.view(dtype)


def _of_bits(t: Integer | str) -> Function:
    if isinstance(t, Integer):
        return t.signed
    dtype = float_dtype(t)
    if t == "tf32":
        return lambda u: (u << 13).view(dtype)
    return lambda u: u.view(dtype)
