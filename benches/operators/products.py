"""Rows of products and convolutions: of 8 bits, of 16, and of floats by quantized weights."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benches.operators.models import NCHW, SIGN, Array, Models, Operator, Value, drawn, operation
from benches.operators.rows import Makers
from tests.models.onnx.writing import model, node, port
from tests.models.tflite.writing import Tensor, one_op

WEIGHT_SCALE = 0.01
X_SCALE = 0.05
ACTIVATION = {"fused_activation_function": "NONE"}


def _weights(rng: np.random.Generator, shape: Sequence[int], axis: int) -> tuple[Array, Array]:
    """Return weights and a scale for each channel."""
    scales = (WEIGHT_SCALE * rng.uniform(0.5, 1, shape[axis])).astype(np.float32)
    return rng.integers(-127, 127, tuple(shape), np.int8, endpoint=True), scales


def _product(
    name: str,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    y_shape: Sequence[int],
    options: Mapping[str, Any],
    version: int,
    onnx: Operator | None = None,
    *,
    axis: int = 0,
    dtype: str = "int8",
    dead: int = 0,
    before: Sequence[Tensor] = (),
    per_tensor: bool = False,
) -> Models:
    """Return the models of a product by constant weights with a bias. ``dead`` channels have no
    weights, and a bias at an end of its type."""
    rng = np.random.default_rng(0)
    w, scales = _weights(rng, w_shape, axis)
    channels = w_shape[axis]
    if per_tensor:
        scales[:] = scales[0]
    x_scale = X_SCALE if dtype != "int16" else X_SCALE / 256
    terms = w.size // channels
    y_scale = float(75 * 75 * np.sqrt(terms) * x_scale * WEIGHT_SCALE / 40)
    bias = rng.integers(-(1 << 12), 1 << 12, channels)
    w[:dead] = 0
    bias[:dead] = np.where(np.arange(dead) % 2, 2**31 - 1, -(2**31))
    x = Value(x_shape, dtype, x_scale, is_image=len(x_shape) == 4)
    y = Value(y_shape, dtype, y_scale, -5, is_image=len(y_shape) == 4)
    if dtype == "float32":
        biases = Tensor((channels,), "float32", data=bias * np.float32(x_scale) * scales)
    else:
        kind = "int64" if dtype == "int16" else "int32"
        bias_scales = np.float32(x_scale) * scales
        biases = Tensor((channels,), kind, bias_scales if not per_tensor else bias_scales[0],
                        0 if per_tensor else [0] * channels, 0, bias)  # fmt: skip
        if dtype == "int16" and name != "DEPTHWISE_CONV_2D":
            options = {**options, "quantized_bias_type": "INT64"}
    weights = Tensor(w_shape, "int8", scales[0] if per_tensor else scales, 0 if per_tensor else [0] * channels,
                     0 if per_tensor else axis, w)  # fmt: skip
    array = drawn(rng, x_shape, dtype)
    content = one_op(name, [*before, weights, x.tensor(), biases] if before else [x.tensor(), weights, biases],
                     [y.tensor()], options, version=version)  # fmt: skip
    files, inputs = {"tflite": content}, {"tflite": [array]}
    if onnx is not None and dtype == "int8":
        files["onnx"] = _onnx(x, y, w, scales, bias, axis, onnx)
        inputs["onnx"] = [x.in_onnx(array)]
    return Models(files, inputs, x.is_image)


def _onnx(x: Value, y: Value, w: Array, scales: Array, bias: Array, axis: int, operator: Operator) -> bytes:
    """Return a file with the product between casts. Convolutions have weights OIHW, and Gemm has KN."""
    if axis == 3:  # a depthwise convolution has 1HWC
        w = w.transpose(3, 0, 1, 2)
    elif x.is_image:
        w = w.transpose(NCHW)
    constants = {
        "xs": np.float32(x.scale),
        "xz": np.uint8(x.zero_point + SIGN),
        "ys": np.float32(y.scale),
        "yz": np.uint8(y.zero_point + SIGN),
        "w": np.ascontiguousarray(w),
        "ws": scales,
        "wz": np.zeros(len(scales), np.int8),
        "b": bias.astype(np.int32),
        "bs": np.float32(x.scale) * scales,
        "bz": np.zeros(len(scales), np.int32),
    }
    nodes = [
        node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
        node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], axis=0),
        node(operator.name, ["xf", "wf", "bf"], ["yf"], **operator.options),
        node("QuantizeLinear", ["yf", "ys", "yz"], ["y"]),
    ]
    ports = [port("x", "UINT8", x.onnx_shape())], [port("y", "UINT8", y.onnx_shape())]
    return model(nodes, *ports, constants, opset=19)


def _fully_connected(rows: int, depth: int, units: int, dtype: str = "int8", version: int = 5) -> Models:
    options = {**ACTIVATION, "keep_num_dims": False}
    if dtype == "float32":
        options["asymmetric_quantize_inputs"] = True
        version = 9
    onnx = Operator("Gemm", {"transB": 1})
    shapes = (rows, depth), (units, depth), (rows, units)
    return _product("FULLY_CONNECTED", *shapes, options, 11 if dtype == "int16" else version, onnx, dtype=dtype,
                    per_tensor=dtype != "int8")  # fmt: skip


def _window(size: int, kernel: int, stride: int) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Return options, attributes and the size of the result of a window with SAME padding."""
    result = -(-size // stride)
    total = max((result - 1) * stride + kernel - size, 0)
    begin = total // 2
    options = {**ACTIVATION, "padding": "SAME", "stride_h": stride, "stride_w": stride, "dilation_h_factor": 1,
               "dilation_w_factor": 1}  # fmt: skip
    pads = [begin, begin, total - begin, total - begin]
    return options, {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads}, result


def _conv(
    size: int, depth: int, channels: int, kernel: int, stride: int = 1, dtype: str = "int8", dead: int = 0
) -> Models:
    options, attributes, result = _window(size, kernel, stride)
    shapes = (1, size, size, depth), (channels, kernel, kernel, depth), (1, result, result, channels)
    version = 8 if dtype == "int16" else 3
    return _product("CONV_2D", *shapes, options, version, Operator("Conv", attributes), dtype=dtype, dead=dead)


def _depthwise(size: int, depth: int, kernel: int, stride: int = 1, multiplier: int = 1, dtype: str = "int8") -> Models:
    options, attributes, result = _window(size, kernel, stride)
    channels = depth * multiplier
    shapes = (1, size, size, depth), (1, kernel, kernel, channels), (1, result, result, channels)
    onnx = Operator("Conv", {**attributes, "group": depth})
    version = 4 if dtype == "int16" else 3
    options = {**options, "depth_multiplier": multiplier}
    return _product("DEPTHWISE_CONV_2D", *shapes, options, version, onnx, axis=3, dtype=dtype)


def _transposed(size: int, depth: int, channels: int, kernel: int, stride: int, dtype: str = "int8") -> Models:
    result = size * stride
    options = {"padding": "SAME", "stride_h": stride, "stride_w": stride, **ACTIVATION}
    shapes = (1, size, size, depth), (channels, kernel, kernel, depth), (1, result, result, channels)
    shape = Tensor((4,), "int32", data=np.int32(shapes[2]))
    return _product("TRANSPOSE_CONV", *shapes, options, 3, dtype=dtype, before=[shape])


def _batch_matmul(batch: int, rows: int, depth: int, columns: int, dtype: str, adj_y: bool = False) -> Models:
    x = Value((batch, rows, depth), dtype)
    y = Value((batch, columns, depth) if adj_y else (batch, depth, columns), dtype)
    out = Value((batch, rows, columns), dtype, float(75 * 75 * np.sqrt(depth) * 0.05**2 / 40), -5)
    tflite = Operator("BATCH_MATMUL", {"adj_x": False, "adj_y": adj_y, "asymmetric_quantize_inputs": False},
                      3 if dtype == "int16" else 2)  # fmt: skip
    return operation([x, y], [out], tflite, None if dtype == "int16" or adj_y else Operator("MatMul"))


def _dynamic(rows: int, depth: int, columns: int) -> Models:
    """DynamicQuantizeMatMul."""
    rng = np.random.default_rng(0)
    w = rng.integers(-127, 127, (depth, columns), np.int8, endpoint=True)
    constants = {"w": w, "s": np.float32(0.01), "z": np.int8(0)}
    made = node("DynamicQuantizeMatMul", ["x", "w", "s", "z"], ["y"], domain="com.microsoft")
    content = model([made], [port("x", shape=(rows, depth))], [port("y", shape=(rows, columns))], constants)
    return Models({"onnx": content}, {"onnx": [drawn(rng, (rows, depth), "float32")]})


def rows() -> Makers:
    """Return the makers of models by name."""
    found: dict[str, Callable[[], Models]] = {}
    for name, sizes in {
        "small": (1, 16, 16),
        "middle": (1, 256, 256),
        "rows": (49, 384, 384),
        "large": (1, 8192, 8192),
    }.items():
        found[f"fully_connected_i8_{name}"] = partial(_fully_connected, *sizes)
        if name != "large":
            found[f"fully_connected_i16_{name}"] = partial(_fully_connected, *sizes, dtype="int16")
            found[f"fully_connected_hybrid_{name}"] = partial(_fully_connected, *sizes, dtype="float32")
    for name, conv in {
        "small": (4, 4, 4, 3),
        "1x1_middle": (28, 64, 128, 1),
        "3x3_middle": (28, 64, 64, 3),
        "3x3s2_3_channels": (96, 3, 16, 3, 2),
        "3x3_few_channels": (56, 12, 12, 3),
        "5x5_1_channel": (28, 1, 8, 5),
        "large": (512, 32, 64, 1),
    }.items():
        found[f"conv_2d_i8_{name}"] = partial(_conv, *conv)
        if name in ("1x1_middle", "3x3_middle", "3x3s2_3_channels"):
            found[f"conv_2d_i16_{name}"] = partial(_conv, *conv, dtype="int16")
            found[f"conv_2d_hybrid_{name}"] = partial(_conv, *conv, dtype="float32")
    found["conv_2d_i8_dead_channels"] = partial(_conv, 28, 64, 64, 3, dead=2)
    for name, depthwise in {
        "small": (4, 4, 3),
        "3x3_middle": (56, 64, 3),
        "5x5_middle": (28, 96, 5),
        "3x3s2_few_channels": (56, 12, 3, 2),
        "multiplier": (56, 16, 3, 1, 2),
        "1_channel": (49, 1, 8, 2, 8),
        "large": (512, 64, 3),
    }.items():
        found[f"depthwise_conv_2d_i8_{name}"] = partial(_depthwise, *depthwise)
    found["depthwise_conv_2d_i16_3x3_middle"] = partial(_depthwise, 56, 64, 3, dtype="int16")
    found["depthwise_conv_2d_hybrid_3x3_middle"] = partial(_depthwise, 56, 64, 3, dtype="float32")
    for name, transposed in {
        "small": (2, 4, 4, 2, 2),
        "2x2s2": (14, 256, 128, 2, 2),
        "3x3s2": (28, 32, 32, 3, 2),
        "4x4s2": (28, 64, 16, 4, 2),
        "3x3s1": (28, 32, 32, 3, 1),
    }.items():
        found[f"transpose_conv_i8_{name}"] = partial(_transposed, *transposed)
    found["transpose_conv_i16_3x3s2"] = partial(_transposed, 28, 32, 32, 3, 2, dtype="int16")
    for name, sizes in {"small": (1, 4, 8, 4), "heads": (8, 128, 32, 128), "values": (8, 128, 128, 32)}.items():
        for kind, dtype in {"i8": "int8", "i16": "int16", "f32": "float32"}.items():
            found[f"batch_matmul_{kind}_{name}"] = partial(_batch_matmul, *sizes, dtype)
    found["batch_matmul_i8_transposed"] = partial(_batch_matmul, 8, 128, 32, 128, "int8", adj_y=True)
    for name, product in {"small": (1, 16, 16), "middle": (1, 768, 768), "rows": (64, 768, 768)}.items():
        found[f"dynamic_quantize_matmul_{name}"] = partial(_dynamic, *product)
    return found
