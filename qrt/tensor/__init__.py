"""QuantTensor, and the functions on it."""

from qrt.tensor.quant_tensor import PackedTensor, QuantTensor, _rebuild

__all__ = ["PackedTensor", "QuantTensor", "_rebuild"]  # pickles name the three here
