"""Conversions and comparisons of arith against exact Fractions. Hazards: an integer rounded to f64 before it is
rounded to the type, a double to bf16 through f32, the bounds of float to integer, bits of formats narrower than their
dtype, true as -1."""

import bisect
import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from qrt.errors import QuantTypeError, UndefinedError
from qrt.numerics.float_text import FORMATS
from qrt.ops import elementwise
from qrt.ops.core import element_dtype
from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES, ROUNDING_MODES
from qrt.types import FloatType, IndexType, IntegerType
from tests.numerics.scalars import number, rounded, signed, unsigned
from tests.numerics.test_floats import all_bits, hostile_bits, patterns, same, values
from tests.numerics.test_integers import held, interesting, read

FLOATS = [name for name, form in FORMATS.items() if form.width <= 64]
WITH_SIGN = [name for name in FLOATS if FORMATS[name].has_zero]


def bind(name, source, target, **keywords):
    return elementwise.bind(name, [source], [target], **keywords)


def bits_of(format):
    return list(all_bits(format)) if FORMATS[format].width <= 8 else hostile_bits(format, draws=40)


def doubles_near(format):
    """Doubles on, and one ulp beside, the values of a format and the points halfway between them."""
    form = FORMATS[format]
    found = []
    for bits in bits_of(format)[:300]:
        value, following = form.decode(bits), form.decode(min(bits + 1, (1 << form.width) - 1))
        if number(value) is None or number(following) is None:
            continue
        for exact in (Fraction(value), (Fraction(value) + Fraction(following)) / 2):
            x = float(exact)
            found += [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]
    return [*found, 0.0, -0.0, math.inf, -math.inf, 1e300, -1e300, 5e-324, -1e-40]


@pytest.mark.parametrize("format", [name for name in WITH_SIGN if name != "f64"])
def test_doubles_are_rounded_once(format):
    form = FORMATS[format]
    doubles = doubles_near(format)
    with np.errstate(all="ignore"):
        result = bind("arith.truncf", FloatType("f64"), FloatType(format))(np.array(doubles))
    assert same(patterns(result, format), [form.encode_float(x) for x in doubles], form)


@pytest.mark.parametrize("target", WITH_SIGN)
@pytest.mark.parametrize("source", FLOATS)
def test_every_format_to_every_other(source, target):
    form, given = FORMATS[target], FORMATS[source]
    bits = [b for b in bits_of(source) if form.special != "none" or not math.isnan(given.decode(b))]
    expected = []
    for pattern in bits:
        value = given.decode(pattern)
        exact = number(value)
        expected.append(form.encode_float(float(value)) if exact is None else rounded(exact, form, float(value)))
    name = "arith.extf" if form.width > given.width else "arith.truncf"
    with np.errstate(all="ignore"):
        f = bind(name, FloatType(source), FloatType(target))
        array = f(values(bits, source))
        scalars = [f(x) for x in values(bits[:40], source)]
    assert array.dtype == element_dtype(FloatType(target))
    assert same(patterns(array, target), expected, form)
    assert same([patterns(x, target) for x in scalars], expected[:40], form)


def _finite(form):
    """Every finite value of a small format, ascending."""
    decoded = map(form.decode, range(1 << form.width))
    return sorted({Fraction(value) for value in decoded if number(value) is not None})


def _directed(exact, form, mode, every):
    """The bits of an exact number rounded by a mode to one of the two neighbours among all values of a format."""
    at = bisect.bisect_left(every, exact)
    above = every[at] if at < len(every) else None
    below = exact if above == exact else every[at - 1] if at else None
    if below == above:
        return form.encode(abs(exact), exact < 0)
    if mode == "toward_zero":
        chosen = below if exact > 0 else above
    elif mode == "to_nearest_away":
        if below is None or above is None:
            return None
        away = above if exact > 0 else below
        chosen = min((below, above), key=lambda v: (abs(v - exact), v != away))
    else:
        chosen = below if mode == "downward" else above
    if chosen is None:
        return form.encode_float(math.inf if exact > 0 else -math.inf)
    return form.encode(abs(chosen), chosen < 0 or (chosen == 0 and exact < 0))


