"""Growth of time with the size of a program.

Goals: four times the operations take at most 4.6 times as long, in every pass, in `parse`, `verify`, `print` and
`compile`.
Passes of quantization run on up to 10,000 regions.
Lowered casts take at most 5 times as long as with mlir-opt. Times are the least CPU time of some rounds, because other
processes of the machine only add to it."""

import gc
import os
import resource
import subprocess
from itertools import pairwise
from time import process_time

import pytest

from qrt import ir
from qrt.ir import run_passes
from tests import mlir_opt
from tests.ir.passes.growing import CASES, casts
from tests.ir.passes.test_growth import work
from tests.quantization import growing

SIZES = (1_500, 6_000, 24_000)


def spent(work):
    gc.collect()
    gc.disable()
    try:
        start = process_time()
        work()
        return process_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize(("program", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_growth(benchmark, report, program, name):
    sizes = [size // 8 for size in SIZES] if name == "lower-qrt" else SIZES  # each op becomes dozens

    def measure():
        return [min(spent(work(name, program(size))) for _ in range(3)) for size in sizes]

    times = benchmark.pedantic(measure, rounds=1)
    ratios = [more / less for less, more in pairwise(times)]
    shown = ", ".join(f"{1e3 * time:.1f}" for time in times)
    report(f"{name} of {program.__name__}: {shown} ms: times {', '.join(f'{ratio:.2f}' for ratio in ratios)}")


@pytest.mark.parametrize("program", growing.PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("name", growing.PASSES)
def test_growth_of_quantization(benchmark, report, program, name):
    sizes = (2_500, 10_000)

    def measure():
        modules = [growing.prepared(program(size), name) for size in sizes]
        return [spent(lambda module=module: run_passes(module, growing.PASSES[name])) for module in modules]

    less, more = benchmark.pedantic(measure, rounds=1)
    report(f"{name} of {program.__name__}: {less:.2f} and {more:.2f} s: times {more / less:.2f}")


@mlir_opt.needed
def test_lowered_casts_beside_mlir_opt(benchmark, report):
    text = casts(10_000)
    command, environment = mlir_opt.FOUND

    def upstream():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [*command, "--lower-quant-ops", "--canonicalize", "-"],
            input=text.encode(),
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def ours():
        return spent(lambda: str(run_passes(ir.parse(text), "lower-quant-ops,canonicalize")))

    own, theirs = benchmark.pedantic(lambda: [min(f() for _ in range(3)) for f in (ours, upstream)], rounds=1)
    report(f"lower-quant-ops, canonicalize of 10,000 casts: {own:.2f} s, mlir-opt {theirs:.2f} s: {own / theirs:.2f}")
