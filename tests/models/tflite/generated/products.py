"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: sums of products that are rescaled.

Hazards: zero points of weights, a scale for each channel, an absent bias, strides, dilations and paddings that meet the
edge on one side only, channels and depths beside the kernels' blocks, results that saturate on either side.
"""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

BIAS = 1 << 15


def _weights(rng, shape, dtype, channels, axis, per_axis, zero_point):
    """Constant weights. The scales of a per-axis tensor lie within a few octaves of each other."""
    scales = [draw.around(rng, 2.0**-6) for _ in range(channels)] if per_axis else draw.around(rng, 2.0**-6)
    # LiteRT's delegate leaves 8-bit unsigned weights alone whose one scale stands on another axis than the first.
    return Tensor(shape, dtype, scales, zero_point, axis if per_axis else 0, draw.weights(rng, shape, dtype))


def _bias(rng, x, w, channels):
    """A bias whose scale is that of the products, as converters write it: rounded to float32."""
    scales = np.float32(x.scales) * np.float32(w.scales)
    return Tensor((channels,), "int32", scales, 0 if np.ndim(scales) == 0 else [0] * channels, 0,
                  rng.integers(-BIAS, BIAS, channels))  # fmt: skip


def _output(rng, shape, x, w, terms, dtype):
    """An output whose scale leaves most sums of so many products in range."""
    largest = {"int2": 75.0, "int4": 300.0}.get(w.dtype, 5000.0)
    spread = largest * np.sqrt(terms) * float(np.max(np.float32(x.scales) * np.float32(w.scales)))
    return draw.tensor(rng, shape, dtype, draw.around(rng, spread / 60))


def fully_connected(
    rng, *, dtype="int8", weights=None, per_axis=False, has_bias=True, weight_zero_point=0, keeps=False, axis=0
):
    depth, units = draw.size(rng, 200), draw.size(rng)
    lead = (draw.size(rng, 5), draw.size(rng, 9)) if keeps else (draw.size(rng, 33),)
    x = draw.tensor(rng, (*lead, depth), dtype)
    zero_point = weight_zero_point if weight_zero_point is not None else draw.zero_point(rng, dtype)
    w = _weights(rng, (units, depth), weights or dtype, units, axis, per_axis, [0] * units if per_axis else zero_point)
    bias = _bias(rng, x, w, units) if has_bias else None
    y = _output(rng, (*lead, units), x, w, depth, dtype)
    options = {"fused_activation_function": draw.activation(rng), "keep_num_dims": keeps}
    return Case(one_op("FULLY_CONNECTED", [x, w, bias], [y], options, version=5 if keeps else 4))


def halves(rng, *, dtype="int8"):
    """Scales that are powers of two, and small sums: many results lie half way between two."""
    depth, units, rows = draw.size(rng, 65), draw.size(rng), draw.size(rng, 33)
    x = draw.tensor(rng, (rows, depth), dtype, 2.0 ** int(rng.integers(-9, 0)))
    w = Tensor((units, depth), dtype, 2.0**-6, 0, 0, draw.integers(rng, (units, depth), dtype, 0, 3))
    bias = Tensor((units,), "int32", x.scales * w.scales, 0, 0, rng.integers(-99, 99, units))
    places = max(round(np.log2(3 * np.sqrt(depth))) + int(rng.integers(-1, 2)), 1)
    y = draw.tensor(rng, (rows, units), dtype, x.scales * w.scales * 2.0**places)
    options = {"fused_activation_function": draw.activation(rng), "keep_num_dims": False}
    return Case(one_op("FULLY_CONNECTED", [x, w, bias], [y], options, version=4))


def bounds_at_halves(rng):
    """The bound of RELU6 lies half way between two results, which kernels round in their own ways."""
    depth, units, rows, steps = draw.size(rng, 65), draw.size(rng), draw.size(rng, 33), int(rng.integers(2, 60))
    w = Tensor((units, depth), "int8", 2.0**-6, 0, 0, draw.integers(rng, (units, depth)))
    x = draw.tensor(rng, (rows, depth), "int8", float(np.float32(0.25 / np.sqrt(depth))))
    y = Tensor((rows, units), "int8", float(np.float32(6) / np.float32(steps + 0.5)), int(rng.integers(-60, 60)))
    bias = Tensor((units,), "int32", x.scales * w.scales, 0, 0, np.zeros(units))
    options = {"fused_activation_function": "RELU6", "keep_num_dims": False}
    return Case(one_op("FULLY_CONNECTED", [x, w, bias], [y], options, version=4))


def _nonzero(rng, dtype):
    return int(rng.choice([z for z in (draw.zero_point(rng, dtype), 1, -3) if z] or [7]))


def weight_zero_points(rng):
    return fully_connected(rng, weight_zero_point=_nonzero(rng, "int8"))


def _window(rng):
    """Height, width, window, strides, dilations and padding of an image that a window fits."""
    window = [int(rng.choice([1, 1, 2, 3, 3, 5])) for _ in range(2)]
    dilations = [int(rng.choice([1, 1, 1, 2, 3])) for _ in range(2)]
    strides = [int(rng.choice([1, 1, 2, 3])) for _ in range(2)]
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilations, strict=True)]
    if max(dilations) > 1:
        strides = [1, 1]
    padding = str(rng.choice(["SAME", "VALID"]))
    image = [int(rng.integers(r if padding == "VALID" else 1, r + 12)) for r in reach]
    if padding == "SAME":
        result = [-(-i // s) for i, s in zip(image, strides, strict=True)]
    else:
        result = [-(-(i - r + 1) // s) for i, r, s in zip(image, reach, strides, strict=True)]
    options = {
        "padding": padding,
        "stride_h": strides[0],
        "stride_w": strides[1],
        "dilation_h_factor": dilations[0],
        "dilation_w_factor": dilations[1],
        "fused_activation_function": draw.activation(rng),
    }
    return image, window, result, options


def conv(rng, *, dtype="int8", weights=None, per_axis=True, one_by_one=False, axis=0):
    image, window, result, options = _window(rng)
    if one_by_one:
        window, result, options = [1, 1], image, {**options, "padding": "VALID", "stride_h": 1, "stride_w": 1}
        options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
    batch, depth, channels = int(rng.choice([1, 1, 2])), draw.size(rng, 40), draw.size(rng, 40)
    x = draw.tensor(rng, (batch, *image, depth), dtype)
    zero_point = [0] * channels if per_axis else 0 if dtype == "int8" else draw.zero_point(rng, dtype)
    w = _weights(rng, (channels, *window, depth), weights or dtype, channels, axis, per_axis, zero_point)
    y = _output(rng, (batch, *result, channels), x, w, depth * window[0] * window[1], dtype)
    return Case(one_op("CONV_2D", [x, w, _bias(rng, x, w, channels)], [y], options, version=3))


def depthwise(rng, *, dtype="int8", weights=None, per_axis=True, most=1, axis=0):
    image, window, result, options = _window(rng)
    strides = max(options["stride_h"], options["stride_w"])  # LiteRT has one stride of both axes
    options |= {"stride_h": strides, "stride_w": strides}
    if options["padding"] == "SAME":
        result = [-(-i // strides) for i in image]
    else:
        dilations = options["dilation_h_factor"], options["dilation_w_factor"]
        reach = [(w - 1) * d + 1 for w, d in zip(window, dilations, strict=True)]
        result = [-(-(i - r + 1) // strides) for i, r in zip(image, reach, strict=True)]
    batch, depth = int(rng.choice([1, 1, 2])), draw.size(rng, 65 // most**0.5)
    multiplier = int(rng.integers(1, most + 1))
    channels = depth * multiplier
    x = draw.tensor(rng, (batch, *image, depth), dtype)
    zero_point = [0] * channels if per_axis else 0 if dtype == "int8" else draw.zero_point(rng, dtype)
    w = _weights(rng, (1, *window, channels), weights or dtype, channels, 3 if per_axis else axis, per_axis, zero_point)
    y = _output(rng, (batch, *result, channels), x, w, window[0] * window[1], dtype)
    options = {**options, "depth_multiplier": multiplier}
    return Case(one_op("DEPTHWISE_CONV_2D", [x, w, _bias(rng, x, w, channels)], [y], options, version=3))


CASES = {
    "FULLY_CONNECTED i8, halves": halves,
    "FULLY_CONNECTED u8, halves": partial(halves, dtype="uint8"),
    "FULLY_CONNECTED i8, bounds at halves": bounds_at_halves,
    "FULLY_CONNECTED i8": fully_connected,
    "FULLY_CONNECTED i8, no bias": partial(fully_connected, has_bias=False),
    "FULLY_CONNECTED i8 per axis": partial(fully_connected, per_axis=True),
    "FULLY_CONNECTED i8, keep_num_dims": partial(fully_connected, keeps=True),
    "FULLY_CONNECTED i8, weight zero point": weight_zero_points,
    "FULLY_CONNECTED u8": partial(fully_connected, dtype="uint8", weight_zero_point=None),
    "FULLY_CONNECTED u8, no bias": partial(fully_connected, dtype="uint8", weight_zero_point=None, has_bias=False),
    "CONV_2D i8 per axis": conv,
    "CONV_2D i8 per axis, 1x1": partial(conv, one_by_one=True),
    "CONV_2D i8 per tensor": partial(conv, per_axis=False),
    "CONV_2D u8": partial(conv, dtype="uint8", per_axis=False),
    "CONV_2D u8, axis of one scale": partial(conv, dtype="uint8", per_axis=False, axis=3),
    "FULLY_CONNECTED u8, axis of one scale": partial(fully_connected, dtype="uint8", weight_zero_point=None, axis=1),
    "DEPTHWISE_CONV_2D u8, axis of one scale": partial(depthwise, dtype="uint8", per_axis=False, axis=3),
    "DEPTHWISE_CONV_2D i8 per axis": depthwise,
    "DEPTHWISE_CONV_2D i8 per axis, multiplier": partial(depthwise, most=8),
    "DEPTHWISE_CONV_2D i8 per tensor": partial(depthwise, per_axis=False),
    "DEPTHWISE_CONV_2D u8": partial(depthwise, dtype="uint8", per_axis=False),
    "DEPTHWISE_CONV_2D u8, multiplier": partial(depthwise, dtype="uint8", per_axis=False, most=8),
}
