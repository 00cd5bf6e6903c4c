"""Calibration: reading the values of a program beside computing them, and the histogram of an array beside NumPy's.
CPU time of the process."""

from time import process_time

import numpy as np
import pytest

from qrt import ir
from qrt.calibrate.observers import Summary
from qrt.calibrate.targets.registry import find
from qrt.execute.observe import Observer, observed_program
from qrt.execute.program import Program
from qrt.workflow.trial import named
from tests.passes.quantization import networks
from tests.workflow import programs

MOST = 1.5
"""Times the run without taps."""


def convolutional():
    network = networks.convolutional()
    return network.text, network.draw(0)


def recurrent():
    network = networks.recurrent(steps=8)
    return network.text, network.draw(0)


def perceptron():
    return programs.NETWORK, [programs.rows(512)]


@pytest.mark.parametrize("network", [convolutional, recurrent, perceptron])
def test_a_calibrating_run_takes_little_longer(benchmark, paired, report, one_thread, network):
    text, arrays = network()
    module = named(ir.parse(text), find("qrt-cpu")).module
    program = observed_program(module, None)
    plain = Program(module)
    observer = Observer(program, skip_nonfinite=False)
    names = [port.name for port in program.inputs]

    def measure():
        return paired(
            lambda: [observer.run("batch 1", arrays) for _ in range(5)],
            lambda: [plain.run(dict(zip(names, arrays, strict=True))) for _ in range(5)],
            clock=process_time,
        )

    _, ratio = benchmark.pedantic(measure, rounds=1)
    report(f"calibrating {network.__name__}: {ratio:.2f} times a run")
    assert ratio <= MOST


@pytest.mark.parametrize("kind", ["normal", "relu", "zero"])
def test_a_summary_beside_a_histogram_of_numpy(benchmark, paired, report, kind):
    values = np.random.default_rng(0).standard_normal(1 << 20).astype(np.float32)
    values = {"normal": values, "relu": np.maximum(values, 0), "zero": 0 * values}[kind]
    summary = Summary()
    edges = np.linspace(-6, 6, 65)

    def measure():
        return paired(lambda: summary.update(values), lambda: np.histogram(values, edges), 9, process_time)

    seconds, ratio = benchmark.pedantic(measure, rounds=1)
    report(f"summary of {kind} values: {1e9 * seconds / values.size:.1f} ns each, {ratio:.2f} times np.histogram")
    assert ratio <= 1