@pytest.mark.parametrize("mode", [mode for mode in ROUNDING_MODES if mode != "to_nearest_even"])
@pytest.mark.parametrize("format", ["f8E5M2", "f8E4M3FN", "f8E4M3FNUZ", "f6E3M2FN"])
def test_rounding_modes(mode, format):
    form = FORMATS[format]
    doubles = [x for x in doubles_near(format)[::3] if math.isfinite(x)]
    every = _finite(form)
    expected = [(x, _directed(Fraction(x), form, mode, every)) for x in doubles if x]
    known = [(x, bits) for x, bits in expected if bits is not None]
    f = bind(
        "arith.truncf", FloatType("f64"), FloatType(format), attributes={"roundingmode": ROUNDING_MODES.index(mode)}
    )
    with np.errstate(all="ignore"):
        result = f(np.array([x for x, _ in known]))
    assert same(patterns(result, format), [bits for _, bits in known], form)


def test_powers_of_two():
    f = bind("arith.truncf", FloatType("f64"), FloatType("f8E8M0FNU"))
    with np.errstate(all="ignore"):
        for x in (1.0, 1.25, 1.5, 1.75, 3.0, 1e-300, 2.0**127, 1.4 * 2.0**127, 1.5 * 2.0**127, math.inf, math.nan):
            assert patterns(f(np.float64(x)), "f8E8M0FNU") == FORMATS["f8E8M0FNU"].encode_float(x)
        for x in (0.0, -1.0):
            with pytest.raises(UndefinedError, match="zero or a negative number"):
                f(np.float64(x))


@pytest.mark.parametrize("signedness", ["si", "ui"])
@pytest.mark.parametrize("width", [1, 4, 8, 16, 32, 53, 64])
def test_integers_are_rounded_once(width, signedness):
    """From 2^53 on float64 cannot tell neighbours of a halfway point from it."""
    chosen = interesting(width)
    if width == 64:
        halfway = [(1 << k) + (1 << k - p) + d for k in (40, 54, 62) for p in (4, 8, 11, 24) for d in (-1, 0, 1)]
        chosen += [sign * value for value in halfway for sign in (1, -1)]
    exact = [value if signedness == "si" else unsigned(value, width) for value in chosen]
    for format in WITH_SIGN:
        form = FORMATS[format]
        expected = [form.encode(Fraction(abs(value)), value < 0) for value in exact]
        f = bind(f"arith.{signedness}tofp", IntegerType(width), FloatType(format))
        with np.errstate(all="ignore"):
            array = f(held(chosen, width))
            scalars = [patterns(f(x), format) for x in held(chosen[:20], width)]
        assert array.dtype == element_dtype(FloatType(format))
        assert same(patterns(array, format), expected, form)
        assert same(scalars, expected[:20], form)


@pytest.mark.parametrize("signedness", ["si", "ui"])
@pytest.mark.parametrize("width", [1, 4, 8, 16, 31, 32, 53, 64])
@pytest.mark.parametrize("format", ["f8E5M2", "f8E4M3FN", "f16", "bf16", "tf32", "f32", "f64"])
def test_floats_to_integers(format, width, signedness):
    form = FORMATS[format]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signedness == "si" else (0, (1 << width) - 1)
    near = [form.encode_float(bound + d) for bound in map(float, (low, high)) for d in (-1.0, -0.5, 0.0, 0.5, 1.0)]
    bits = [*bits_of(format), *near]
    types = FloatType(format), IntegerType(width)
    f = bind(f"arith.fpto{signedness}", *types)
    saturating = bind(f"arith.fpto{signedness}", *types, saturating=True)
    with np.errstate(all="ignore"):
        clamped = saturating(values(bits, format))
        assert clamped.dtype == element_dtype(types[1])
        for pattern, x, at_bound in zip(bits, values(bits, format), read(clamped, width), strict=True):
            value = form.decode(pattern)
            whole = None if number(value) is None else math.trunc(value)
            if whole is not None and low <= whole <= high:
                expected = signed(whole, width)
                assert read(f(x), width) == [expected]
            else:
                expected = 0 if value != value else signed(high if value > 0 else low, width)
                with pytest.raises(UndefinedError, match="out of the range"):
                    f(x)
            assert at_bound == expected
            assert read(saturating(x), width) == [expected]


