"""The entry mixed_matmul of every ISA against ref, bit for bit.

Hazards: pieces that K and their vectors do not fill, and loops written for one size of piece; digits and 16-bit sums at
their ends; sums that do not fit a float where a shortcut thinks they do; zero points that differ, at their ends; scales
that f16 holds and that it does not; units at both ends of float32; one NaN or infinity in a row; columns that a panel
lacks and rows that a tile lacks; rows that depend on how many there are; scales along K whose products with a row
overflow or vanish; zero points along K that are taken from the wrong digit, or leave a sum no room."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt._ext.kernels import bind_mixed_matmul
from qrt.numerics import unit_integers
from tests.kernels.draws import SIMD_ISAS, Array, kernels

DEPTHS = (0, 1, 3, 4, 5, 8, 15, 17, 31, 33, 64, 127, 128, 129, 200, 300, 1000)
ROWS = (0, 1, 2, 3, 4, 5, 9, 70)
COLUMNS = (1, 15, 16, 17, 31, 32, 33, 70)
BLOCKS = (1, 2, 4, 7, 8, 16, 31, 32, 33, 64, 127, 128, 129, 200, 256, None)
seeds = st.integers(0, 2**32 - 1)
# Of up to 4 bits and of up to 8: the least and the largest zero point that lies within 255 of every value.
ZERO_POINTS = {("i", 4): (-248, 247), ("u", 4): (-240, 255), ("i", 8): (-128, 127), ("u", 8): (0, 255)}


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Of several magnitudes in each piece, one of them at the limit of the integers; not aligned to a vector."""
    values = np.empty(int(np.prod(shape)) + 1, np.float32)[1:].reshape(shape)
    values[...] = np.ldexp(rng.standard_normal(shape), rng.integers(-8, 8, shape))
    values[rng.random(shape) < 0.02] = 0x7F7F7F
    return values


def storage(rng: np.random.Generator, k: int, n: int, width: int, sign: str) -> Array:
    low = -(1 << (width - 1)) if sign == "i" else 0
    values = rng.integers(low, low + (1 << width), (k, n))
    values[rng.random((k, n)) < 0.1] = low + (1 << width) - 1
    return values.astype(np.int8 if sign == "i" else np.uint8)


