"""Types of 524,288 scales: made, pickled and parsed in 50 ms each, printed in 500 ms. CPU time, the best of some
rounds; beside it what NumPy takes to sort as many doubles, which tells how fast the machine is just then."""

import gc
import pickle
from time import process_time

import numpy as np
import pytest

import qrt
from qrt.types.core import Type

SHAPE = (128, 4096)
SCALES = np.random.default_rng(7).uniform(0.0042, 0.0121, SHAPE)
ZERO_POINTS = np.random.default_rng(8).integers(-8, 8, SHAPE)
BLOCKS = {"block_sizes": {0: 32, 1: 1}}
TYPES = {
    "per block, f32": ("i4", "f32", SCALES, None, BLOCKS),
    "per block, f32, with zero points": ("i4", "f32", SCALES, ZERO_POINTS, BLOCKS),
    "per axis, f64": ("i8", "f64", SCALES.ravel(), None, {"axis": 0}),
    "per block, all of f32": ("i4", "f32", 10 ** np.random.default_rng(9).uniform(-37, 38, SHAPE), None, BLOCKS),
}
ROUNDS = 3


def spent(work):
    """CPU milliseconds of work on a type that is not known yet."""
    for key in [key for key in Type._interned if key[0] is qrt.UniformType]:
        del Type._interned[key]
    gc.collect()
    gc.disable()
    try:
        start = process_time()
        result = work()
        return 1e3 * (process_time() - start), result
    finally:
        gc.enable()


@pytest.mark.parametrize("name", TYPES)
def test_many_scales(benchmark, report, name):
    storage, expressed, scales, zero_points, keywords = TYPES[name]
    nested, nested_zeros = scales.tolist(), None if zero_points is None else zero_points.tolist()
    t = qrt.UniformType(storage, expressed, scales, zero_points, **keywords)
    text, pickled = t.spell(), pickle.dumps(t)
    steps = {
        "from arrays": (50, lambda: qrt.UniformType(storage, expressed, scales, zero_points, **keywords)),
        "from lists": (50, lambda: qrt.UniformType(storage, expressed, nested, nested_zeros, **keywords)),
        "pickled": (50, lambda: pickle.dumps(t)),
        "unpickled": (50, lambda: pickle.loads(pickled)),
        "parsed": (50, lambda: qrt.parse_type(text)),
        "shown": (50, t.shown),
        "printed": (500, t.spell),
    }

    def measure():
        times = {step: min(spent(work)[0] for _ in range(ROUNDS)) for step, (_, work) in steps.items()}
        return times, min(spent(lambda: np.sort(SCALES.ravel()))[0] for _ in range(ROUNDS))

    times, sort = benchmark.pedantic(measure, rounds=1)
    assert str(qrt.parse_type(text)) == text
    report(f"{name}, {t.shown()}; np.sort of the doubles takes {sort:.1f} ms")
    for step, (limit, _) in steps.items():
        report(f"  {step}: {times[step]:.1f} ms of {limit}, {times[step] / sort:.2f} times np.sort")
