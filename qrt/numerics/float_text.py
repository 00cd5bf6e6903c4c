"""MLIR's float formats: exact rounding, bit patterns, and the text that upstream prints for a value."""

import math
import struct
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

Special = Literal["ieee", "nan", "nan_zero", "none"]
"""The special values of a float format.

Infinities and NaNs (`ieee`), a NaN of all ones (`nan`), a NaN in place of negative zero (`nan_zero`), or none (`none`).
"""


class FloatFormat(NamedTuple):
    """A binary float format, described as in LLVM's APFloat."""

    width: int
    precision: int
    """Bits of the significand, the hidden one included."""
    min_exponent: int
    max_exponent: int
    special: Special = "ieee"
    has_zero: bool = True

    @property
    def smallest(self) -> Fraction:
        """The smallest positive value, subnormal if the format has subnormals."""
        return _power(self.min_exponent - self.precision + 1)

    @property
    def largest(self) -> Fraction:
        """The largest finite value."""
        top = (1 << self.precision) - 1
        if self.special == "nan" and self.precision > 1:
            top -= 1  # the pattern of all ones is the NaN
        return top * _power(self.max_exponent - self.precision + 1)

    def encode(self, value: Fraction, negative: bool = False) -> int:
        """Return the bit pattern of the nonnegative ``value``, rounded to nearest even, with the given sign.

        A value that is too large becomes infinity; NaN if the format has no infinity; the largest value if it has
        neither.
        """
        exponent = max(_floor_log2(value), self.min_exponent) if value else self.min_exponent
        ulp = _power(exponent - self.precision + 1)
        significand = round(value / ulp)  # Fraction rounds half to even
        if significand >> self.precision:
            significand >>= 1
            exponent += 1
        if significand * _power(exponent - self.precision + 1) > self.largest:
            return self._overflow(negative)
        sign = int(negative) << (self.width - 1)
        if not self.has_zero:
            return exponent - self.min_exponent
        if not significand:
            return 0 if self.special == "nan_zero" else sign
        hidden = significand >> (self.precision - 1)
        biased = exponent - self.min_exponent + 1 if hidden else 0
        explicit = self.width == 80  # x87 stores its leading bit
        fraction = significand if explicit else significand & ((1 << (self.precision - 1)) - 1)
        return sign | biased << (self.precision - (0 if explicit else 1)) | fraction

    def decode(self, bits: int) -> Fraction | float:
        """Return the exact value of a bit pattern as a Fraction.

        Zeros (whose sign matters), infinities and NaNs are Python floats.
        """
        if not self.has_zero:
            return math.nan if bits == (1 << self.width) - 1 else _power(bits + self.min_exponent)
        stored = self.precision - (0 if self.width == 80 else 1)
        negative = bits >> (self.width - 1) & 1
        biased = bits >> stored & ((1 << (self.width - 1 - stored)) - 1)
        fraction = bits & ((1 << stored) - 1)
        top = (1 << (self.width - 1 - stored)) - 1
        magnitude = bits & ((1 << (self.width - 1)) - 1)
        if self.special == "ieee" and biased == top:
            payload = fraction & ((1 << (self.precision - 1)) - 1)
            return math.nan if payload else math.copysign(math.inf, -negative)
        if self.special == "nan" and magnitude == (1 << (self.width - 1)) - 1:
            return math.nan
        if magnitude == 0:
            return math.nan if negative and self.special == "nan_zero" else (-0.0 if negative else 0.0)
        if biased and self.width != 80:
            fraction |= 1 << stored
        value = fraction * _power(max(biased, 1) + self.min_exponent - self.precision)
        return -value if negative else value

    def encode_float(self, value: float) -> int:
        """Return the bit pattern of a double rounded to this format.

        A negative double becomes NaN in a format without signs.
        """
        if math.isnan(value) or (value < 0 and not self.has_zero):
            return self._nan()
        if math.isinf(value):
            return self._overflow(value < 0)
        return self.encode(abs(Fraction(value)), math.copysign(1.0, value) < 0)

    def _nan(self) -> int:
        if self.special == "ieee":
            return self._infinity() | 1 << (self.precision - 2)
        if self.special == "nan_zero":
            return 1 << (self.width - 1)
        return (1 << (self.width - 1 if self.has_zero else self.width)) - 1  # `none` has no NaN: its largest

    def _infinity(self) -> int:
        exponent = self.max_exponent - self.min_exponent + 2
        return (exponent << 1 | 1) << 63 if self.width == 80 else exponent << (self.precision - 1)

    def _overflow(self, negative: bool) -> int:
        if self.special == "nan_zero" or not self.has_zero:
            return self._nan()
        return int(negative) << (self.width - 1) | (self._infinity() if self.special == "ieee" else self._nan())


FORMATS = {
    "f16": FloatFormat(16, 11, -14, 15),
    "bf16": FloatFormat(16, 8, -126, 127),
    "f32": FloatFormat(32, 24, -126, 127),
    "f64": FloatFormat(64, 53, -1022, 1023),
    "f80": FloatFormat(80, 64, -16382, 16383),
    "f128": FloatFormat(128, 113, -16382, 16383),
    "tf32": FloatFormat(19, 11, -126, 127),
    "f8E5M2": FloatFormat(8, 3, -14, 15),
    "f8E4M3": FloatFormat(8, 4, -6, 7),
    "f8E3M4": FloatFormat(8, 5, -2, 3),
    "f8E4M3FN": FloatFormat(8, 4, -6, 8, "nan"),
    "f8E5M2FNUZ": FloatFormat(8, 3, -15, 15, "nan_zero"),
    "f8E4M3FNUZ": FloatFormat(8, 4, -7, 7, "nan_zero"),
    "f8E4M3B11FNUZ": FloatFormat(8, 4, -10, 4, "nan_zero"),
    "f8E8M0FNU": FloatFormat(8, 1, -127, 127, "nan", False),
    "f6E3M2FN": FloatFormat(6, 3, -2, 4, "none"),
    "f6E2M3FN": FloatFormat(6, 4, 0, 2, "none"),
    "f4E2M1FN": FloatFormat(4, 2, 0, 2, "none"),
}
"""Every builtin float type of MLIR 22 (APFloat's semantics of the same names)."""

