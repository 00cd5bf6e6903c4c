"""Import of ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, MAXIMUM and MINIMUM on quantized tensors."""

import numpy as np

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.types import TensorType, UniformType


def _operands(node: Node) -> tuple[UniformType, UniformType, UniformType]:
    """Return the quantized types of both inputs and the result. Raise ModelError if their storage types differ."""
    a, b, out = node.element(0), node.element(1), node.result_element()
    if not a.storage == b.storage == out.storage:
        node.fail(f"operands of {a.storage} and {b.storage} with a result of {out.storage}")
    return a, b, out


def _emit(node: Node, name: str, attributes: dict[str, str], out: UniformType) -> Value:
    return node.emit(name, [node.value(0), node.value(1)], attributes, out)


def add(node: Node) -> None:
    """Import ADD or SUB: add or subtract 8- or 16-bit tensors that broadcast. The scales select the rounding rule."""
    a, b, out = _operands(node)
    if out.storage == "i16" and node.options.get("pot_scale_int16", True):
        node.refuse("int16 whose scales are powers of two (pot_scale_int16)")
    scale = np.float32(out.scale)
    ratios = [float(np.float32(operand.scale) / scale) for operand in (a, b)]
    shapes = node.type(0).shape, node.type(1).shape
    facts = {"ratio": min(ratios), "largest_ratio": max(ratios), "op": node.op.name, "is_broadcast": len({*shapes}) > 1}
    rule = node.rule("add", storage=out.storage, **facts)
    result = _emit(node, "qrt.add" if node.op.name == "ADD" else "qrt.sub", {"requant": rule}, out)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


def mul(node: Node) -> None:
    """Import MUL: multiply 8- or 16-bit tensors that broadcast."""
    a, b, out = _operands(node)
    multiplier = np.float32(a.scale) * np.float32(b.scale) / np.float32(out.scale)
    rule = node.rule("mul", storage=out.storage, multiplier=float(multiplier))
    result = _emit(node, "qrt.mul", {"requant": rule}, out)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


def div(node: Node) -> None:
    """Import DIV: divide 8-bit tensors that broadcast."""
    a, b, out = _operands(node)
    multiplier = np.float32(a.scale) / (np.float32(b.scale) * np.float32(out.scale))
    if not 0 < multiplier < np.inf:
        node.fail(f"scales so far apart that their multiplier is {multiplier}")
    node.rule("div", storage=out.storage)
    result = _emit(node, "qrt.div", {}, out)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


def squared_difference(node: Node) -> None:
    """Import SQUARED_DIFFERENCE: compute the squared difference of int8 tensors that broadcast."""
    _, _, out = _operands(node)
    node.rule("squared_difference", storage=out.storage)
    node.set(0, _emit(node, "qrt.squared_difference", {}, out))


def extreme(node: Node) -> None:
    """Import MAXIMUM or MINIMUM: compute the maximum or minimum of 8- or 16-bit tensors that broadcast.

    The storage values are compared; scales and zero points are ignored.
    """
    *_, out = _operands(node)
    node.rule("maximum_minimum", storage=out.storage)
    operands = [of_type(node, node.value(i), out) for i in range(2)]
    node.set(0, node.emit(f"qrt.{node.op.name.lower()}", operands, None, out))


def of_type(node: Node, value: Value, element: UniformType) -> Value:
    """Reinterpret the storage of a quantized value as another quantized type."""
    assert isinstance(value.type, TensorType)  # the value of a tensor
    if value.type.element is element:
        return value
    assert isinstance(value.type.element, UniformType)  # the caller has checked it
    stored = node.emit("quant.scast", [value], None, value.type.with_(element=value.type.element.storage_type))
    return node.emit("quant.scast", [stored], None, value.type.with_(element=element))
