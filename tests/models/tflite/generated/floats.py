"""Operators of float32, and of float32 with int8 weights. Hazards: another order of a sum, a product that is fused or
not, padding that is counted, the range of a row that has one sign or no element but 0, a sum of so many terms that its
error is seen, results that are smaller than every normal number."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.products import _window
from tests.models.tflite.writing import Tensor, one_op


def _floats(rng, shape):
    return rng.normal(size=shape).astype(np.float32)


def _constant(rng, shape):
    return Tensor(shape, "float32", data=_floats(rng, shape))


def _weights(rng, shape, is_hybrid):
    if is_hybrid:
        return Tensor(shape, "int8", draw.around(rng, 2.0**-6), 0, 0, draw.integers(rng, shape, "int8", -127))
    return _constant(rng, shape)


def conv(rng, *, is_hybrid=False, one_by_one=False):
    image, window, result, options = _window(rng)
    if one_by_one:
        window, result, options = [1, 1], image, {**options, "padding": "VALID", "stride_h": 1, "stride_w": 1}
        options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
    batch, depth, channels = int(rng.choice([1, 1, 2])), draw.size(rng, 20), draw.size(rng, 20)
    x, y = Tensor((batch, *image, depth), "float32"), Tensor((batch, *result, channels), "float32")
    weights = _weights(rng, (channels, *window, depth), is_hybrid)
    return Case(one_op("CONV_2D", [x, weights, _constant(rng, (channels,))], [y], options, version=2), ulp=0)


def conv_of_single_channels(rng):
    """A filter for each channel, which XNNPACK runs as a depthwise convolution."""
    image, window, result, options = _window(rng)
    channels = int(rng.choice([1, 1, 2, 3, 8]))
    x, y = Tensor((1, *image, channels), "float32"), Tensor((1, *result, channels), "float32")
    inputs = [x, _constant(rng, (channels, *window, 1)), _constant(rng, (channels,))]
    return Case(one_op("CONV_2D", inputs, [y], options, version=2), ulp=0)


def depthwise(rng, *, is_hybrid=False):
    image, window, result, options = _window(rng)
    strides = max(options["stride_h"], options["stride_w"])
    reach = [(w - 1) * options[f"dilation_{d}_factor"] + 1 for w, d in zip(window, "hw", strict=True)]
    kept = [0, 0] if options["padding"] == "SAME" else [each - 1 for each in reach]
    result = [-(-(i - k) // strides) for i, k in zip(image, kept, strict=True)]
    depth, multiplier = draw.size(rng, 20), int(rng.integers(1, 4))
    channels = depth * multiplier
    options |= {"stride_h": strides, "stride_w": strides, "depth_multiplier": multiplier}
    x, y = Tensor((1, *image, depth), "float32"), Tensor((1, *result, channels), "float32")
    if is_hybrid:
        scales = [draw.around(rng, 2.0**-6) for _ in range(channels)]
        data = draw.integers(rng, (1, *window, channels), "int8", -127)
        weights = Tensor((1, *window, channels), "int8", scales, 0, 3, data)
    else:
        weights = _constant(rng, (1, *window, channels))
    inputs = [x, weights, _constant(rng, (channels,))]
    return Case(one_op("DEPTHWISE_CONV_2D", inputs, [y], options, version=2), ulp=0)


def fully_connected(rng, *, is_hybrid=False):
    rows, depth, units = draw.size(rng, 33), draw.size(rng, 65), draw.size(rng)
    x, y = Tensor((rows, depth), "float32"), Tensor((rows, units), "float32")
    bias = _constant(rng, (units,)) if is_hybrid or rng.random() < 0.7 else None
    options = {"fused_activation_function": draw.activation(rng)}
    inputs = [x, _weights(rng, (units, depth), is_hybrid), bias]
    return Case(one_op("FULLY_CONNECTED", inputs, [y], options, version=4), ulp=0)


def pool(rng, *, name):
    padding = str(rng.choice(["SAME", "VALID"]))
    window = [int(each) for each in rng.integers(1, 6, 2)]
    image = [int(rng.integers(each, each + 14)) for each in window]
    strides = [int(each) for each in rng.integers(1, 4, 2)]
    kept = [0, 0] if padding == "SAME" else [each - 1 for each in window]
    result = [-(-(i - k) // s) for i, k, s in zip(image, kept, strides, strict=True)]
    depth = draw.size(rng)
    x, y = Tensor((1, *image, depth), "float32"), Tensor((1, *result, depth), "float32")
    options = {
        "padding": padding,
        "stride_h": strides[0],
        "stride_w": strides[1],
        "filter_height": window[0],
        "filter_width": window[1],
        "fused_activation_function": draw.activation(rng),
    }
    return Case(one_op(name, [x], [y], options, version=2), ulp=0)


def binary(rng, *, name):
    shape = draw.shape(rng)
    other = tuple(1 if rng.random() < 0.3 else size for size in shape)[int(rng.integers(0, len(shape))) :]
    a, b, y = Tensor(shape, "float32"), Tensor(other or (1,), "float32"), Tensor(shape, "float32")
    fused = {} if name in ("MAXIMUM", "MINIMUM") else {"fused_activation_function": draw.activation(rng)}
    return Case(one_op(name, [a, b], [y], fused, version=1), ulp=0)


def softmax(rng):
    rows, depth = draw.size(rng), draw.size(rng)
    x, y = Tensor((rows, depth), "float32"), Tensor((rows, depth), "float32")
    return Case(one_op("SOFTMAX", [x], [y], {"beta": 1.0}, version=1), ulp=8)


def matmul(rng):
    """Batches broadcast, and either operand may be transposed or known."""
    batch = [int(n) for n in rng.integers(1, 4, int(rng.integers(0, 3)))]
    rows, depth, columns = draw.size(rng, 33), draw.size(rng, 40), draw.size(rng, 33)
    adjoint = [bool(rng.random() < 0.3) for _ in "xy"]
    shapes = []
    for number, (height, width) in enumerate([(rows, depth), (depth, columns)]):
        own = [1 if rng.random() < 0.2 else n for n in batch]
        shapes.append((*own, width, height) if adjoint[number] else (*own, height, width))
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes))
    x = Tensor(shapes[0], "float32")
    y = _constant(rng, shapes[1]) if rng.random() < 0.3 else Tensor(shapes[1], "float32")
    options = {"adj_x": adjoint[0], "adj_y": adjoint[1]}
    return Case(one_op("BATCH_MATMUL", [x, y], [Tensor((*batch, rows, columns), "float32")], options), ulp=0)


def transpose_conv_bias(rng):
    """MediaPipe's operator, whose results may have any size that the input fits."""
    padding = int(rng.choice([1, 2]))
    window = [int(n) for n in rng.integers(1, 6, 2)]
    strides = [int(rng.integers(1, min(k, 4) + 1)) for k in window]
    image = [int(n) for n in rng.integers(1, 9, 2)]
    least = [(n - 1) * s + (1 if padding == 1 else k) for n, s, k in zip(image, strides, window, strict=True)]
    sizes = [n + int(rng.integers(0, s)) for n, s in zip(least, strides, strict=True)]
    batch, depth, channels = int(rng.integers(1, 3)), draw.size(rng, 12), draw.size(rng, 12)
    inputs = [
        Tensor((batch, *image, depth), "float32"),
        _constant(rng, (channels, *window, depth)),
        _constant(rng, (channels,)),
    ]
    options = np.array([padding, strides[1], strides[0], *([1, 0] if rng.random() < 0.5 else [])], "<i4").tobytes()
    y = Tensor((batch, *sizes, channels), "float32")
    return Case(one_op("Convolution2DTransposeBias", inputs, [y], custom_options=options), ulp=0)


