"""NumPy's sums of a QuantTensor beside those of its storage: the same bytes. The goals: at most 1.1 times NumPy's time
from 64K elements on, and at most NumPy's time and 2 us for 16."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import qrt

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "sum, axis 0": lambda x: np.sum(x, axis=0),
    "sum, axis -1": lambda x: np.sum(x, axis=-1),
    "cumsum": np.cumsum,
    "mean": np.mean,
    "std": np.std,
    "std, axis 0": lambda x: np.std(x, axis=0),
    "q * 2": lambda x: x * 2,
}
TYPES = {
    "i8": qrt.UniformType("i8", "f32", 0.5, 3),
    "u8": qrt.UniformType("u8", "f32", 0.5, 128),
    "i16": qrt.UniformType("i16", "f32", 0.5),
}
SHAPES = {"16": (4, 4), "64K": (256, 256)}
CASES = [
    (name, storage, size)
    for name in FUNCTIONS
    for storage in TYPES
    for size in SHAPES
    if not (storage == "i16" and size == "64K" and name in ("sum", "cumsum"))  # i32 does not hold them
]


@pytest.mark.parametrize(("name", "storage", "size"), CASES)
def test_sums(benchmark, one_thread, paired, report, name: str, storage: str, size: str):
    t = TYPES[storage]
    rng = np.random.default_rng(0)
    q = qrt.QuantTensor(rng.integers(0, 100, SHAPES[size]), t)
    x = q.storage.copy()
    function = FUNCTIONS[name]
    calls = range(1000 if size == "16" else 10)

    def run() -> None:
        for _ in calls:
            function(q)

    def yardstick() -> None:
        for _ in calls:
            function(x)

    time, ratio = paired(run, yardstick)
    time /= len(calls)
    benchmark.group = f"numpy {name}"
    benchmark.extra_info["times_numpy"] = round(ratio, 2)
    more = (time - time / ratio) * 1e6
    report(f"np {name:<12} {storage:<4} {size:>4} {time * 1e6:10.2f} us {ratio:6.2f} x NumPy {more:+8.2f} us")
    benchmark.pedantic(run, rounds=3)
