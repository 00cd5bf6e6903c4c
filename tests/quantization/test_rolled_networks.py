"""A GRU and an LSTM as loops become integer programs with the bits of the kernels, in mlir-runner 22 too.

Hazards: a state that is dequantized and quantized in each step, a first state that a run without steps rounds, a loop
whose values have quantized types that no other tool bufferizes.
"""

from functools import cache

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes
from tests import mlir_opt
from tests.ir.passes.lower_qrt.upstream import bits_of, integer_case
from tests.oracle.execution.driver import execute
from tests.quantization.checks import exported, same_bits
from tests.quantization.rolled_networks import ROLLED, STEPS, draw

LEAST_RATIO = 20
"""Decibels of signal to noise: the error of 8 bits over the steps."""

networks = pytest.mark.parametrize("name", ROLLED)
targets = pytest.mark.parametrize("target", ["qrt-cpu", "tflite"])


@cache
def quantized(name, target):
    passes = f"fuse-kernels{{target={target}}},propagate-quant{{target={target}}},check-quant{{target={target}}}"
    return str(run_passes(ir.parse(ROLLED[name]()), passes))


@networks
@targets
def test_the_loop_carries_the_state_in_integers(name, target):
    module = exported(quantized(name, target), "fixed", target)
    (loop,) = (op for op in module.operation.walk() if op.name == "scf.for")
    outputs, *states = (str(value.type) for value in loop.results)
    assert "f32>" in outputs
    assert states
    assert all(".uniform<i8" in state for state in states)
    assert [op.name for op in loop.walk()].count("quant.qcast") == 1, "the input"
    assert [op.name for op in loop.walk()].count("quant.dcast") == 1, "the output"


@networks
@targets
@pytest.mark.parametrize("steps", [0, 1, STEPS])
def test_kernels_interpreter_and_generated_code_agree(name, target, steps):
    inputs = [np.int64(steps), *draw(name, steps)]
    outputs, *states = same_bits(quantized(name, target), target, inputs)
    if not steps:
        assert not outputs.any()
        assert [state.tobytes() for state in states] == [state.tobytes() for state in inputs[2:]]


@networks
def test_the_quantized_loop_is_near_the_float_one(name):
    inputs = [np.int64(STEPS), *draw(name, 7)]
    wanted = qrt.compile(ROLLED[name]())(*inputs)
    results = qrt.compile(exported(quantized(name, "qrt-cpu"), "fixed", "qrt-cpu"))(*inputs)
    for exact, value in zip(wanted, results, strict=True):
        noise = np.square(np.float64(exact) - np.float64(value)).sum()
        assert 10 * np.log10(np.square(np.float64(exact)).sum() / noise) > LEAST_RATIO


@networks
@targets
@mlir_opt.needed
def test_mlir_runner_has_the_bits_of_the_kernels(name, target):
    calls = [[np.int64(steps), *draw(name, steps)] for steps in (0, 1, STEPS)]
    module = run_passes(exported(quantized(name, target), "codegen", target), "lower-quant-ops")
    (outcome,) = execute([integer_case(module, [[bits_of(value) for value in call] for call in calls])])
    assert not isinstance(outcome, str), outcome[:2000]
    program = qrt.compile(exported(quantized(name, target), "fixed", target))
    for call, printed in zip(calls, outcome, strict=True):
        assert [value.bits for value in printed] == [bits_of(value).bits for value in program(*call)]
