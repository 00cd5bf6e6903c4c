"""Hazards of the SIMD casts, every ISA against ref, bit for bit: quotients beside ties, values and scales outside the
range where the fast division is proven, NaN and infinities, roundings to a narrow format, bounds of every container,
tails, runs and lines of every length, stores past the end, results that go past the caches."""

from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from qrt._ext.kernels import bind_dcast, bind_qcast
from tests.kernels.compiled import code_of
from tests.kernels.draws import DTYPES, SIMD_ISAS, Layout, isas_by_rows

CAST_ISAS = [isa for isa in isas_by_rows("qcast_row", "dcast_row") if isa != "ref"]
# An init.c may choose other stores for large results, of rows that are the parent's.
STREAMING = [isa for isa in SIMD_ISAS if ".streams = true" in code_of(isa)]
MODES = list(product(("half_even", "half_away", "toward_zero"), ("before", "after"), ("divide", "reciprocal")))
BOUNDS = {name: (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) for name, dtype in DTYPES.items()}
FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
CANARY = 77
PAST_THE_CACHES = 33 << 20  # bytes

Array = npt.NDArray[Any]
Mode = tuple[str, str, str]


def guarded(run: Callable[[Array], None], count: int, dtype: Any, offset: int = 64) -> Array:
    """The `count` elements that run writes, `offset` elements into an array whose other elements must stay."""
    out = np.full(count + offset + 64, CANARY, dtype)
    run(out[offset : offset + count])
    assert (out[:offset] == CANARY).all()
    assert (out[offset + count :] == CANARY).all()
    return out[offset : offset + count]


def qcast(isa: str, x: Array, storage: str, scales: Array, zero_points: Array, mode: Mode,
          bounds: tuple[int, int] | None = None, layout: Layout | None = None, expressed: str = "f32",
          offset: int = 64) -> Array:  # fmt: skip
    """Quantizes a vector and checks that nothing beside it was written."""
    layout = layout or Layout(x.shape, (1,), (int(scales.size > 1),))
    low, high = bounds or BOUNDS[storage]
    rounding, zero_point, scale = mode
    call = bind_qcast(
        isa=isa, expressed=expressed, storage=storage, shape=layout.shape, block=layout.block, step=layout.step,
        scales=scales, zero_points=zero_points, storage_min=low, storage_max=high, rounding=rounding,
        zero_point=zero_point, scale=scale,
    )  # fmt: skip
    return guarded(lambda out: call(x, out), x.size, DTYPES[storage], offset)


def dcast(isa: str, q: Array, storage: str, scales: Array, zero_points: Array, layout: Layout | None = None,
          expressed: str = "f32", offset: int = 64) -> Array:  # fmt: skip
    layout = layout or Layout(q.shape, (1,), (int(scales.size > 1),))
    call = bind_dcast(
        isa=isa, expressed=expressed, storage=storage, shape=layout.shape, block=layout.block, step=layout.step,
        scales=scales, zero_points=zero_points,
    )  # fmt: skip
    return guarded(lambda out: call(q, out), q.size, FLOATS[expressed], offset)


def assert_same_floats(values: Array, expected: Array) -> None:
    """Bit for bit, but NaNs, whose bits are the processor's."""
    missing = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(values), missing)
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[values.itemsize]
    np.testing.assert_array_equal(values.view(bits)[~missing], expected.view(bits)[~missing])


def assert_like_ref(run: Callable[[str], Array], isa: str) -> None:
    np.testing.assert_array_equal(run(isa), run("ref"))


def near_ties(scale: np.float32, zero_point: int, steps: int = 6) -> Array:
    """The floats nearest to (k + 1/2 - zero_point) * scale, and `steps` neighbours to either side."""
    k = np.arange(-300, 300) + 0.5 - zero_point
    ties = (k * np.float64(scale)).astype(np.float32)
    neighbours = ties.view(np.int32)[:, None] + np.arange(-steps, steps + 1, dtype=np.int32)
    return neighbours.ravel().view(np.float32)