def transpose_conv(rng):
    padding = str(rng.choice(["SAME", "VALID"]))
    window, strides = [int(n) for n in rng.integers(1, 5, 2)], [int(n) for n in rng.integers(1, 4, 2)]
    image = [int(n) for n in rng.integers(1, 9, 2)]
    sizes = [n * s if padding == "SAME" else (n - 1) * s + k for n, s, k in zip(image, strides, window, strict=True)]
    depth, channels = draw.size(rng, 12), draw.size(rng, 12)
    shape = (1, *sizes, channels)
    inputs = [
        Tensor((4,), "int32", data=shape),
        _constant(rng, (channels, *window, depth)),
        Tensor((1, *image, depth), "float32"),
        *([_constant(rng, (channels,))] if rng.random() < 0.6 else []),
    ]
    options = {"padding": padding, "stride_h": strides[0], "stride_w": strides[1]}
    version = 3 if len(inputs) > 3 else 1
    return Case(one_op("TRANSPOSE_CONV", inputs, [Tensor(shape, "float32")], options, version=version), ulp=4)


def along_rows(rng, *, name, ulp):
    shape = draw.shape(rng, int(rng.integers(2, 4)), 4000)
    x, y = Tensor(shape, "float32"), Tensor(shape, "float32")
    return Case(one_op(name, [x], [y], {}, version=1), ulp=ulp)


def long_rows(rng, *, name):
    """Terms of one size, whose sum in order would be wrong by more the more there are. They differ: where a thousand
    are alike, LiteRT's own sum is wrong by more."""
    depth = int(rng.choice([1000, 1001, 4097, 32000, 128000]))
    shape = (int(rng.integers(1, 4)), depth)
    x, y = Tensor(shape, "float32"), Tensor(shape, "float32")
    runs = [[(rng.random(shape) * -3).astype(np.float32)] for _ in range(3)]
    options = {"beta": 1.0} if name == "SOFTMAX" else {}
    return Case(one_op(name, [x], [y], options, version=1), runs, ulp=8)


