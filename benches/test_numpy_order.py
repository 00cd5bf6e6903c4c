"""NumPy's comparisons, reductions and sorting on quantized tensors beside NumPy on the same bytes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import qrt

TYPES = {
    "i8": qrt.UniformType("i8", "f32", 0.05, 3),
    "i16": qrt.UniformType("i16", "f32", 0.05),
    "i32": qrt.UniformType("i32", "f32", 0.05),
}
SIZES = {"16": 16, "64K": 1 << 16, "1M": 1 << 20}
Call = Callable[[Any, Any], object]
# What runs on the tensor, and what on its storage: 1.5 is between the steps 32 and 33.
FUNCTIONS: dict[str, tuple[Call, Call]] = {
    "less, number": (lambda q, r: q < 1.5, lambda s, t: s < 33),
    "greater": (lambda q, r: q > r, lambda s, t: s > t),
    "equal": (lambda q, r: q == r, lambda s, t: s == t),
    "array_equal": (lambda q, r: np.array_equal(q, r), lambda s, t: np.array_equal(s, t)),
    "max": (lambda q, r: np.max(q), lambda s, t: np.max(s)),
    "min": (lambda q, r: np.min(q, axis=0), lambda s, t: np.min(s, axis=0)),
    "argmax": (lambda q, r: np.argmax(q), lambda s, t: np.argmax(s)),
    "maximum": (lambda q, r: np.maximum(q, r), lambda s, t: np.maximum(s, t)),
    "clip": (lambda q, r: np.clip(q, 0, 1), lambda s, t: np.clip(s, 3, 23)),
    "sort": (lambda q, r: np.sort(q), lambda s, t: np.sort(s)),
    "argsort": (lambda q, r: np.argsort(q), lambda s, t: np.argsort(s)),
    "unique": (lambda q, r: np.unique(q), lambda s, t: np.unique(s)),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("storage", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_order(benchmark, one_thread, paired, report, name: str, storage: str, size: str):
    rng = np.random.default_rng(0)
    t, count = TYPES[storage], SIZES[size]
    q, r = (qrt.QuantTensor(rng.integers(-120, 120, count), t) for _ in range(2))
    s, other = q.storage, r.storage
    of_tensors, of_storage = FUNCTIONS[name]
    calls = max(1, 4096 // count)  # of 16 elements, one call is too short for a clock

    def run(call: Call, *operands: Any) -> None:
        for _ in range(calls):
            call(*operands)

    time, ratio = paired(lambda: run(of_tensors, q, r), lambda: run(of_storage, s, other), 15)
    beyond = (time - time / ratio) / calls * 1e6
    benchmark.group = f"order {name}"
    benchmark.extra_info["times_numpy"] = round(ratio, 2)
    report(f"{name:<13} {storage:<4} {size:>4} {time / calls * 1e6:10.2f} us {ratio:6.2f} x NumPy, {beyond:+7.2f} us")
    benchmark.pedantic(lambda: run(of_tensors, q, r), rounds=3)
