"""Bounds of elementary functions of rational numbers, to any precision, computed only with integers.

Each function takes rational arguments in its domain and a number of bits, and returns a rational below and one above
the exact value. The relative distance of the two is about ``2**-bits``. For functions that are computed by a
subtraction, the absolute distance is about ``2**-bits`` instead. These functions define the functions of
`transcendental`, compute their tables, and decide the rounding where double-double arithmetic is not precise enough.
They are written for clarity, and are slow.
"""

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isqrt

Bounds = tuple[Fraction, Fraction]

_SATURATED = 2048
"""A number whose ``exp`` overflows every format, and the ``exp`` of whose negative rounds to zero in every format."""


def rounded(enclosure: Callable[[int], Bounds], form: Callable[[Fraction], int], bits: int = 96) -> int:
    """Return a number rounded by ``form``, given a function that returns bounds of the number.

    ``enclosure(bits)`` returns the bounds; ``form`` rounds a rational and is monotonic. ``bits`` doubles until both
    bounds round to the same value.

    >>> rounded(pi, lambda x: round(x * 10**20))
    314159265358979323846
    """
    while True:
        low, high = map(form, enclosure(bits))
        if low == high:
            return low
        bits *= 2


def series(ratio: Callable[[int], tuple[int, int]], bits: int, alternating: bool = False) -> Bounds:
    """Return bounds of ``1 + r(1) + r(1) r(2) + ...``, or of this series with alternating signs.

    ``ratio(n)`` is r(n) as (numerator, denominator); from some n on it must be below a half. Every term is rounded down
    for the lower bound, and up for the upper bound.
    """
    low = high = least = greatest = 1 << bits
    n, above_half = 0, True
    while greatest > 1 or above_half:
        n += 1
        numerator, denominator = ratio(n)
        least = least * numerator // denominator
        greatest = -(-greatest * numerator // denominator)
        above_half = 2 * numerator > denominator
        if alternating and n & 1:
            low, high = low - greatest, high - least
        else:
            low, high = low + least, high + greatest
    # The last term is at most 1, and from there on each is at most half of the one before.
    return Fraction(low - 1, 1 << bits), Fraction(high + 1, 1 << bits)


def _scaled(bounds: Bounds, factor: Fraction) -> Bounds:
    low, high = bounds[0] * factor, bounds[1] * factor
    return (low, high) if factor >= 0 else (high, low)


def _sum(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: Bounds, b: Bounds) -> Bounds:
    return a[0] - b[1], a[1] - b[0]


def _increasing(function: Callable[[Fraction, int], Bounds], x: Bounds, bits: int) -> Bounds:
    return function(x[0], bits)[0], function(x[1], bits)[1]


def sqrt(x: Fraction, bits: int) -> Bounds:
    shift = max(bits - (x.numerator.bit_length() - x.denominator.bit_length()) // 2, 0)
    root = isqrt((x.numerator << 2 * shift) // x.denominator)
    return Fraction(root, 1 << shift), Fraction(root + 1, 1 << shift)


# -- exponentials ------------------------------------------------------------------------------------------------------


def exp(x: Fraction, bits: int) -> Bounds:
    if x < 0:
        low, high = exp(-x, bits)
        return 1 / high, 1 / low
    x = min(x, Fraction(_SATURATED))
    k = x * 10 // 7  # log(2) is a little less than 0.7: what remains is not negative
    rest = _difference((x, x), _scaled(log_two(bits + 16), Fraction(k)))
    low, _ = series(lambda n: (rest[0].numerator, rest[0].denominator * n), bits)
    _, high = series(lambda n: (rest[1].numerator, rest[1].denominator * n), bits)
    return low * (1 << k), high * (1 << k)


def expm1(x: Fraction, bits: int) -> Bounds:
    low, high = exp(x, bits)
    return low - 1, high - 1


def sinh(x: Fraction, bits: int) -> Bounds:
    low, high = exp(x, bits)
    return (low - 1 / low) / 2, (high - 1 / high) / 2


def cosh(x: Fraction, bits: int) -> Bounds:
    low, high = exp(abs(x), bits)
    low = max(low, Fraction(1))
    return (low + 1 / low) / 2, (high + 1 / high) / 2


def tanh(x: Fraction, bits: int) -> Bounds:
    low, high = exp(2 * x, bits)
    return 1 - 2 / (low + 1), 1 - 2 / (high + 1)


# -- logarithms --------------------------------------------------------------------------------------------------------


def _twice_atanh(z: Fraction, bits: int) -> Bounds:
    """Return bounds of ``2 atanh(z)`` for |z| up to 1/3."""
    square = z * z
    terms = series(lambda n: (square.numerator * (2 * n - 1), square.denominator * (2 * n + 1)), bits)
    return _scaled(terms, 2 * z)


@lru_cache(maxsize=8)
def log_two(bits: int) -> Bounds:
    return _twice_atanh(Fraction(1, 3), bits)


def log(x: Fraction, bits: int) -> Bounds:
    k = x.numerator.bit_length() - x.denominator.bit_length()
    m = x / (1 << k) if k >= 0 else x * (1 << -k)
    if 3 * m > 4:
        k, m = k + 1, m / 2
    elif 3 * m < 2:
        k, m = k - 1, m * 2
    return _sum(_scaled(log_two(bits), Fraction(k)), _twice_atanh((m - 1) / (m + 1), bits))


def log1p(x: Fraction, bits: int) -> Bounds:
    return log(1 + x, bits)


def _logarithm(base: int) -> Callable[[Fraction, int], Bounds]:
    def enclosure(x: Fraction, bits: int) -> Bounds:
        (low, high), divisor = log(x, bits), log(Fraction(base), bits)
        quotients = [a / b for a in (low, high) for b in divisor]
        whole = round(sum(quotients) / 4)
        if abs(whole) <= 2 * _SATURATED and x == Fraction(base) ** whole:
            return Fraction(whole), Fraction(whole)  # all others are irrational
        return min(quotients), max(quotients)

    return enclosure


log2, log10 = _logarithm(2), _logarithm(10)


def asinh(x: Fraction, bits: int) -> Bounds:
    root = sqrt(x * x + 1, bits)
    return _increasing(log, (x + root[0], x + root[1]), bits)


def acosh(x: Fraction, bits: int) -> Bounds:
    root = sqrt(x * x - 1, bits)
    return _increasing(log, (x + root[0], x + root[1]), bits)


def atanh(x: Fraction, bits: int) -> Bounds:
    return _scaled(log((1 + x) / (1 - x), bits), Fraction(1, 2))


# -- powers ------------------------------------------------------------------------------------------------------------


def power(base: Fraction, exponent: Fraction, bits: int) -> Bounds:
    """Return bounds of ``base ** exponent`` for a positive base whose denominator is a power of two."""
    exact = _exact_power(base, exponent)
    if exact is not None:
        return exact, exact
    low, high = _scaled(log(base, bits + 16), exponent)
    return _increasing(exp, (low, high), bits)


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return ``base ** exponent`` if it is a rational of at most 64 significant bits, else None.

    Such a power may lie half way between two numbers of a format, so that bounds never agree on its rounding. All other
    powers are irrational, or have too many bits to lie half way.
    """
    degree, shift = (
        exponent.denominator,
        (base.numerator & -base.numerator).bit_length() - base.denominator.bit_length(),
    )
    odd = base.numerator >> max(shift, 0)
    if shift * exponent.numerator % degree or (odd > 1 and (exponent < 0 or degree > 64)):
        return None
    root = odd if odd == 1 else bisect_left(range(odd), odd, key=lambda r: r**degree)
    if root > 1 and (root**degree != odd or (root.bit_length() - 1) * exponent.numerator > 64):
        return None
    scale = shift * exponent.numerator // degree
    if abs(scale) > 2 * _SATURATED:
        return None
    return Fraction(root**exponent.numerator if root > 1 else 1) * Fraction(2) ** scale


def exp2(x: Fraction, bits: int) -> Bounds:
    return power(Fraction(2), x, bits)


def cbrt(x: Fraction, bits: int) -> Bounds:
    return power(x, Fraction(1, 3), bits)


# -- circular functions ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def pi(bits: int) -> Bounds:
    """Return bounds of pi, by Machin's formula."""
    return _scaled(
        _difference(_scaled(atan(Fraction(1, 5), bits), Fraction(4)), atan(Fraction(1, 239), bits)), Fraction(4)
    )


def sin(x: Fraction, bits: int) -> Bounds:
    return _circular(x, bits, 0)


def cos(x: Fraction, bits: int) -> Bounds:
    return _circular(x, bits, 1)


def _circular(x: Fraction, bits: int, quarters: int) -> Bounds:
    """Return bounds of ``sin(x + quarters * pi / 2)``."""
    half_pi = _scaled(pi(bits + (abs(x.numerator) // x.denominator).bit_length()), Fraction(1, 2))
    k = round(x / half_pi[0])
    rest = _difference((x, x), _scaled(half_pi, Fraction(k)))
    at, width = rest[0], rest[1] - rest[0]
    square, odd = at * at, (k + quarters) % 2 == 0
    terms = series(lambda n: (square.numerator, square.denominator * 2 * n * (2 * n + (1 if odd else -1))), bits, True)
    low, high = _scaled(terms, at) if odd else terms
    return _scaled((low - width, high + width), Fraction(1 - (k + quarters) % 4 // 2 * 2))


def tan(x: Fraction, bits: int) -> Bounds:
    sine, cosine = sin(x, bits), cos(x, bits)
    if cosine[0] <= 0 <= cosine[1]:
        return tan(x, 2 * bits)
    quotients = [a / b for a in sine for b in cosine]
    return min(quotients), max(quotients)


def atan(x: Fraction, bits: int) -> Bounds:
    """Return bounds of the arctangent of a nonnegative number, by Euler's series."""
    if x > 1:
        return _difference(_scaled(pi(bits), Fraction(1, 2)), atan(1 / x, bits))
    tangent = x / (1 + x * x)
    ratio = x * tangent
    return _scaled(series(lambda n: (ratio.numerator * 2 * n, ratio.denominator * (2 * n + 1)), bits), tangent)


def asin(x: Fraction, bits: int) -> Bounds:
    return _difference(_scaled(pi(bits), Fraction(1, 2)), acos(x, bits)) if 2 * x > 1 else _asin(x, bits)


def _asin(x: Fraction, bits: int) -> Bounds:
    low, high = sqrt(1 - x * x, bits)
    return _increasing(atan, (x / high, x / low), bits)


def acos(x: Fraction, bits: int) -> Bounds:
    if x < 0:
        return _difference(pi(bits), acos(-x, bits))
    low, high = sqrt((1 - x) / 2, bits) if x < 1 else (Fraction(0), Fraction(0))
    return _scaled((_asin(low, bits)[0], _asin(high, bits)[1]), Fraction(2))


def atan2(y: Fraction, x: Fraction, bits: int) -> Bounds:
    """Return bounds of the angle of the point (x, y), where y is nonnegative, and x and y are not both zero."""
    if x < 0:
        return _difference(pi(bits), atan2(y, -x, bits))
    return atan(y / x, bits) if x else _scaled(pi(bits), Fraction(1, 2))


# -- the error function ------------------------------------------------------------------------------------------------


def erf(x: Fraction, bits: int) -> Bounds:
    """Return bounds of the error function of a nonnegative number."""
    x = min(x, Fraction(40))
    square = x * x
    terms = series(lambda n: (2 * square.numerator, square.denominator * (2 * n + 1)), bits)
    low, high = exp(-square, bits)
    least, greatest = _increasing(sqrt, pi(bits), bits)
    return terms[0] * low * 2 * x / greatest, terms[1] * high * 2 * x / least


def erfc(x: Fraction, bits: int) -> Bounds:
    if x < 0:
        low, high = erf(-x, bits)
        return 1 + low, 1 + high
    x = min(x, Fraction(40))
    low, high = erf(x, bits + int(x * x * 3 / 2) + 8)  # erfc(x) is about exp(-x * x)
    return 1 - high, 1 - low
