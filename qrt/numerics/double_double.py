"""Double-double arithmetic: numbers as pairs (high, low) of float64, of about 104 significant bits.

The value of a pair is the exact sum ``high + low``, and float64 addition of the two gives ``high``. Only float64
additions, products and quotients are used, each of which IEEE 754 rounds to one value on every machine (NumPy contracts
none to a fused multiply-add). Magnitudes near the ends of float64's range are not supported.

Sources: Dekker, "A floating-point technique for extending the available precision" (1971); Joldes, Muller and Popescu,
"Tight and rigorous error bounds for basic building blocks of double-word arithmetic" (2017).
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.numerics.elements import choose
from qrt.numerics.enclosures import Bounds, rounded

Pair = tuple[Any, Any]

_SPLITTER = float((1 << 27) + 1)


# -- constants ---------------------------------------------------------------------------------------------------------


def pair_of(x: Fraction) -> tuple[float, float]:
    """Return the double-double (high, low) nearest to a rational.

    Both parts are rounded correctly, because Python's division of integers rounds once.
    """
    high = float(x)
    return high, float(x - Fraction(high))


def constant(enclosure: Callable[[int], Bounds]) -> tuple[float, float]:
    """Return the double-double (high, low) nearest to a number, computed from 128 fractional bits of the number.

    ``enclosure(bits)`` returns bounds of the number with that many bits.
    """
    return pair_of(fraction(enclosure, 128))


def fraction(enclosure: Callable[[int], Bounds], bits: int) -> Fraction:
    """Return the nearest multiple of ``2**-bits`` to a number, of which ``enclosure(bits)`` returns bounds."""
    return Fraction(rounded(enclosure, lambda x: round(x * (1 << bits)), bits + 8), 1 << bits)


def parts(x: Fraction, *bits: int) -> list[float]:
    """Return floats whose sum is the positive number ``x``, up to the rounding of the last float.

    The first float is ``x`` truncated to ``bits[0]`` fractional bits. The next one is the remainder truncated to
    ``bits[1]`` fractional bits, and so on. The last one is the final remainder.
    """
    terms = []
    for count in bits:
        part = Fraction(int(x * (1 << count)), 1 << count)
        terms.append(float(part))
        x -= part
    return [*terms, float(x)]


def table(pairs: Iterable[tuple[float, float]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return double-doubles (high, low) as an array of the high parts and an array of the low parts."""
    high, low = zip(*pairs, strict=True)
    return np.array(high), np.array(low)


# -- arithmetic --------------------------------------------------------------------------------------------------------


def normalized(high: Any, low: Any) -> Pair:
    """Return the exact sum of two floats as (high, low), where |high| >= |low| or high is 0 (Fast2Sum)."""
    total = high + low
    return total, low - (total - high)


def two_sum(a: Any, b: Any) -> Pair:
    """Return the exact sum of two floats as a double-double (high, low)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: Any) -> Pair:
    """Return two floats of at most 26 bits whose sum is ``a``, so that products of such halves are exact."""
    scaled = a * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Any, b: Any) -> Pair:
    """Return the exact product of two floats as a double-double (high, low)."""
    product = a * b
    (a1, a0), (b1, b0) = _split(a), _split(b)
    return product, ((a1 * b1 - product) + a1 * b0 + a0 * b1) + a0 * b0


def square(a: Any) -> Pair:
    """Return the exact square of a float as a double-double (high, low)."""
    product = a * a
    a1, a0 = _split(a)
    return product, ((a1 * a1 - product) + 2 * (a1 * a0)) + a0 * a0


def add(x: Pair, y: Pair) -> Pair:
    (high, low), (rest, least) = two_sum(x[0], y[0]), two_sum(x[1], y[1])
    high, low = normalized(high, low + rest)
    return normalized(high, low + least)


def negated(x: Pair) -> Pair:
    return -x[0], -x[1]


def scaled(x: Pair, factor: Any) -> Pair:
    """Return a double-double multiplied by ``factor``, a power of two, which is exact."""
    return x[0] * factor, x[1] * factor


def times(x: Pair, b: Any) -> Pair:
    """Return the product of a double-double and a float as a double-double."""
    high, low = two_product(x[0], b)
    return normalized(high, low + x[1] * b)


def multiply(x: Pair, y: Pair) -> Pair:
    high, low = two_product(x[0], y[0])
    return normalized(high, low + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    quotient = x[0] / y[0]
    product = times(y, quotient)
    rest = (x[0] - product[0]) + (x[1] - product[1])
    return normalized(quotient, rest / y[0])


def sqrt(x: Pair) -> Pair:
    """Return the square root of a positive double-double as a double-double; NaN for zero."""
    root = np.sqrt(x[0])
    product = square(root)
    rest = (x[0] - product[0]) + (x[1] - product[1])
    return normalized(root, rest / (root + root))


def select(condition: Any, x: Pair, y: Pair) -> Pair:
    return choose(condition, x[0], y[0]), choose(condition, x[1], y[1])


def polynomial(x: Any, *coefficients: float) -> Any:
    """Evaluate a polynomial by Horner's scheme in float64; its coefficients begin with the constant term."""
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = value * x + coefficient
    return value


# -- integers and powers of two ----------------------------------------------------------------------------------------


def clamped(x: Any, least: float, greatest: float) -> Any:
    """Clamp a number to two bounds; scalars are compared in Python, because NumPy is slow on them."""
    if x.ndim:
        return np.minimum(np.maximum(x, least), greatest)
    return type(x)(min(max(x, least), greatest))


def power_of_two(k: Any) -> Any:
    """Return ``2**k`` for int64 values that are exponents of normal float64 numbers."""
    return ((k + 1023) << 52).view(np.float64)


def to_odd(high: Any, low: Any) -> Any:
    """Round ``high + low`` to odd in float64: if the sum is inexact, the last bit of the result is set.

    The result can then be rounded to any shorter format as if the exact sum was rounded (Boldo and Melquiond,
    "Emulation of FMA and correctly rounded sums", 2008).
    """
    bits = high.view(np.int64)
    inexact_even = ((low > 0) | (low < 0)) & (bits & 1 == 0)
    away = (low > 0) == (high > 0)
    return (bits + inexact_even * choose(away, np.int64(1), np.int64(-1))).view(np.float64)
