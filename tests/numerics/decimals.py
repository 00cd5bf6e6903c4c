"""Elementary functions of Python's `decimal`, as a referee: exp and ln are its own, the others are spelled here. They
share neither series nor arithmetic with `qrt.numerics.enclosures`."""

import decimal
from decimal import Decimal
from functools import lru_cache

DIGITS = 60
"""Significant digits of every result, and more."""


def _with_digits(digits):
    return decimal.localcontext(decimal.Context(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX))


@lru_cache(maxsize=8)
def _pi(digits):
    """The Gauss-Legendre iteration."""
    with _with_digits(digits + 10):
        a, b, t, p = Decimal(1), Decimal("0.5").sqrt(), Decimal("0.25"), 1
        for _ in range(digits.bit_length() + 1):
            a, b, t, p = (a + b) / 2, (a * b).sqrt(), t - p * ((a - b) / 2) ** 2, 2 * p
        return (a + b) ** 2 / (4 * t)


def _taylor(x, least, even):
    """The sine or the cosine of a small number."""
    term = total = Decimal(1) if even else x
    n = 0 if even else 1
    while abs(term) > least:
        term *= -x * x / ((n + 1) * (n + 2))
        total, n = total + term, n + 2
    return total


def _sine(x, quarters, digits):
    """Of x and a number of quarters of a turn."""
    k = int((x / (_pi(digits) / 2)).to_integral_value())
    rest = x - k * _pi(digits) / 2
    value = _taylor(rest, Decimal(10) ** -digits, (k + quarters) % 2 == 1)
    return -value if (k + quarters) % 4 > 1 else value


def _atan(x, digits):
    if x > 1:
        return _pi(digits) / 2 - _atan(1 / x, digits)
    halvings = 8
    for _ in range(halvings):
        x = x / (1 + (1 + x * x).sqrt())
    term, total, n = x, x, 1
    while term and abs(term) > Decimal(10) ** -digits * abs(total):
        term *= -x * x
        n += 2
        total += term / n
    return total * 2**halvings


def _atan2(y, x, digits):
    if x < 0:
        return _pi(digits) - _atan2(y, -x, digits)
    return _atan(y / x, digits) if x else _pi(digits) / 2


def _erf(x, digits):
    term = total = x
    n = 0
    while abs(term) > Decimal(10) ** -digits:
        n += 1
        term *= -x * x / n
        total += term / (2 * n + 1)
    return total * 2 / _pi(digits).sqrt()


_FUNCTIONS = {
    "exp": lambda x, n: x.exp(),
    "exp2": lambda x, n: (x * Decimal(2).ln()).exp(),
    "expm1": lambda x, n: x.exp() - 1,
    "sinh": lambda x, n: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x, n: (x.exp() + (-x).exp()) / 2,
    "tanh": lambda x, n: 1 - 2 / ((2 * x).exp() + 1),
    "log": lambda x, n: x.ln(),
    "log2": lambda x, n: x.ln() / Decimal(2).ln(),
    "log10": lambda x, n: x.log10(),
    "log1p": lambda x, n: (1 + x).ln(),
    "asinh": lambda x, n: (x + (x * x + 1).sqrt()).ln() if x >= 0 else -(-x + (x * x + 1).sqrt()).ln(),
    "acosh": lambda x, n: (x + (x * x - 1).sqrt()).ln(),
    "atanh": lambda x, n: ((1 + x) / (1 - x)).ln() / 2,
    "sin": lambda x, n: _sine(x, 0, n),
    "cos": lambda x, n: _sine(x, 1, n),
    "tan": lambda x, n: _sine(x, 0, n) / _sine(x, 1, n),
    "asin": lambda x, n: _atan2(abs(x), (1 - x * x).sqrt(), n).copy_sign(x),
    "acos": lambda x, n: _atan2((1 - x * x).sqrt(), x, n),
    "atan": lambda x, n: _atan(abs(x), n).copy_sign(x),
    "atan2": lambda y, x, n: _atan2(abs(y), x, n).copy_sign(y),
    "erf": lambda x, n: _erf(min(max(x, Decimal(-12)), Decimal(12)), n),
    "erfc": lambda x, n: 1 - _erf(min(max(x, Decimal(-12)), Decimal(28)), n),
    "cbrt": lambda x, n: (abs(x).ln() / 3).exp().copy_sign(x),
    "powf": lambda x, y, n: (abs(x).ln() * y).exp().copy_sign(x if y % 2 else Decimal(1)),
}
_FUNCTIONS["fpowi"] = _FUNCTIONS["powf"]


def value(name, *x):
    """A function of float64 numbers (the exponent of fpowi an int) in `DIGITS` digits and more."""
    x = [Decimal(number) for number in x]
    large = max(number.adjusted() for number in x)
    digits = DIGITS + (350 if large > 3 or min(number.adjusted() for number in x) < -10 else 30)
    if name in ("erf", "erfc"):
        digits += int(min(abs(x[0]), 28) ** 2)  # terms grow to exp(x^2), and the result is as small
    with _with_digits(digits):
        return +_FUNCTIONS[name](*x, digits)
