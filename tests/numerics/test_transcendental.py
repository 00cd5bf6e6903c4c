"""Transcendental functions are rounded once, in every format, wherever they are computed: against `decimal`, on every
f16 and bf16, and on what is hard: near multiples of pi / 2, near 1 for logarithms, exact results, halfway points,
subnormals, the ends of the range."""

import hashlib
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from qrt.errors import QuantTypeError, UndefinedError
from qrt.numerics import conversions, enclosures
from qrt.numerics.float_text import FORMATS
from qrt.numerics.transcendental import correctly_rounded, exact
from qrt.ops import elementwise
from qrt.types import FloatType, IntegerType
from tests.numerics.decimals import value
from tests.numerics.test_floats import patterns, same, values
from tests.numerics.transcendental_points import EXACT, HARD, SPECIAL, drawn

pytestmark = pytest.mark.filterwarnings("error")
BINARY = ("atan2", "powf", "fpowi")
UNARY = [name for name in correctly_rounded.KERNELS if name not in BINARY]
INF, NAN = math.inf, math.nan


def bind(name, format):
    t = FloatType(format)
    operands = {"atan2": [t, t], "powf": [t, t], "fpowi": [t, IntegerType(64)]}.get(name, [t])
    return elementwise.bind(f"math.{name}", operands, [t])


def computed(name, format, *columns):
    """Bits of the results on columns of bits; the exponents of fpowi as they are."""
    operands = [np.asarray(c, np.int64) if name == "fpowi" and i else values(c, format) for i, c in enumerate(columns)]
    with np.errstate(all="ignore"):
        return patterns(bind(name, format)(*operands), format)


def encoded(numbers, format):
    return [FORMATS[format].encode_float(float(x)) for x in numbers]


def expected(name, format, *x):
    """The bits of the value that `decimal` gives, rounded once."""
    number = Fraction(value(name, *x))
    return FORMATS[format].encode(abs(number), number < 0)


# -- float64 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", correctly_rounded.KERNELS)
def test_float64_is_rounded_once(name):
    hard = [x if isinstance(x, tuple) else (x,) for x in HARD[name]]
    points = hard + list(zip(*(column.tolist() for column in drawn(name, 1, 50)), strict=True))
    columns = list(zip(*points, strict=True))
    bits = [column if name == "fpowi" and i else encoded(column, "f64") for i, column in enumerate(columns)]
    wanted = [expected(name, "f64", *point) for point in points]
    got = computed(name, "f64", *bits)
    assert [(p, g, w) for p, g, w in zip(points, got, wanted, strict=True) if g != w] == []


# -- every value of the short formats ----------------------------------------------------------------------------------

_LIBRARY = {
    **{name: getattr(np, name) for name in UNARY if hasattr(np, name)},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "erf": np.vectorize(math.erf),
    "erfc": np.vectorize(math.erfc),
    "atan2": np.arctan2,
    "powf": np.power,
    "fpowi": lambda x, n: np.power(x, n.astype(float)),
}
"""The machine's functions: good for a decision where they are not within 2^-45 of one."""


def disagreements(name, format, *operands):
    """Points where the results are not those of `_LIBRARY`, or near a halfway point those of `decimal`."""
    narrow = conversions.rounder(format)
    with np.errstate(all="ignore"):
        wide = [np.asarray(operand, np.float64) for operand in operands]
        ours = bind(name, format)(*operands)
        theirs = _LIBRARY[name](*wide) if name != "fpowi" else _LIBRARY[name](wide[0], operands[1])
        ends = [np.asarray(narrow(theirs * (1 + side * 2.0**-45)), np.float64) for side in (-1, 1)]
        found = np.asarray(ours, np.float64)
    is_clear = (ends[0] == ends[1]) | (np.isnan(ends[0]) & np.isnan(ends[1]))
    wrong = is_clear & (found != ends[0]) & ~(np.isnan(found) & np.isnan(ends[0]))
    reports = [tuple(x[i] for x in wide) for i in np.flatnonzero(wrong)[:5]]
    for i in np.flatnonzero(~is_clear):
        point = [x[i].item() for x in operands] if name == "fpowi" else [x[i].item() for x in wide]
        if int(patterns(ours[i : i + 1], format)[0]) != expected(name, format, *point):
            reports.append(tuple(point))
    assert np.count_nonzero(~is_clear) <= found.size // 100  # the library decides nearly all
    return reports


@cache
def _numbers(format):
    """The bits of all that are no NaN."""
    return [bits for bits in range(1 << 16) if not math.isnan(FORMATS[format].decode(bits))]


@pytest.mark.parametrize("format", ["f16", "bf16"])
@pytest.mark.parametrize("name", UNARY)
def test_every_value(name, format):
    x = values(_numbers(format), format)
    if format == "bf16" and name in ("sin", "cos", "tan"):
        wide = abs(x.astype(np.float64))
        x = np.concatenate([x[wide <= 2.0**19], x[wide > 2.0**19][::101]])  # larger angles take 300 us each
    if name in _EXACT_ARGUMENTS:
        x = x[~np.isin(x.astype(np.float64), _EXACT_ARGUMENTS[name])]
    assert disagreements(name, format, x) == []


