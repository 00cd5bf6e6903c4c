"""Quantization of long programs. CPU time of the process.

Goals: 1,000 regions are propagated within a second; 10,000 are read, fused, propagated and exported within 30 seconds;
four times the regions take at most 4.6 times as long.
"""

from itertools import cycle, pairwise

import numpy as np
import pytest

from benches.test_growth import spent
from qrt import ir
from qrt.ir import Module, run_passes
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text

TARGET = "qrt-cpu"


def program(count: int) -> str:
    """A float program of so many kernels, of a few kinds, each with the range of its result."""
    text, x = Text(), Tensor("%x", (2, 4))
    rng = np.random.default_rng(0)
    weights = [text.constant(rng.normal(size=(4, 4)).astype(np.float32) / 2) for _ in range(3)]
    bias = text.constant(rng.normal(size=4).astype(np.float32))
    y = start = text.stats(x, -1, 1)
    kinds = (
        lambda y, w: ops.matmul(text, y, w, bias),
        lambda y, w: ops.tanh(text, y),
        lambda y, w: ops.add(text, y, start),
        lambda y, w: ops.clamp(text, y, -1, 1),
    )
    for number, (_, kind, w) in enumerate(zip(range(count), cycle(kinds), cycle(weights), strict=False)):
        y = text.stats(kind(y, w), -1 - number % 3, 1)
    return text.function("main", [x], [y])


def fused(text: str) -> Module:
    return run_passes(ir.parse(text, "f.mlir"), f"fuse-kernels{{target={TARGET}}}")


def test_propagation_of_1_000_regions(benchmark, report):
    text = program(1_000)

    def measure():
        modules = [fused(text) for _ in range(3)]
        return min(
            spent(lambda module=module: run_passes(module, f"propagate-quant{{target={TARGET}}}")) for module in modules
        )

    seconds = benchmark.pedantic(measure, rounds=1)
    report(f"propagate-quant of 1,000 regions: {seconds:.2f} s")


@pytest.mark.parametrize("to", ["fixed", "codegen", "simulate"])
def test_10_000_regions(benchmark, report, to):
    sizes = (625, 2_500, 10_000)
    pipeline = f"fuse-kernels{{target={TARGET}}},propagate-quant{{target={TARGET}}},export-quant{{to={to}}}"
    texts = [program(size) for size in sizes]

    def measure():
        return [spent(lambda text=text: str(run_passes(ir.parse(text, "f.mlir"), pipeline))) for text in texts]

    times = benchmark.pedantic(measure, rounds=1)
    ratios = [more / less for less, more in pairwise(times)]
    shown = ", ".join(f"{count:,} in {time:.1f} s" for count, time in zip(sizes, times, strict=True))
    report(f"read, fused, propagated, exported to {to}: {shown}: times {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