def random_scales(rng: np.random.Generator, count: int, low: int = -20, high: int = 4) -> Array:
    """Scales of every significand, the largest and the smallest among them."""
    scales = np.ldexp(rng.uniform(1, 2, count), rng.integers(low, high, count)).astype(np.float32)
    scales[::17] = np.ldexp(np.float32(2 - 2**-23), rng.integers(low, high, scales[::17].size))
    scales[5::17] = np.ldexp(np.float32(1), rng.integers(low, high, scales[5::17].size))
    return scales


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("mode", MODES, ids="-".join)
def test_quotients_beside_ties(isa: str, mode: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(1)
    for scale, zero_point in zip(random_scales(rng, 24), rng.integers(-128, 128, 24), strict=True):
        x = near_ties(scale, zero_point if mode[1] == "before" else 0)
        zero_points = np.array([zero_point])
        assert_like_ref(lambda name, x=x, s=scale, z=zero_points: qcast(name, x, "i8", np.array([s]), z, mode), isa)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_every_exponent_nan_and_infinity(isa: str, mode: tuple[str, str, str], storage: str) -> None:
    rng = np.random.default_rng(2)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 3.4e38, -3.4e38], np.float32)
    for scale in [*random_scales(rng, 8), *random_scales(rng, 20, -126, 127), np.float32(1e-45), np.float32(3.4e38)]:
        with np.errstate(over="ignore"):
            x = np.concatenate([rng.integers(0, 2**32, 500, np.uint32).view(np.float32), special, special * scale])
        for zero_point in (0, 3, -128, 255, 1 << 24, -(1 << 24), 1 << 40):
            low, high = BOUNDS[storage]
            scales, zero_points = np.array([scale]), np.array([zero_point])
            bounds = (low + 3, high - 100)
            assert_like_ref(lambda name, x=x, s=scales, z=zero_points: qcast(name, x, storage, s, z, mode, bounds), isa)  # noqa: B023


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("exponent", [-120, -65, -64, -63, 63, 64, 65, 118])
def test_scales_around_the_guard(isa: str, exponent: int) -> None:
    """Where the remainder of the fast division is about to underflow or its product to overflow, and where they do."""
    rng = np.random.default_rng(3)
    for scale in random_scales(rng, 6, exponent, exponent + 1):
        x = np.concatenate([near_ties(scale, 0), near_ties(scale, 100, 1)])
        tiny = (scale * np.ldexp(rng.uniform(-2, 2, 300), rng.integers(-40, -10, 300))).astype(np.float32)
        for mode in MODES:
            for zero_point in (0, 1, -1, 100):
                arguments = np.concatenate([x, tiny]), "i8", np.array([scale]), np.array([zero_point]), mode
                assert_like_ref(lambda name, a=arguments: qcast(name, *a), isa)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("outside", [False, True])
def test_per_element_scales_some_outside_the_guard(isa: str, mode: tuple[str, str, str], outside: bool) -> None:
    rng = np.random.default_rng(4)
    scales = random_scales(rng, 700)
    if outside:
        scales[rng.integers(64, 700, 3)] = [1e-30, 1e30, 1e-45]
    x = (scales * (rng.integers(-300, 300, 700) + 0.5)).astype(np.float32)
    x[::50] = np.nan
    zero_points = rng.integers(-128, 128, 700)
    assert_like_ref(lambda name: qcast(name, x, "i8", scales, zero_points, mode), isa)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("step", [(0, 0), (0, 1), (1, 0)])
def test_one_value_that_spoils_its_block(isa: str, storage: str, step: tuple[int, int]) -> None:
    """Blocks are tried without the clamp: wherever one value leaves 32 bits, or 16 downwards, all of its block is done
    again, with its own parameters, and no other."""
    rng = np.random.default_rng(7)
    layout = Layout((5, 192), (1, 1), step)
    scales, zero_points = random_scales(rng, layout.count, -3, 1).astype(np.float64), rng.integers(0, 128, layout.count)
    index = layout.index.ravel()
    spoilers = [np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 2.2e9, -2.2e9, -3.3e4, -32768.5, -32767.5, 3.3e4, 1e-45]
    for place in (*range(0, 960, 61), *range(64, 128, 5)):
        x = (rng.normal(0, 60, 960) * scales[index]).astype(np.float32)
        spoiler = np.float32(spoilers[place % len(spoilers)])
        x[place] = spoiler * np.float32(scales[index][place]) if abs(spoiler) < 1e10 else spoiler
        for bounds in (BOUNDS[storage], (1, 99)):
            arguments = x, storage, scales, zero_points, MODES[0], bounds, layout, "f32", place % 5
            np.testing.assert_array_equal(qcast(isa, *arguments), qcast("ref", *arguments))


@pytest.mark.parametrize("isa", CAST_ISAS)
def test_long_rows_that_prefetch(isa: str) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(0, 50, 100_003).astype(np.float32)
    scales, zero_points = np.array([np.float32(0.7)]), np.array([5])
    q = qcast(isa, x, "i8", scales, zero_points, MODES[0])
    np.testing.assert_array_equal(q, qcast("ref", x, "i8", scales, zero_points, MODES[0]))
    np.testing.assert_array_equal(dcast(isa, q, "i8", scales, zero_points), dcast("ref", q, "i8", scales, zero_points))


# ------------------------------------------------------------------------------------ formats, containers and layouts