_EXACT_ARGUMENTS = {"exp2": [float(n) for n in range(-200, 200)]}
"""Whose results lie on halfway points, or are these: `test_exact_results` has them."""


@pytest.mark.parametrize("name", correctly_rounded.KERNELS)
def test_float32_on_a_large_sample(name):
    with np.errstate(all="ignore"):
        x = [x if name == "fpowi" and i else x.astype(np.float32) for i, x in enumerate(drawn(name, 2, 20_000))]
    inside = np.ones(x[0].shape, bool)
    if name in ("asin", "acos", "atanh"):
        inside = abs(x[0]) < 1
    if name in _EXACT_ARGUMENTS:
        inside = np.rint(x[0]) != x[0]
    assert disagreements(name, "f32", *(operand[inside] for operand in x)) == []


# -- exact results and halfway points ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["f8E5M2", "f8E3M4", "f16", "bf16", "tf32", "f32", "f64"])
@pytest.mark.parametrize("name", EXACT)
def test_exact_results(name, format):
    """Bounds that close in on a halfway point never tell its sides apart."""
    form = FORMATS[format]
    for x, result in EXACT[name]:
        floats = x[:1] if name == "fpowi" else x
        bits = encoded(floats, format)
        if any(form.decode(b) != f for b, f in zip(bits, floats, strict=True)):
            continue  # the format has no such operand
        columns = [[b] for b in bits] + ([[x[1]]] if name == "fpowi" else [])
        result = Fraction(result)
        assert computed(name, format, *columns)[0] == form.encode(abs(result), result < 0), x


# -- Annex F -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["f16", "bf16", "f32", "f64"])
def test_special_cases_of_annex_f(format):
    assert {case[0] for case in SPECIAL} == set(correctly_rounded.KERNELS)
    for name, *texts, wanted in SPECIAL:
        point = [float(x) for x in texts]
        columns = [[int(x)] if name == "fpowi" and i else encoded([x], format) for i, x in enumerate(point)]
        assert same(computed(name, format, *columns), encoded([float(wanted)], format), FORMATS[format]), (name, texts)
        nan = encoded([NAN], format)
        others = columns[1:]
        if name not in ("powf", "fpowi"):
            assert same(computed(name, format, nan, *others), nan, FORMATS[format]), name


@pytest.mark.parametrize(
    ("y", "x", "eighths"),
    [
        (INF, INF, 2),
        (-INF, INF, -2),
        (INF, -INF, 6),
        (-INF, -INF, -6),
        (INF, 1.0, 4),
        (-INF, -1.0, -4),
        (1.0, -INF, 8),
        (-1.0, -INF, -8),
        (0.0, -0.0, 8),
        (-0.0, -0.0, -8),
        (0.0, -1.0, 8),
        (-0.0, -INF, -8),
        (1.0, 0.0, 4),
        (-1.0, -0.0, -4),
    ],
)
@pytest.mark.parametrize("format", ["bf16", "f64"])
def test_atan2_along_the_axes(y, x, eighths, format):
    angle = abs(eighths) * Fraction(value("acos", -1.0)) / 8
    got = computed("atan2", format, encoded([y], format), encoded([x], format))
    assert got[0] == FORMATS[format].encode(angle, eighths < 0)


@pytest.mark.parametrize("format", ["f32", "f64"])
@pytest.mark.parametrize("sign", [1, -1])
def test_atan_of_infinities(format, sign):
    angle = Fraction(value("acos", -1.0)) / 2
    assert computed("atan", format, encoded([sign * INF], format))[0] == FORMATS[format].encode(angle, sign < 0)


def test_formats_that_lack_a_result():
    """No infinity: a NaN or the largest value. No NaN: undefined. No zero: not executable."""
    with np.errstate(all="ignore"):
        assert np.isnan(float(bind("exp", "f8E4M3FN")(values([0x7E], "f8E4M3FN")[0])))
        assert float(bind("exp", "f4E2M1FN")(values([7], "f4E2M1FN")[0])) == 6
        with pytest.raises(UndefinedError, match="a NaN, which f4E2M1FN has not"):
            bind("log", "f4E2M1FN")(values([1, 0xF], "f4E2M1FN"))
    with pytest.raises(QuantTypeError, match="arithmetic of type f8E8M0FNU is not supported: the type has no zero"):
        bind("exp", "f8E8M0FNU")


# -- two ways to one result --------------------------------------------------------------------------------------------


def bounds_of(name, point, bits):
    """Of the part of an odd function on positive numbers."""
    if name in ("powf", "fpowi"):
        return enclosures.power(abs(Fraction(point[0])), Fraction(point[1]), bits)
    first = abs(point[0]) if name in exact.ODD or name == "atan2" else point[0]
    return getattr(enclosures, name)(Fraction(first), *map(Fraction, point[1:]), bits)


