"""FULLY_CONNECTED, BATCH_MATMUL, CONV_2D and DEPTHWISE_CONV_2D of float32 with int8 weights, on inputs that lie half
way between two integers of their range, where the ranges have zero points of either sign, of an end, or half way
themselves.

Hazards: a zero point that is added before what it is added to is rounded; the float before a half, which kernels that
add 0.5 round up; elements behind a kernel's last vector; the option `asymmetric_quantize_inputs`, of which a kernel may
know nothing; scales of channels, which choose another kernel where they are unequal; rows that are 0 everywhere.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.products import _window
from tests.models.tflite.writing import Tensor, one_op

BELOW_HALF = np.nextafter(np.float32(0.5), np.float32(0))


def _rows(rng, shape, group):
    """Inputs whose last ``group`` axes have one range."""
    count = int(np.prod(shape[: len(shape) - group]))
    return np.stack([_row(rng, int(np.prod(shape[len(shape) - group :]))) for _ in range(count)]).reshape(shape)


def _row(rng, size):
    """Elements of one range: multiples of half a step, and a few just below half a step."""
    kind = rng.choice(["whole", "symmetric", "zeros", "normal"], p=[0.55, 0.25, 0.05, 0.15])
    if kind == "zeros":
        return np.zeros(size, np.float32)
    if kind == "normal":
        return (rng.normal(size=size) * rng.choice([-1, 1, 1]) + rng.integers(-2, 3)).astype(np.float32)
    least, greatest = -127.0, 127.0
    if kind == "whole":
        least = -float(rng.choice([0, 0, 255, rng.integers(0, 256), rng.integers(0, 255) + 0.5]))
        greatest = least + 255
    steps = np.clip(rng.integers(-255, 256, size) / 2, least, greatest).astype(np.float32)
    is_near = rng.random(size) < 0.1
    steps[is_near] = np.clip(rng.choice([-BELOW_HALF, BELOW_HALF], is_near.sum()), least, greatest)
    ends = rng.permutation(size)[:2]
    steps[ends] = np.float32([least, greatest])[: len(ends)]
    return steps * np.float32(2.0 ** int(rng.integers(-8, 3)))


def _weights(rng, shape, channels, axis, per_axis, dtype="int8"):
    scales = [draw.around(rng, 2.0**-6) for _ in range(channels)] if per_axis else draw.around(rng, 2.0**-6)
    return Tensor(shape, dtype, scales, 0, axis if per_axis else 0, draw.weights(rng, shape, dtype, low=-127))


def _case(rng, name, x, weights, y, options, version, *, group, may_lack_bias=False, given=()):
    """A model and its inputs, among which are the weights or the bias where they are ``given``."""
    bias = Tensor((y.shape[-1],), "float32", data=_bias(rng, y))
    inputs = [x, weights, None if may_lack_bias and not given and rng.random() < 0.3 else bias]
    runs = [[_rows(rng, x.shape, group)] for _ in range(8)]
    if "weights" in given:
        inputs[1] = replace(weights, data=None)
        runs = [[*run, draw.integers(rng, weights.shape, "int8", -127)] for run in runs]
    if "bias" in given:
        inputs[2] = replace(bias, data=None)
        runs = [[*run, _bias(rng, y)] for run in runs]
    return Case(one_op(name, inputs, [y], options, version=version), runs, ulp=0)


def _bias(rng, y):
    return rng.normal(size=y.shape[-1]).astype(np.float32)


def fully_connected(rng, *, is_asymmetric, per_axis=False, given=(), dtype="int8"):
    depth, units = draw.size(rng, 65), draw.size(rng)
    lead = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 4))))
    keeps = bool(len(lead) > 1 and rng.random() < 0.7)
    rows = lead if keeps else (int(np.prod(lead)),)
    options = {
        "fused_activation_function": draw.activation(rng),
        "asymmetric_quantize_inputs": is_asymmetric,
        "keep_num_dims": keeps,
    }
    x, y = Tensor((*lead, depth), "float32"), Tensor((*rows, units), "float32")
    weights = _weights(rng, (units, depth), units, 0, per_axis, dtype)
    return _case(rng, "FULLY_CONNECTED", x, weights, y, options, 9, group=1, may_lack_bias=True, given=given)


def _batches(rng, are_many):
    """The batch axes of two operands, which broadcast. Unless they are many, each operand has one axis beside 1s."""
    batch = [int(n) for n in rng.integers(1, 5, int(rng.integers(0, 3)))]
    chosen = int(rng.integers(3))
    operands = [[n if are_many or at == chosen else 1 for at, n in enumerate(batch)] for _ in range(2)]
    if are_many and batch:
        operands[int(rng.integers(2))][int(rng.integers(len(batch)))] = 1
    if rng.random() < 0.3:
        operands[int(rng.integers(2))][:1] = []
    return tuple(operands[0]), tuple(operands[1])


def batch_matmul(rng, *, is_asymmetric=False, per_axis=False, adj_x=False, adj_y=False, is_given=False, are_many=False):
    rows, depth, columns = draw.size(rng, 17), draw.size(rng, 65), draw.size(rng, 33)
    x_batch, y_batch = _batches(rng, are_many)
    result = np.broadcast_shapes(x_batch, y_batch)
    x = Tensor((*x_batch, depth, rows) if adj_x else (*x_batch, rows, depth), "float32")
    shape = (*y_batch, columns, depth) if adj_y else (*y_batch, depth, columns)
    weights = _weights(rng, shape, columns, len(shape) - (2 if adj_y else 1), per_axis)
    runs = [[_rows(rng, (*x_batch, rows, depth), 1)] for _ in range(8)]
    if adj_x:
        runs = [[np.ascontiguousarray(run[0].swapaxes(-1, -2))] for run in runs]
    if is_given:
        weights = replace(weights, data=None)
        runs = [[*run, draw.integers(rng, shape, "int8", -127)] for run in runs]
    options = {"adj_x": adj_x, "adj_y": adj_y, "asymmetric_quantize_inputs": is_asymmetric}
    y = Tensor((*result, rows, columns), "float32")
    return Case(one_op("BATCH_MATMUL", [x, weights], [y], options, version=4), runs, ulp=0)


def conv(rng, *, per_axis=False, one_by_one=False, given=(), dtype="int8", has_groups=False):
    image, window, result, options = _window(rng)
    if one_by_one:
        window, result, options = [1, 1], image, {**options, "padding": "VALID", "stride_h": 1, "stride_w": 1}
        options |= {"dilation_h_factor": 1, "dilation_w_factor": 1}
    batch, depth, channels = int(rng.integers(1, 4)), draw.size(rng, 20), draw.size(rng, 20)
    groups = int(rng.integers(2, 6)) if has_groups else 1
    depth, channels = (-(-n // groups) for n in (depth, channels))
    options["fused_activation_function"] = draw.activation(rng)
    channels *= groups
    x, y = Tensor((batch, *image, depth * groups), "float32"), Tensor((batch, *result, channels), "float32")
    weights = _weights(rng, (channels, *window, depth), channels, 0, per_axis, dtype)
    return _case(rng, "CONV_2D", x, weights, y, options, 5, group=3, given=given)


def depthwise(rng, *, given=(), dtype="int8"):
    image, window, result, options = _window(rng)
    strides = max(options["stride_h"], options["stride_w"])
    reach = [(w - 1) * options[f"dilation_{d}_factor"] + 1 for w, d in zip(window, "hw", strict=True)]
    kept = [0, 0] if options["padding"] == "SAME" else [each - 1 for each in reach]
    result = [-(-(i - k) // strides) for i, k in zip(image, kept, strict=True)]
    batch, depth, multiplier = int(rng.integers(1, 4)), draw.size(rng, 20), int(rng.integers(1, 4))
    channels = depth * multiplier
    options |= {"stride_h": strides, "stride_w": strides, "depth_multiplier": multiplier}
    options["fused_activation_function"] = draw.activation(rng)
    x, y = Tensor((batch, *image, depth), "float32"), Tensor((batch, *result, channels), "float32")
    weights = _weights(rng, (1, *window, channels), channels, 3, True, dtype)
    return _case(rng, "DEPTHWISE_CONV_2D", x, weights, y, options, 6, group=3, given=given)


CASES = {
    "FULLY_CONNECTED f32 x i8, halves": partial(fully_connected, is_asymmetric=False),
    "FULLY_CONNECTED f32 x i8, halves, asymmetric": partial(fully_connected, is_asymmetric=True),
    "FULLY_CONNECTED f32 x i8 per axis, halves": partial(fully_connected, is_asymmetric=False, per_axis=True),
    "FULLY_CONNECTED f32 x i8 per axis, halves, asymmetric": partial(
        fully_connected, is_asymmetric=True, per_axis=True
    ),
    "BATCH_MATMUL f32 x i8, halves": batch_matmul,
    "BATCH_MATMUL f32 x i8, halves, asymmetric": partial(batch_matmul, is_asymmetric=True, adj_y=True),
    "BATCH_MATMUL f32 x i8 per axis, halves": partial(batch_matmul, per_axis=True, adj_x=True),
    "BATCH_MATMUL f32 x i8, batches": partial(batch_matmul, are_many=True),
    "BATCH_MATMUL f32 x i8 per axis, adj_y": partial(batch_matmul, per_axis=True, adj_y=True),
    "BATCH_MATMUL f32 x i8, given weights": partial(batch_matmul, is_given=True),
    "BATCH_MATMUL f32 x i8, given weights, adj_x, adj_y": partial(batch_matmul, is_given=True, adj_x=True, adj_y=True),
    "CONV_2D f32 x i8, halves": conv,
    "CONV_2D f32 x i8, 1x1, halves": partial(conv, one_by_one=True),
    "CONV_2D f32 x i8 per axis, halves": partial(conv, per_axis=True),
    "CONV_2D f32 x i8 per axis, 1x1, halves": partial(conv, per_axis=True, one_by_one=True),
    "CONV_2D f32 x i8, groups": partial(conv, has_groups=True),
    "CONV_2D f32 x i8 per axis, groups": partial(conv, has_groups=True, per_axis=True),
    "CONV_2D f32 x i8 per axis, 1x1, groups": partial(conv, has_groups=True, per_axis=True, one_by_one=True),
    "CONV_2D f32 x i8 per axis, groups, given weights": partial(
        conv, has_groups=True, per_axis=True, given=("weights",)
    ),
    "DEPTHWISE_CONV_2D f32 x i8, halves": depthwise,
    "FULLY_CONNECTED f32 x i8, given weights": partial(fully_connected, is_asymmetric=False, given=("weights",)),
    "FULLY_CONNECTED f32 x i8, given bias, asymmetric": partial(
        fully_connected, is_asymmetric=True, per_axis=True, given=("bias",)
    ),
    "CONV_2D f32 x i8, given weights": partial(conv, given=("weights",)),
    "CONV_2D f32 x i8 per axis, given bias": partial(conv, per_axis=True, given=("bias",)),
    "DEPTHWISE_CONV_2D f32 x i8, given weights and bias": partial(depthwise, given=("weights", "bias")),
}

ONLY = {
    "CONV_2D f32 x i8, groups": ("litert",),
    "BATCH_MATMUL f32 x i8, batches": ("litert",),
    "BATCH_MATMUL f32 x i8, given weights": ("litert-ref",),
    "BATCH_MATMUL f32 x i8, given weights, adj_x, adj_y": ("litert-ref",),
}
"""LiteRT's own kernels have no groups of weights of one scale. Its default build computes 0 for float matrices times
int8 ones that are known only at run time, and its reference kernels scale batches of several axes by parameters of
other rows."""