@pytest.mark.parametrize("target", [1, 3, 8, 13, 32, 50, 64])
@pytest.mark.parametrize("source", [1, 2, 8, 13, 16, 33, 64])
def test_integers_to_integers(source, target):
    chosen = interesting(source)
    types = IntegerType(source), IntegerType(target)
    names = ["arith.trunci"] if target < source else ["arith.extsi", "arith.extui"] if target > source else []
    for name in names:
        f = bind(name, *types)
        with np.errstate(all="ignore"):
            result = f(held(chosen, source))
            scalars = [f(x) for x in held(chosen, source)]
        wide = [unsigned(value, source) if name == "arith.extui" else value for value in chosen]
        expected = [signed(value, target) for value in wide]
        assert result.dtype == element_dtype(types[1]) == scalars[0].dtype
        assert read(result, target) == expected == [read(x, target)[0] for x in scalars]


@pytest.mark.parametrize("width", [1, 8, 32, 64])
def test_index_casts(width):
    index, t = IndexType(), IntegerType(width)
    with np.errstate(all="ignore"):
        for name in ("arith.index_cast", "arith.index_castui"):
            wide = [unsigned(v, width) if name[-1] == "i" and width < 64 else v for v in interesting(width)]
            assert read(bind(name, t, index)(held(interesting(width), width)), 64) == wide
            narrow = [signed(value, width) for value in interesting(64)]
            assert read(bind(name, index, t)(held(interesting(64), 64)), width) == narrow


def test_a_broken_promise_of_trunci():
    def narrow(x, flags):
        promises = {"overflowFlags": flags.split(", ")}
        return bind("arith.trunci", IntegerType(32), IntegerType(8), attributes=promises)(np.int32(x))

    assert narrow(-128, "nsw") == -128
    assert narrow(255, "nuw") == -1
    for x, flags in ((128, "nsw"), (-129, "nsw"), (256, "nuw"), (-1, "nuw"), (200, "nsw, nuw")):
        with pytest.raises(UndefinedError, match="overflow"):
            narrow(x, flags)


@pytest.mark.parametrize("format", FLOATS)
def test_bitcasts(format):
    width = FORMATS[format].width
    bits = bits_of(format)
    to, back = IntegerType(width), FloatType(format)
    cast = bind("arith.bitcast", back, to)(values(bits, format))
    assert cast.dtype == element_dtype(to)
    assert read(cast, width) == [signed(pattern, width) for pattern in bits]
    again = bind("arith.bitcast", to, back)(cast)
    assert again.dtype == element_dtype(back)
    assert patterns(again, format).tolist() == bits
    assert patterns(bind("arith.bitcast", to, back)(cast[0]), format) == bits[0]


@pytest.mark.parametrize("width", [1, 2, 7, 8, 33, 64])
def test_integer_predicates(width):
    chosen = interesting(width) if width < 8 else [*interesting(width)[::9], -1, 0, 1]
    compare = {
        name: getattr(operator, name.lstrip("su") if name not in ("eq", "ne") else name) for name in INTEGER_PREDICATES
    }
    for number_, name in enumerate(INTEGER_PREDICATES):
        t = IntegerType(width)
        f = elementwise.bind("arith.cmpi", [t, t], [IntegerType(1)], {"predicate": number_})
        for a in chosen:
            for b in chosen:
                pair = [unsigned(v, width) for v in (a, b)] if name[0] == "u" else [a, b]
                assert f(held([a], width)[0], held([b], width)[0]) == compare[name](*pair)


