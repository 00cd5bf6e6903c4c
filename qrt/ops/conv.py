"""conv2d: a 2-D convolution of NHWC input with OHWI weights, an optional bias, and fused requantization.

It supports groups, strides and dilations. The sum of products is that of ``matmul``, over the values under a window.
Padding has the input's zero point, so it adds nothing. Weights may be per axis along their output channels (axis 0).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_conv2d, bind_depthwise_conv2d
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import (
    Prepare,
    accumulator_bias,
    bias_operand,
    check_accumulator,
    check_bias,
    check_expressed,
    exact_result,
    with_prepared_bias,
    without_zero_point,
)
from qrt.ops.checks import check_channel_axis, check_per_layer, shape_of_rank
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    parameters_of,
    quantized,
    static_shape,
    uniform,
    without_repeats,
)
from qrt.ops.declare import BIAS, Attribute, Declaration, Operand, Traits, Weights
from qrt.ops.requant import REQUANT, channel_parameters, say_how_to_give_type
from qrt.ops.window import CONVOLUTION, output_sizes, windows
from qrt.types import TensorType


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, w = (quantized(t, "conv2d", name) for t, name in zip(types, ("x", "w"), strict=False))
    images, height, width, channels = shape_of_rank("conv2d", types, 0, "x", 4, "NHWC")
    out_channels, kernel_height, kernel_width, depth = shape_of_rank("conv2d", types, 1, "w", 4, "OHWI")
    check_per_layer("conv2d", types, "'x'", x, "sums run over height, width and channels")
    check_channel_axis("conv2d", types, "'w'", w, 0, "the output channels")
    groups = attributes["groups"]
    if not isinstance(groups, (int, np.integer)) or groups < 1 or (out_channels is not None and out_channels % groups):
        known = "the number of output channels" if out_channels is None else f"the {out_channels} output channels"
        fail("conv2d", f"'groups' must be a positive integer that divides {known}, got {shown(groups)}", types)
    if channels is not None and depth is not None and depth * groups != channels:
        fail(
            "conv2d",
            f"'x' must have {depth * groups} channels, because 'w' has {depth}"
            + (f" for each of {groups} groups" if groups > 1 else "")
            + f", got {channels}. The channels are the last axis of 'x' and of 'w'"
            + (": x.transpose(0, 2, 3, 1) converts 'x' from NCHW" if height == depth * groups else ""),
            types,
        )
    out_height, out_width = output_sizes("conv2d", (height, width), (kernel_height, kernel_width), attributes)
    taps = None if None in (kernel_height, kernel_width, depth) else kernel_height * kernel_width * depth  # type: ignore[operator]
    shape = images, out_height, out_width, out_channels
    return checked_convolution("conv2d", types, attributes, result, shape, taps, 0)


def checked_convolution(
    op: str,
    types: Types,
    attributes: Attributes,
    result: TensorType | None,
    shape: tuple[int | None, ...],
    taps: int | None,
    axis: int,
) -> TensorType:
    """Return the result type of a convolution, after checking the bias, the accumulator and the declared type.

    ``result`` is the declared type or None, ``shape`` the result's shape, ``taps`` the number of products in a sum, and
    ``axis`` the axis of the weights' output channels.
    """
    x, w = uniform(types[0]), uniform(types[1])
    element = declared_element(op, result)
    bias = check_bias(op, types[2], shape[3], x, w, axis) if len(types) > 2 else None
    if element is None:
        if bias is not None:
            advice = say_how_to_give_type(op, "x, w, bias", None)
            raise QuantTypeError(f"{op}: no exact result type exists for sums with a bias: {advice}")
        element = exact_result(op, x, w, taps, 3)
    check_expressed(op, x, w, bias, element)
    check_accumulator(op, x, w, taps, attributes["requant"], bias)
    check_channel_axis(op, types, "the result", element, 3, "the channels")
    return checked_result(op, shape, element)


def requantized(acc: Array, arrays: Sequence[Array], types: Types, result: TensorType, rule: str) -> Array:
    """Add the bias to the accumulators of a convolution, and requantize them to storage of the result's type."""
    x, w = uniform(types[0]), uniform(types[1])
    if len(types) > 2:
        acc = acc + accumulator_bias(arrays[2], uniform(types[2]), x, w)
    parameters = channel_parameters(rule, x, w, uniform(result))
    return numerics.requantize(acc, parameters, np.arange(parameters.zero_point.size))


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x_type, w_type = uniform(types[0]), uniform(types[1])
    x = without_zero_point(arrays[0], np.array(x_type.zero_point, np.int64))
    w = without_zero_point(arrays[1], parameters_of(w_type, arrays[1].shape)[1])
    out_channels, kernel_height, kernel_width, depth = w.shape
    groups = attributes["groups"]
    views = windows(
        x, (kernel_height, kernel_width), attributes["padding"], attributes["strides"], attributes["dilations"], fill=0
    )
    per_group = out_channels // groups
    acc = np.concatenate(
        [
            np.tensordot(
                views[..., g * depth : (g + 1) * depth, :, :],
                w[g * per_group : (g + 1) * per_group],
                ((3, 4, 5), (3, 1, 2)),
            )
            for g in range(groups)
        ],
        axis=-1,
    )
    return requantized(acc, arrays, types, result, attributes["requant"])


def call_arguments(
    op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants
) -> tuple[dict[str, Any], Prepare | None]:
    """Return (arguments of the `bind_*` function of a convolution, function that converts its bias or None).

    The arguments are those that conv2d and depthwise_conv2d have in common. The caller adds the sizes of the weights.
    """
    x, w = uniform(types[0]), uniform(types[1])
    bias, prepare = bias_operand(types, x, w, constants)
    return {
        "isa": kernels.active(),
        "x": container(x),
        "w": container(w),
        "x_shape": static_shape(types[0], op),
        "x_zero_point": x.zero_point,
        "w_zero_points": without_repeats(w.zero_points),
        "requant": channel_parameters(attributes["requant"], x, w, uniform(result)),
        "strides": attributes["strides"],
        "padding": attributes["padding"],
        "dilations": attributes["dilations"],
        "w_constant": constants.get(1),
        "bias": bias,
    }, prepare


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    arguments, prepare = call_arguments("conv2d", types, result, attributes, constants)
    w_shape = static_shape(types[1], "conv2d")
    if w_shape[3] == 1 and arguments["x_shape"][3] > 1:
        # Groups of one channel are a depthwise convolution, whose weights have the channels first here.
        call = bind_depthwise_conv2d(w_shape=w_shape[:3], channels_first=True, **arguments)
    else:
        call = bind_conv2d(w_shape=w_shape, groups=attributes["groups"], **arguments)
    return with_prepared_bias(call, prepare)


FAMILIES = (
    OpFamily(
        Declaration(
            "conv2d",
            operands=(Operand("x", "NHWC"), Operand("w", "OHWI"), BIAS),
            attributes=(*CONVOLUTION, Attribute("groups", "integer", 1), REQUANT),
            article="quant.conv2d",
        ),
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(
            constraint="multiplier_accumulator_scale",
            ends_in_clamp=True,
            is_exact=True,
            weights=Weights(inputs=3, outputs=0, window=(1, 2)),
        ),
    ),
)