def parameters(rng: np.random.Generator, k: int, n: int, width: int, sign: str, block: int | None, zero: str) -> dict:
    shape = (1 if block is None else max(-(-k // block), 1), n)
    least, most = ZERO_POINTS[sign, width]
    middle = (1 << (width - 1)) * (sign == "u")
    zero_points = {
        "middle": np.full(shape, middle),
        "common": np.full(shape, rng.choice([least, middle + 1, most])),
        "each": middle + rng.integers(-(1 << (width - 1)), 1 << (width - 1), shape),
        "ends": rng.choice([least, most], shape),
    }[zero]
    scales = rng.uniform(0.5, 1, shape).astype(np.float32)
    scales = scales.astype(np.float16).astype(np.float32) if rng.random() < 0.5 else scales
    return {"nibbles": width == 4, "w": f"{sign}8", "k_block": block, "scales": scales, "zero_points": zero_points}


def along_k(rng: np.random.Generator, k: int, width: int, sign: str, zero: str) -> dict:
    given = parameters(rng, k, 1, width, sign, 1, zero)
    scales, points = (given[name].ravel()[:k] for name in ("scales", "zero_points"))
    differ = zero in ("each", "ends")
    more = {"zero_points": [0], "k_zero_points": points} if differ else {"zero_points": points[:1] if k else [0]}
    return given | {"k_block": None, "scales": [1.0], "k_scales": scales} | more


def run(isa: str, given: dict[str, Any], *operands: Array) -> Array:
    call = bind_mixed_matmul(isa=isa, **given)
    out = np.full(call.operand_shapes[-1], 85, np.float32)
    call(*operands, out)
    return out


def check(isa: str, given: dict[str, Any], a: Array, w: Array) -> Array:
    """With w packed once and at the call, without a bias and with one. Gives the product without."""
    given = {"m": len(a), "k": len(w), "n": w.shape[1]} | given
    bias = floats(np.random.default_rng(0), given["n"])
    for more in ({"bias": bias}, {}):
        expected = run("ref", given | more, a, w)
        for got in (run(isa, given | more, a, w), run(isa, given | more | {"w_constant": w}, a)):
            np.testing.assert_array_equal(got.view(np.uint32), expected.view(np.uint32))
            assert (got[np.isnan(got)].view(np.uint32) == 0x7FC00000).all()
    return expected


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
@kernels
@given(st.data())
def test_drawn(isa: str, width: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(seeds))
    m, k, n, block = (data.draw(st.sampled_from(sizes)) for sizes in (ROWS, DEPTHS, COLUMNS, BLOCKS))
    sign, zero = data.draw(st.sampled_from("iu")), data.draw(st.sampled_from(["middle", "common", "each", "ends"]))
    check(isa, parameters(rng, k, n, width, sign, block, zero), floats(rng, m, k), storage(rng, k, n, width, sign))


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
@kernels
@given(st.data())
def test_drawn_scales_along_k(isa: str, width: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(seeds))
    m, k, n = (data.draw(st.sampled_from(sizes)) for sizes in (ROWS, DEPTHS, COLUMNS))
    sign, zero = data.draw(st.sampled_from("iu")), data.draw(st.sampled_from(["middle", "common", "each", "ends"]))
    check(isa, along_k(rng, k, width, sign, zero), floats(rng, m, k), storage(rng, k, n, width, sign))


@pytest.mark.parametrize("zero", ["middle", "common", "each", "ends"])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_largest_sums_with_scales_along_k(isa: str, width: int, zero: str) -> None:
    """Every digit and every weight at an end, and zero points whose sum alone is as large as can be. Pieces of 32
    nibbles have a loop of their own."""
    rng = np.random.default_rng(1)
    for sign, k in (("i", 256), ("u", 256), ("i", 32), ("u", 160)):
        given = along_k(rng, k, width, sign, zero) | {"k_scales": np.ones(k, np.float32)}
        low, ends = -(1 << (width - 1)) if sign == "i" else 0, ZERO_POINTS[sign, width]
        alike = [given] if zero != "ends" else [given, *(given | {"k_zero_points": np.full(k, end)} for end in ends)]
        for q in (low, low + (1 << width) - 1):
            w = np.full((k, 17), q, np.int8 if sign == "i" else np.uint8)
            for x in (0x7F7F7F, -0x7F7F7F, 0x7E7F7F, 0x7F8080 - 0x10000, -0x808080 + 0x10000):
                for one in alike:
                    check(isa, one, np.full((2, k), x, np.float32), w)


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_zero_points_along_k_leave_sums_to_a_shortcut_that_they_exceed(isa: str) -> None:
    """The sums of lower digits alone fit a float up to K = 34, and not with what zero points add to them. T is the one
    value whose weight is not 0; it is odd, and small enough to show it."""
    for k in range(30, 40):
        a, points = np.full((2, k), -0x7E8080, np.float32), np.full(k, 15)
        a[:, 3], points[3] = -0x7E807F, 14
        given = {"nibbles": True, "w": "u8", "scales": [1.0], "zero_points": [0], "k_scales": np.ones(k, np.float32),
                 "k_zero_points": points}  # fmt: skip
        assert (check(isa, given, a, np.full((k, 17), 15, np.uint8)) == -0x7E807F).all()


@pytest.mark.parametrize("zero", ["middle", "each"])
@pytest.mark.parametrize("m", [1, 4, 9])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_products_at_the_ends_of_float32(isa: str, m: int, zero: str) -> None:
    """Values that are not finite, or whose products with scales along K are not, or are subnormal, or 0; beside
    weights of 0. Other rows keep their bits."""
    rng = np.random.default_rng(8)
    extremes = [(np.nan, 1.0), (np.inf, 1e-38), (-np.inf, 2.0), (3e38, 2.0), (-1e20, 1e20), (1e-30, 1e-12),
                (1e-45, 0.25), (-0.0, 3e38), (0.0, 3e38), (3e38, 1.0), (1e-45, 3e38)]  # fmt: skip
    for width in (4, 8):
        given, w = along_k(rng, 150, width, "i", zero), storage(rng, 150, 37, width, "i")
        points = np.broadcast_to(given.get("k_zero_points", given["zero_points"]), 150)
        for (value, scale), places in product(extremes, ([149], [20, 130])):
            given["k_scales"] = given["k_scales"].copy()
            given["k_scales"][places] = scale
            a, beside = floats(rng, m, 150), w.copy()
            beside[places, :20] = points[places, None]
            a[:, places] = 0
            plain = check(isa, given, a, beside)
            a[0, places] = value
            got = check(isa, given, a, beside)
            with np.errstate(over="ignore"):
                multiplied = np.float32(value) * np.float32(scale)
            if not np.isfinite(multiplied):
                assert not np.isfinite(got[0, 20:][beside[places[0], 20:] != points[places[0]]]).any()
                assert np.isfinite(got[0, :20]).all() == bool(np.isfinite(value))
            np.testing.assert_array_equal(got[1:], plain[1:])


@pytest.mark.parametrize("zero", ["middle", "common", "each", "ends"])
@pytest.mark.parametrize("block", [32, 128, 1000])
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_largest_sums(isa: str, width: int, block: int, zero: str) -> None:
    """Every digit at an end, every weight as far from its zero point as can be."""
    rng = np.random.default_rng(1)
    for sign in "iu":
        given = parameters(rng, 256, 17, width, sign, block, zero)
        low = -(1 << (width - 1)) if sign == "i" else 0
        for q in (low, low + (1 << width) - 1):
            w = np.full((256, 17), q, np.int8 if sign == "i" else np.uint8)
            for x in (0x7F7F7F, -0x7F7F7F, 0x7E7F7F, 0x7F8080 - 0x10000, -0x808080 + 0x10000):
                check(isa, given, np.full((2, 256), x, np.float32), w)


@pytest.mark.parametrize("exponent", [-149, -130, -126, -110, -104, -100, 0, 100, 127])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_units_at_the_ends_of_float32(isa: str, exponent: int) -> None:
    """Around each power of two, and around the fraction from which the unit doubles."""
    rng = np.random.default_rng(2)
    mantissas = np.array([1 << 23, (1 << 23) + 1, 0xFEFEFD, 0xFEFEFE, 0xFEFEFF, 0xFEFF00, 0xFFFFFF])
    tops = np.ldexp(mantissas.astype(np.float64), exponent - 23).astype(np.float32)
    a = np.ldexp(rng.standard_normal((len(tops), 96)), rng.integers(-30, -1, (len(tops), 96)) + exponent)
    a = a.astype(np.float32)
    a[:, ::32] = tops[:, None]
    for width in (4, 8):
        check(isa, parameters(rng, 96, 20, width, "i", 32, "each"), a, storage(rng, 96, 20, width, "i"))


@pytest.mark.parametrize("values", [(np.inf,), (-np.inf,), (np.nan,), (np.inf, -np.inf), (3e38, np.inf)])
@pytest.mark.parametrize("m", [1, 9])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_what_is_not_finite(isa: str, m: int, values: tuple[float, ...]) -> None:
    """Alone in a piece, beside others, in the last vector; times weights of 0. Other rows keep their bits."""
    rng = np.random.default_rng(3)
    for width, zero in ((4, "middle"), (4, "each"), (8, "each")):
        given, w = parameters(rng, 150, 37, width, "i", 50, zero), storage(rng, 150, 37, width, "i")
        a = floats(rng, m, 150)
        plain = check(isa, given, a, w)
        for place, value in zip((149, 20), values, strict=False):
            a[0, place] = value
        got = check(isa, given, a, w)
        assert not np.isfinite(got[0]).any()
        np.testing.assert_array_equal(got[1:], plain[1:])


@pytest.mark.parametrize("scale", [3e38, -3e38, 1e-45, 2.0**-140, 65504.0, 65520.0, 2.0**-24, 2.0**-25, 0.0])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_scales_at_the_ends_of_formats(isa: str, scale: float) -> None:
    """Of float32, and of f16 as which they may be kept."""
    rng = np.random.default_rng(4)
    for m, width in ((1, 4), (5, 4), (1, 8), (5, 8)):
        given = parameters(rng, 37, 7, width, "u", 32, "each")
        given["scales"] = np.full_like(given["scales"], np.float32(scale))
        check(isa, given, floats(rng, m, 37), storage(rng, 37, 7, width, "u"))


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_a_row_does_not_depend_on_others(isa: str) -> None:
    rng = np.random.default_rng(5)
    for width, form in product((4, 8), ("blocks", "along K")):
        blocks = parameters(rng, 256, 40, width, "i", 32, "each")
        given = (blocks if form == "blocks" else along_k(rng, 256, width, "i", "each")) | {"k": 256, "n": 40}
        a, w = floats(rng, 11, 256), storage(rng, 256, 40, width, "i")
        together = run(isa, given | {"m": 11}, a, w)
        for i, row in enumerate(together):
            np.testing.assert_array_equal(run(isa, given | {"m": 1}, a[i : i + 1], w)[0], row)


def test_integers_of_a_unit() -> None:
    """The largest is as large as three balanced bytes allow, and no larger; what comes back is within half a unit."""
    rng = np.random.default_rng(6)
    a = np.ldexp(rng.uniform(1, 2, (4096, 4)), rng.integers(-103, 127, (4096, 1))).astype(np.float32)
    integers, unit = unit_integers(a)
    largest = np.abs(integers).max(axis=1)
    assert largest.max() <= 0x7F7F7F
    assert np.rint(np.abs(a).max(axis=1) / (unit[:, 0].astype(np.float64) / 2)).min() > 0x7F7F7F
    assert (np.abs(integers * unit.astype(np.float64) - a) <= unit / 2).all()


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("width", [4, 8])
def test_overflowing_blocks_make_the_one_nan(isa: str, width: int) -> None:
    """Infinity less infinity, of numbers alone; and a negative NaN among the operands."""
    w = np.repeat(np.int8([[7], [-7]]), 128, axis=0).repeat(33, axis=1)
    given = {"nibbles": width == 4, "w": "i8", "k_block": 128, "scales": np.full((2, 33), 3e38, np.float32),
             "zero_points": np.zeros((2, 33), np.int64)}  # fmt: skip
    assert np.isnan(check(isa, given, np.full((5, 256), 1e30, np.float32), w)).all()
    a = np.ones((5, 256), np.float32)
    a[:, 3] = -np.float32(np.nan)
    assert np.isnan(check(isa, given | {"scales": np.ones((2, 33), np.float32)}, a, w)).all()
