"""The entry float_matmul of every ISA against ref, bit for bit.

Hazards: steps that K does not fill; columns that a panel lacks; rows that a tile lacks; a last step whose zeros turn -0
into +0."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt._ext.kernels import bind_float_matmul
from tests.kernels.draws import SIMD_ISAS, Array, kernels

# On both sides of: a step, SHORT_K.
DEPTHS = (0, 1, 15, 16, 17, 64, 127, 191, 192, 193, 1000)
# On both sides of: AXPY_ROWS, a tile, a block of tiles, SHORT_BLOCK.
ROWS = (1, 3, 4, 5, 12, 13, 50, 67)
# On both sides of a panel.
COLUMNS = (1, 4, 5, 31, 32, 33, 70)
seeds = st.integers(0, 2**32 - 1)


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Of all magnitudes, so that every order of a sum has bits of its own; not aligned to a vector."""
    values = np.empty(int(np.prod(shape)) + 1, np.float32)[1:].reshape(shape)
    values[...] = np.ldexp(rng.standard_normal(shape), rng.integers(-20, 20, shape))
    return values


def run(isa: str, given: dict[str, Any], *operands: Array) -> Array:
    call = bind_float_matmul(isa=isa, **given)
    out = np.full(call.operand_shapes[-1], 85, np.float32)
    call(*operands, out)
    return out


def check(isa: str, given: dict[str, Any], a: Array, w: Array) -> None:
    """With w packed once and at the call, without a bias and with one."""
    bias = floats(np.random.default_rng(0), given["n"])
    for more in ({}, {"bias": bias}):
        expected = run("ref", given | more, a, w)
        for got in (run(isa, given | more, a, w), run(isa, given | more | {"w_constant": w}, a)):
            np.testing.assert_array_equal(got.view(np.uint32), expected.view(np.uint32))
            assert (got[np.isnan(got)].view(np.uint32) == 0x7FC00000).all()


@pytest.mark.parametrize("isa", SIMD_ISAS)
@kernels
@given(seeds, st.sampled_from(ROWS), st.sampled_from(DEPTHS), st.sampled_from(COLUMNS))
def test_floats(isa: str, seed: int, m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    check(isa, {"m": m, "n": n, "k": k}, floats(rng, m, k), floats(rng, k, n))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 1e-45, 3e38])
@pytest.mark.parametrize(("m", "k"), [(1, 150), (13, 150), (13, 300)])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_special_values(isa: str, m: int, k: int, value: float) -> None:
    """Of activations and of weights."""
    rng = np.random.default_rng(2)
    a, w = floats(rng, m, k), floats(rng, k, 37)
    a[:, [3, k - 1]] = value
    w[20, ::2] = value
    check(isa, {"m": m, "n": 37, "k": k}, a, w)


@pytest.mark.parametrize("m", [1, 4, 5])
@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_lanes_past_k_lose_the_sign_of_zero(isa: str, m: int) -> None:
    """A product that underflows leaves -0; the zeros by which the last step is filled up add +0."""
    for k in (1, 16, 17, 33):
        a, w = np.full((m, k), -1e-30, np.float32), np.full((k, 5), 1e-30, np.float32)
        check(isa, {"m": m, "n": 5, "k": k}, a, w)
