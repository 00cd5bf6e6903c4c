"""Elementwise operations, pools and means of 8-bit storage beside a copy of as many bytes as they read and write."""

from collections.abc import Callable

import numpy as np
import pytest

import qrt

A = qrt.UniformType("i8", "f32", 0.02, 3)
OUT = qrt.UniformType("i8", "f32", 0.03, -5)
FUNCTIONS: dict[str, Callable[..., qrt.QuantTensor]] = {
    "add": lambda x, **out: qrt.add(x, x, out_type=OUT, **out),
    "mul": lambda x, **out: qrt.mul(x, x, out_type=OUT, **out),
    "relu": lambda x, **out: qrt.relu(x, **out),
    "requantize": lambda x, **out: qrt.requantize(x, OUT, **out),
    "max_pool2d": lambda x, **out: qrt.max_pool2d(x, (2, 2), strides=(2, 2), **out),
    "avg_pool2d": lambda x, **out: qrt.avg_pool2d(x, (2, 2), strides=(2, 2), **out),
    "mean": lambda x, **out: qrt.mean(x, (1, 2), **out),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementwise(benchmark, isa, paired, report, name: str):
    rng = np.random.default_rng(0)
    x = qrt.QuantTensor(rng.integers(-128, 128, (1, 112, 112, 64), np.int8), A)
    y = FUNCTIONS[name](x)
    source, target = np.zeros((2, (x.size + y.size) // 2), np.uint8)

    def run() -> None:
        FUNCTIONS[name](x, out=y)

    time, ratio = paired(run, lambda: np.copyto(target, source), 25)
    benchmark.group = f"elementwise {name}"
    benchmark.extra_info["times_a_copy"] = round(ratio, 2)
    report(f"elementwise {name:<12} {isa:<11} {time * 1e6:10.1f} us {ratio:6.2f} x a copy of as many bytes")
    benchmark.pedantic(run, rounds=7)