def over_axes(rng, *, name, is_last):
    """SUM and MEAN of shapes without an axis of size 1, which XNNPACK leaves out. Axes before the last run are summed
    in order: what the sums of that run differ by leads these to other roundings."""
    shape = tuple(size + 1 for size in draw.shape(rng, int(rng.integers(2, 6)), 3000))
    rank = len(shape)
    axes = [axis for axis in range(rank - 1) if rng.random() < 0.5]
    axes = [*axes, rank - 1] if is_last else axes or [int(rng.integers(0, rank - 1))]
    keeps = bool(rng.random() < 0.5)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape) if keeps or axis not in axes]
    inputs = [Tensor(shape, "float32"), Tensor((len(axes),), "int32", data=axes)]
    content = one_op(name, inputs, [Tensor(tuple(kept), "float32")], {"keep_dims": keeps})
    runs = [[(rng.random(shape) + 0.1 if is_last else rng.normal(size=shape)).astype(np.float32)] for _ in range(8)]
    has_runs = axes != list(range(axes[0], rank))
    return Case(content, runs, ulp=(32 if has_runs else 8) if is_last else 0)


def near_the_least(rng, *, name, low, high, ulp=4):
    """Results around the least normal number, below which XNNPACK has none."""
    shape = (draw.size(rng), draw.size(rng))
    content = one_op(name, [Tensor(shape, "float32")], [Tensor(shape, "float32")], {})
    runs = [[rng.uniform(low, high, shape).astype(np.float32)] for _ in range(4)]
    return Case(content, runs, ulp=ulp, absolute=2.0**-126)


def gelu(rng, *, approximate):
    shape = draw.shape(rng)
    content = one_op("GELU", [Tensor(shape, "float32")], [Tensor(shape, "float32")], {"approximate": approximate})
    runs = [[_floats(rng, shape) * 2] for _ in range(4)]
    for (x,) in runs:
        x.flat[0] = 4  # small results lie 4 units of the greatest apart, where there is a great one
    return Case(content, runs, ulp=4)


CASES = {
    "BATCH_MATMUL f32": matmul,
    "TRANSPOSE_CONV f32": transpose_conv,
    "Convolution2DTransposeBias f32": transpose_conv_bias,
    "LOG_SOFTMAX f32": partial(along_rows, name="LOG_SOFTMAX", ulp=4),
    "L2_NORMALIZATION f32": partial(along_rows, name="L2_NORMALIZATION", ulp=4),
    "GELU f32": partial(gelu, approximate=False),
    "GELU f32, approximate": partial(gelu, approximate=True),
    "DEPTHWISE_CONV_2D f32 x i8": partial(depthwise, is_hybrid=True),
    "CONV_2D f32": conv,
    "CONV_2D f32, 1x1": partial(conv, one_by_one=True),
    "CONV_2D f32 x i8": partial(conv, is_hybrid=True),
    "CONV_2D f32 x i8, 1x1": partial(conv, is_hybrid=True, one_by_one=True),
    "DEPTHWISE_CONV_2D f32": depthwise,
    "CONV_2D f32, single channels": conv_of_single_channels,
    "FULLY_CONNECTED f32": fully_connected,
    "FULLY_CONNECTED f32 x i8": partial(fully_connected, is_hybrid=True),
    "AVERAGE_POOL_2D f32": partial(pool, name="AVERAGE_POOL_2D"),
    "MAX_POOL_2D f32": partial(pool, name="MAX_POOL_2D"),
    **{f"{name} f32": partial(binary, name=name) for name in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM")},
    "SOFTMAX f32": softmax,
    "SOFTMAX f32, long rows": partial(long_rows, name="SOFTMAX"),
    "LOG_SOFTMAX f32, long rows": partial(long_rows, name="LOG_SOFTMAX"),
    **{f"{name} f32, last axis": partial(over_axes, name=name, is_last=True) for name in ("SUM", "MEAN")},
    **{f"{name} f32, other axes": partial(over_axes, name=name, is_last=False) for name in ("SUM", "MEAN")},
    "LOGISTIC f32, small results": partial(near_the_least, name="LOGISTIC", low=-104.0, high=-80.0),
    "LOGISTIC f32, below -9": partial(near_the_least, name="LOGISTIC", low=-12.0, high=-8.0),
    "EXP f32, small results": partial(near_the_least, name="EXP", low=-104.0, high=-80.0, ulp=64),
}

ONLY = {"Convolution2DTransposeBias f32": ("litert",)}
"""Only XNNPACK has MediaPipe's operator."""
