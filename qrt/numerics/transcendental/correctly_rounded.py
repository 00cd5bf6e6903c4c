"""Transcendental functions, rounded once, to nearest even: the same bits on every machine.

Arrays are computed in double-double arithmetic, whose error has a known bound. If the result minus the bound and the
result plus the bound round to the same value, that value is correct. If they do not (about once in 2^14 in float64),
and for infinities, NaNs, large angles and subnormal results, `exact` computes the result (Ziv, "Fast evaluation of
elementary mathematical functions with correctly rounded last bit", 1991).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.numerics.conversions import float_dtype, integer_values, rounder, widened
from qrt.numerics.double_double import clamped, power_of_two, to_odd, two_sum
from qrt.numerics.elements import Function, broadcast_shapes, choose
from qrt.numerics.float_text import FORMATS
from qrt.numerics.integers import Integer
from qrt.numerics.transcendental import error_function, exact, exponentials, trigonometry

_ERROR = 2.0**-68
"""A bound of the relative error of all kernels. The largest error seen is 2^-71; by their series none exceeds 2^-70."""
_BLOCK = 4096
"""The number of elements computed at a time, so that intermediate values stay in the cache."""
_LARGEST = float(np.finfo(np.float64).max)
_SMALL = 2.0**-30
"""The magnitude below which an odd function with a slope of 1 at zero rounds to its argument."""

Scaled = tuple[Any, Any, Any]
"""(high, low, exponent): the number ``(high + low) * 2**exponent``, or ``high + low`` if the exponent is None."""
Kernel = Callable[..., tuple[Any, Scaled]]
"""A function that returns (True where the result is valid, the result)."""


def bind(name: str, form: str, exponent: Integer | None = None) -> Function:
    """Return the function that computes the ``math`` op ``name`` on arrays of a float format such as ``f32``.

    ``exponent`` is the integer type of the second operand of ``math.fpowi``, None for other ops.
    """
    name = name.removeprefix("math.")
    if name == "sincos":
        sine, cosine = _rounded("sin", form), _rounded("cos", form)
        return lambda x: (sine(x), cosine(x))
    if exponent is not None:
        read, power = integer_values(exponent, signed=True), _rounded(name, form)
        return lambda x, n: power(x, read(n) + np.int64(0))
    return _rounded(name, form)


def _rounded(name: str, form: str) -> Function:
    widen, dtype = widened(form), float_dtype(form)
    block = _block(name, form)

    def call(x: Any, *others: Any) -> Any:
        operands = [widen(x), *(y if name == "fpowi" else widen(y) for y in others)]
        if not any(operand.ndim for operand in operands):
            return block(*(operand[()] for operand in operands))
        shape = broadcast_shapes(*(operand.shape for operand in operands))
        flat = [np.broadcast_to(operand, shape).reshape(-1) for operand in operands]
        result = np.empty(flat[0].size, dtype)
        for start in range(0, result.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            result[part] = block(*(operand[part] for operand in flat))
        return result.reshape(shape)

    return call


def _block(name: str, form: str) -> Function:
    """Return a callable that computes the function ``name`` of float64 scalars or vectors, rounded to a format."""
    kernel, finish, narrow = KERNELS[name], _finish(form), rounder(form)

    def call(*x: Any) -> Any:
        inside, (high, low, exponent) = kernel(*x)
        known = inside & (high + low == high + low)
        high, low = choose(known, high, np.float64(1)), choose(known, low, np.float64(0))
        error = abs(high) * _ERROR
        factors = None if exponent is None else _factors(exponent)
        least, greatest = finish(high, low - error, factors), finish(high, low + error, factors)
        known = known & (least == greatest)
        if not known.ndim:
            return least if known else narrow(np.float64(exact.evaluate(name, FORMATS[form], *(y.item() for y in x))))
        if not known.all():
            least[~known] = _decided(name, form, [operand[~known] for operand in x])
        return least

    return call


def _decided(name: str, form: str, x: list[Any]) -> Any:
    """Compute the function ``name`` by `exact`, for vectors of operands ``x``.

    Equal operands are computed only once.
    """
    patterns = np.stack([operand.view(np.int64) for operand in x], axis=1)
    _, first, place = np.unique(patterns, axis=0, return_index=True, return_inverse=True)
    points = zip(*(operand[first].tolist() for operand in x), strict=True)
    return rounder(form)(np.array([exact.evaluate(name, FORMATS[form], *point) for point in points]))[place]


def _finish(form: str) -> Function:
    """Return a function of (high, low, factors) that rounds ``(high + low) * factors[0] * factors[1]`` to a format.

    For f64 a subnormal result would be rounded twice. It becomes NaN instead, so that `exact` computes it.
    """
    if form == "f64":
        return lambda high, low, factors: _scaled_to_normal(choose(low == 0, high, high + low), factors)  # keeps -0
    narrow = rounder(form)
    return lambda high, low, factors: narrow(_scaled(to_odd(high, low), factors))


def _scaled_to_normal(x: Any, factors: tuple[Any, Any] | None) -> Any:
    result = _scaled(x, factors)
    if factors is None:
        return result
    is_tiny = factors[0] == 2.0**-_FAR  # far below all subnormals
    return choose((abs(result) < 2.0**-1022) & ~is_tiny, np.float64(np.nan), result)


def _scaled(x: Any, factors: tuple[Any, Any] | None) -> Any:
    return x if factors is None else x * factors[0] * factors[1]


_FAR = 600


def _factors(exponent: Any) -> tuple[Any, Any]:
    """Return two powers of two whose product is ``2**exponent``.

    Both are normal float64 numbers, also if the product is not.
    """
    exponent = clamped(exponent, -2 * _FAR, 2 * _FAR)
    half = exponent >> 1
    return power_of_two(half), power_of_two(exponent - half)


# -- kernels -----------------------------------------------------------------------------------------------------------


def _pair(function: Function) -> Function:
    """Return a kernel that computes ``function``, whose result is a double-double (high, low).

    The kernel returns (high, low, None), because the result has no exponent.
    """
    return lambda *x: (*function(*x), None)


def _on(least: float, greatest: float, function: Function) -> Kernel:
    """Return a kernel that computes ``function`` for arguments from ``least`` to ``greatest``.

    It marks the results of all other arguments as invalid.
    """

    def kernel(x: Any) -> tuple[Any, Scaled]:
        inside = (x >= least) & (x <= greatest)
        return inside, function(choose(inside, x, np.float64(greatest)))

    return kernel


def _odd(greatest: float, function: Function, least: float = _SMALL) -> Kernel:
    """Return a kernel of an odd function, given a ``function`` that computes it from ``least`` to ``greatest``.

    For an argument of a magnitude below ``least``, the result is the argument: the function's value rounds to it.
    """

    def kernel(x: Any) -> tuple[Any, Scaled]:
        magnitude, sign = abs(x), np.copysign(1.0, x)
        inside, small = magnitude <= greatest, magnitude < least
        high, low, exponent = function(choose(inside & ~small, magnitude, np.float64(greatest)))
        exponent = None if exponent is None else choose(small, np.int64(0), exponent)
        return inside, (choose(small, x, high * sign), choose(small, np.float64(0), low * sign), exponent)

    return kernel


def _atan2(y: Any, x: Any) -> tuple[Any, Scaled]:
    inside = (abs(x) > 2.0**-400) & (abs(x) < 2.0**400) & (abs(y) > 2.0**-400) & (abs(y) < 2.0**400)
    one = np.float64(1)
    return inside, (*trigonometry.atan2(choose(inside, y, one), choose(inside, x, one)), None)


def _powf(x: Any, y: Any) -> tuple[Any, Scaled]:
    inside = (x != 0) & (abs(x) <= _LARGEST) & (abs(y) <= _LARGEST) & ((x > 0) | (np.rint(y) == y))
    y = choose(abs(y) < 2.0**70, y, np.copysign(2.0**70, y))  # x is 1, or its power is beyond all formats
    y = choose(inside, y, np.float64(1))
    is_odd = (abs(y) < 2.0**53) & (y.astype(np.int64) & 1 != 0)
    return _power(inside, x, (y, 0.0 * y), is_odd)


def _fpowi(x: Any, n: Any) -> tuple[Any, Scaled]:
    y = two_sum((n >> 32) * 2.0**32, (n & 0xFFFFFFFF) * 1.0)
    return _power((x != 0) & (abs(x) <= _LARGEST), x, y, n & 1 != 0)


def _power(inside: Any, x: Any, y: tuple[Any, Any], is_odd: Any) -> tuple[Any, Scaled]:
    high, low, exponent = exponentials.power(choose(inside, abs(x), np.float64(1)), y)
    sign = choose(is_odd, np.copysign(1.0, x), np.float64(1))
    return inside, (high * sign, low * sign, exponent)


_LEAST = float(np.finfo(np.float64).smallest_subnormal)
_BELOW_ONE = 1 - 2.0**-53
KERNELS: dict[str, Kernel] = {
    **{name: _on(-_LARGEST, _LARGEST, getattr(exponentials, name)) for name in ("exp", "exp2", "expm1", "cosh")},
    **{name: _on(_LEAST, _LARGEST, _pair(getattr(exponentials, name))) for name in ("log", "log2", "log10")},
    "log1p": _on(-_BELOW_ONE, _LARGEST, _pair(exponentials.log1p)),
    "sin": _odd(trigonometry.LARGEST_ANGLE, _pair(trigonometry.sin)),
    "cos": _on(-trigonometry.LARGEST_ANGLE, trigonometry.LARGEST_ANGLE, _pair(trigonometry.cos)),
    "tan": _odd(trigonometry.LARGEST_ANGLE, _pair(trigonometry.tan)),
    "asin": _odd(_BELOW_ONE, _pair(trigonometry.asin)),
    "acos": _on(-_BELOW_ONE, _BELOW_ONE, _pair(trigonometry.acos)),
    "atan": _odd(_LARGEST, _pair(trigonometry.atan)),
    "atan2": _atan2,
    "sinh": _odd(_LARGEST, exponentials.sinh),
    "tanh": _odd(_LARGEST, _pair(exponentials.tanh)),
    "asinh": _odd(_LARGEST, _pair(exponentials.asinh)),
    "acosh": _on(1, _LARGEST, _pair(exponentials.acosh)),
    "atanh": _odd(_BELOW_ONE, _pair(exponentials.atanh)),
    "cbrt": _odd(_LARGEST, exponentials.cbrt, _LEAST),
    "erf": _odd(_LARGEST, error_function.erf, _LEAST),
    "erfc": _on(-_LARGEST, _LARGEST, error_function.erfc),
    "powf": _powf,
    "fpowi": _fpowi,
}
NAMES = tuple(f"math.{name}" for name in (*KERNELS, "sincos"))
