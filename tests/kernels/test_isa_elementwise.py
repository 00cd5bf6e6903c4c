"""Elementwise kernels, pools and means of every ISA against ref on rows longer than their vectors and chunks.

Hazards: tails of vectors and of the chunks in which 32-bit values wait, the last vector of a pool, which overlaps the
one before, operands repeated or strided, and bounds past which a 32-bit sum or product would wrap."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import bind_avg_pool2d, bind_binary, bind_clamp, bind_max_pool2d, bind_mean
from tests.kernels.draws import DTYPES, Array, full, isas_by_rows, stored

ROWS = ("binary_row", "clamp_row", "avg_pool_run", "max_pool_run", "mean_row")
ISAS = [isa for isa in isas_by_rows(*ROWS) if isa != "ref"]
CONTAINERS = ("i8", "u8", "i16", "u16")
LENGTHS = (1, 7, 8, 31, 33, 255, 256, 257, 515)
ENDS = {name: (full(name).low, full(name).high) for name in CONTAINERS}


def agree(isa: str, bind: Any, given: dict[str, Any], *operands: Array) -> None:
    results = []
    for name in (isa, "ref"):
        call = bind(isa=name, **given)
        out = np.full(call.operand_shapes[-1], 85, call.operand_dtypes[-1])
        call(*operands, out)
        results.append(out)
    np.testing.assert_array_equal(*results)


def values(name: str, *shape: int) -> Array:
    """Half of them at the ends."""
    rng = np.random.default_rng(len(shape) + shape[-1])
    drawn = stored(rng, full(name), shape)
    return np.where(rng.random(shape) < 0.5, rng.choice(ENDS[name], shape), drawn).astype(DTYPES[name])


def requant(to: str, scale: float, count: int = 1) -> numerics.RequantParameters:
    low, high = ENDS[to]
    return numerics.requant_parameters("fixed", to, low, high, [(scale,)] * count, [(1.0,)] * count, [3] * count)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize(("a", "b"), [("i8", "i8"), ("u8", "i16"), ("u16", "u16"), ("i16", "u8")])
@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
def test_binary(isa: str, kind: str, a: str, b: str) -> None:
    """Multipliers below, at and past what 32-bit sums hold; one operand repeated along the row, or along all rows."""
    for n, multiplier in ((n, m) for n in LENGTHS for m in (1 << 10, 1 << 21, (1 << 22) + 12345, 1 << 40)):
        given: dict[str, Any] = {
            "kind": kind,
            "a": a,
            "b": b,
            "a_zero_points": [ENDS[a][0]],
            "b_zero_points": [ENDS[b][1]],
        }
        if kind == "mul":
            given["requant"] = requant("u8", 1 / multiplier)
        else:
            given |= {"requant": numerics.rounded_shift(("i16", -(2**15), 2**15 - 1), np.array([-77]), np.array([20]))}
            given |= {"a_multipliers": np.array([multiplier]), "b_multipliers": np.array([multiplier >> 3])}
        for a_shape, b_shape in (((2, n), (2, n)), ((2, n), (2, 1)), ((1, n), (2, n)), ((2, 1), (2, n))):
            agree(isa, bind_binary, given | {"a_shape": a_shape, "b_shape": b_shape}, values(a, *a_shape),
                  values(b, *b_shape))  # fmt: skip


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
def test_exact_results(isa: str, kind: str, storage: str) -> None:
    """Results as they are in i32, one operand repeated, and near misses: a factor just off one, an offset, a bound,
    zero points past 32 bits."""
    low, high = -(2**31), 2**31 - 1
    parameters: list[tuple[int, int, int, int, tuple[int, int]]] = [
        (1, 20, 0, low, ENDS[storage]),
        (1, 20, 0, low, ENDS[storage][::-1]),
        (1, 0, 0, low, (0, 0)),
        (1, 12, 1, low, (0, 0)),
        (1, 12, 0, low + 1, ENDS[storage]),
        (1, 12, 0, low, (1 << 30, -(1 << 30))),
        (1, 12, 0, low, (1 << 40, 3)),
        (3, 12, 0, low, (5, 7)),
    ]
    for n, (off, shift, zero_point, least, zero_points) in ((n, p) for n in LENGTHS for p in parameters):
        one = (1 << shift) + off - 1
        fixed = numerics.rounded_shift(("i32", least, high), np.array([zero_point]), np.array([shift]))
        given: dict[str, Any] = {"kind": kind, "a": storage, "b": storage, "requant": fixed}
        if kind == "mul":
            given["requant"] = replace(fixed, multiplier=np.array([one], np.int32))
        else:
            given |= {"a_multipliers": np.array([1 << shift]), "b_multipliers": np.array([one])}
        given |= {"a_zero_points": [zero_points[0]], "b_zero_points": [zero_points[1]]}
        for a_shape, b_shape in (((2, n), (2, n)), ((2, 1), (2, n)), ((2, n), (2, 1))):
            a, b = values(storage, *a_shape), values(storage, *b_shape)[::-1].copy()
            agree(isa, bind_binary, given | {"a_shape": a_shape, "b_shape": b_shape}, a, b)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
def test_clamp(isa: str, storage: str) -> None:
    """Bounds inside the storage, at its ends, and of which none is left between."""
    low, high = ENDS[storage]
    for n in LENGTHS:
        for lower, upper in ((low + 1, high - 9), (low, high), (high, high)):
            agree(isa, bind_clamp, {"storage": storage, "shape": (n,), "lower": [lower], "upper": [upper]},
                  values(storage, n))  # fmt: skip


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize(("kernel", "channels"), [((2, 3), LENGTHS), ((130, 127), (33,))], ids=["small", "large"])
def test_pool(isa: str, storage: str, kernel: tuple[int, int], channels: tuple[int, ...]) -> None:
    """Windows of more values than a 32-bit sum is sure to hold, with the zero point that makes it largest."""
    for count in channels:
        x = values(storage, 1, kernel[0], kernel[1], count)
        window = {"kernel": kernel, "strides": (1, 1), "padding": ((1, 0), (0, 1))}
        given = {"storage": storage, "x_shape": x.shape} | window
        agree(isa, bind_max_pool2d, given, x)
        for end in ENDS[storage]:
            for each in (1, count):
                more = {"zero_points": [end] * each, "requant": requant("i8", 1 / 1000, each), "count_step": 0}
                agree(isa, bind_avg_pool2d, given | more | {"channel_step": int(each > 1)}, x)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("axes", [(0,), (0, 2), (1,), (2,)])
def test_mean(isa: str, storage: str, axes: tuple[int, ...]) -> None:
    """Reduced axes around the one that lies in vectors, and that one itself."""
    for n in LENGTHS:
        x = values(storage, 3, n, 5) if 2 in axes else values(storage, 3, 5, n)
        given = {"storage": storage, "x_shape": x.shape, "axes": axes, "zero_points": [ENDS[storage][0]]}
        agree(isa, bind_mean, given | {"requant": requant("u16", 1 / 7)}, x)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("end", [0, 1])
def test_mean_of_long_runs(isa: str, storage: str, end: int) -> None:
    """Sums of equal ends, whose lanes of 32 bits are emptied every 2^17 values; runs that do not follow each other."""
    value, zero = ENDS[storage][end], ENDS[storage][1 - end]
    full_lanes = 8 << 14
    for n in (15, 16, 17, full_lanes - 1, full_lanes, full_lanes + 1, full_lanes + 8, 2 * full_lanes + 9):
        for shape, axes in (((n,), (0,)), ((2, 3, n), (0, 2)), ((n, 1), (0, 1)), ((3, n), (1,))):
            x = np.full(shape, value, DTYPES[storage])
            x.flat[-1] = zero
            kept = [size for axis, size in enumerate(shape) if axis not in axes]
            given = {"storage": storage, "x_shape": shape, "axes": axes, "zero_points": [zero] * max([1, *kept])}
            step = [int(bool(kept))] * len(kept)
            agree(isa, bind_mean, given | {"requant": requant("u16", 1 / n, max([1, *kept])), "step": step}, x)
