"""Transcendental functions of scalar arguments, rounded once; slow, but always correct.

If an argument or the result is not finite, C's Annex F determines the result; `enclosures` computes all others.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from qrt.numerics import enclosures
from qrt.numerics.enclosures import Bounds
from qrt.numerics.float_text import FloatFormat

ODD = frozenset({"sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "cbrt", "erf"})
_AT_INFINITIES = {
    **dict.fromkeys(("exp", "exp2"), (0.0, math.inf)),
    "expm1": (-1.0, math.inf),
    **dict.fromkeys(("sinh", "asinh", "cbrt", "cosh"), (math.inf, math.inf)),
    **dict.fromkeys(("tanh", "erf"), (1.0, 1.0)),
    "erfc": (2.0, 0.0),
    **dict.fromkeys(("log", "log2", "log10", "log1p", "acosh"), (math.nan, math.inf)),
}
"""The values at minus and plus infinity. Functions that are not listed have no value there, except atan."""
_DOMAINS = {
    **dict.fromkeys(("log", "log2", "log10"), (0, math.inf)),
    "log1p": (-1, math.inf),
    "acosh": (1, math.inf),
    **dict.fromkeys(("asin", "acos", "atanh"), (-1, 1)),
}
_POLES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("log", "log2", "log10"), (0, -math.inf)),
    "log1p": (-1, -math.inf),
    "atanh": (1, math.inf),
}
"""The argument at which a function is infinite, and that infinity."""


def evaluate(name: str, form: FloatFormat, *x: Any) -> float:
    """Return the value of a function of `math`, named without its prefix, rounded once to a format.

    Arguments are float64 numbers (the exponent of ``fpowi`` is an int); the result is a float64.

    >>> from qrt.numerics.float_text import FORMATS
    >>> evaluate("exp", FORMATS["f32"], 1.0), evaluate("fpowi", FORMATS["f64"], -1.0, 2**53 + 1)
    (2.7182817459106445, -1.0)
    """
    if name in ("powf", "fpowi"):
        return _power(form, *x)
    if any(value != value for value in x):
        return math.nan
    if name == "atan2":
        return _atan2(form, *x)
    if name in ODD:
        magnitude = _at(name, form, abs(x[0]))
        return -magnitude if math.copysign(1.0, x[0]) < 0 else magnitude
    return _at(name, form, x[0])


def _rounded(form: FloatFormat, enclosure: Callable[[int], Bounds]) -> float:
    return float(form.decode(enclosures.rounded(enclosure, lambda value: form.encode(abs(value), value < 0))))


def _at(name: str, form: FloatFormat, x: float) -> float:
    least, greatest = _DOMAINS.get(name, (-math.inf, math.inf))
    if not least <= x <= greatest:
        return math.nan
    if name in _POLES and x == _POLES[name][0]:
        return _POLES[name][1]
    if x == 0 and (name in ODD or name in ("expm1", "log1p")):
        return x
    if not math.isinf(x):
        return _rounded(form, lambda bits: getattr(enclosures, name)(Fraction(x), bits))
    if name == "atan":
        return _atan2(form, x, 0.0)
    return _AT_INFINITIES.get(name, (math.nan, math.nan))[x > 0]


def _atan2(form: FloatFormat, y: float, x: float) -> float:
    a, b = abs(y), abs(x)
    if math.isinf(a) or math.isinf(b):
        a, b = float(math.isinf(a)), float(math.isinf(b))
    is_left = math.copysign(1.0, x) < 0
    if a == 0:
        b = 1.0
    if a == 0 and not is_left:
        return math.copysign(0.0, y)
    angle = _rounded(form, lambda bits: enclosures.atan2(Fraction(a), Fraction(-b if is_left else b), bits))
    return math.copysign(angle, y)


def _power(form: FloatFormat, x: float, y: float | int) -> float:
    if y == 0 or x == 1:
        return 1.0
    if x != x or y != y:
        return math.nan
    is_integer = math.isinf(y) or y == int(y)
    if -math.inf < x < 0 and not is_integer:
        return math.nan
    magnitude = _power_of_magnitude(form, abs(x), y)
    is_odd = math.isfinite(y) and is_integer and int(y) & 1
    return math.copysign(magnitude, x) if is_odd else magnitude


def _power_of_magnitude(form: FloatFormat, x: float, y: float | int) -> float:
    if x == 1:
        return 1.0
    if x == 0 or math.isinf(x) or math.isinf(y):
        return math.inf if (x > 1) == (y > 0) else 0.0
    return _rounded(form, lambda bits: enclosures.power(Fraction(x), Fraction(y), bits))
