"""Calibration: reading the values of a program beside computing them, and the histogram of an array beside NumPy's.
CPU time of the process. Goals: a calibrating run takes 1.5 times a run, and a summary 2.5 times np.bincount."""

import re
from time import process_time

import numpy as np
import pytest

from benches.accuracy.programs import program
from qrt import ir
from qrt.quantization.calibration.observe import ProgramObserver, named_program
from qrt.quantization.calibration.observers import Summary
from qrt.quantization.steps import named
from qrt.quantization.targets.registry import find
from qrt.runtime.compilation import compile


def network(name):
    """One of the networks whose accuracy is measured, with drawn weights, and 64 rows of drawn data."""
    rng = np.random.default_rng(0)
    shapes = dict(re.findall(r"dense_resource<(\w+)> : tensor<([\dx]+)xf32>", program(name, {})))
    constants = {key: rng.standard_normal([*map(int, shape.split("x"))]) / 8 for key, shape in shapes.items()}
    module = ir.parse(program(name, {key: value.astype(np.float32) for key, value in constants.items()}))
    module = named(module, find("qrt-cpu")).module
    types = [port.type for port in compile(module).inputs]
    return module, [rng.standard_normal([64, *t.shape[1:]]).astype(np.float32) for t in types]


@pytest.mark.parametrize("name", ["digits", "mnist", "vowels"])
def test_a_calibrating_run_takes_little_longer(benchmark, paired, report, one_thread, name):
    module, arrays = network(name)
    observed = named_program(module, None)
    plain = compile(module)
    observer = ProgramObserver(observed, skip_nonfinite=False)
    names = [port.name for port in observed.inputs]

    def measure():
        return paired(
            lambda: observer.run("batch 1", arrays),
            lambda: plain.run(dict(zip(names, arrays, strict=True))),
            9,
            process_time,
        )

    _, ratio = benchmark.pedantic(measure, rounds=1)
    report(f"calibrating {name}: {ratio:.2f} times a run")


@pytest.mark.parametrize("kind", ["normal", "relu", "zero"])
def test_a_summary_beside_counting_alone(benchmark, paired, report, kind):
    """Its range, its check that values are finite, and its bins, beside the bins of numbers that NumPy has already."""
    values = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)
    values = {"normal": values, "relu": np.maximum(values, 0), "zero": np.zeros_like(values)}[kind]
    summary = Summary()
    bins = (values.view(np.uint32) >> 16).astype(np.intp)

    def measure():
        return paired(lambda: summary.update(values), lambda: np.bincount(bins), 9, process_time)

    seconds, ratio = benchmark.pedantic(measure, rounds=1)
    report(f"summary of {kind} values: {1e9 * seconds / values.size:.1f} ns each, {ratio:.2f} times np.bincount")
