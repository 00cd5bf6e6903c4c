"""Helpers for float operators imported as loop nests: biases, fused activations, and checks of operand types."""

from math import prod

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext
from qrt.models.tflite.node import ACTIVATIONS, Node
from qrt.types import TensorType

_WITH_TANH = (
    "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "FULLY_CONNECTED", "LSTM", "RNN", "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN",
)  # fmt: skip
"""The operators that apply a fused TANH. LiteRT's other operators accept it and ignore it."""
_LESS = 4
"""The number of the predicate `olt` of arith.cmpf."""


def float_bias(node: Node, i: int, channels: int) -> Value | None:
    """Return input ``i``, a float32 bias with one element for each channel; None if the operator has no bias."""
    if not node.has(i):
        return None
    kind = node.type(i)
    if kind.element is not F32 or prod(size or 0 for size in kind.shape or ()) != channels:
        node.fail(f"the bias must be {TensorType((channels,), F32)}, got {kind}")
    value = node.value(i)
    if kind.rank != 1:
        value = node.emit("qrt.reshape", [value], None, TensorType((channels,), F32))
    return value


def finish(node: Node, context: LoweringContext, value: Value, bias: Value | None = None) -> None:
    """Add a bias along the last axis of a value, apply the operator's fused activation, and set output 0."""
    activation = node.options.get("fused_activation_function", "NONE")
    if bias is None and activation == "NONE":
        node.set(0, value)
        return
    nest = LoopNest(context, "finish", context.extents(value))
    scalar = nest.read(value, nest.loops)
    if bias is not None:
        scalar = nest.value("arith.addf", (scalar, nest.read(bias, nest.loops[-1:])), F32)
    node.set(0, nest.finish(activated(node, nest, scalar, activation))[0])


def activated(node: Node, nest: LoopNest, scalar: Value, activation: str) -> Value:
    """Append a fused activation of a scalar in the body of a loop nest and return its result."""
    if activation == "NONE":
        return scalar
    if activation == "TANH" and node.op.name in _WITH_TANH:
        return nest.value("math.tanh", (scalar,), F32)
    if activation not in ACTIVATIONS:
        node.refuse(f"float32, fused {activation}")
    low, high = ACTIVATIONS[activation]
    scalar = nest.value("arith.maximumf", (scalar, nest.constant(low, F32)), F32)
    return scalar if high is None else nest.value("arith.minimumf", (scalar, nest.constant(high, F32)), F32)


def sigmoid(nest: LoopNest, x: Value) -> Value:
    """Append the sigmoid of a scalar, computed from exp(-abs(x)), which cannot overflow."""
    one = nest.constant(1.0, F32)
    power = nest.value("math.exp", (nest.value("arith.negf", (nest.value("math.absf", (x,), F32),), F32),), F32)
    quotient = nest.value("arith.divf", (one, nest.value("arith.addf", (one, power), F32)), F32)
    is_negative = nest.compare_floats(_LESS, x, nest.constant(0.0, F32))
    return nest.value("arith.select", (is_negative, nest.value("arith.mulf", (power, quotient), F32), quotient), F32)


def reshaped(node: Node, value: Value, shape: tuple[int | None, ...]) -> Value:
    """Return a float32 tensor in another shape."""
    return node.emit("qrt.reshape", [value], None, TensorType(shape, F32))


def require_floats(node: Node, *operands: int) -> None:
    """Raise UnsupportedForm if an input with one of the indices ``operands`` is not float32."""
    for i in operands:
        if node.type(i).element is not F32:
            node.refuse(f"{node.input(i).dtype} among floats")