def scales_of(rng: np.random.Generator, expressed: str, count: int, low: int = -12, high: int = 6) -> Array:
    """Scales of the expressed type, as float64; every other one a power of two, which makes ties."""
    significands = np.where(np.arange(count) % 2, 1, rng.uniform(1, 2, count))
    scales = np.ldexp(significands, rng.integers(low, high, count))
    return scales.astype(FLOATS[expressed]).astype(np.float64)


def hostile(rng: np.random.Generator, expressed: str, scales: Array, zero_points: Array, low: int, high: int) -> Array:
    """Per parameter: values at both bounds and half a step around them, ties, every exponent, what is no number."""
    count = scales.size
    kind = rng.integers(0, 5, count)
    edge = (
        rng.choice(np.array([low, high]), count) - zero_points + rng.choice(np.array([-0.5, 0, 0.5]), count)
    ) * scales
    tie = (rng.integers(-300, 300, count) + 0.5 - zero_points) * scales
    inside = (rng.uniform(low, high, count) - zero_points) * scales
    bits = rng.integers(0, 1 << 16, count, np.uint16)
    width = np.dtype(FLOATS[expressed]).itemsize
    wild = (rng.integers(0, 1 << 63, count, np.uint64) << 1).astype(f"u{width}") if width > 2 else bits
    special = rng.choice(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), count)
    with np.errstate(all="ignore"):
        values = np.choose(kind % 4, [edge, tie, inside, special]).astype(FLOATS[expressed])
        return np.where(kind == 4, wild.view(FLOATS[expressed]), values)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@pytest.mark.parametrize("mode", MODES, ids="-".join)
def test_every_container(isa: str, expressed: str, mode: Mode) -> None:
    """Whole and narrowed bounds, zero points at their ends, a parameter of its own for each element and one for all."""
    rng = np.random.default_rng(7)
    for storage, (least, most) in BOUNDS.items():
        middle = (least + most) // 2
        for low, high in ((least, most), (least + 3, middle), (middle, middle)):
            scales = scales_of(rng, expressed, 300)
            ends = np.array([0 if least <= 0 else least, least, most, middle])
            zero_points = rng.choice(ends, 300)
            x = hostile(rng, expressed, scales, zero_points, low, high)
            each = x, storage, scales, zero_points, mode, (low, high)
            assert_like_ref(lambda name, a=each: qcast(name, *a, expressed=expressed), isa)
            for first in range(4):
                x = hostile(rng, expressed, np.full(99, scales[first]), np.full(99, zero_points[first]), low, high)
                one = x, storage, scales[first : first + 1], zero_points[first : first + 1], mode, (low, high)
                assert_like_ref(lambda name, a=one: qcast(name, *a, expressed=expressed), isa)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", ["f16", "bf16"])
@pytest.mark.parametrize("mode", MODES, ids="-".join)
def test_every_narrow_float(isa: str, expressed: str, mode: Mode) -> None:
    """All 65,536 of them, with scales at the ends of the format, and zero points that it does not hold."""
    x = np.arange(1 << 16, dtype=np.uint16).view(FLOATS[expressed])
    finfo = ml_dtypes.finfo(FLOATS[expressed])
    ends = [float(finfo.smallest_subnormal), float(finfo.tiny), float(finfo.max)]
    for scale in [*ends, *scales_of(np.random.default_rng(8), expressed, 3)]:
        for storage, zero_point in (("i8", -3), ("u8", 255), ("i16", 2049), ("u16", 65535)):
            arguments = x, storage, np.array([scale]), np.array([zero_point]), mode
            assert_like_ref(lambda name, a=arguments: qcast(name, *a, expressed=expressed), isa)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@pytest.mark.parametrize("storage", DTYPES)
