"""Rows of elementwise operators: small, in the cache, and out of it; with every kind of broadcast."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benches.operators.models import Models, Operator, Value, drawn, elementwise, operation
from benches.operators.rows import Makers

SIZES = {"small": (1, 16), "middle": (1, 32, 32, 64), "large": (1, 1024, 1024, 16)}
FLOAT_SIZES = SIZES | {"large": (1, 512, 512, 16)}
IMAGE = (1, 56, 56, 24)
BROADCASTS = {
    "channels": (IMAGE, (24,)),
    "one": (IMAGE, (1,)),
    "pixels": (IMAGE, (1, 56, 56, 1)),
    "rows": (IMAGE, (1, 56, 1, 24)),
    "both": ((1, 56, 1, 24), (1, 1, 56, 24)),
}
NONE = {"fused_activation_function": "NONE"}
OLD = {**NONE, "pot_scale_int16": False}
"""ADD and SUB of int16 take any scales."""
ARITHMETIC: dict[str, tuple[str, dict[str, Any]]] = {
    "add": ("Add", OLD),
    "sub": ("Sub", OLD),
    "mul": ("Mul", NONE),
}
FUNCTIONS: dict[str, tuple[str, str | None, dict[str, Any], dict[str, Any]]] = {
    "relu": ("RELU", "Relu", {}, {}),
    "leaky_relu": ("LEAKY_RELU", "LeakyRelu", {"alpha": 0.1}, {"alpha": 0.1}),
    "logistic": ("LOGISTIC", "Sigmoid", {}, {}),
    "tanh": ("TANH", "Tanh", {}, {}),
    "hard_swish": ("HARD_SWISH", "HardSwish", {}, {}),
    "gelu": ("GELU", None, {}, {}),
    "abs": ("ABS", "Abs", {}, {}),
}
FLOAT_FUNCTIONS = {"exp": ("EXP", "Exp"), "log": ("LOG", "Log"), "sin": ("SIN", "Sin"), "rsqrt": ("RSQRT", None)}


def _unary(name: str, onnx: str | None, shape: tuple[int, ...], dtype: str, options: Any, attributes: Any) -> Models:
    scale, zero_point = (1 / 256, -128) if name == "LOGISTIC" else (1 / 128, 0) if name == "TANH" else (0.1, -5)
    if dtype == "int16" and name in ("LOGISTIC", "TANH"):
        scale = 1 / 32768
    version = 1 if name == "HARD_SWISH" else 2
    return elementwise(name, [shape], dtype, onnx, options=options, attributes=attributes, version=version,
                       out_scale=scale, out_zero_point=zero_point)  # fmt: skip


def _cast(name: str, shape: tuple[int, ...], x: str, y: str, onnx: str) -> Models:
    tflite = Operator(name, version=2 if name == "DEQUANTIZE" else 1)
    return operation([Value(shape, x)], [Value(shape, y, 0.1, -5)], tflite, Operator(onnx))


def _prelu(shape: tuple[int, ...]) -> Models:
    x = Value(shape)
    slopes = (1, 1, shape[-1])
    alpha = Value(slopes, data=drawn(np.random.default_rng(1), slopes, "int8"))
    return operation([x, alpha], [Value(shape, "int8", 0.1, -5)], Operator("PRELU"), None)


def rows() -> Makers:
    """Return the makers of models by name."""
    found: dict[str, Callable[[], Models]] = {}
    for name, (onnx, options) in ARITHMETIC.items():
        make = partial(elementwise, name.upper(), onnx=onnx, options=options)
        for size, shape in SIZES.items():
            found[f"{name}_i8_{size}"] = partial(make, [shape, shape], "int8")
        found[f"{name}_i16_middle"] = partial(make, [SIZES["middle"]] * 2, "int16")
        for size, shape in FLOAT_SIZES.items():
            found[f"{name}_f32_{size}"] = partial(make, [shape, shape], "float32")
        for kind, shapes in BROADCASTS.items():
            found[f"{name}_i8_{kind}"] = partial(make, list(shapes), "int8")
        found[f"{name}_f32_channels"] = partial(make, list(BROADCASTS["channels"]), "float32")
    for name, onnx in {"maximum": "Max", "minimum": "Min"}.items():
        make = partial(elementwise, name.upper(), onnx=onnx, is_same_type=True)
        for size, shape in SIZES.items():
            found[f"{name}_i8_{size}"] = partial(make, [shape, shape], "int8")
        found[f"{name}_i16_middle"] = partial(make, [SIZES["middle"]] * 2, "int16")
        found[f"{name}_i8_channels"] = partial(make, list(BROADCASTS["channels"]), "int8")
    found["squared_difference_i8_middle"] = partial(elementwise, "SQUARED_DIFFERENCE", [SIZES["middle"]] * 2, "int8")
    for name, (tflite, function, options, attributes) in FUNCTIONS.items():
        for size, shape in SIZES.items():
            found[f"{name}_i8_{size}"] = partial(_unary, tflite, function, shape, "int8", options, attributes)
        found[f"{name}_f32_middle"] = partial(_unary, tflite, function, SIZES["middle"], "float32", options, attributes)
    for name in ("relu", "leaky_relu", "logistic", "tanh"):
        tflite, _, options, _ = FUNCTIONS[name]
        found[f"{name}_i16_middle"] = partial(_unary, tflite, None, SIZES["middle"], "int16", options, {})
    for name, (tflite, function) in FLOAT_FUNCTIONS.items():
        found[f"{name}_f32_middle"] = partial(_unary, tflite, function, SIZES["middle"], "float32", {}, {})
    found["prelu_i8_middle"] = partial(_prelu, SIZES["middle"])
    for size, shape in SIZES.items():
        found[f"requantize_i8_{size}"] = partial(
            elementwise, "QUANTIZE", [shape], "int8", None, out_scale=0.07, out_zero_point=-9
        )
        found[f"quantize_i8_{size}"] = partial(_cast, "QUANTIZE", shape, "float32", "int8", "Identity")
        found[f"dequantize_i8_{size}"] = partial(_cast, "DEQUANTIZE", shape, "int8", "float32", "Identity")
    return found
