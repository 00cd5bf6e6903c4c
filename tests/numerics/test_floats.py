"""Float ops of arith and math against exact Fractions: every pair of the 8-bit formats and smaller, hostile and random
values of the others. Hazards: rounding twice, signs of zeros, NaNs, formats without infinities or NaNs, overflow."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from qrt.errors import QuantTypeError, UndefinedError
from qrt.numerics import floats
from qrt.numerics.float_text import FORMATS
from qrt.ops import elementwise
from qrt.ops.core import expressed_dtype
from qrt.types import FloatType
from tests.numerics.scalars import arithmetic, extremum, number, rounded

ARITHMETIC = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf")
EXTREMA = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
SMALL = [name for name, form in FORMATS.items() if form.width <= 8 and form.has_zero]
WIDE = ("f16", "bf16", "tf32", "f32", "f64")


def bind(name, format, arity):
    t = FloatType(format)
    return elementwise.bind(name, [t] * arity, [t])


def values(bits, format):
    """Bit patterns as values in the dtype that holds them."""
    dtype = expressed_dtype(FloatType(format))
    bits = np.asarray(bits, np.uint64)
    return (bits << 13 if format == "tf32" else bits).astype(f"u{dtype.itemsize}").view(dtype)


def patterns(array, format):
    bits = np.asarray(array).view(f"u{array.dtype.itemsize}")
    return (bits >> 13 if format == "tf32" else bits).astype(np.uint64)


def all_bits(format):
    return range(1 << FORMATS[format].width)


def hostile_bits(format, seed=0, draws=24):
    """Zeros, the ends of the subnormal and normal ranges, ones, infinities, NaNs, halfway points, random patterns."""
    form = FORMATS[format]
    fraction = form.precision - 1
    one = form.encode(Fraction(1))
    largest = form.encode(form.largest)
    positive = [0, 1, (1 << fraction) - 1, 1 << fraction, one - 1, one, one + 1, one + (1 << fraction - 1), largest]
    if form.special == "ieee":
        positive += [largest + 1, largest + 1 + (1 << fraction - 1)]
    rng = np.random.default_rng(seed)
    near_one = one + rng.integers(-(1 << fraction + 1), 1 << fraction + 1, draws)
    anywhere = rng.integers(0, 1 << form.width - 1, draws)
    both = [*positive, *map(int, near_one), *map(int, anywhere)]
    return [bits | sign << form.width - 1 for bits in both for sign in (0, 1)]


def same(results, expected, form):
    """Equal bits, any NaN equal to any."""
    for got, wanted in zip(results, expected, strict=True):
        got, wanted = int(got), int(wanted)
        if got != wanted and not (math.isnan(form.decode(got)) and math.isnan(form.decode(wanted))):
            return False
    return True


def disagreements(name, format, cases, expected):
    """Cases in which an op on arrays gives other bits."""
    form = FORMATS[format]
    with np.errstate(all="ignore"):
        result = bind(name, format, len(cases[0]))(*(values(column, format) for column in zip(*cases, strict=True)))
    assert result.dtype == expressed_dtype(FloatType(format))
    got = patterns(result, format)
    return [
        (cases[i], int(got[i]), expected[i])
        for i in np.flatnonzero(got != np.array(expected, np.uint64))
        if not same([got[i]], [expected[i]], form)
    ]


def is_defined(name, form, case):
    """Formats without NaNs have no quotient by zero."""
    return form.special != "none" or name not in ("arith.divf", "arith.remf") or bool(form.decode(case[1]))


_IN_FLOAT64 = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
}
"""Exact for operands of so few bits; a quotient is exact, or further than 2^-53 of itself from any halfway point."""


def nearest(exact, form):
    """Bits of doubles that are not zero, by the halfway points between all values: ties to even bits."""
    last = form.encode(form.largest)
    every = [float(form.decode(bits)) for bits in range(last + 1)]
    every = np.array([*every, 2 * every[-1] - every[-2]])  # what lies one step beyond the largest
    halfway = (every[1:] + every[:-1]) / 2
    magnitude = np.abs(exact)
    below = np.searchsorted(halfway, magnitude)
    is_tie = halfway[np.minimum(below, last)] == magnitude
    bits = below + (is_tie & (below % 2 == 1))
    top = 1 << (form.width - 1)
    signed = bits + np.where((exact < 0) & ((bits > 0) | (form.special != "nan_zero")), top, 0)
    overflow = np.where(exact < 0, form.encode_float(-math.inf), form.encode_float(math.inf))
    return np.where(bits > last, overflow, signed)


@pytest.mark.parametrize("format", SMALL)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_on_every_pair(name, format):
    form = FORMATS[format]
    decoded = [form.decode(bits) for bits in range(1 << form.width)]
    cases = [case for case in itertools.product(range(1 << form.width), repeat=2) if is_defined(name, form, case)]
    left, right = np.array(cases).T
    doubles = np.array(decoded, np.float64)
    with np.errstate(all="ignore"):
        exact = _IN_FLOAT64[name](doubles[left], doubles[right])
        plain = np.isfinite(exact) & (exact != 0) & np.isfinite(doubles[left]) & np.isfinite(doubles[right])
    expected = np.zeros(len(cases), np.uint64)
    expected[plain] = nearest(exact[plain], form)
    for i in np.flatnonzero(~plain):  # zeros have signs of their own; infinities and NaNs
        expected[i] = arithmetic(name, form, decoded[left[i]], decoded[right[i]])
    assert not disagreements(name, format, cases, expected)[:5]


@pytest.mark.parametrize("format", WIDE)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_on_hostile_values(name, format):
    form, bits = FORMATS[format], hostile_bits(format, draws=3)
    cases = list(itertools.product(bits, bits))
    expected = [arithmetic(name, form, *map(form.decode, case)) for case in cases]
    assert not disagreements(name, format, cases, expected)[:5]


@pytest.mark.parametrize("format", ["f8E5M2", "f8E4M3FN", *WIDE])
def test_fma_is_rounded_once(format):
    form, bits = FORMATS[format], hostile_bits(format)
    rng = np.random.default_rng(1)
    cases = [tuple(bits[i] for i in rng.integers(0, len(bits), 3)) for _ in range(1000)]
    expected = [arithmetic("math.fma", form, *map(form.decode, case)) for case in cases]
    assert not disagreements("math.fma", format, cases, expected)[:5]


def test_fma_of_halfway_cases():
    """2^24 + 1 is halfway in f32: a far smaller addend decides, which f64 has lost."""
    f = bind("math.fma", "f32", 3)
    a, b = np.float32(4097.0), np.float32(4095.0)  # the product is 2^24 - 1
    with np.errstate(all="ignore"):
        for c in (2.0, 2.0000002, 1.9999999):
            c = np.float32(c)
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            assert patterns(f(a, b, c), "f32") == rounded(exact, FORMATS["f32"])
        tiny, halfway = np.float32(2.0**-100), np.float32(2.0**24 + 2)
        assert f(np.float32(1.0), np.float32(1.0), halfway) == np.float32(2.0**24 + 4)
        assert f(tiny, tiny, np.float32(1.0)) == 1.0


def test_fma_of_an_infinite_addend():
    """The product is finite: rounded by itself it would be an infinity of the other sign."""
    largest = np.float64(np.finfo(np.float64).max)
    with np.errstate(all="ignore"):
        assert bind("math.fma", "f64", 3)(-largest, largest, np.float64(np.inf)) == np.inf


@pytest.mark.parametrize("format", ["f8E4M3FNUZ", "f8E5M2", "f6E2M3FN", *WIDE])
@pytest.mark.parametrize("name", EXTREMA)
def test_extrema(name, format):
    """Of arrays, of scalars, and of arrays and one bound, which may be a NaN or a zero."""
    form = FORMATS[format]
    bits = list(all_bits(format))[::7] if form.width <= 8 else hostile_bits(format, draws=6)
    cases = list(itertools.product(bits, bits))
    f = bind(name, format, 2)
    columns = [values(column, format) for column in zip(*cases, strict=True)]
    with np.errstate(all="ignore"):
        arrays = f(*columns)
        scalars = [f(a, b) for a, b in zip(*columns, strict=True)]
        by_bound = np.concatenate([f(values(bits, format), values([bound], format)[0]) for bound in bits])
    expected = [form.encode_float(extremum(name, *map(form.decode, case))) for case in cases]
    assert same(patterns(arrays, format), expected, form)
    by_bound = np.reshape(by_bound, (len(bits), len(bits))).T.reshape(-1)
    assert same(patterns(by_bound, format), expected, form)
    assert same([patterns(value, format) for value in scalars], expected, form)


ROUNDINGS = {
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.trunc": math.trunc,
    "math.roundeven": round,
    "math.round": lambda x: math.floor(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1),
}


@pytest.mark.parametrize("format", [*SMALL, *WIDE])
@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_to_integers(name, format):
    form = FORMATS[format]
    bits = all_bits(format) if form.width <= 8 else hostile_bits(format, draws=300)
    expected = []
    for pattern in bits:
        value = form.decode(pattern)
        exact = number(value)
        expected.append(pattern if exact is None else rounded(Fraction(ROUNDINGS[name](exact)), form, float(value)))
    with np.errstate(all="ignore"):
        assert same(patterns(bind(name, format, 1)(values(bits, format)), format), expected, form)


@pytest.mark.parametrize("format", [*SMALL, *WIDE])
def test_signs(format):
    form = FORMATS[format]
    bits = list(all_bits(format) if form.width <= 8 else hostile_bits(format, draws=300))
    top = 1 << (form.width - 1)
    has_negative_zero = form.special != "nan_zero"
    with np.errstate(all="ignore"):
        x = values(bits, format)
        absolute, negative = (
            patterns(bind(f"math.{n}" if n == "absf" else f"arith.{n}", format, 1)(x), format) for n in ("absf", "negf")
        )
        copied = patterns(bind("math.copysign", format, 2)(x, x[::-1]), format)
    for i, pattern in enumerate(bits):
        if math.isnan(form.decode(pattern)):
            continue
        other = bits[-1 - i]
        assert absolute[i] == pattern & ~top
        assert negative[i] == (pattern ^ top if has_negative_zero or pattern else 0)
        if not math.isnan(form.decode(other)):
            assert copied[i] == (pattern & ~top | other & top if has_negative_zero or pattern else 0)


@pytest.mark.parametrize("format", [*SMALL, *WIDE])
def test_square_roots(format):
    """The root rounded to nearest even: the exact square lies between those of the halfway points around it."""
    form = FORMATS[format]
    bits = [b for b in (all_bits(format) if form.width <= 8 else hostile_bits(format, draws=300)) if _positive(form, b)]
    with np.errstate(all="ignore"):
        roots = patterns(bind("math.sqrt", format, 1)(values(bits, format)), format)
    for pattern, root in zip(bits, map(int, roots), strict=True):
        x, middle = form.decode(pattern), Fraction(form.decode(root))
        above = (middle + Fraction(form.decode(root + 1))) / 2
        below = (middle + Fraction(form.decode(root - 1))) / 2
        assert below**2 <= x <= above**2
        assert x not in (below**2, above**2) or not root & 1


def _positive(form, bits):
    value = number(form.decode(bits))
    return value is not None and value > 0


@pytest.mark.parametrize("format", ["f6E3M2FN", "f4E2M1FN"])
def test_a_nan_of_a_format_without_one(format):
    zero = values([0], format)
    with np.errstate(all="ignore"), pytest.raises(UndefinedError, match="NaN"):
        bind("arith.divf", format, 2)(zero, zero)


def test_formats_that_do_not_compute():
    for format in ("f80", "f128", "f8E8M0FNU"):
        with pytest.raises(QuantTypeError, match=format):
            bind("arith.addf", format, 2)


@pytest.mark.parametrize("name", floats.OPS)
@pytest.mark.parametrize("format", ["f8E4M3FN", *WIDE])
def test_scalars_equal_arrays(name, format):
    arity = {"math.fma": 3, "math.clampf": 3}.get(name, 2 if name.startswith("arith.") or "copy" in name else 1)
    arity = 1 if name == "arith.negf" else arity
    f = bind(name, format, arity)
    rng = np.random.default_rng(3)
    columns = [values(rng.permutation(np.array(hostile_bits(format), object)), format) for _ in range(arity)]
    with np.errstate(all="ignore"):
        arrays = patterns(f(*columns), format)
        for case, expected in zip(zip(*columns, strict=True), arrays, strict=True):
            scalar = f(*case)
            assert isinstance(scalar, np.generic)
            assert same([patterns(scalar, format)], [expected], FORMATS[format])


def test_rsqrt_is_a_root_and_a_quotient():
    x = np.float32(3.0)
    assert bind("math.rsqrt", "f32", 1)(x) == np.float32(1) / np.sqrt(x)


def test_clampf_lets_the_lower_bound_win():
    f = bind("math.clampf", "f32", 3)
    assert f(np.float32(5), np.float32(2), np.float32(1)) == 2
    assert np.isnan(f(np.float32(np.nan), np.float32(2), np.float32(3)))


@pytest.mark.parametrize(
    "format", [name for name, form in FORMATS.items() if form.special == "ieee" and form.precision < 54]
)
def test_a_nan_made_of_numbers_is_positive_and_quiet(format):
    """x86 makes a negative one of an infinity less an infinity: of a scalar, and within an array of numbers."""
    form = FORMATS[format]
    infinity, one = form.encode(form.largest) + 1, form.encode(Fraction(1))
    quiet = infinity | 1 << form.precision - 2
    made = {
        "arith.subf": (infinity, infinity), "arith.mulf": (0, infinity), "arith.divf": (0, 0),
        "arith.remf": (one, 0), "math.sqrt": (infinity | 1 << form.width - 1,), "math.fma": (0, infinity, one),
    }  # fmt: skip
    for name, operands in made.items():
        function = bind(name, format, len(operands))
        with np.errstate(all="ignore"):
            scalar = function(*(values(bits, format)[()] for bits in operands))
            array = function(*(values([one, bits, one], format) for bits in operands))
        assert int(patterns(scalar, format)) == quiet, name
        assert int(patterns(array, format)[1]) == quiet, name
        assert int(patterns(array, format)[0]) != quiet, name


def test_a_nan_of_an_operand_goes_through():
    operand = np.uint32(0xFFC00001).view(np.float32)
    assert bind("arith.addf", "f32", 2)(operand, np.float32(1)).view(np.uint32) == 0xFFC00001
