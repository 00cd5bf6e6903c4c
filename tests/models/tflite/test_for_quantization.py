"""Float models that are imported to be quantized. Hazards: an operator that no kernel of a target recognises; stored
weights of a float operator; another program than the one that is not for quantization; an argument that is no bool."""

from collections import Counter

import numpy as np
import pytest

import qrt
from tests.models.tflite.oracle import MODELS

needs_models = pytest.mark.skipif(not MODELS.exists(), reason="the models are not here: QRT_MODELS names their folder")
KERNELS = {
    "pretrainedResnet": {"conv2d": 9, "add": 3, "avg_pool2d": 1, "reshape": 1, "matmul": 1, "softmax": 1},
    "kws_ref_model_float32": {
        "conv2d": 5,
        "depthwise_conv2d": 4,
        "avg_pool2d": 1,
        "reshape": 1,
        "matmul": 1,
        "softmax": 1,
    },
}
"""The regions of each model, activations and padding inside."""


def imported(name, **options):
    return qrt.load(MODELS / "tflite" / f"{name}.tflite", **options)


def images(shape, count, seed):
    """Blocks of colour with noise, as photographs have."""
    rng = np.random.default_rng(seed)
    small = rng.uniform(0, 255, (count, shape[1] // 4, shape[2] // 4, shape[3]))
    return np.float32(np.clip(np.kron(small, np.ones((1, 4, 4, 1))) + rng.normal(0, 10, (count, *shape[1:])), 0, 255))


@needs_models
@pytest.mark.parametrize("name", KERNELS)
def test_every_operator_becomes_a_kernel(name):
    module = imported(name, for_quantization=True)
    qrt.ir.run_passes(module, "fuse-kernels")
    regions = Counter(op.kernel for op in module.operation.walk() if op.name == "quant.region")
    assert regions == KERNELS[name]
    left = {op.name for op in module.function("main").regions[0].blocks[0]}
    assert left == {"arith.constant", "quant.region", "func.return"}


@needs_models
def test_the_program_computes_the_same_to_rounding():
    exact, recognised = (qrt.compile(imported("pretrainedResnet", for_quantization=flag)) for flag in (False, True))
    x = images((1, 32, 32, 3), 4, seed=1)
    np.testing.assert_allclose(recognised(x), exact(x), atol=1e-5)


@needs_models
def test_a_quantized_model_answers_as_the_float_one():
    floats = qrt.compile(imported("pretrainedResnet"))
    made = qrt.quantize_program(
        imported("pretrainedResnet", for_quantization=True),
        {"input_1": images((1, 32, 32, 3), 12, 2)},
        method="minmax",
        passes=(),
    )
    x = images((1, 32, 32, 3), 40, seed=3)
    same = np.asarray(made.program(x)).argmax(1) == np.asarray(floats(x)).argmax(1)
    assert same.sum() >= 36


def test_the_option_is_a_bool():
    with pytest.raises(qrt.errors.QuantTypeError, match="for_quantization must be True or False, got 1"):
        qrt.load("model.tflite", for_quantization=1)
