"""Layers that are several float operations, on each built-in target. Hazards: a sum without its division, a function
whose parts are separate kernels, a layer that stays float although the target has the kernels of its operations."""

from collections.abc import Callable

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.quantization.targets.registry import TARGETS
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text


def layer_norm(text: Text, x: Tensor) -> Tensor:
    centred = ops.sub(text, x, text.broadcast(ops.mean(text, x, axes=[1]), x.shape, [1]))
    variance = ops.mean(text, ops.mul(text, centred, centred), axes=[1])
    root = text.unary("math.rsqrt", ops.add(text, variance, text.splat(1e-5, variance.shape)))
    scale, offset = (
        text.broadcast(text.constant(np.linspace(low, 1.5, x.shape[1], dtype=np.float32)), x.shape, [0])
        for low in (0.5, -1.0)
    )
    normal = ops.mul(text, centred, text.broadcast(root, x.shape, [1]))
    return ops.add(text, ops.mul(text, normal, scale), offset)


IMAGES, ROWS = (2, 4, 4, 3), (4, 16)
LAYERS: dict[str, tuple[tuple[int, ...], Callable[[Text, Tensor], Tensor], list[str]]] = {
    "average pool": (IMAGES, ops.avg_pool2d, ["qrt.avg_pool2d"]),
    "mean of images": (IMAGES, lambda text, x: ops.mean(text, x, axes=[1, 2]), ["qrt.mean"]),
    "gelu": (ROWS, ops.gelu, ["qrt.lookup"]),
    "softmax": (ROWS, ops.softmax, ["qrt.softmax"]),
    "layer norm": (
        ROWS,
        layer_norm,
        ["qrt.mean", "qrt.sub", "qrt.mul", "qrt.mean", "qrt.lookup", "qrt.mul", "qrt.mul", "qrt.add"],
    ),
}
"""The shape of the input, the layer, and the kernels that compute it."""
_NOT_COMPUTED = ("quant.", "arith.constant", "func.", "builtin.", "qrt.requantize", "qrt.reshape", "qrt.tile")
"""Casts, rescales and broadcasts."""


def program(name: str) -> tuple[ir.Module, np.ndarray]:
    """Return the float program of a layer, and 8 batches of data."""
    shape, build, _ = LAYERS[name]
    text, x = Text(), Tensor("%x", shape)
    module = ir.parse(text.function("main", [x], [build(text, x)]))
    return module, np.random.default_rng(1).normal(size=(8, *shape)).astype(np.float32)


@pytest.mark.parametrize("target", ["qrt-cpu", "tflite", "int16x8", "int4-weights"])
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_runs_on_quantized_kernels(name: str, target: str) -> None:
    module, data = program(name)
    quantized = qrt.quantize_program(module, [{"arg0": batch} for batch in data], target)
    names = [operation.name for operation in quantized.module.operation.walk()]
    assert [each for each in names if not each.startswith(_NOT_COMPUTED)] == LAYERS[name][2]
    assert not any("stays float" in remark.message for remark in quantized.remarks)
    assert {step.engine for step in quantized.program.coverage()} == {"kernel"}
    assert qrt.metrics.snr(qrt.compile(module)(data[0]), quantized.program(data[0])) > 30


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_rounded_to_bfloat16(name: str) -> None:
    module, data = program(name)
    quantized = qrt.quantize_program(module, [{"arg0": batch} for batch in data], "bf16")
    assert not any("stays float" in remark.message for remark in quantized.remarks)
    assert qrt.metrics.snr(qrt.compile(module)(data[0]), quantized.program(data[0])) > 40


@pytest.mark.parametrize("name", LAYERS)
def test_a_target_without_the_kernels_names_them(name: str) -> None:
    """`weight-only` has the products alone."""
    module, data = program(name)
    with pytest.raises(ModelError, match="target 'weight-only' has no kernel"):
        qrt.quantize_program(module, [{"arg0": batch} for batch in data], "weight-only")


def test_each_built_in_target_is_tested() -> None:
    assert sorted(TARGETS.own) == sorted(["qrt-cpu", "tflite", "int16x8", "int4-weights", "bf16", "weight-only"])
