"""Decimal texts of arrays of floats, as `float_text.spell_in` writes each value, but with 64-bit integers.

``spell_in`` truncates the exact value to about 6 decimal digits. If these do not read back as the value, it truncates
the value to as many digits as distinguish it from its neighbours. This module truncates each value once, to 17 digits
or a few more, and truncates these digits for shorter texts. The results are the same.
"""

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qrt.numerics.float_text import DOUBLE, FORMATS, FloatFormat, bits_of_digits, default_digits, spell_in
from qrt.numerics.powers_of_ten import EXACT_POWERS, LEAST_POWER, powers_of_five, reciprocals_of_tens

Array = npt.NDArray[Any]

_FEW = 16
"""The number of values up to which spelling them one by one is faster."""
_CHUNK = 1 << 16  # values whose temporary arrays stay in the cache
_SHORT, _LONG = 6, 17  # digits: of the first try, and of a double
_TENS = np.array([10**k for k in range(19)])
_EXACT_TENS = np.array([float(10**k) for k in range(23)])
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def spell_all(values: Array, name: str) -> list[str]:
    """Return ``spell_in`` of each value. The values are positive finite doubles that the format represents."""
    form = FORMATS[name]
    if len(values) <= _FEW or form.precision > DOUBLE.precision:
        return [spell_in(value, name) for value in values.tolist()]
    chunks = (values[start : start + _CHUNK] for start in range(0, len(values), _CHUNK))
    return [*chain.from_iterable(_spell_chunk(chunk, name) for chunk in chunks)]


def nearest(values: Array, form: FloatFormat) -> tuple[Array, Array]:
    """Round positive doubles to a format, to nearest even, as if the format had no largest value.

    Returns the rounded values, and True for each value that lies half way between two values of the format.
    """
    if form.precision >= DOUBLE.precision:
        return values, np.zeros(values.shape, bool)
    quantum = np.maximum(np.frexp(values)[1] - 1, form.min_exponent) - (form.precision - 1)
    scaled = np.ldexp(values, -quantum)
    whole = np.rint(scaled)
    return np.ldexp(whole, quantum), np.abs(scaled - whole) == 0.5


# -- digits ------------------------------------------------------------------------------------------------------------


