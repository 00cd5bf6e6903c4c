"""TRANSPOSE_CONV of 8 bits, and the convolutions of int16 with weights of int8. Hazards: results that SAME and VALID
padding cut off unequally, windows smaller than the stride, biases of 64 bits, of 32 and none."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.products import _window
from tests.models.tflite.writing import Tensor, one_op


def _weights(rng, shape, channels, dtype, per_axis, axis=0):
    scales = [draw.around(rng, 2.0**-6) for _ in range(channels)] if per_axis else draw.around(rng, 2.0**-6)
    zero = [0] * channels if per_axis else draw.zero_point(rng, dtype) if dtype == "uint8" else 0
    return Tensor(shape, dtype, scales, zero, axis, draw.weights(rng, shape, dtype))


def _bias(rng, x, w, channels, dtype):
    if dtype is None:
        return None
    scales = np.float32(x.scales) * np.float32(w.scales)
    bound = 1 << (24 if x.dtype == "int16" else 15)
    zeros = 0 if np.ndim(scales) == 0 else [0] * channels
    return Tensor((channels,), dtype, scales, zeros, 0, rng.integers(-bound, bound, channels))


def _output(rng, shape, x, w, terms):
    largest = 300.0 if w.dtype == "int4" else 5000.0
    spread = largest * np.sqrt(terms) * float(np.max(np.float32(x.scales) * np.float32(w.scales)))
    return draw.tensor(rng, shape, x.dtype, draw.around(rng, spread / 60))


def transpose_conv(rng, *, dtype="int8", weights="int8", per_axis=True, bias="int32"):
    kernel, strides = rng.integers(1, 6, 2), rng.integers(1, 4, 2)
    size = rng.integers(1, 9, 2)
    padding = str(rng.choice(["SAME", "VALID"]))
    if padding == "SAME":
        result = [int(n * s - rng.integers(0, s)) for n, s in zip(size, strides, strict=True)]
    else:
        result = [int((n - 1) * s + k) for n, s, k in zip(size, strides, kernel, strict=True)]
    batch, depth, channels = int(rng.choice([1, 1, 2])), draw.size(rng, 17), draw.size(rng, 24)
    x = draw.tensor(rng, (batch, *size, depth), dtype)
    w = _weights(rng, (channels, *kernel, depth), channels, weights, per_axis)
    y = _output(rng, (batch, *result, channels), x, w, depth * int(np.ceil(kernel / strides).prod()))
    shape = Tensor((4,), "int32", data=list(y.shape))
    options = {"padding": padding, "stride_h": int(strides[0]), "stride_w": int(strides[1])}
    inputs = [shape, w, x, *([] if bias is None else [_bias(rng, x, w, channels, bias)])]
    if bias is not None and dtype == "int16":
        options["quantized_bias_type"] = bias.upper()
    return Case(one_op("TRANSPOSE_CONV", inputs, [y], options, version=5 if bias else 2))


def conv16(rng, *, bias="int64", per_axis=True, weights="int8"):
    image, window, result, options = _window(rng)
    batch, depth, channels = int(rng.choice([1, 1, 2])), draw.size(rng, 40), draw.size(rng, 40)
    x = draw.tensor(rng, (batch, *image, depth), "int16")
    w = _weights(rng, (channels, *window, depth), channels, weights, per_axis)
    y = _output(rng, (batch, *result, channels), x, w, 200 * depth * window[0] * window[1])
    options["quantized_bias_type"] = bias.upper()
    return Case(one_op("CONV_2D", [x, w, _bias(rng, x, w, channels, bias)], [y], options, version=8))


def depthwise16(rng, *, per_axis=True):
    image, window, _, options = _window(rng)
    stride = max(options["stride_h"], options["stride_w"])  # LiteRT has one stride of both axes
    options |= {"stride_h": stride, "stride_w": stride, "depth_multiplier": int(rng.integers(1, 4))}
    reach = [
        (w - 1) * d + 1
        for w, d in zip(window, (options["dilation_h_factor"], options["dilation_w_factor"]), strict=True)
    ]
    result = [
        -(-(n if options["padding"] == "SAME" else n - r + 1) // stride) for n, r in zip(image, reach, strict=True)
    ]
    depth = draw.size(rng, 24)
    channels = depth * options["depth_multiplier"]
    x = draw.tensor(rng, (1, *image, depth), "int16")
    w = _weights(rng, (1, *window, channels), channels, "int8", per_axis, axis=3)
    y = _output(rng, (1, *result, channels), x, w, 200 * window[0] * window[1])
    return Case(one_op("DEPTHWISE_CONV_2D", [x, w, _bias(rng, x, w, channels, "int64")], [y], options, version=4))


def fully_connected16(rng, *, bias="int64", per_axis=False, weights="int8"):
    depth, units, rows = draw.size(rng, 200), draw.size(rng), draw.size(rng, 33)
    x = draw.tensor(rng, (rows, depth), "int16")
    w = _weights(rng, (units, depth), units, weights, per_axis)
    y = _output(rng, (rows, units), x, w, 200 * depth)
    options = {"fused_activation_function": draw.activation(rng), "keep_num_dims": False}
    if bias is not None:
        options["quantized_bias_type"] = bias.upper()
    return Case(one_op("FULLY_CONNECTED", [x, w, _bias(rng, x, w, units, bias)], [y], options, version=11))


CASES = {
    "TRANSPOSE_CONV i8 per axis": transpose_conv,
    "TRANSPOSE_CONV i8 per axis, no bias": partial(transpose_conv, bias=None),
    "TRANSPOSE_CONV i8 per tensor": partial(transpose_conv, per_axis=False),
    "TRANSPOSE_CONV u8": partial(transpose_conv, dtype="uint8", weights="uint8", per_axis=False),
    "TRANSPOSE_CONV i16, bias i64": partial(transpose_conv, dtype="int16", bias="int64"),
    "TRANSPOSE_CONV i16, bias i32": partial(transpose_conv, dtype="int16", bias="int32"),
    "TRANSPOSE_CONV i16, no bias": partial(transpose_conv, dtype="int16", bias=None),
    "CONV_2D i16, bias i64": conv16,
    "CONV_2D i16 per tensor, bias i64": partial(conv16, per_axis=False),
    "CONV_2D i16, bias i32": partial(conv16, bias="int32"),
    "DEPTHWISE_CONV_2D i16, bias i64": depthwise16,
    "FULLY_CONNECTED i16, bias i64": fully_connected16,
    "FULLY_CONNECTED i16 per axis, bias i64": partial(fully_connected16, per_axis=True),
    "FULLY_CONNECTED i16, bias i32": partial(fully_connected16, bias="int32"),
    "FULLY_CONNECTED i16, no bias": partial(fully_connected16, bias=None),
}
