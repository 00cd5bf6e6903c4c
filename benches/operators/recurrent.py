"""Rows of recurrent operators."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benches.operators.models import Models, drawn
from benches.operators.rows import Makers
from tests.models.onnx.writing import model, node, port
from tests.models.tflite.writing import Tensor, one_op

SIZES = {"small": (1, 1, 4, 4), "middle": (1, 16, 32, 64), "batch": (4, 16, 64, 128)}


def _weights(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, scale: float = 0.004) -> Tensor:
    if dtype == "float32":
        return Tensor(shape, dtype, data=(rng.standard_normal(shape) / 8).astype(np.float32))
    return Tensor(shape, "int8", scale, data=rng.integers(-127, 127, shape, np.int8, endpoint=True))


def _lstm(batch: int, steps: int, inputs: int, cells: int, dtype: str) -> Models:
    """UNIDIRECTIONAL_SEQUENCE_LSTM, of int8 with a cell of int16, or of floats."""
    rng = np.random.default_rng(0)
    is_float = dtype == "float32"
    x = Tensor((batch, steps, inputs), dtype, *(() if is_float else (0.02, 3)))
    w, r = ([_weights(rng, (cells, depth), dtype) for _ in range(4)] for depth in (inputs, cells))
    if is_float:
        biases = [_weights(rng, (cells,), dtype) for _ in range(4)]
    else:
        biases = [Tensor((cells,), "int32", 0.02 * 0.004, data=rng.integers(-999, 999, cells)) for _ in range(4)]
    hidden = Tensor((batch, cells), dtype, *(() if is_float else (1 / 128, 0)), is_variable=True)
    cell = Tensor((batch, cells), *(("float32",) if is_float else ("int16", 2.0**-11)), is_variable=True)
    y = Tensor((batch, steps, cells), dtype, *(() if is_float else (1 / 128, 0)))
    intermediates = [] if is_float else [*(Tensor((0,), "float32") for _ in range(4)), Tensor((0,), "int8", 1 / 128)]
    operands = [x, *w, *r, None, None, None, *biases, None, None, hidden, cell, None, None, None, None]
    options = {"fused_activation_function": "TANH", "cell_clip": 0.0, "proj_clip": 0.0, "time_major": False}
    content = one_op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options, intermediates=intermediates)
    return Models({"tflite": content}, {"tflite": [drawn(rng, x.shape or (), dtype)]})


def _svdf(inputs: int, units: int, memory: int) -> Models:
    rng = np.random.default_rng(0)
    x = Tensor((1, inputs), "int8", 0.02, 3)
    feature = _weights(rng, (units, inputs), "int8")
    moments = rng.integers(-1000, 1000, (units, memory), np.int16)
    time = Tensor((units, memory), "int16", 2.0**-13, data=moments)
    state = Tensor((1, units * memory), "int16", 0.0001, is_variable=True)
    bias = Tensor((units,), "int32", 0.0001 * 2.0**-13, data=rng.integers(-999, 999, units))
    y = Tensor((1, units), "int8", 0.05, -5)
    options = {"rank": 1, "fused_activation_function": "RELU"}
    content = one_op("SVDF", [x, feature, time, bias, state], [y], options)
    return Models({"tflite": content}, {"tflite": [drawn(rng, (1, inputs), "int8")]})


def _dynamic_lstm(batch: int, steps: int, inputs: int, cells: int) -> Models:
    """DynamicQuantizeLSTM."""
    rng = np.random.default_rng(0)
    constants: dict[str, Any] = {"b": (rng.standard_normal((1, 8 * cells)) / 4).astype(np.float32)}
    for name, depth in {"w": inputs, "r": cells}.items():
        constants |= {
            name: rng.integers(-127, 127, (1, depth, 4 * cells), np.int8, endpoint=True),
            f"s{name}": np.full((1, 4 * cells), 0.003, np.float32),
            f"z{name}": np.zeros((1, 4 * cells), np.int8),
        }
    names = ["x", "w", "r", "b", "", "", "", "", "sw", "zw", "sr", "zr"]
    made = node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=cells)
    shapes = (steps, batch, inputs), (steps, 1, batch, cells)
    content = model([made], [port("x", shape=shapes[0])], [port("y", shape=shapes[1])], constants)
    return Models({"onnx": content}, {"onnx": [drawn(rng, shapes[0], "float32")]})


def _recurrent(name: str, gates: int, batch: int, steps: int, inputs: int, cells: int) -> Models:
    """LSTM or GRU of floats in ONNX."""
    rng = np.random.default_rng(0)
    constants = {
        "w": (rng.standard_normal((1, gates * cells, inputs)) / 8).astype(np.float32),
        "r": (rng.standard_normal((1, gates * cells, cells)) / 8).astype(np.float32),
        "b": (rng.standard_normal((1, 2 * gates * cells)) / 8).astype(np.float32),
    }
    shapes = (steps, batch, inputs), (steps, 1, batch, cells)
    made = node(name, ["x", *constants], ["y"], hidden_size=cells)
    content = model([made], [port("x", shape=shapes[0])], [port("y", shape=shapes[1])], constants)
    return Models({"onnx": content}, {"onnx": [drawn(rng, shapes[0], "float32")]})


def rows() -> Makers:
    """Return the makers of models by name."""
    found: dict[str, Callable[[], Models]] = {}
    for size, sizes in SIZES.items():
        found[f"lstm_i8_{size}"] = partial(_lstm, *sizes, "int8")
        found[f"dynamic_quantize_lstm_{size}"] = partial(_dynamic_lstm, *sizes)
    found["lstm_f32_middle"] = partial(_lstm, *SIZES["middle"], "float32")
    found["onnx_lstm_f32_middle"] = partial(_recurrent, "LSTM", 4, *SIZES["middle"])
    found["onnx_gru_f32_middle"] = partial(_recurrent, "GRU", 3, *SIZES["middle"])
    for size, svdf in {"small": (4, 4, 4), "middle": (40, 128, 10), "large": (256, 1024, 32)}.items():
        found[f"svdf_i8_{size}"] = partial(_svdf, *svdf)
    return found
