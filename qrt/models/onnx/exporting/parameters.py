"""Scales and zero points of quantized types, as QuantizeLinear and DequantizeLinear take them."""

from dataclasses import dataclass
from math import prod

import numpy as np

from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx.exporting.exported_value import Order, place
from qrt.ops.core import Array
from qrt.types import UniformType

OPSETS = {8: 10, 16: 21, 4: 21, 32: 10}
"""The first opset in which storage of a width can be dequantized."""
PER_AXIS, BLOCKED = 13, 21
"""The first opsets with scales along an axis, and in blocks."""


@dataclass(frozen=True)
class Parameters:
    """The inputs and attributes of a QuantizeLinear or DequantizeLinear that express a quantized type.

    ``opset`` is the first opset in which the operator takes them.
    """

    scales: Array
    zero_points: Array | None
    axis: int | None
    block_size: int | None
    opset: int


def parameters_of(element: UniformType, shape: tuple[int | None, ...], order: Order) -> Parameters:
    """Return the scales and zero points of a value of type ``element``, for an ONNX tensor with permuted axes.

    ``shape`` is the shape of the value in the program. Axis ``i`` of the ONNX tensor is axis ``order[i]`` of the value.
    Raises UnsupportedForm for an expressed type other than f32, or scales out of the range of float32, which ONNX does
    not support.
    """
    if element.expressed_type.name != "f32":
        raise UnsupportedForm(f"the expressed type {element.expressed_type}")
    scales = element.scale_array.astype(np.float32)
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise UnsupportedForm("a scale out of the range of float32")
    zeros = element.zero_point_array
    opset = OPSETS[element.storage_width]
    if element.is_sub_channel:
        return _blocked(element, scales, zeros, shape, order)
    axis = None if element.axis is None else place(order, element.axis)
    return Parameters(scales, _stored(element, zeros), axis, None, max(opset, PER_AXIS if axis is not None else opset))


def _blocked(
    element: UniformType, scales: Array, zeros: Array, shape: tuple[int | None, ...], order: Order
) -> Parameters:
    """Return the parameters of a type with blocks.

    ONNX has blocks along one axis only. Along all other axes, the scales and zero points are repeated for each index.
    """
    if None in shape or None in order:
        raise UnsupportedForm("blocks in a tensor of dynamic shape")
    sizes = [size or 1 for size in shape]
    blocks = [size // count for size, count in zip(sizes, element.scales_shape, strict=True)]
    axis = int(np.argmax(blocks))
    for other, repeats in enumerate(blocks):
        if other != axis:
            scales, zeros = np.repeat(scales, repeats, other), np.repeat(zeros, repeats, other)
    axes = [axis_of_value for axis_of_value in order if axis_of_value is not None]
    return Parameters(
        scales.transpose(axes), _stored(element, zeros.transpose(axes)), place(order, axis), blocks[axis], BLOCKED
    )


def _stored(element: UniformType, zeros: Array) -> Array | None:
    """Return zero points in the dtype of the storage, or None for 32 bits, where ONNX has no zero point."""
    if element.storage_width == 32:
        if zeros.any():
            raise UnsupportedForm("32-bit storage with a zero point")
        return None
    least, greatest = element.default_bounds
    if prod(zeros.shape) and not (least <= int(zeros.min()) and int(zeros.max()) <= greatest):
        raise UnsupportedForm("a zero point out of the range of the storage")
    width = max(8, element.storage_width)
    return zeros.astype(f"{'' if element.is_signed else 'u'}int{width}")