def test_dcast_of_every_container(isa: str, expressed: str, storage: str) -> None:
    """Every value of 16 bits and less; of 32 bits both ends, and those around the powers of two, which f32 rounds."""
    rng = np.random.default_rng(9)
    low, high = BOUNDS[storage]
    if high - low < 1 << 16:
        q = np.arange(low, high + 1).astype(DTYPES[storage])
    else:
        near = (1 << np.arange(32))[:, None] + rng.integers(-200, 200, (32, 64))
        q = np.concatenate([near.ravel(), -near.ravel(), [low, high, low + 1, high - 1]])
        q = np.clip(q, low, high).astype(DTYPES[storage])
    finfo = ml_dtypes.finfo(FLOATS[expressed])
    ends = [float(finfo.smallest_subnormal), float(finfo.tiny), float(finfo.max)]
    for scale in [*ends, *scales_of(rng, expressed, 3)]:
        for zero_point in (0, low, high, 2049, (low + high) // 2 - 77):
            one = q, storage, np.array([scale]), np.array([zero_point])
            with np.errstate(all="ignore"):
                assert_same_floats(dcast(isa, *one, expressed=expressed), dcast("ref", *one, expressed=expressed))


SPANS = [
    *(Layout((2, 5, run), (1, 1, 1), (0, 1, 0)) for run in (1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 63, 64, 65, 100, 300)),
    *(Layout((7, line), (1, 1), (0, 1)) for line in (2, 3, 63, 64, 100, 255, 256, 257, 511, 512, 513, 700)),
    *(Layout(shape, (1, 1), (0, 1)) for shape in ((35, 100), (33, 257), (9, 2117))),  # more lines than go together
    *(Layout((3, 200, run), (1, 1, 1), (0, 1, 0)) for run in (2, 3, 7, 31)),  # patterns longer than the table
    *(Layout((6, 12 * run), (3, run), (12, 1)) for run in (1, 2, 4, 6, 16, 32, 48)),  # sub-channel
    Layout((4, 3, 5, 8), (2, 1, 5, 4), (6, 2, 0, 1)),
    Layout((5, 70), (1, 1), (1, 0)),
]


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@pytest.mark.parametrize("layout", SPANS, ids=lambda layout: f"{layout.shape}-{layout.step}")
def test_every_span(isa: str, expressed: str, layout: Layout) -> None:
    """Runs and lines on both sides of the lengths where the walk changes, cut within a pattern; odd offsets."""
    rng = np.random.default_rng(10)
    scales, zero_points = scales_of(rng, expressed, layout.count, -3, 1), rng.integers(-128, 128, layout.count)
    index = layout.index.ravel()
    x = hostile(rng, expressed, scales[index], zero_points[index], -128, 127)
    for storage, offset in (("i8", 1), ("i16", 3)):
        arguments = x, storage, scales, zero_points, MODES[0], None, layout, expressed, offset
        q = qcast("ref", *arguments)
        np.testing.assert_array_equal(qcast(isa, *arguments), q)
        back = q, storage, scales, zero_points, layout, expressed, offset
        assert_same_floats(dcast(isa, *back), dcast("ref", *back))


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@pytest.mark.parametrize("storage", ["i8", "u16", "i32"])
def test_every_length(isa: str, expressed: str, storage: str) -> None:
    """Around whole blocks of every size: nothing is lost at the end, nothing behind it is written."""
    rng = np.random.default_rng(11)
    for count in (*range(1, 36), *range(47, 50), *range(62, 68), 95, 111, 127, 129, 200):
        parameters = count if count % 3 else 1
        scales, zero_points = scales_of(rng, expressed, parameters, -3, 0), rng.integers(0, 100, parameters)
        x = rng.normal(0, 60, count + 1).astype(FLOATS[expressed])[1:]
        arguments = x, storage, scales, zero_points, MODES[0], None, None, expressed, count % 9
        q = qcast("ref", *arguments)
        np.testing.assert_array_equal(qcast(isa, *arguments), q)
        back = q, storage, scales, zero_points, None, expressed, count % 9
        assert_same_floats(dcast(isa, *back), dcast("ref", *back))


@pytest.mark.parametrize("isa", dict.fromkeys((*CAST_ISAS, *STREAMING)))
@pytest.mark.parametrize(("expressed", "storage"), [("f32", "i8"), ("f16", "u16"), ("bf16", "u8"), ("f64", "i16")])
@pytest.mark.parametrize("step", [(0, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_results_that_go_past_the_caches(isa: str, expressed: str, storage: str, step: tuple[int, int, int]) -> None:
    """Aligned stores begin within a row whose first element is not aligned; rows and tasks end anywhere."""
    rng = np.random.default_rng(12)
    size = np.dtype(FLOATS[expressed]).itemsize + np.dtype(DTYPES[storage]).itemsize
    repeats = PAST_THE_CACHES // size // (9 * 3 * 2100) + 1
    few, layout = (Layout((images, 3, 2100), (1, 1, 1), step) for images in (9, 9 * repeats))
    scales, zero_points = scales_of(rng, expressed, layout.count, -3, 1), rng.integers(0, 128, layout.count)
    x = rng.normal(0, 90, few.shape).astype(FLOATS[expressed]).ravel()
    q = qcast("ref", x, storage, scales, zero_points, MODES[0], None, few, expressed)
    y = dcast("ref", q, storage, scales, zero_points, few, expressed)
    found = qcast(isa, np.tile(x, repeats), storage, scales, zero_points, MODES[0], None, layout, expressed, 3)
    np.testing.assert_array_equal(found, np.tile(q, repeats))
    assert_same_floats(dcast(isa, found, storage, scales, zero_points, layout, expressed, 3), np.tile(y, repeats))
