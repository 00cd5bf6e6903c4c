"""Import of ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, MAXIMUM and MINIMUM on quantized tensors."""

import numpy as np

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.numerics.floats32 import logf
from qrt.types import TensorType, UniformType


def _operands(node: Node) -> tuple[UniformType, UniformType, UniformType]:
    """Return the quantized types of both inputs and the result. Raise ModelError if their storage types differ."""
    a, b, out = node.element(0), node.element(1), node.result_element()
    if not a.storage == b.storage == out.storage:
        node.fail(
            f"its inputs and its result must have the same storage type, got {a.storage}, {b.storage} and {out.storage}"
        )
    return a, b, out


def _emit(node: Node, name: str, attributes: dict[str, str], out: UniformType) -> Value:
    return node.emit(name, [node.value(0), node.value(1)], attributes, out)


def add(node: Node) -> None:
    """Import ADD or SUB: add or subtract 8- or 16-bit tensors that broadcast. The scales select the rounding rule."""
    a, b, out = _operands(node)
    exponents = [_exponent(element) if element.storage == "i16" else None for element in (a, b, out)]
    are_powers = out.storage == "i16" and bool(node.options.get("pot_scale_int16", True)) and None not in exponents
    scale = np.float32(out.scale)
    ratios = [float(np.float32(operand.scale) / scale) for operand in (a, b)]
    shapes = node.type(0).shape, node.type(1).shape
    facts = {"ratio": min(ratios), "largest_ratio": max(ratios), "op": node.op.name, "is_broadcast": len({*shapes}) > 1}
    rule = node.rule("add", storage=out.storage, **facts, are_powers=are_powers)
    op = "qrt.add" if node.op.name == "ADD" else "qrt.sub"
    if rule == "shifted":
        if exponents[2] not in exponents[:2]:
            node.fail(
                f"one input must have the scale of the result (option pot_scale_int16), got {a.scale}, {b.scale} "
                f"and {out.scale}"
            )
        operands = [_shifted(node, i, (exponents[i] or 0) - (exponents[2] or 0), out) for i in range(2)]
        if node.op.name == "ADD" and facts["is_broadcast"]:
            node.refuse("int16 that broadcasts, of scales that are powers of two (pot_scale_int16)")
        result = node.emit(op, operands, {"requant": "fixed_double"}, out)
    else:
        result = _emit(node, op, {"requant": rule}, out)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


_LOG2_E = np.float32(1.4426950408889634)
_POWER_TOLERANCE = 1e-3
"""The distance of a logarithm from an integer up to which LiteRT takes a scale for a power of two."""
_LARGEST_SHIFT = 15
"""The most bits by which LiteRT can shift an int16."""


def _exponent(element: UniformType) -> int | None:
    """Return n if the type's scale is so close to ``2 ** n`` that LiteRT treats it as that power, else None."""
    logarithm = logf(np.array([element.scale], np.float32))[0] * _LOG2_E
    exponent = np.rint(logarithm)
    return int(exponent) if abs(logarithm - exponent) < np.float32(_POWER_TOLERANCE) else None


def _shifted(node: Node, i: int, exponent: int, out: UniformType) -> Value:
    """Return operand ``i`` in the type of the result, its storage multiplied by a power of two.

    Halves are rounded away from zero.
    """
    if exponent > 0:
        node.fail(
            f"the scale of input {i} must be at most that of the result, {out.scale}, got {node.element(i).scale}"
        )
    if -exponent > _LARGEST_SHIFT:
        node.refuse(f"int16 shifted by {-exponent} bits, more than {_LARGEST_SHIFT}")
    value = of_type(node, node.value(i), out.with_(scales=out.scale * 2.0**exponent))
    return node.emit("qrt.requantize", [value], {"requant": "float64_away"}, out) if exponent else value


def mul(node: Node) -> None:
    """Import MUL: multiply 8- or 16-bit tensors that broadcast."""
    a, b, out = _operands(node)
    multiplier = np.float32(a.scale) * np.float32(b.scale) / np.float32(out.scale)
    rule = node.rule("mul", storage=out.storage, multiplier=float(multiplier))
    result = _emit(node, "qrt.mul", {"requant": rule}, out)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


def div(node: Node) -> None:
    """Import DIV: divide 8- or 16-bit tensors that broadcast."""
    a, b, out = _operands(node)
    multiplier = np.float32(a.scale) / (np.float32(b.scale) * np.float32(out.scale))
    if not 0 < multiplier < np.inf:
        node.fail(f"scale0 / (scale1 * scale of the result) must be positive and finite in float32, got {multiplier}")
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
