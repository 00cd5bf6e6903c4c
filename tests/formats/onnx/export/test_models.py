"""Whole models as models of ONNX, beside ONNX Runtime. Hazards: an answer that another runtime does not give; bits that
are lost on the way back."""

import os

import numpy as np
import onnx
import pytest

import qrt
from qrt.formats.onnx.export import model_proto
from tests.formats.onnx.export.test_export import drawn, outputs, stored
from tests.formats.onnx.running import has_oracle, imported, multiplies_exactly
from tests.formats.tflite.oracle import MODELS

pytestmark = [
    pytest.mark.skipif(not MODELS.exists(), reason="the models are not here: QRT_MODELS names their folder"),
    pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed"),
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]
CLASSIFIERS = [
    *("kws_ref_model", "micro_speech_quantized", "mobilenet_v1_0.25_128_quant", "pretrainedResnet_quant"),
    *("str_ww_ref_model", "tf2_mobilenet_v2_1.0_224_ptq", "ad01_int8", "hello_world_int8"),
]
OTHERS = ["deeplabv3_mnv2_dm05_pascal_quant", "alexa", "trained_lstm_int8"]
INPUTS, SAME = 200, 198


def session(content):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not multiplies_exactly():  # what its optimizations make of casts adds up integers
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("name", [*CLASSIFIERS, *OTHERS])
@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
def test_it_is_checked_and_comes_back(name, profile):
    module = qrt.load(MODELS / "tflite" / f"{name}.tflite", profile=profile)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    back = imported(model.SerializeToString())
    for seed in range(3):
        arguments = list(drawn(module, seed))
        for before, after in zip(outputs(module, arguments), outputs(back, arguments), strict=True):
            np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_another_runtime_gives_the_same_answer(name):
    module = qrt.load(MODELS / "tflite" / f"{name}.tflite")
    program = qrt.compile(module)
    other = session(model_proto(module).SerializeToString())
    (port,) = other.get_inputs()
    same = 0
    for seed in range(INPUTS):
        (x,) = drawn(module, seed)
        (found,) = other.run(None, {port.name: stored(x)})
        same += int(found.argmax() == stored(program(x)).argmax())
    assert same >= SAME
