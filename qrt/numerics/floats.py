"""Float arithmetic that is exact or rounded once, to nearest even: the same bits on every machine.

f16, f32 and f64 are dtypes of NumPy, bf16 and the 8-bit formats dtypes of ml_dtypes. Both libraries compute f16, bf16
and the 8-bit formats in f32 and round the result. All other formats, and operations that neither library has, are
computed in f64, and `conversions.rounder` rounds the result.

For ``+ - * / sqrt``, computing in a wider format and rounding equals one rounding under two conditions. The wider
format has a precision of at least 2p + 2 bits for the narrower format's precision p (Figueroa, "When is double rounding
innocuous?", 1995). The narrower format's subnormals are normal in the wider one (Roux, "Innocuous double rounding of
basic arithmetic operations", 2014). ``fastmath`` allows other results; it changes none here.
"""

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from qrt.numerics.conversions import rounder, widened
from qrt.numerics.double_double import to_odd, two_sum
from qrt.numerics.elements import Function, choose, is_any
from qrt.numerics.float_text import FORMATS
from qrt.numerics.rounding import round_integral

Make = Callable[[str], Function]
"""A function that returns the function of an op on a float format, given the format's name."""
NATIVE = frozenset({"f16", "f32", "f64"})


def rounded(compute: Function, form: str) -> Function:
    """Return a function that computes ``compute`` in float64 and rounds its result to a format."""
    widen, narrow = widened(form), rounder(form)
    if form == "f64":
        return compute
    return lambda *x: narrow(compute(*[widen(value) for value in x]))


def _in(formats: frozenset[str], compute: Function) -> Make:
    """Return a maker that returns ``compute`` for a format in ``formats``, else ``compute`` in float64, rounded."""
    return lambda form: compute if form in formats else rounded(compute, form)


def _everywhere(compute: Function) -> Make:
    return lambda form: compute


_DIRECT = NATIVE | {"bf16"} | {name for name, form in FORMATS.items() if form.width == 8}


def _extremum(better: Function, of_zeros: Function) -> Function:
    def of_unordered(a: Any, b: Any) -> Any:
        """Return the result for operands of which neither is greater: equal numbers, zeros of either sign, or a NaN."""
        return choose(a != a, a, choose(b != b, b, choose(a != 0, a, of_zeros(a, b))))

    def call(a: Any, b: Any) -> Any:
        first, second = better(a, b), better(b, a)
        if not first.ndim:
            return a if first else b if second else of_unordered(a, b)
        if not is_any((b != b) | (b == 0)):  # a constant bound, nearly always
            return np.where(second, b, a)
        return np.where(first, a, np.where(second, b, of_unordered(a, b)))

    return call


_MAXIMUM = _extremum(operator.gt, operator.add)  # a sum of zeros is negative only if both are
_MINIMUM = _extremum(operator.lt, lambda a, b: -(-a + -b))
"""IEEE 754's maximum and minimum: a NaN if there is one, and -0 below +0."""


def _number(extremum: Function) -> Function:
    """Return the function of maxnum or minnum: ``extremum``, except that a NaN operand gives the other operand."""
    return lambda a, b: choose(a != a, b, choose(b != b, a, extremum(a, b)))


def _clamp(value: Any, low: Any, high: Any) -> Any:
    return _MAXIMUM(_MINIMUM(value, high), low)


def _round_half_away(x: Any) -> Any:
    return round_integral(x, "half_away")[()]


def _rsqrt(form: str) -> Function:
    """Return the function ``1 / sqrt(x)``, with both steps rounded, as upstream expands the op."""
    root, divide = _ROOT(form), _QUOTIENT(form)
    one = rounder(form)(np.float64(1))
    return lambda x: divide(one, root(x))


# -- fused multiply-add ------------------------------------------------------------------------------------------------


def _fma(form: str) -> Function:
    """Return the function ``a * b + c`` with one rounding.

    For f32 and narrower formats the product is exact in float64. The sum is rounded to odd in float64; rounding it
    again to the format then gives the same as one rounding.
    """
    return (lambda a, b, c: _fma_exact(a, b, c)[()]) if form == "f64" else rounded(_fma_to_odd, form)


def _fma_to_odd(a: Any, b: Any, c: Any) -> Any:
    return to_odd(*two_sum(a * b, c))


@partial(np.vectorize, otypes=[np.float64])
def _fma_exact(a: Any, b: Any, c: Any) -> Any:
    plain = a * b + c
    if not (math.isfinite(a) and math.isfinite(b)):
        return plain
    if not math.isfinite(c):
        return c  # the exact product is finite where the rounded one may not be
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if not exact:
        return plain  # the product was exact, and the sum has the right sign of zero
    try:
        return np.float64(exact.numerator / exact.denominator)
    except OverflowError:
        return np.float64(math.inf if exact > 0 else -math.inf)


_ROOT = _in(NATIVE, np.sqrt)
_QUOTIENT = _in(_DIRECT, operator.truediv)

OPS: dict[str, Make] = {
    "arith.addf": _in(_DIRECT, operator.add),
    "arith.subf": _in(_DIRECT, operator.sub),
    "arith.mulf": _in(_DIRECT, operator.mul),
    "arith.divf": _QUOTIENT,
    "arith.remf": _in(NATIVE, np.fmod),  # exact in every format
    "arith.negf": _in(_DIRECT, operator.neg),
    "arith.maximumf": _everywhere(_MAXIMUM),
    "arith.minimumf": _everywhere(_MINIMUM),
    "arith.maxnumf": _everywhere(_number(_MAXIMUM)),
    "arith.minnumf": _everywhere(_number(_MINIMUM)),
    "math.clampf": _everywhere(_clamp),
    "math.absf": _in(_DIRECT, abs),
    "math.copysign": _in(NATIVE, np.copysign),
    "math.ceil": _in(NATIVE, np.ceil),
    "math.floor": _in(NATIVE, np.floor),
    "math.trunc": _in(NATIVE, np.trunc),
    "math.roundeven": _in(NATIVE, np.rint),
    "math.round": lambda form: rounded(_round_half_away, form),
    "math.sqrt": _ROOT,
    "math.rsqrt": _rsqrt,
    "math.fma": _fma,
}
