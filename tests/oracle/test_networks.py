"""The networks of `make accuracy`, with drawn weights, in integers: mlir-runner executes the code that is generated
from them, and has the bits of `qrt run`. Hazards: a kernel and its lowering that differ on a whole network; a cell
that is called 29 times, and is lowered in another way each time.
"""

import os
import re

import numpy as np
import pytest

from qrt import ir
from qrt.cli import main
from qrt.ir import run_passes
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.steps import named, quantized
from qrt.quantization.targets.registry import find
from tests import mlir_opt
from tests.benches.networks import SHAPES, drawn, drawn_split
from tests.ir.passes.lower_qrt.upstream import F32, case, stored
from tests.oracle.execution.driver import execute
from tests.quantization.checks import exported

# isort: split
from benches.accuracy.programs import inputs, program

pytestmark = [
    mlir_opt.needed,
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]


@pytest.mark.parametrize("target", ["qrt-cpu", "int4-weights"])
@pytest.mark.parametrize("name", SHAPES)
def test_generated_code_has_the_bits_of_qrt_run(name, target, tmp_path):
    split = drawn_split(name, 2)
    start = named(ir.parse(program(name, drawn(name, split).constants())), find(target))
    records = calibrate_program(start.module, inputs(name, split.train)).records
    trial = quantized(start, find(target), records, "minmax")

    path = tmp_path / "Q.mlir"
    path.write_text(str(trial.module))
    arguments = []
    for key, value in inputs(name, split.test).items():
        np.save(tmp_path / f"{key}.npy", value)
        arguments += ["--input", f"{key}={tmp_path / key}.npy"]
    logits = tmp_path / "logits.npy"
    assert main(["run", str(path), *arguments, "--output", f"logits={logits}"]) == 0

    generated = run_passes(exported(trial.regions, "codegen", target), "lower-quant-ops,canonicalize")
    generated = ir.parse(re.sub(r' \{qrt\.name = "\w+"\}', "", str(generated)))  # the driver reads types alone
    (outcome,) = execute([case(generated, [stored(value, F32) for value in inputs(name, split.test).values()])])
    assert not isinstance(outcome, str), outcome[:2000]
    assert outcome[0][0].bits == stored(np.load(logits), F32).bits
