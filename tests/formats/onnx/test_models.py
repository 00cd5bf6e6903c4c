"""The given models: quantized mobilenets are folded whole, and run as one part of the plan in C."""

import numpy as np
import pytest

import qrt
from qrt.formats.programs import load_reported
from tests.formats.onnx.running import has_oracle, run_oracle
from tests.formats.tflite.oracle import MODELS

FOLDER = MODELS / "onnx"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the given models are not beside the repository")


@pytest.mark.parametrize("form", ["qdq_s8s8_pc", "qdq_u8u8_pt", "qop_s8s8_pt", "qop_u8s8_pc"])
def test_a_quantized_mobilenet_runs_in_c_alone(form: str) -> None:
    module, report = load_reported(FOLDER / f"mobilenet_v2_128_0.5.{form}.onnx")
    assert report == ("66 of 66 operators beside casts are folded\n" if form.startswith("qdq") else "")
    steps = qrt.compile(module).coverage()
    assert {step.engine for step in steps} == {"kernel"}
    assert sum(step.op == "qrt.transpose" for step in steps) == 1  # of the input


@pytest.mark.parametrize("shape", [(1, 1), (1, 14), (2, 7)])
def test_a_model_of_memories(shape: tuple[int, int]) -> None:
    """Open batch and length; products and memories that are quantized at run time are kernels. With few rows on one
    thread ONNX Runtime quantizes a batch together, as `dynamic_lstm` does; with more it takes rows in groups.
    """
    file = FOLDER / "rawi.int8.onnx"
    program = qrt.compile(qrt.load(file))
    x = np.random.default_rng(1).integers(0, 302, shape)
    (y,) = program.run({"input": x}).values()
    kernels = {step.op for step in program.coverage() if step.engine == "kernel"}
    assert kernels >= {"qrt.dynamic_lstm", "qrt.dynamic_matmul"}
    if has_oracle():
        np.testing.assert_array_equal(np.asarray(y), run_oracle(file.read_bytes(), {"input": x})[0])
