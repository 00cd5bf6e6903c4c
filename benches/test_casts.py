"""Casts between f32 and i8, against a NumPy copy that moves the same bytes. The goal: within twice the copy at 1M."""

from math import prod

import numpy as np
import pytest

import qrt
from qrt.cases import CASTS, CastCase

TIMED = [case for case in CASTS if case.timed and prod(case.shape) <= 1 << 20]


def cast_type(case: CastCase) -> qrt.UniformType:
    if case.axis is None:
        return qrt.UniformType("i8", "f32", 0.02, 3)
    rng = np.random.default_rng(0)
    scales = rng.uniform(0.01, 0.03, case.shape[case.axis])
    return qrt.UniformType("i8", "f32", scales.tolist(), [3] * scales.size, axis=case.axis)


@pytest.mark.parametrize("direction", ["qcast", "dcast"])
@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_cast(benchmark, isa, paired, report, case: CastCase, direction: str):
    x = np.random.default_rng(1).normal(size=case.shape).astype(np.float32)
    q = qrt.qcast(x, cast_type(case))
    y = np.empty_like(x)
    source, target = np.zeros((2, 5 * x.size // 2), np.uint8)  # read, written: five bytes per element together

    def run() -> None:
        if direction == "qcast":
            qrt.qcast(x, q.type, out=q)
        else:
            qrt.dcast(q, out=y)

    time, ratio = paired(run, lambda: np.copyto(target, source))
    benchmark.group = f"{direction} {case.name}"
    benchmark.extra_info |= {
        "gigabytes_per_second": round(5 * x.size / time * 1e-9, 1),
        "times_a_copy": round(ratio, 2),
    }
    report(f"{direction} {case.name:<15} {isa:<11} {time * 1e6:10.1f} us {ratio:6.2f} x a copy of the same bytes")
    benchmark.pedantic(run, rounds=25)
