"""Whole models as models of ONNX, beside ONNX Runtime. Hazards: an answer that another runtime does not give; bits that
are lost on the way back."""

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

import qrt
from qrt.models.onnx.export import model_proto
from tests.models.onnx.export.test_export import drawn, outputs, stored
from tests.models.onnx.running import has_oracle, imported, multiplies_exactly
from tests.models.tflite.oracle import MODELS

pytestmark = [
    pytest.mark.skipif(not MODELS.exists(), reason="the models are not here: QRT_MODELS names their folder"),
    pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed"),
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]
CLASSIFIERS = [
    *("kws_ref_model.tflite", "kws_ref_model_float32.tflite", "micro_speech_quantized.tflite"),
    *("mobilenet_v1_0.25_128_quant.tflite", "pretrainedResnet.tflite", "pretrainedResnet_quant.tflite"),
    *("str_ww_ref_model.tflite", "tf2_mobilenet_v2_1.0_224_ptq.tflite", "ad01_int8.tflite", "hello_world_int8.tflite"),
    *("mnist.onnx", "mobilenet_v2_128_0.5.float.onnx"),
    *(f"mobilenet_v2_128_0.5.{form}.onnx" for form in ("qdq_s8s8_pc", "qdq_u8u8_pt", "qop_s8s8_pt", "qop_u8s8_pc")),
]
OTHERS = ["deeplabv3_mnv2_dm05_pascal_quant.tflite", "alexa.tflite", "trained_lstm_int8.tflite", "rawi.int8.onnx"]
PROFILES = {".tflite": ("litert", "litert-ref"), ".onnx": ("ort",)}
FORMS = [(name, profile) for name in (*CLASSIFIERS, *OTHERS) for profile in PROFILES[Path(name).suffix]]
INPUTS, SAME = 200, 198


def session(content):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not multiplies_exactly():  # what its optimizations make of casts adds up integers
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def folder_of(name):
    return MODELS / Path(name).suffix.removeprefix(".")


@pytest.mark.parametrize(("name", "profile"), FORMS)
def test_it_is_checked_and_comes_back(name, profile):
    module = qrt.load(folder_of(name) / name, profile=profile)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    back = imported(model.SerializeToString())
    for seed in range(3):
        arguments = list(drawn(module, seed))
        for before, after in zip(outputs(module, arguments), outputs(back, arguments), strict=True):
            np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_another_runtime_gives_the_same_answer(name):
    module = qrt.load(folder_of(name) / name)
    program = qrt.compile(module)
    other = session(model_proto(module).SerializeToString())
    (port,) = other.get_inputs()
    same = 0
    for seed in range(INPUTS):
        (x,) = drawn(module, seed)
        (found,) = other.run(None, {port.name: stored(x)})
        same += int(found.argmax() == stored(program(x)).argmax())
    assert same >= SAME
