"""The cost of a call with next to nothing to compute, beside NumPy's smallest call in the same run.

The goal, where 10^7 additions of a plain Python loop take about a second: 0.6 us for a product of 4x4x4 with `out`,
0.35 us for a cast of 16 elements with `out`."""

from collections.abc import Callable

import numpy as np
import pytest

import qrt

CALLS = 2000
I8 = qrt.UniformType("i8", "f32", 0.02, 3)
W = qrt.UniformType("i8", "f32", 0.01)
OUT = qrt.UniformType("i8", "f32", 0.1, -5)


def storage(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(-128, 128, shape, np.int8)


A, B = qrt.QuantTensor(storage(4, 4), I8), qrt.QuantTensor(storage(4, 4), W)
IMAGE, FILTER = qrt.QuantTensor(storage(1, 4, 4, 4), I8), qrt.QuantTensor(storage(4, 3, 3, 4), W)
DEPTHWISE, PACKED = qrt.QuantTensor(storage(3, 3, 4), W), qrt.pack(B)
FLOATS, VALUES = np.linspace(-2, 2, 16, dtype=np.float32).reshape(4, 4), np.empty((4, 4), np.float32)
Y, Y_IMAGE = qrt.matmul(A, B, out_type=OUT), qrt.conv2d(IMAGE, FILTER, padding="SAME", out_type=OUT)
Y_A = A.copy()

WORK: dict[str, Callable[[], object]] = {
    "qcast, out": lambda: qrt.qcast(FLOATS, I8, out=Y_A),
    "qcast": lambda: qrt.qcast(FLOATS, I8),
    "dcast, out": lambda: qrt.dcast(A, out=VALUES),
    "dcast": lambda: qrt.dcast(A),
    "matmul, out": lambda: qrt.matmul(A, B, out_type=OUT, out=Y),
    "matmul": lambda: qrt.matmul(A, B, out_type=OUT),
    "matmul packed, out": lambda: qrt.matmul(A, PACKED, out_type=OUT, out=Y),
    "a @ w": lambda: A @ B,
    "conv2d, out": lambda: qrt.conv2d(IMAGE, FILTER, padding="SAME", out_type=OUT, out=Y_IMAGE),
    "depthwise_conv2d, out": lambda: qrt.depthwise_conv2d(IMAGE, DEPTHWISE, padding="SAME", out_type=OUT, out=Y_IMAGE),
    "add, out": lambda: qrt.add(A, A, out=Y_A),
    "requantize, out": lambda: qrt.requantize(A, OUT, out=Y),
    "relu, out": lambda: qrt.relu(A, out=Y_A),
    "max_pool2d": lambda: qrt.max_pool2d(IMAGE, 2),
    "a copy, not kept": lambda: qrt.relu(A.T, out=Y_A),
}


def repeated(call: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            call()

    return run


@pytest.mark.parametrize("name", WORK)
def test_call(benchmark, one_thread, paired, report, name: str):
    run = repeated(WORK[name])
    time, ratio = paired(run, repeated(lambda: np.add(FLOATS, FLOATS, out=VALUES)))
    benchmark.group = "calls"
    benchmark.extra_info |= {"microseconds": round(time / CALLS * 1e6, 2), "times_np_add": round(ratio, 2)}
    report(f"call {name:<22} {time / CALLS * 1e6:6.2f} us {ratio:6.2f} x np.add of 16 floats with out")
    benchmark.pedantic(run, rounds=5)
