"""Three float networks become quantized programs, as commands say it, and their generated code has the kernels' bits in
mlir-runner 22. Hazard: passes that work alone and do not fit together.
"""

from collections import Counter
from functools import cache

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.cli import main
from qrt.ir import run_passes
from tests import mlir_opt
from tests.ir.passes.lower_qrt.upstream import F32, case, stored
from tests.oracle.execution.driver import execute
from tests.quantization.checks import exported, kernel_of, regions, same_bits
from tests.quantization.networks import NETWORKS

TARGETS = {"perceptron": "qrt-cpu", "convolutional": "qrt-cpu", "recurrent": "tflite"}
SAMPLES = 4
LEAST_RATIO = 20
"""Decibels of signal to noise: the error of 8 bits, added up over a few layers."""


@cache
def network(name):
    return NETWORKS[name]()


@cache
def fused(name, target):
    return str(run_passes(ir.parse(network(name).text, "f.mlir"), f"fuse-kernels{{target={target}}}"))


@cache
def quantized(name, target):
    return str(run_passes(ir.parse(fused(name, target), "f.mlir"), f"propagate-quant{{target={target}}}"))


networks = pytest.mark.parametrize("name", NETWORKS)
targets = pytest.mark.parametrize(("name", "target"), TARGETS.items())


@networks
def test_fusing_wraps_every_operation(name):
    """Each kernel as often as the network has it; what stays outside computes nothing."""
    module = ir.parse(fused(name, "qrt-cpu"))
    assert Counter(map(kernel_of, regions(module))) == network(name).kernels
    outside = {operation.name for operation in module.functions[0].regions[0].blocks[0].operations}
    assert outside <= {"quant.region", "quant.stats", "arith.constant", "func.return"}
    assert str(run_passes(module, "fuse-kernels")) == fused(name, "qrt-cpu"), "again"


@targets
def test_the_quantized_network_is_near_the_float_one(name, target):
    given, text = network(name), quantized(name, target)
    run_passes(ir.parse(text), f"check-quant{{target={target}}}")
    compiled, quant = qrt.compile(given.text), qrt.compile(exported(text, "fixed", target))
    signal = noise = 0.0
    for seed in range(SAMPLES):
        inputs = given.draw(seed)
        wanted = np.float64(compiled(*inputs))
        signal += float(np.square(wanted).sum())
        noise += float(np.square(wanted - np.float64(quant(*inputs))).sum())
    assert 10 * np.log10(signal / noise) > LEAST_RATIO


@targets
def test_kernels_cover_the_quantized_network(name, target):
    program = qrt.compile(exported(quantized(name, target), "fixed", target))
    assert {step.engine for step in program.coverage()} == {"kernel"}


@targets
def test_the_interpreter_and_generated_code_have_the_bits_of_the_kernels(name, target):
    same_bits(quantized(name, target), target, network(name).draw(0))


@targets
@mlir_opt.needed
def test_generated_code_has_the_bits_of_the_kernels(name, target):
    """What mlir-opt lowers and mlir-runner executes."""
    given, text = network(name), quantized(name, target)
    inputs = given.draw(3)
    generated = run_passes(exported(text, "codegen", target), "lower-quant-ops,canonicalize")
    (outcome,) = execute([case(generated, [stored(each, F32) for each in inputs])])
    assert not isinstance(outcome, str), outcome[:2000]
    ours = qrt.compile(exported(text, "fixed", target))(*inputs)
    assert outcome[0][0].bits == stored(ours, F32).bits


@networks
def test_one_command_makes_a_quantized_program(name, tmp_path, capsys):
    path = tmp_path / "f.mlir"
    path.write_text(network(name).text)
    passes = ["--fuse-kernels=target=tflite", "--propagate-quant=target=tflite", "--export-quant=to=fixed"]
    assert main(["opt", str(path), *passes]) == 0
    text = capsys.readouterr().out
    module = ir.parse(text)
    assert "quant.region" not in text
    assert Counter(op.name.removeprefix("qrt.") for op in module.operation.walk() if op.name.startswith("qrt.")) == (
        network(name).kernels
    )
    qrt.compile(module)(*network(name).draw(0))
