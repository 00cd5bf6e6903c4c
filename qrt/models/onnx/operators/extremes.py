"""Max, Min, ReduceMax and ReduceMin of bytes, by the kernels of quantized tensors.

Quantized tensors of one scale have the order of their storage, so the kernels compare the bytes. The importing
functions of Max and ReduceMax call this module for static shapes; other integers are compared element by element.
"""

from functools import reduce

import numpy as np

from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.convolution import unit_scale_type
from qrt.types import IntegerType, TensorType, UniformType

PAIRWISE = {"Max": "qrt.maximum", "Min": "qrt.minimum"}
ALONG_AXES = {"ReduceMax": "qrt.reduce_max", "ReduceMin": "qrt.reduce_min"}
_WIDEST = 16
"""The most bits of integers that DequantizeLinear certainly maps to different floats."""


def is_of_bytes(node: Node) -> bool:
    """Return True if the inputs, all of them or the one that is reduced, are computed bytes of a static shape."""
    inputs = range(len(node.op.inputs) if node.op.type in PAIRWISE else 1)
    bytes_ = (IntegerType(8), IntegerType(8, "unsigned"))
    elements = [node.type(i).element for i in inputs]
    return (
        all(node.plain(i) in bytes_ and node.constant(i) is None for i in inputs)
        and all(None not in (node.type(i).shape or (None,)) or node.type(i).shape == () for i in inputs)
        and not any(isinstance(element, UniformType) and not element.is_per_layer for element in elements)
    )


def pairwise(node: Node) -> None:
    """Set output 0 to the largest or the least element of all inputs, which broadcast."""
    element = node.type(0).element
    inputs = range(len(node.op.inputs))
    if not isinstance(element, UniformType) or any(node.type(i).element is not element for i in inputs):
        element = unit_scale_type(node, 0, np.zeros(1), 0)
    values = [node.cast(i, element) for i in inputs]
    result = reduce(lambda a, b: node.emit(PAIRWISE[node.op.type], [a, b]), values)
    if element is node.type(0).element:
        node.set(0, result)
    else:
        node.set_plain(0, node.as_storage(result), node.plain(0))


def along_axes(node: Node, axes: tuple[int, ...]) -> None:
    """Set output 0 to the largest or the least elements along axes."""
    attributes = {"axes": axes, "keepdims": bool(node.attribute("keepdims", 1))}
    result = node.emit(ALONG_AXES[node.op.type], [node.value(0)], attributes)
    assert isinstance(result.type, TensorType)
    node.set(0, result)


def require_distinct_floats(node: Node) -> None:
    """Raise UnsupportedForm unless DequantizeLinear maps different integers of input 0 to different floats."""
    element = node.plain(0)
    if not isinstance(element, IntegerType) or element.width > _WIDEST:
        node.refuse(f"of {node.dtype(0)}")
