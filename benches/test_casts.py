"""Casts against a NumPy copy that moves the same bytes: f32 and i8 along every axis, then other formats, wider storage,
small blocks. The goal: within twice the copy at 1M."""

import ml_dtypes
import numpy as np
import pytest

import qrt
from qrt.cli.bench import CASTS, CastCase

SHAPE = (1024, 1024)
FORMATS = [("f16", "i8"), ("bf16", "i8"), ("f64", "i8"), ("f16", "u16"), ("f32", "i16"), ("f32", "i32"), ("f64", "u32")]
BLOCKS = [1, 2, 3, 4, 8, 16, 32, 128]
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def cast_type(case: CastCase) -> qrt.UniformType:
    if case.axis is None:
        return qrt.UniformType("i8", "f32", 0.02, 3)
    rng = np.random.default_rng(0)
    scales = rng.uniform(0.01, 0.03, case.shape[case.axis])
    return qrt.UniformType("i8", "f32", scales.tolist(), [3] * scales.size, axis=case.axis)


def measure(benchmark, isa, paired, report, shape: tuple[int, ...], t: qrt.UniformType, direction: str, name: str):
    x = np.random.default_rng(1).normal(size=shape).astype(DTYPES[t.expressed_type.name])
    q = qrt.qcast(x, t)
    y = np.empty_like(x)
    moved = x.nbytes + q.storage.nbytes
    source, target = np.zeros((2, moved // 2), np.uint8)  # read, written: the same bytes together

    def run() -> None:
        if direction == "qcast":
            qrt.qcast(x, t, out=q)
        else:
            qrt.dcast(q, out=y)

    time, ratio = paired(run, lambda: np.copyto(target, source))
    benchmark.group = f"{direction} {name}"
    benchmark.extra_info |= {
        "gigabytes_per_second": round(moved / time * 1e-9, 1),
        "times_a_copy": round(ratio, 2),
    }
    report(f"{direction} {name:<15} {isa:<11} {time * 1e6:10.1f} us {ratio:6.2f} x a copy of the same bytes")
    benchmark.pedantic(run, rounds=25)


@pytest.mark.parametrize("direction", ["qcast", "dcast"])
@pytest.mark.parametrize("case", CASTS, ids=lambda case: case.name)
def test_cast(benchmark, isa, paired, report, case: CastCase, direction: str):
    measure(benchmark, isa, paired, report, case.shape, cast_type(case), direction, case.name)


@pytest.mark.parametrize("direction", ["qcast", "dcast"])
@pytest.mark.parametrize(("expressed", "storage"), FORMATS, ids="-".join)
def test_cast_of_a_format(benchmark, isa, paired, report, expressed: str, storage: str, direction: str):
    t = qrt.UniformType(storage, expressed, 0.5, 3)
    measure(benchmark, isa, paired, report, SHAPE, t, direction, f"{expressed}-{storage}")


@pytest.mark.parametrize("direction", ["qcast", "dcast"])
@pytest.mark.parametrize("block", BLOCKS)
def test_cast_of_blocks(benchmark, isa, paired, report, block: int, direction: str):
    """Runs of `block` elements with a scale each: no run is too short for the speed of a copy."""
    shape = (SHAPE[0], SHAPE[1] // block, block)
    t = qrt.UniformType("i8", "f32", [0.02 + 1e-5 * i for i in range(shape[1])], axis=1)
    measure(benchmark, isa, paired, report, shape, t, direction, f"runs of {block}")
