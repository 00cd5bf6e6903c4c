"""Products in float32 beside NumPy's BLAS, which may sum in any order, and by weights of 4 and 8 bits beside a copy of
their bytes. The goal: half of NumPy's speed, with w given per call and packed once; weights at the rate of the copy."""

import os

import numpy as np
import pytest

import qrt
from qrt.types import FloatType, TensorType

SHAPES = [(64, 64, 64), (256, 256, 256), (1, 1024, 1024), (16, 1024, 1024), (128, 768, 3072), (1024, 1024, 1024)]
F32 = FloatType("f32")


def product(a: np.ndarray, w: np.ndarray, y: np.ndarray, constant: bool):
    if not constant:
        return lambda: qrt.float_matmul(a, w, out=y)
    types = (TensorType(a.shape, F32), TensorType(w.shape, F32))
    family = qrt.ops.FAMILIES["float_matmul"]
    call, _ = family.call(types, family.resolve(types, {}, None), {}, {1: w})
    return lambda: call(a, y)


@pytest.mark.parametrize("constant", [True, False], ids=["packed", "per_call"])
@pytest.mark.parametrize(("m", "k", "n"), SHAPES, ids=lambda size: str(size))
def test_beside_numpy(benchmark, isa, paired, report, m: int, k: int, n: int, constant: bool):
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        pytest.skip("the yardstick takes one thread: set OPENBLAS_NUM_THREADS=1")
    rng = np.random.default_rng(0)
    a, w = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    y, z = np.empty((2, m, n), np.float32)
    run = product(a, w, y, constant)
    work = m * k * n
    time, ratio = paired(run, lambda: np.matmul(a, w, out=z), 25 if work < 1e8 else 7)
    name = f"{m}x{k}x{n} {'packed' if constant else 'per call'}"
    benchmark.group = f"float_matmul {name}"
    benchmark.extra_info |= {"gflops": round(2 * work / time * 1e-9, 1), "of_numpys_speed": round(1 / ratio, 2)}
    report(f"float_matmul {name:<22} {isa:<11} {time * 1e6:10.1f} us {1 / ratio:6.2f} of NumPy's speed")
    benchmark.pedantic(run, rounds=7)


@pytest.mark.parametrize(("width", "block"), [(4, 32), (4, 128), (8, 128)])
def test_weight_only(benchmark, isa, paired, report, width: int, block: int):
    rng = np.random.default_rng(0)
    scales = rng.uniform(0.01, 0.03, (4096 // block, 4096))
    t = qrt.UniformType(f"i{width}", "f32", scales, block_sizes={0: block, 1: 1})
    low = -(1 << (width - 1))
    w = qrt.pack(qrt.QuantTensor(rng.integers(low, -low, (4096, 4096), np.int8), t))
    x, y = rng.standard_normal((1, 4096)).astype(np.float32), np.empty((1, 4096), np.float32)
    source, target = np.zeros((2, 4096 * 4096 * width // 16), np.uint8)  # read, written: the weights' bytes together

    def run() -> None:
        qrt.float_matmul(x, w, out=y)

    time, ratio = paired(run, lambda: np.copyto(target, source), 25)
    benchmark.group = f"float_matmul i{width} blocks of {block}"
    benchmark.extra_info["times_a_copy"] = round(ratio, 2)
    name = f"1x4096x4096 i{width} b{block}"
    report(f"float_matmul {name:<22} {isa:<11} {time * 1e6:10.1f} us {ratio:6.2f} x a copy of the weights' bytes")
    benchmark.pedantic(run, rounds=7)
