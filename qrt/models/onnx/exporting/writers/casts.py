"""Casts between floats and storage, requantizations, and clamps."""

from qrt.models.onnx.exporting.group import Group


def quantize(group: Group) -> None:
    """QuantizeLinear, behind a DequantizeLinear where the operand is quantized."""
    order = group.common_order()
    group.set_real(group.real(0, order), order)


def dequantize(group: Group) -> None:
    """DequantizeLinear."""
    order = group.common_order()
    group.set_real(group.real(0, order), order)


def clamp(group: Group) -> None:
    """Relu or Clip."""
    order = group.common_order()
    group.set_real(group.clipped(group.real(0, order), group.op), order)
