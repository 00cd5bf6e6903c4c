"""The entry float_matmul of every ISA against ref, bit for bit.

Hazards: steps, words and blocks that K does not fill; loops written for one size of block, and what follows them;
loads that begin inside a word and end behind it; zero points so far off that a table or a magic number would round;
weights that overflow or underflow, which zeros past K must not meet; columns that a panel lacks; rows that a tile
lacks; a last step whose zeros turn -0 into +0."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt._seam import _core
from tests.kernels.draws import SIMD_ISAS, Array, kernels

DEPTHS = (0, 1, 15, 16, 17, 64, 127, 128, 129, 1000)
# On both sides of: AXPY_ROWS and DEQUANTIZE_ROWS, a tile, a block of tiles.
ROWS = (1, 3, 4, 5, 12, 13, 50)
# On both sides of a panel of words and of floats.
COLUMNS = (1, 4, 5, 31, 32, 33, 70)
BLOCKS = (16, 32, 48, 64, 80, 128, 256, 1 << 20)
LARGEST_ZERO_POINT = 1 << 20
seeds = st.integers(0, 2**32 - 1)


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Of all magnitudes, so that every order of a sum has bits of its own; not aligned to a vector."""
    values = np.empty(int(np.prod(shape)) + 1, np.float32)[1:].reshape(shape)
    values[...] = np.ldexp(rng.standard_normal(shape), rng.integers(-20, 20, shape))
    return values


def run(isa: str, given: dict[str, Any], *operands: Array) -> Array:
    call = _core.bind_float_matmul(isa=isa, **given)
    out = np.full(call.operand_shapes[-1], 85, np.float32)
    call(*operands, out)
    return out


def check(isa: str, given: dict[str, Any], a: Array, w: Array) -> None:
    """With w packed once and at the call, without a bias and with one."""
    bias = floats(np.random.default_rng(0), given["n"])
    for more in ({}, {"bias": bias}):
        expected = run("ref", given | more, a, w)
        for got in (run(isa, given | more, a, w), run(isa, given | more | {"w_constant": w}, a)):
            np.testing.assert_array_equal(got, expected)
            values = ~np.isnan(expected)  # a NaN is a NaN
            np.testing.assert_array_equal(np.signbit(got[values]), np.signbit(expected[values]))


def quantized(
    rng: np.random.Generator, k: int, n: int, width: int, sign: str, k_block: int, zero: str
) -> dict[str, Any]:
    blocks = max(-(-k // k_block), 1)
    zero_points = {
        "none": np.zeros((blocks, n)),
        "common": np.full((blocks, n), rng.choice([-LARGEST_ZERO_POINT, -128, 3, 255, LARGEST_ZERO_POINT])),
        "each": rng.integers(-(1 << (width - 1)), 1 << width, (blocks, n)),
        "extremes": rng.choice([-LARGEST_ZERO_POINT, 0, LARGEST_ZERO_POINT], (blocks, n)),
    }[zero]
    return {
        "weights": "nibbles" if width == 4 else "bytes", "w": f"{sign}8", "k_block": k_block,
        "scales": floats(rng, blocks, n), "zero_points": zero_points,
    }  # fmt: skip


def storage(rng: np.random.Generator, k: int, n: int, width: int, sign: str) -> Array:
    low = -(1 << (width - 1)) if sign == "i" else 0
    return rng.integers(low, low + (1 << width), (k, n)).astype(np.int8 if sign == "i" else np.uint8)


@pytest.mark.parametrize("isa", SIMD_ISAS)
@kernels
@given(seeds, st.sampled_from(ROWS), st.sampled_from(DEPTHS), st.sampled_from(COLUMNS))
def test_floats(isa: str, seed: int, m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    check(isa, {"m": m, "n": n, "k": k}, floats(rng, m, k), floats(rng, k, n))


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
@kernels
@given(st.data())
def test_quantized_weights(isa: str, width: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(seeds))
    m, k, n = (data.draw(st.sampled_from(sizes)) for sizes in (ROWS, DEPTHS, COLUMNS))
    sign, zero = data.draw(st.sampled_from("iu")), data.draw(st.sampled_from(["none", "common", "each", "extremes"]))
    parameters = quantized(rng, k, n, width, sign, data.draw(st.sampled_from(BLOCKS)), zero)
    check(isa, {"m": m, "n": n, "k": k} | parameters, floats(rng, m, k), storage(rng, k, n, width, sign))


@pytest.mark.parametrize("k_block", BLOCKS)
@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_deep(isa: str, width: int, k_block: int) -> None:
    """Many blocks and words, and one value more."""
    rng = np.random.default_rng(1)
    for m, zero in ((1, "none"), (5, "each")):
        given = {"m": m, "n": 6, "k": 4097} | quantized(rng, 4097, 6, width, "i", k_block, zero)
        check(isa, given, floats(rng, m, 4097), storage(rng, 4097, 6, width, "i"))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 1e-45, 3e38])
@pytest.mark.parametrize("m", [1, 13])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_special_values(isa: str, m: int, value: float) -> None:
    """Of activations and of float weights."""
    rng = np.random.default_rng(2)
    a, w = floats(rng, m, 150), floats(rng, 150, 37)
    a[:, [3, 149]] = value
    w[20, ::2] = value
    check(isa, {"m": m, "n": 37, "k": 150}, a, w)
    for width in (4, 8):
        given = {"m": m, "n": 37, "k": 150} | quantized(rng, 150, 37, width, "i", 32, "none")
        check(isa, given, a, storage(rng, 150, 37, width, "i"))


@pytest.mark.parametrize("scale", [3e38, -3e38, 1e-45, 2.0**-140, 0.0])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_scales_at_the_ends_of_float32(isa: str, scale: float) -> None:
    """Weights that overflow have no place past K, where zeros of the activations would make them NaN."""
    rng = np.random.default_rng(3)
    for m, width in ((1, 4), (5, 4), (1, 8), (5, 8)):
        for zero in ("none", "each"):
            given = {"m": m, "n": 7, "k": 37} | quantized(rng, 37, 7, width, "u", 32, zero)
            given["scales"] = np.full_like(given["scales"], np.float32(scale))
            check(isa, given, floats(rng, m, 37), storage(rng, 37, 7, width, "u"))


@pytest.mark.parametrize("m", [1, 4, 5])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_lanes_past_k_lose_the_sign_of_zero(isa: str, m: int) -> None:
    """A product that underflows leaves -0; the zeros by which the last step is filled up add +0."""
    for k in (1, 16, 17, 33):
        a, w = np.full((m, k), -1e-30, np.float32), np.full((k, 5), 1e-30, np.float32)
        check(isa, {"m": m, "n": 5, "k": k}, a, w)
