"""The export of matrix products and LSTMs whose float inputs are quantized at run time."""

import numpy as np

from qrt.models.onnx.exporting.group import Group
from qrt.ops.core import Array
from qrt.ops.dynamic import column_parameters
from qrt.types import TensorType, UniformType

_MICROSOFT = "com.microsoft"


def dynamic_matmul(group: Group) -> None:
    """Export the operation as DynamicQuantizeLinear, MatMulInteger, and Mul of the integer sums by both scales."""
    scale, zero_point = _parameters(group, 1)
    q, own, zero = group.nodes("DynamicQuantizeLinear", [group.real(0)], 3, is_part=True)
    sums = group.node("MatMulInteger", q, group.stored(1), zero, zero_point)
    scales = group.node("Mul", own, scale, is_part=True)
    group.set_real(group.node("Mul", group.node("Cast", sums, is_part=True, to=1), scales, is_part=True))


def dynamic_lstm(group: Group) -> None:
    """Export the operation as DynamicQuantizeLSTM with one direction, an operator of ONNX Runtime but not of ONNX."""
    cells = group.operand(5).shape[1]
    if cells is None:
        group.refuse("a number of cells that is known only at run time")
    one = (None, 0, 1)
    (w_scale, w_zero), (r_scale, r_zero) = (_parameters(group, i, one) for i in (1, 2))
    zeros = group.constant(np.zeros(4 * cells, np.float32), "zeros")
    bias = group.node("Concat", group.stored(3), zeros, is_part=True, axis=0)
    both = group.node("Reshape", bias, group.integers([1, 8 * cells], "shape"), is_part=True)
    states = [group.real(i, one) for i in (4, 5)]
    inputs = [group.real(0), group.stored(1, one), group.stored(2, one), both, "", *states, ""]
    direction = "reverse" if group.attributes["reverse"] else "forward"
    y, hidden, cell = group.nodes(
        "DynamicQuantizeLSTM",
        [*inputs, w_scale, w_zero, r_scale, r_zero],
        3,
        domain=_MICROSOFT,
        hidden_size=cells,
        direction=direction,
    )
    for i, (name, sizes) in enumerate(((y, [0, -1, cells]), (hidden, [-1, cells]), (cell, [-1, cells]))):
        group.set_real(group.node("Reshape", name, group.integers(sizes, "shape"), is_part=True), i=i)


def _parameters(group: Group, i: int, order: tuple[int | None, ...] = ()) -> tuple[str, str]:
    """Add initializers for the scale and the zero point of weights, operand ``i``, and return their names.

    Weights have one scale and zero point in total, or one for each column. With ``order``, the weights are those of an
    LSTM. Their initializers get a first axis of size 1, because DynamicQuantizeLSTM has an axis of directions.
    """
    weights = group.operand(i)
    element = weights.type.element
    if weights.array is None or not isinstance(element, UniformType) or not isinstance(weights.type, TensorType):
        group.refuse("weights that are not constant")
    zeros, scales = column_parameters(weights.type)
    if element.is_per_layer:
        zeros, scales = zeros[:1], scales[:1]
    shape: tuple[int, ...] = () if not order and element.is_per_layer else scales.shape
    if order:
        _check_zero_points(group, zeros, element.is_signed)
        shape = (1,) if element.is_per_layer else (1, *scales.shape)
    stored = zeros.astype(np.int8 if element.is_signed else np.uint8)
    return group.constant(scales.reshape(shape), "scale"), group.constant(stored.reshape(shape), "zero_point")


def _check_zero_points(group: Group, zeros: Array, is_signed: bool) -> None:
    """Raise UnsupportedForm for zero points that DynamicQuantizeLSTM does not take.

    It takes a single zero point, which must be 0 for signed weights.
    """
    if (zeros != zeros[0]).any():
        group.refuse("weights of several zero points")
    if is_signed and zeros.any():
        group.refuse("signed weights with a zero point")
