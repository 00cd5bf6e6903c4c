"""avg_pool2d and max_pool2d over NHWC. Padding does not count: an average divides by the elements inside the image.

``avg_pool2d`` is the exact sum of ``q - zp`` over the window, requantized with ``s_in / (s_out * count)``. The rule
``integer`` keeps the type, and divides the sum of ``q`` by the count, rounded half away from zero. The rules
``dequantized`` and ``dequantized_...`` sum ``s_in * (q - zp)`` in float32, then divide by the count and by ``s_out``.
They differ in the order of the sum (`numerics.sums`). ``max_pool2d`` selects the greatest storage value, and keeps the
type.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_avg_pool2d, bind_max_pool2d
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import Dims, check_channel_axis, shape_of_rank, spell_shape
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
)
from qrt.ops.declare import KEPT, REQUIRED, Attribute, Declaration, Operand, Traits
from qrt.ops.requant import REQUANT, check_rule, combined_parameters, max_magnitude
from qrt.ops.window import PADDING, output_size, pairs, two_positive, windows
from qrt.types import TensorType, UniformType

AVERAGE_RULES: tuple[str, ...] = get_args(numerics.AverageName)


_MOST_SCALE = 2.0**64
"""The bound of scales: below it, no sum of dequantized values overflows float32."""


def _pooled_shape(op: str, types: Types, attributes: Attributes) -> Dims:
    images, height, width, channels = shape_of_rank(op, types, 0, "q", 4, "NHWC")
    kernel = two_positive(op, "kernel", attributes["kernel"])
    strides = two_positive(op, "strides", attributes["strides"])
    padding = pairs(op, attributes["padding"])
    if any(p >= k for k, both in zip(kernel, padding, strict=True) for p in both):
        fail(
            op,
            f"'padding' must be less than 'kernel', {tuple(kernel)}, on each side, got {attributes['padding']}",
            types,
        )
    if height == 0 or width == 0:
        fail(op, f"'q' must have a height and a width of at least 1, got {spell_shape((height, width))}", types)
    out_height = output_size(op, height, kernel[0], padding[0], strides[0])
    out_width = output_size(op, width, kernel[1], padding[1], strides[1])
    return images, out_height, out_width, channels


def _differs_in_bounds_only(element: UniformType, x: UniformType) -> bool:
    return element.storage == x.storage and element.with_(storage_min=x.storage_min, storage_max=x.storage_max) == x


def _infer_avg(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = quantized(types[0], "avg_pool2d", "q")
    element = declared_element("avg_pool2d", result) or x
    check_channel_axis("avg_pool2d", types, "'q'", x, 3, "the channels")
    check_channel_axis("avg_pool2d", types, "the result", element, 3, "the channels")
    check_expressed("avg_pool2d", x, element)
    shape = _pooled_shape("avg_pool2d", types, attributes)
    kernel, rule = attributes["kernel"], attributes["requant"]
    check_rule("avg_pool2d", rule, kernel[0] * kernel[1] * max_magnitude(x), AVERAGE_RULES)
    if rule == "integer" and not _differs_in_bounds_only(element, x):
        fail("avg_pool2d", f"requant = 'integer' needs a result of the type of 'q', {x}, got {element}", types)
    by = numerics.RULES[rule]
    if by.summand == "floats" and max(x.scales) >= _MOST_SCALE:
        fail("avg_pool2d", f"requant = {rule!r} needs scales below 2**64, got {max(x.scales)}", types)
    image = (types[0].shape or ())[1:3]
    if rule == "dequantized_lanes" and (tuple(kernel) != image or any(map(any, attributes["padding"]))):
        fail(
            "avg_pool2d",
            f"requant = {rule!r} needs a kernel of the size of the image, {image}, without padding, got the kernel "
            f"{tuple(kernel)} and the padding {attributes['padding']}",
            types,
        )
    return checked_result("avg_pool2d", shape, element)


def _avg_parameters(
    types: Types, result: TensorType, attributes: Attributes
) -> tuple[numerics.RequantParameters, Array]:
    """Return (requantization parameters of an average pool, positions among these parameters).

    ``positions[count - 1, channel]`` is for a channel and a window with ``count`` elements that are not padding.
    """
    x, element = uniform(types[0]), uniform(result)
    _, height, width, _ = static_shape(types[0], "avg_pool2d")
    kernel = attributes["kernel"]
    counts = np.arange(1, min(kernel[0], height) * min(kernel[1], width) + 1)[:, None]

    def along(t: UniformType) -> Array:
        return (np.arange(len(t.scales)) if t.is_per_axis else np.zeros(1, np.int64))[None]

    return combined_parameters(attributes["requant"], [(x, along(x))], element, along(element), counts)


def _reference_avg(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    x = uniform(types[0])
    by = numerics.RULES[attributes["requant"]]
    values: Array = q.astype(np.int64) - (0 if by.summand == "storage" else parameters_of(x, q.shape)[1])
    window = (attributes["kernel"], attributes["padding"], attributes["strides"], (1, 1))
    if by.summand == "floats":
        values = values.astype(np.float32) * parameters_of(x, q.shape)[0].astype(np.float32)
    seen = windows(values, *window, fill=0)
    acc = numerics.sum_in_order(seen, by.order) if by.order else seen.sum(axis=(4, 5))
    counts = windows(np.ones(q.shape, np.int64), *window, fill=0).sum(axis=(4, 5))
    parameters, index = _avg_parameters(types, result, attributes)
    channel = np.arange(acc.shape[3]) if index.shape[1] > 1 else np.zeros(1, np.int64)
    return numerics.requantize(acc, parameters, index[counts - 1, channel])


def _window_arguments(types: Types, attributes: Attributes) -> dict[str, Any]:
    return {
        "isa": kernels.active(),
        "storage": container(uniform(types[0])),
        "x_shape": static_shape(types[0], "pool"),
        "kernel": attributes["kernel"],
        "strides": attributes["strides"],
        "padding": attributes["padding"],
    }


def _bind_avg(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    parameters, index = _avg_parameters(types, result, attributes)
    channels = index.shape[1]
    zero_points = uniform(types[0]).zero_points
    by = numerics.RULES[attributes["requant"]]
    return bind_avg_pool2d(
        zero_points=(0,) if by.summand == "storage" else zero_points,
        requant=parameters.take(index),
        count_step=channels,
        channel_step=int(channels > 1),
        order=by.order or "rows",
        **_window_arguments(types, attributes),
    )


def _infer_max(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x = quantized(types[0], "max_pool2d", "q")
    check_channel_axis("max_pool2d", types, "'q'", x, 3, "the channels")
    return checked_result("max_pool2d", _pooled_shape("max_pool2d", types, attributes), x)


def _reference_max(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    x = uniform(types[0])
    window = (attributes["kernel"], attributes["padding"], attributes["strides"], (1, 1))
    return np.asarray(windows(q.astype(np.int64), *window, fill=x.storage_min - 1).max(axis=(4, 5)))


def _bind_max(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    return bind_max_pool2d(**_window_arguments(types, attributes))


def _channels_alone(attributes: Attributes, axis: int) -> int | None:
    return axis if axis == 3 else None


_KERNEL = Attribute("kernel", "pair", (2, 2), positional=True, given=REQUIRED)
_STRIDES = Attribute("strides", "pair", (2, 2), given=None)  # by default the kernel's size
_RULE = replace(REQUANT, choices=AVERAGE_RULES)
_IMAGES = (Operand("q", "NHWC"),)

FAMILIES = (
    OpFamily(
        Declaration("avg_pool2d", operands=_IMAGES, attributes=(_KERNEL, _STRIDES, PADDING, _RULE)),
        infer=_infer_avg,
        reference=_reference_avg,
        bind=_bind_avg,
        traits=Traits(constraint="free", ends_in_clamp=True, scaled_axis=_channels_alone),
    ),
    OpFamily(
        Declaration("max_pool2d", operands=_IMAGES, attributes=(_KERNEL, _STRIDES, PADDING), result=KEPT),
        infer=_infer_max,
        reference=_reference_max,
        bind=_bind_max,
        traits=Traits(constraint="same_scale", scaled_axis=_channels_alone),
    ),
)
