"""Import of DEQUANTIZE and DENSIFY."""

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.models.importing.data_movement import constant_result
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish
from qrt.ops.core import Array
from qrt.types import FloatType, TensorType, UniformType

_F16, _F32 = FloatType("f16"), FloatType("f32")


def dequantize(node: Node) -> None:
    """Import DEQUANTIZE: convert quantized values to float32 with one rounding each, or widen float16.

    There may be a scale and a zero point for each index of an axis. A constant is dequantized at import.
    """
    if node.result_type().element is not _F32:
        node.refuse(f"to {node.outputs[0].dtype}")
    x = node.value(0)
    assert isinstance(x.type, TensorType)
    if x.type.element is _F16:
        rule, result = "exact", node.emit("arith.extf", [x], None, x.type.with_(element=_F32))
    else:
        if not isinstance(x.type.element, UniformType):
            node.refuse(f"{node.input(0).dtype} without scales, to float32")
        own, is_constant = x.type.element, node.constant(0) is not None
        storage = "i8" if own.storage_width < 8 else own.storage  # the runtime unpacks integers of less than 8 bits
        if node.tensor_beside_axis_0 is not None and (own.storage == "u8" or not is_constant):
            node.refuse_beside_axis_0(node.tensor_beside_axis_0)
        facts = {"storage": storage, "is_constant": is_constant, "is_per_axis": own.is_per_axis}
        rule = node.rule("dequantize", **facts)
        result = node.emit("quant.dcast", [x], None, _F32)
    array = constant_result(result)
    if array is None:
        node.set(0, result)
        return
    if rule == "eights_twice":
        array = _rounded_twice(x, array)
    if result.operation is not None:
        result.operation.erase()
    finish(node, 0, array)


def _rounded_twice(x: Value, exact: Array) -> Array:
    """Return the elements of a dequantized constant by the rule `eights_twice`.

    In each whole block of 8 elements, an element is ``q * scale + (-zero_point * scale)`` in float32, with both
    products and the sum rounded. The elements after the last whole block are those of ``exact``, which are rounded
    once.
    """
    assert isinstance(x.type, TensorType)
    element, storage = x.type.element, constant_result(x)
    assert isinstance(element, UniformType)
    assert storage is not None
    values = exact.ravel().copy()
    blocks = storage.ravel()[: values.size // 8 * 8].astype(np.float32)
    values[: blocks.size] = blocks * np.float32(element.scale) + np.float32(-element.zero_point * element.scale)
    return values.reshape(exact.shape)


def densify(node: Node) -> None:
    """Import DENSIFY: convert a sparse constant of float32, float16 or int8 to a dense constant."""
    tensor, array = node.input(0), node.constant(0)
    if array is None or tensor.blocks is None:
        node.fail(f"its input {shown(tensor.name)} must be a sparse constant, but is dense or not constant")
    if tensor.dtype not in ("float32", "float16", "int8"):
        node.refuse(tensor.dtype)
    if node.outputs[0].dtype != tensor.dtype:
        node.fail(f"its result must have the type of its input, {tensor.dtype}, got {node.outputs[0].dtype}")
    if node.result_type().shape != array.shape:
        node.fail(f"its result must have the shape of its input, {list(array.shape)}, got {node.result_type().shown()}")
    node.set_constant(0, array)
