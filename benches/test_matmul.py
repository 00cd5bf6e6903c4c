"""8-bit matrix products, requantized, as a share of the ISA's multiply-add peak, and how their time grows with each
dimension."""

import functools
import itertools

import numpy as np
import pytest

import qrt
from qrt.cli.bench import GEMMS, GemmCase

A = qrt.UniformType("i8", "f32", 0.02, 3)
W = qrt.UniformType("i8", "f32", 0.01)
OUT = qrt.UniformType("i8", "f32", 0.1, -5)


def storage(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(-128, 128, shape, np.int8)


@pytest.mark.parametrize("case", GEMMS, ids=lambda case: case.name)
def test_matmul(benchmark, isa, paired, peak, report, case: GemmCase):
    rng = np.random.default_rng(0)
    a = qrt.QuantTensor(storage(rng, case.a_shape), A)
    w = qrt.QuantTensor(storage(rng, case.w_shape), W)
    y = qrt.matmul(a, w, out_type=OUT)

    def run() -> None:
        qrt.matmul(a, w, out_type=OUT, out=y)

    meter, multiply_adds = peak(isa)
    rounds = 25 if case.operations < 1e9 else 7
    time, ratio = paired(run, meter, rounds)
    share = case.operations / (2 * multiply_adds) / ratio
    rate = case.operations / time * 1e-9
    benchmark.group = f"matmul {case.name}"
    benchmark.extra_info |= {"gops": round(rate, 1), "share_of_peak": round(share, 3)}
    report(f"matmul {case.name:<14} {isa:<11} {time * 1e6:10.1f} us {rate:7.1f} GOP/s {share:6.0%} of the peak")
    benchmark.pedantic(run, rounds=rounds)


@pytest.mark.parametrize("dimension", ["m", "k", "n"])
def test_cost_is_linear(benchmark, isa, paired, report, dimension: str):
    """Each doubling beyond the block sizes doubles the time: no cliff where a block, a panel or a cache ends."""
    rng = np.random.default_rng(0)
    sizes = {"m": 256, "k": 512, "n": 256}
    works = []
    for _ in range(4):
        a = qrt.QuantTensor(storage(rng, (sizes["m"], sizes["k"])), A)
        w = qrt.QuantTensor(storage(rng, (sizes["k"], sizes["n"])), W)
        works.append(functools.partial(qrt.matmul, a, w, out_type=OUT, out=qrt.matmul(a, w, out_type=OUT)))
        sizes[dimension] *= 2
    ratios = [paired(larger, smaller, 7)[1] for smaller, larger in itertools.pairwise(works)]
    benchmark.group = f"matmul, {dimension} doubled"
    benchmark.extra_info["ratios"] = [round(ratio, 2) for ratio in ratios]
    report(
        f"matmul, {dimension} doubled three times, {isa:<11} {', '.join(f'{ratio:.2f}' for ratio in ratios)} x the time"
    )
    benchmark.pedantic(works[0], rounds=7)
