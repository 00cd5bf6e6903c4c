"""`UniformType.for_range`: exact arithmetic is the oracle. Hazards: an end of the range that the type does not reach,
by the rounding of the scale or of the zero point; a scale larger than needed; a zero point outside the storage."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from qrt import UniformType
from qrt.errors import QuantTypeError
from qrt.numerics.float_text import FORMATS
from qrt.types import FloatType, storage_range

FLOATS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-4.0, 4.0, width=32),
    st.integers(-1000, 1000).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -(2.0**-1022), 127.0, 0.1]),
)
STORAGES = st.builds(lambda sign, width: f"{sign}{width}", st.sampled_from("iu"), st.integers(1, 32))


def rounded_up(x: Fraction, name: str) -> Fraction:
    """The least positive value of a format that is not below x; of doubles, where the format is wider."""
    form = FORMATS[name] if FORMATS[name].precision <= 53 else FORMATS["f64"]
    if x <= form.smallest:
        return form.smallest
    exponent = math.floor(math.log2(x.numerator) - math.log2(x.denominator))
    exponent = next(e for e in (exponent + 1, exponent, exponent - 1) if Fraction(2) ** e <= x)
    quantum = Fraction(2) ** (max(exponent, form.min_exponent) - form.precision + 1)
    return math.ceil(x / quantum) * quantum


def type_of(lo: float, hi: float, storage: str, **options: object) -> UniformType:
    """The type, if the range is within what the expressed type scales."""
    try:
        return UniformType.for_range(lo, hi, storage, **options)  # type: ignore[arg-type]
    except QuantTypeError as error:
        assume("out of expressed type range" not in str(error))
        raise


def is_possible(lo: float, hi: float, storage: str, symmetric: bool, narrow: bool) -> bool:
    values = 2 ** int(storage[1:]) - narrow
    return values > 2 or (values == 2 and not symmetric and not (lo < 0 < hi))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("expressed", FORMATS)
@given(st.tuples(FLOATS, FLOATS).map(sorted), STORAGES, st.booleans())
@settings(max_examples=settings.default.max_examples // 4)  # type: ignore[union-attr]  # for each format
@example([-1.0, 1.0], "i4", False)
@example([0.0, 127 * 0.1], "i8", True)
def test_the_range_lies_in_that_of_the_type(
    symmetric: bool, expressed: str, ends: list[float], storage: str, narrow: bool
) -> None:
    lo, hi = ends
    options = {"expressed": expressed, "symmetric": symmetric, "narrow": narrow}
    if not is_possible(lo, hi, storage, symmetric, narrow):
        with pytest.raises(
            QuantTypeError, match=r"with narrow=True|on both sides of a zero point|storage with 2 values"
        ):
            UniformType.for_range(lo, hi, storage, **options)  # type: ignore[arg-type]
        return
    t = type_of(lo, hi, storage, **options)
    least, greatest = storage_range(int(storage[1:]), storage[0] == "i")
    assert (t.storage_min, t.storage_max) == (least + narrow, greatest)
    assert t.storage_min <= t.zero_point <= t.storage_max
    s, z = Fraction(t.scale), t.zero_point
    assert FloatType(expressed).format.precision > 53 or rounded_up(s, expressed) == s
    low, high = min(Fraction(lo), 0), max(Fraction(hi), 0)
    assert (t.storage_min - z) * s <= low
    assert high <= (t.storage_max - z) * s
    if low == high == 0:
        assert s == 1
    elif symmetric:
        assert z == (t.storage_min + t.storage_max + 1) // 2
        steps = min(z - t.storage_min, t.storage_max - z)
        assert s == rounded_up(max(-low, high) / steps, expressed)
    else:
        assert s == min(candidates(low, high, t.storage_max - t.storage_min, expressed))


def candidates(low: Fraction, high: Fraction, steps: int, expressed: str) -> list[Fraction]:
    """The scales with each count of steps below zero; of many, those around the best."""
    best = int(-low * steps / (high - low))
    counts = range(steps + 1) if steps < 32 else {0, steps, *range(max(best - 3, 0), min(best + 4, steps + 1))}
    divided = [(k, steps - k) for k in counts if (k or not low) and (steps - k or not high)]
    return [rounded_up(max(-low / max(a, 1), high / max(b, 1)), expressed) for a, b in divided]


def test_ends_of_arrays_give_a_scale_each() -> None:
    t = UniformType.for_range(np.float32([-1, 0]), [1, 3], "u8", axis=1)
    assert str(t) == "!quant.uniform<u8:f32:1, {0.0078740166500210762:128,0.011764706112444401}>"
    assert [UniformType.for_range(*ends, "u8").scale for ends in ((-1, 1), (0, 3))] == list(t.scales)
    blocks = UniformType.for_range([[-1.0], [-2.0]], [[7.0], [0.0]], "i4", symmetric=True, block_sizes={0: 4})
    assert blocks.scales_shape == (2, 1)
    assert blocks.scales[0] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.0, -1.0), "'lo' and 'hi' must be finite with lo <= hi, got lo = 1 and hi = -1"),
        ((math.nan, 1.0), "'lo' and 'hi' must be finite with lo <= hi, got lo = nan and hi = 1"),
        ((0.0, math.inf), "'lo' and 'hi' must be finite with lo <= hi, got lo = 0 and hi = inf"),
        (([0.0, -1.0], [1.0]), r"'lo' and 'hi' must have the same shape, got \(2,\) and \(1,\)"),
        ((["a"], [1.0]), "'lo' must be a float, got 'a'"),
        (([0.0, -1.0], [1.0, 1.0]), "need an axis or block sizes"),
        ((-1.0, 1.0, "i1"), "storage with 2 values cannot represent the negative and the positive part of"),
        ((-1.0, 1.0, "f8E5M2"), "'storage' must be an integer type, got f8E5M2"),
        ((-1.0, 1.0, "i33"), "illegal storage type size: 33"),
        ((0.0, 1e300), "out of expressed type range"),
    ],
)
def test_what_is_no_range_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        UniformType.for_range(*arguments)  # type: ignore[arg-type]
