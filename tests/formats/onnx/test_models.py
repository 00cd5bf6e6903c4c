"""The given models: quantized mobilenets are folded whole, and run as one part of the plan in C."""

import pytest

import qrt
from qrt.formats.programs import load_reported
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
