"""Hazards of the SIMD casts, every ISA against ref, bit for bit: quotients beside ties, values and scales outside the
range where the fast division is proven, NaN and infinities, tails, stores past the end."""

from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from qrt._seam import _core
from tests.kernels.draws import SIMD_ISAS

MODES = list(product(("half_even", "half_away", "toward_zero"), ("before", "after"), ("divide", "reciprocal")))
BOUNDS = {"i8": (-128, 127), "u8": (0, 255)}
DTYPES = {"i8": np.int8, "u8": np.uint8}
CANARY = 77

Array = npt.NDArray[np.generic]


def qcast(isa: str, x: Array, storage: str, scales: Array, zero_points: Array, mode: tuple[str, str, str],
          bounds: tuple[int, int] | None = None) -> Array:  # fmt: skip
    """Quantizes a vector and checks that nothing beside it was written."""
    low, high = bounds or BOUNDS[storage]
    rounding, zero_point, scale = mode
    call = _core.bind_qcast(
        isa=isa, expressed="f32", storage=storage, shape=x.shape, step=(int(scales.size > 1),), scales=scales,
        zero_points=zero_points, storage_min=low, storage_max=high, rounding=rounding, zero_point=zero_point,
        scale=scale,
    )  # fmt: skip
    out = np.full(x.size + 128, CANARY, DTYPES[storage])
    call(x, out[64 : 64 + x.size])
    assert (out[:64] == CANARY).all()
    assert (out[64 + x.size :] == CANARY).all()
    return out[64 : 64 + x.size]


def dcast(isa: str, q: Array, storage: str, scales: Array, zero_points: Array) -> Array:
    call = _core.bind_dcast(
        isa=isa, expressed="f32", storage=storage, shape=q.shape, step=(int(scales.size > 1),), scales=scales,
        zero_points=zero_points,
    )  # fmt: skip
    out = np.full(q.size + 128, CANARY, np.float32)
    call(q, out[64 : 64 + q.size])
    assert (out[:64] == CANARY).all()
    assert (out[64 + q.size :] == CANARY).all()
    return out[64 : 64 + q.size]


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


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("mode", MODES, ids="-".join)
def test_quotients_beside_ties(isa: str, mode: tuple[str, str, str]) -> None:
    rng = np.random.default_rng(1)
    for scale, zero_point in zip(random_scales(rng, 24), rng.integers(-128, 128, 24), strict=True):
        x = near_ties(scale, zero_point if mode[1] == "before" else 0)
        zero_points = np.array([zero_point])
        assert_like_ref(lambda name, x=x, s=scale, z=zero_points: qcast(name, x, "i8", np.array([s]), z, mode), isa)


@pytest.mark.parametrize("isa", SIMD_ISAS)
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


@pytest.mark.parametrize("isa", SIMD_ISAS)
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


@pytest.mark.parametrize("isa", SIMD_ISAS)
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


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("per_element", [False, True])
def test_every_tail(isa: str, storage: str, per_element: bool) -> None:
    """Lengths around whole blocks: nothing is lost at the end, and nothing beyond it is read as data or written."""
    rng = np.random.default_rng(5)
    for count in range(1, 131):
        scales = random_scales(rng, count if per_element else 1, -3, 0)
        zero_points = rng.integers(0, 100, scales.size)
        x = rng.normal(0, 60, count).astype(np.float32)
        q = qcast("ref", x, storage, scales, zero_points, MODES[0])
        np.testing.assert_array_equal(qcast(isa, x, storage, scales, zero_points, MODES[0]), q)
        np.testing.assert_array_equal(
            dcast(isa, q, storage, scales, zero_points), dcast("ref", q, storage, scales, zero_points)
        )


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_dcast_of_every_value(isa: str, storage: str) -> None:
    """Zero points beyond 24 bits are rounded once, before the subtraction; products may be subnormal or infinite."""
    q = np.arange(256, dtype=np.uint8).view(DTYPES[storage])
    for scale, zero_point in product([1e-45, 1e-30, 0.1, 3.4e38], [0, -128, 255, (1 << 24) + 1, (1 << 31) - 1]):
        arguments = q, storage, np.array([np.float32(scale)]), np.array([zero_point])
        assert_like_ref(lambda name, a=arguments: dcast(name, *a).view(np.uint32), isa)


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_long_rows_that_prefetch(isa: str) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(0, 50, 100_003).astype(np.float32)
    scales, zero_points = np.array([np.float32(0.7)]), np.array([5])
    q = qcast(isa, x, "i8", scales, zero_points, MODES[0])
    np.testing.assert_array_equal(q, qcast("ref", x, "i8", scales, zero_points, MODES[0]))
    np.testing.assert_array_equal(dcast(isa, q, "i8", scales, zero_points), dcast("ref", q, "i8", scales, zero_points))
