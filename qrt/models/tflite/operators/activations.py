"""Import of LEAKY_RELU, PRELU, ABS, NEG, RELU and the other clamps on quantized tensors."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import apply, number_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, raw
from qrt.types import UniformType


def _types(node: Node) -> tuple[UniformType, UniformType]:
    """Return the quantized types of input 0 and the result. Raise ModelError if their storage types differ."""
    x, out = node.element(0), node.result_element()
    if x.storage != out.storage:
        node.fail(f"the result must have the type of the input, {node.input(0).dtype}, got {node.outputs[0].dtype}")
    return x, out


def _ratio(x: UniformType, out: UniformType, factor: float = 1.0) -> float:
    """Return ``x.scale * factor / out.scale``, computed in float32 as the runtimes do."""
    return float(np.float32(x.scale) * np.float32(factor) / np.float32(out.scale))


def leaky_relu(node: Node) -> None:
    """Import LEAKY_RELU: multiply negative 8- or 16-bit values by a slope.

    The scales and the slope select the rounding rule.
    """
    x, out = _types(node)
    alpha = float(node.options["alpha"])
    if not np.isfinite(alpha):
        node.fail(f"option alpha must be finite, got {alpha}")
    facts = {"storage": out.storage, "ratio": _ratio(x, out), "slope": abs(_ratio(x, out, alpha))}
    node.set(0, _leaky(node, alpha, node.rule("leaky_relu", **facts), out))


def absolute(node: Node) -> None:
    """Import ABS: compute the absolute value of int8 or int16 values, as a leaky ReLU with slope -1."""
    x, out = _types(node)
    node.set(0, _leaky(node, -1.0, node.rule("abs", storage=out.storage, ratio=_ratio(x, out)), out))


def _leaky(node: Node, alpha: float, rule: str, out: UniformType) -> Value:
    return node.emit("qrt.leaky_relu", [node.value(0)], {"alpha": alpha, "requant": rule}, out)


def prelu(node: Node) -> None:
    """Import PRELU: multiply negative values by slopes, which broadcast.

    Values and slopes are both int8 or both uint8; or values are int16 and slopes int8.
    """
    _, out = _types(node)
    slopes = node.element(1)
    if slopes.storage != ("i8" if out.storage == "i16" else out.storage):
        node.refuse(f"{node.input(0).dtype} with slopes of {node.input(1).dtype}")
    rule = node.rule("prelu", storage=out.storage)
    node.set(0, node.emit("qrt.prelu", [node.value(0), node.value(1)], {"requant": rule}, out))


def relu(node: Node) -> None:
    """Import RELU, RELU6, RELU_0_TO_1 or RELU_N1_TO_1: requantize 8- or 16-bit values to the result's type.

    The values are then clamped to the operator's bounds.
    """
    x, out = _types(node)
    rule = node.rule("relu", storage=out.storage, ratio=_ratio(x, out))
    value = node.value(0)
    if x is not out:
        value = node.emit("qrt.requantize", [value], {"requant": rule}, out)
    node.set(0, node.activate(value, node.op.name))


def negate(node: Node) -> None:
    """Import NEG: negate the storage of int8 or int16 tensors. Scales and zero points are ignored."""
    x, out = _types(node)
    if x.storage not in ("i8", "i16"):
        node.refuse(f"{node.input(0).dtype}")
    node.rule("neg", storage=out.storage)
    if x.storage == "i16":
        element = signless(out)
        finish(node, 0, apply(node, "arith.subi", [number_of(0, element), raw(node, 0)], [element] * 2, element))
        return
    table = node.dense(-np.arange(-128, 128, dtype=np.int8), out)
    node.set(0, node.emit("qrt.lookup", [node.value(0), table], None, out))