class _ScaledFloor(NamedTuple):
    """Doubles truncated to about 17 decimal digits: the integers ``floor(value / 10^power)``.

    An integer may be 1 too large where ``sure`` is false. ``shift`` is the least exponent with which ``value *
    10^shift`` is an integer; this integer has ``bits`` bits.
    """

    floor: Array
    power: Array
    sure: Array
    bits: Array
    shift: Array

    def rounded(self, precision: int) -> tuple[Array, Array]:
        """Return (digits, exponent) as ``float_text._decimal`` does, without trailing zeros."""
        power = _removed(self.bits, precision) - self.shift
        digits = self.floor // _TENS[power - self.power]
        excess = np.maximum(_length(digits) - precision, 0)
        digits = (digits + _TENS[excess] // 2) // _TENS[excess]
        exponent = power + excess
        zeros = np.flatnonzero(digits % 10 == 0)
        while zeros.size:
            digits[zeros] //= 10
            exponent[zeros] += 1
            zeros = zeros[digits[zeros] % 10 == 0]
        return digits, exponent


def _cut(values: Array) -> _ScaledFloor:
    fraction, exponent = np.frexp(values)
    significand = np.ldexp(fraction, 53).astype(np.int64)
    exponent = exponent.astype(np.int64) - 53
    trailing = np.frexp((significand & -significand).astype(np.float64))[1] - 1
    shift = np.maximum(-(exponent + trailing), 0)
    lengths, carries = powers_of_five()
    bits = 52 + exponent + shift + lengths[shift] + (significand >= carries[shift])
    power = _removed(bits, _LONG) - shift
    high, low, scale = (column[power - LEAST_POWER] for column in reciprocals_of_tens())
    floor, ends_in_zeros = _product(significand.astype(np.uint64), high, low, -(exponent + scale))
    exact = (power >= EXACT_POWERS[0]) & (power <= EXACT_POWERS[1])
    return _ScaledFloor(floor, power, exact | ~ends_in_zeros, bits, shift)


def _removed(bits: Array, precision: int) -> Array:
    """Return the number of decimal digits that ``float_text._decimal`` drops from an integer of ``bits`` bits."""
    removed: Array = np.maximum(bits - bits_of_digits(precision), 0) * 59 // 196
    return removed


def _length(digits: Array) -> Array:
    return np.searchsorted(_TENS, digits, side="right")


def _product(significand: Array, high: Array, low: Array, shift: Array) -> tuple[Array, Array]:
    """Return ``significand * (high * 2^64 + low) >> shift``, for shifts of 119 to 180 bits.

    The second result is an array of bools: True if the most significant of the bits that the shift drops are all 0.
    """
    top, middle = _multiply(significand, high)
    carry = _multiply(significand, low)[0]
    middle = middle + carry
    top = top + (middle < carry)
    wide = shift >= 128
    left = np.where(wide, 0, 128 - shift).astype(np.uint64)  # 0 to 9
    right = np.where(wide, shift - 128, 0).astype(np.uint64)
    lower = np.where(wide, np.uint64(0), middle >> np.uint64(1) >> (np.uint64(63) - left))
    return ((top >> right << left) | lower).astype(np.int64), middle << left == 0


def _multiply(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the upper and the lower 64 bits of the product of two uint64 arrays."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low, cross, other = a0 * b0, a1 * b0, a0 * b1
    middle = (low >> _HALF) + (cross & _LOW) + (other & _LOW)
    return a1 * b1 + (cross >> _HALF) + (other >> _HALF) + (middle >> _HALF), middle << _HALF | (low & _LOW)


def _read_back(
    values: Array, cut: _ScaledFloor, digits: Array, exponent: Array, form: FloatFormat
) -> tuple[Array, Array]:
    """Return (True where ``digits * 10^exponent`` rounds to its value in the format, True where that is certain).

    The number is first rounded to a double, then to the format. The result is uncertain only if the double lies half
    way between two values of the format: rounding to a double never moves a number across such a midpoint, because each
    midpoint is itself a double.
    """
    tens = _EXACT_TENS[np.minimum(np.abs(exponent), 22)]
    doubles = np.where(exponent < 0, digits / tens, digits * tens)  # rounded once: both factors are exact
    far = np.abs(exponent) > 22
    if far.any():
        distance = np.abs(digits * _TENS[exponent - cut.power] - cut.floor)
        may = far & ((distance <= (cut.floor >> form.precision) + 2) | (np.frexp(values)[1] <= form.min_exponent))
        doubles[far] = np.nan
        doubles[may] = [float(f"{d}e{e}") for d, e in zip(digits[may].tolist(), exponent[may].tolist(), strict=True)]
    rounded, is_middle = nearest(doubles, form)
    return rounded == values, ~is_middle


# -- text --------------------------------------------------------------------------------------------------------------

_SIX, _POINT, _EXPONENT, _PATTERN, _ALONE = range(5)
"""Notations of a value; the last one marks values that are left to ``spell_in``.

The others are six digits and an exponent; all digits with a decimal point; all digits with an exponent; and the bit
pattern.
"""
_KIND = 4096  # above every exponent


def _spell_chunk(values: Array, name: str) -> list[str]:
    form = FORMATS[name]
    cut = _cut(values)
    digits, exponent = cut.rounded(_SHORT)
    is_short, sure = _read_back(values, cut, digits, exponent, form)
    kind = np.full(values.shape, _SIX)
    long = np.flatnonzero(~is_short)
    if long.size:
        precision = default_digits(form)
        digits[long], exponent[long] = (of[long] for of in cut.rounded(precision))
        leading = exponent + _length(digits)
        whole = np.where((exponent > 3) | (leading > precision), _EXPONENT, _PATTERN)
        broken = np.where(leading < -2, _EXPONENT, _POINT)
        kind[long] = np.where(exponent >= 0, whole, broken)[long]
    ends = float(form.smallest), float(form.largest)
    kind[~(sure & cut.sure) | (values == ends[0]) | (values == ends[1])] = _ALONE
    groups = kind * _KIND + exponent + _length(digits) + _KIND // 2
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1)).tolist()
    texts = np.empty(values.shape, object)
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        group = order[start:end]
        kind_here, leading_here = divmod(int(groups[group[0]]), _KIND)
        if kind_here in (_PATTERN, _ALONE):
            texts[group] = _spell_others(values[group], name, kind_here == _PATTERN)
        else:
            texts[group] = _spell_group(kind_here, leading_here - _KIND // 2, digits[group])
    return [*texts]


def _spell_others(values: Array, name: str, as_patterns: bool) -> list[str]:
    if not as_patterns:
        return [spell_in(value, name) for value in values.tolist()]
    if name != "f64":
        return spell_all(values, "f64")
    return [f"0x{bits:X}" for bits in values.view(np.uint64).tolist()]


def _spell_group(kind: int, leading: int, digits: Array) -> list[str]:
    """Return the texts of digits in one notation (``kind``), with ``leading`` digits before the decimal point."""
    if kind == _SIX:
        suffix = f"e{leading - 1:+03d}"
        digits = digits * _TENS[_SHORT + 1 - _length(digits)]
    elif kind == _EXPONENT:
        suffix = f"E{leading - 1:+d}"
        digits = np.where(digits < 10, digits * 10, digits)
    texts = map(str, digits.tolist())
    if kind != _POINT:
        return [f"{text[0]}.{text[1:]}{suffix}" for text in texts]
    if leading > 0:
        return [f"{text[:leading]}.{text[leading:]}" for text in texts]
    prefix = f"0.{'0' * -leading}"
    return [prefix + text for text in texts]