DOUBLE = FORMATS["f64"]


def round_to(value: float, name: str) -> float:
    """Round a finite double to the named format and return the result as a double."""
    if name == "f64":
        return value
    form = FORMATS[name]
    return float(form.decode(form.encode_float(value)))


def spell_double(value: float) -> str:
    """Return the text that upstream prints for a double.

    The text has six digits and an exponent if these read back as the same double, else as many digits as distinguish
    doubles. If the digits have no decimal point, upstream prints the 64-bit pattern instead.

    >>> spell_double(0.5), spell_double(1 / 3), spell_double(1234567.0)
    ('5.000000e-01', '0.33333333333333331', '0x4132D68700000000')
    """
    return spell(struct.unpack(">Q", struct.pack(">d", value))[0], DOUBLE)


@lru_cache(maxsize=4096)
def spell_in(value: float, name: str) -> str:
    """Return the text that upstream prints for a positive double, which is a value of the named format.

    If upstream's text is a bit pattern, or a number outside the format's range, it would not parse as the same value.
    Then the text is that of ``spell_double``.

    >>> spell_in(0.10000000149011612, "f32"), spell_in(16777216.0, "f32")
    ('1.000000e-01', '0x4170000000000000')
    """
    form = FORMATS[name]
    text = spell(form.encode_float(value), form)
    if text.startswith("0x") or not form.smallest <= Fraction(text) <= form.largest:
        return spell_double(value)
    return text


@lru_cache(maxsize=4096)
def spell(bits: int, form: FloatFormat) -> str:
    """Return the text that upstream prints for a bit pattern of a format.

    Source: AsmPrinter's printFloatValue over APFloat::toString. Upstream parses a decimal number as a double. Therefore
    a value that no double has, or a second bit pattern of a value, is printed as bits.
    """
    value = form.decode(bits)
    if isinstance(value, float):
        if value == 0.0:
            return "-0.000000e+00" if math.copysign(1.0, value) < 0 else "0.000000e+00"
        return f"0x{bits:X}"
    sign = "-" if value < 0 else ""
    value = abs(value)
    if form.width > DOUBLE.width and not (_is_double(value) and form.encode(value, bool(sign)) == bits):
        return f"0x{bits:0{form.width // 4}X}"
    digits, exponent = _decimal(value, 6)
    if form.encode(Fraction(digits) * Fraction(10) ** exponent, bool(sign)) == bits:
        return sign + _scientific(str(digits), exponent)
    precision = default_digits(form)
    text = _default(*_decimal(value, precision), precision)
    return sign + text if "." in text else f"0x{bits:X}"


def _is_double(value: Fraction) -> bool:
    """Return True if a double has exactly this positive value."""
    return DOUBLE.smallest <= value <= DOUBLE.largest and Fraction(float(value)) == value


def default_digits(form: FloatFormat) -> int:
    """Return the number of digits that distinguish the values of a format, by APFloat's formula."""
    return 2 + form.precision * 59 // 196


def bits_of_digits(precision: int) -> int:
    """Return the number of bits to which APFloat truncates an integer before it prints ``precision`` decimal digits."""
    return (precision * 196 + 58) // 59


def _decimal(value: Fraction, precision: int) -> tuple[int, int]:
    """Return (digits, exponent) with ``value`` near digits * 10^exponent, by APFloat's two steps.

    APFloat drops decimal digits until the integer has about as many bits as ``precision`` digits need, then rounds half
    up to ``precision`` digits. Because of the first step 0.7 prints as 0.69999999999999996.
    """
    shift = value.denominator.bit_length() - 1
    significand, exponent = value.numerator * 5**shift, -shift
    removable = max(significand.bit_length() - bits_of_digits(precision), 0) * 59 // 196
    significand //= 10**removable
    exponent += removable
    excess = len(str(significand)) - precision
    if excess > 0:
        significand = (significand + 5 * 10 ** (excess - 1)) // 10**excess
        exponent += excess
    while significand % 10 == 0:
        significand //= 10
        exponent += 1
    return significand, exponent


def _scientific(digits: str, exponent: int) -> str:
    exponent += len(digits) - 1
    return f"{digits[0]}.{digits[1:]:0<6}e{exponent:+03d}"


def _default(significand: int, exponent: int, precision: int) -> str:
    """Return the text of APFloat::toString with its default limits.

    The text has an exponent only if a text without it would need more than three zeros of padding.
    """
    digits = str(significand)
    leading = exponent + len(digits)
    if exponent >= 0:
        if exponent > 3 or leading > precision:
            return f"{digits[0]}.{digits[1:] or '0'}E+{leading - 1}"
        return digits + "0" * exponent  # has no '.', so the caller takes the bit pattern
    if leading > 0:
        return f"{digits[:leading]}.{digits[leading:]}"
    if 1 - leading <= 3:
        return f"0.{'0' * -leading}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{leading - 1:+d}"


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= _power(guess) else guess - 1