@pytest.mark.parametrize("name", correctly_rounded.KERNELS)
def test_double_doubles_keep_their_bound(name):
    """Where they did not, a wrong result would be taken for decided."""
    columns = drawn(name, 3, 120)
    with np.errstate(all="ignore"):
        inside, (high, low, exponent) = correctly_rounded.KERNELS[name](*columns)
    assert inside.any()
    for i in np.flatnonzero(inside & ~np.isnan(high)):
        point = [column[i].item() for column in columns]
        if name in exact.ODD and abs(point[0]) < 2.0**-30:
            continue  # stands for itself
        true, _ = bounds_of(name, point, 120)
        found = abs(Fraction(float(high[i])) + Fraction(float(low[i]))) * Fraction(2) ** int(
            0 if exponent is None else exponent[i]
        )
        assert abs(found - abs(true)) <= abs(true) * Fraction(2) ** -70, point


@pytest.mark.parametrize("name", correctly_rounded.KERNELS)
def test_bounds_hold_the_value(name):
    """As `decimal` computes it, whatever precision is asked for."""
    for point in zip(*(column.tolist() for column in drawn(name, 4, 12)), strict=True):
        positive = [abs(point[0]), *point[1:]] if name in (*exact.ODD, *BINARY) else point
        wanted = Fraction(value(name, *positive))
        error = abs(wanted) / 10**55
        for bits in (20, 60, 150):
            low, high = bounds_of(name, point, bits)
            assert low - error <= wanted <= high + error


@pytest.mark.parametrize("format", ["f64", "f32", "bf16", "f8E4M3FNUZ"])
@pytest.mark.parametrize("name", correctly_rounded.KERNELS)
def test_scalars_blocks_and_broadcasts_agree(name, format):
    """And zeros keep their signs among numbers that are computed together."""
    numbers = [*drawn(name, 5, 12)[0], 0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 0.5, 2.0, 1e30]
    columns = [values(encoded(numbers, format), format)]
    if name == "fpowi":
        columns.append(np.resize(np.array([0, 1, -1, 3, -2, 2**62 + 1, -(2**63)]), len(numbers)))
    elif name in BINARY:
        columns.append(np.roll(columns[0], 5))
    f = bind(name, format)
    with np.errstate(all="ignore"):
        together = f(*columns)
        for place, point in enumerate(zip(*columns, strict=True)):
            scalar = f(*point)
            assert isinstance(scalar, np.generic)
            assert same([patterns(scalar, format)], [patterns(together, format)[place]], FORMATS[format]), point
        many = f(*(np.resize(column, (3, correctly_rounded._BLOCK + 7)) for column in columns))
        assert same(
            patterns(many, format).ravel()[::997],
            np.resize(patterns(together, format), many.size)[::997],
            FORMATS[format],
        )
        assert f(*(column[:0] for column in columns)).shape == (0,)
        if len(columns) == 2:
            spread = f(columns[0][:4, None], columns[1][None, :3])
            assert spread.shape == (4, 3)
            assert same(
                [patterns(spread, format)[2, 1]], [patterns(f(columns[0][2], columns[1][1]), format)], FORMATS[format]
            )


def test_fpowi_reads_a_bit_as_minus_one():
    f = elementwise.bind("math.fpowi", [FloatType("f32"), IntegerType(1)], [FloatType("f32")])
    with np.errstate(all="ignore"):
        assert f(np.float32(4), np.bool_(True)) == 0.25
        assert f(np.array([4, 5], np.float32), np.array([False, True])).tolist() == [1.0, np.float32(0.2)]


def test_sincos_is_both():
    t = FloatType("f32")
    x = values(encoded(drawn("sin", 6, 50)[0], "f32"), "f32")
    with np.errstate(all="ignore"):
        sine, cosine = elementwise.bind("math.sincos", [t], [t, t])(x)
        assert (sine == bind("sin", "f32")(x)).all()
        assert (cosine == bind("cos", "f32")(x)).all()


DIGEST = "d8bbe3ed32ef07a904d2889caea3a60b1599f79339be354a087a492d06d89349"
"""Of all functions on `grid`: a machine that computes a single bit otherwise has another."""


def test_the_same_bits_everywhere():
    digest = hashlib.sha256()
    for format in ("f64", "f32", "bf16"):
        grid = np.concatenate([np.arange(-330, 331) / 16, np.ldexp(np.arange(-7.0, 8.0), 40), [0.7, 1e-5, -1e-9, 3e38]])
        bits = encoded(grid, format)
        nan = encoded([NAN], format)[0]
        for name in correctly_rounded.KERNELS:
            other = {"fpowi": [np.arange(len(bits)) % 41 - 20], "atan2": [np.roll(bits, 9)], "powf": [np.roll(bits, 9)]}
            found = computed(name, format, bits, *other.get(name, []))
            is_nan = np.array([math.isnan(FORMATS[format].decode(int(b))) for b in found])
            digest.update(np.where(is_nan, nan, found.astype(np.int64)).astype("<u8").tobytes())
    assert digest.hexdigest() == DIGEST