def test_float_predicates():
    holds_for = {
        "eq": {0},
        "ne": {-1, 1},
        "lt": {-1},
        "le": {-1, 0},
        "gt": {1},
        "ge": {0, 1},
        "rd": {-1, 0, 1},
        "no": set(),
    }
    numbers = [-math.inf, -1.0, -0.0, 0.0, 2.5, math.inf, math.nan]
    for at, name in enumerate(FLOAT_PREDICATES):
        for format in ("f32", "bf16", "f8E4M3FNUZ"):
            t = FloatType(format)
            f = elementwise.bind("arith.cmpf", [t, t], [IntegerType(1)], {"predicate": at})
            for a in numbers:
                for b in numbers:
                    form = FORMATS[format]
                    x, y = (values([form.encode_float(v)], format)[0] for v in (a, b))
                    u, v = (float(form.decode(form.encode_float(w))) for w in (a, b))
                    if name in ("true", "false"):
                        expected = name == "true"
                    elif u != u or v != v:
                        expected = name[0] == "u"
                    else:
                        expected = (u > v) - (u < v) in holds_for["ne" if name in ("one", "une") else name[1:]]
                    assert bool(f(x, y)) is expected, (name, a, b)
                    assert isinstance(f(x, y), np.bool_)


@pytest.mark.parametrize("format", WITH_SIGN)
def test_classes(format):
    form = FORMATS[format]
    bits = bits_of(format)
    decoded = [form.decode(pattern) for pattern in bits]
    smallest = Fraction(2) ** form.min_exponent
    expected = {
        "isnan": [v != v for v in decoded],
        "isinf": [v == v and abs(v) == math.inf for v in decoded],
        "isfinite": [v == v and abs(v) != math.inf for v in decoded],
        "isnormal": [v == v and abs(v) != math.inf and abs(v) >= smallest for v in decoded],
    }
    with np.errstate(all="ignore"):
        for name, wanted in expected.items():
            assert bind(f"math.{name}", FloatType(format), IntegerType(1))(values(bits, format)).tolist() == wanted


def test_selection():
    t = FloatType("f32")
    f = elementwise.bind("arith.select", [IntegerType(1), t, t], [t])
    a, b = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    assert f(np.array([True, False]), a, b).tolist() == [1, 4]
    assert f(np.bool_(False), a, b).tolist() == [3, 4]
    assert f(np.bool_(True), a[0], b[0]) == 1


def test_scaling():
    """By powers of two, as upstream's expansion to extf, mulf, divf and truncf."""
    f4, e8, f32 = (FloatType(name) for name in ("f4E2M1FN", "f8E8M0FNU", "f32"))
    with np.errstate(all="ignore"):
        up = elementwise.bind("arith.scaling_extf", [f4, e8], [f32])
        assert up(values([7], "f4E2M1FN"), values([130], "f8E8M0FNU")).tolist() == [48.0]  # 6 * 2^3
        down = elementwise.bind("arith.scaling_truncf", [f32, e8], [f4])
        assert patterns(down(np.array([48.0], np.float32), values([130], "f8E8M0FNU")), "f4E2M1FN").tolist() == [7]
        rounds = elementwise.bind("arith.scaling_extf", [f4, f32], [f32])
        assert rounds(values([2], "f4E2M1FN"), np.array([3.0], np.float32)).tolist() == [4.0]


def test_types_that_do_not_convert():
    for source, target in (("f80", "f32"), ("f32", "f128")):
        with pytest.raises(QuantTypeError, match=r"f80|f128"):
            bind("arith.truncf", FloatType(source), FloatType(target))
    with pytest.raises(QuantTypeError, match="i65"):
        bind("arith.fptosi", FloatType("f32"), IntegerType(65))


@pytest.mark.parametrize(("name", "source", "x"), [
    ("arith.truncf", FloatType("f32"), np.float32(-1e9)), ("arith.sitofp", IntegerType(32), np.int32(-(10**9))),
])  # fmt: skip
@pytest.mark.parametrize("format", [name for name in WITH_SIGN if FORMATS[name].special in ("nan", "nan_zero")])
def test_what_a_format_without_infinities_cannot_hold_is_its_one_nan(name, source, x, format):
    """A NaN of this sign would tell what it was made of."""
    form = FORMATS[format]
    nan = form.encode_float(math.nan)
    with np.errstate(all="ignore"):
        function = bind(name, source, FloatType(format))
        assert int(patterns(function(x), format)) == nan
        assert patterns(function(np.array([x, 1], x.dtype)), format).tolist() == [nan, form.encode(Fraction(1))]
