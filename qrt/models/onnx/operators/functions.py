"""Functions of one float: exponentials, trigonometry, and activations that combine them. Each step is rounded once."""

import numpy as np

from qrt.models.importing.unquantized import Operand, apply, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, finish, one_type, operand
from qrt.types import FloatType

_OPS = {
    "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh", "Atan": "atan", "Atanh": "atanh", "Cos": "cos",
    "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Log": "log", "Sin": "sin", "Sinh": "sinh", "Tan": "tan",
    "Tanh": "tanh",
}  # fmt: skip
"""The functions of the `math` dialect, by operator."""


class _Steps:
    """A computation that is built step by step from operations on tensors of one float type, with broadcasting."""

    def __init__(self, node: Node, inputs: int = 1) -> None:
        element = one_type(node, 0, inputs)
        if not isinstance(element, FloatType):
            node.refuse(f"of {node.dtype(0)}")
        self.node, self.element = node, element

    def number(self, value: float) -> Operand:
        return number_of(value, self.element)

    def take(self, name: str, *operands: Operand | float) -> Operand:
        """Add the operation ``name`` of `arith` or `math`, and return its result. A number is a constant operand."""
        values = [self.number(x) if isinstance(x, int | float) else x for x in operands]
        return apply(self.node, name, values, [self.element] * len(values), self.element)

    def choose(self, x: Operand, bound: float, yes: Operand, no: Operand) -> Operand:
        """Select ``yes`` where ``x`` is below ``bound``, else ``no``."""
        condition = compare(self.node, "slt", x, self.number(bound), self.element)
        return select(self.node, condition, yes, no, self.element)

    def finish(self, result: Operand) -> None:
        finish(self.node, 0, result, self.element)


def function(node: Node) -> None:
    """Import an operator of `_OPS`, such as Exp: compute its function of floats, correctly rounded."""
    steps = _Steps(node)
    steps.finish(steps.take(f"math.{_OPS[node.op.type]}", operand(node, 0)))


def sigmoid(steps: _Steps, x: Operand) -> Operand:
    """Compute the sigmoid of x in steps that cannot overflow.

    With ``e = exp(-abs(x))``, the result is ``1 / (1 + e)``, multiplied by ``e`` for negative x.
    """
    power = steps.take("math.exp", steps.take("arith.negf", steps.take("math.absf", x)))
    quotient = steps.take("arith.divf", 1, steps.take("arith.addf", power, 1))
    return steps.choose(x, 0, steps.take("arith.mulf", power, quotient), quotient)


def sigmoid_(node: Node) -> None:
    """Import Sigmoid: compute 1 / (1 + exp(-x)) of floats, in steps that cannot overflow."""
    steps = _Steps(node)
    steps.finish(sigmoid(steps, operand(node, 0)))


def swish(node: Node) -> None:
    """Import Swish or QuickGelu: multiply x by the sigmoid of alpha * x."""
    steps, x = _Steps(node), operand(node, 0)
    alpha = node.attribute("alpha", 1.702 if node.op.type == "QuickGelu" else 1.0)
    scaled = x if alpha == 1 else steps.take("arith.mulf", x, alpha)
    steps.finish(steps.take("arith.mulf", x, sigmoid(steps, scaled)))


def soft(node: Node) -> None:
    """Import Softplus log(1 + exp(x)), Softsign x / (1 + abs(x)), or Mish x * tanh(Softplus(x))."""
    steps, x = _Steps(node), operand(node, 0)
    if node.op.type == "Softsign":
        steps.finish(steps.take("arith.divf", x, steps.take("arith.addf", steps.take("math.absf", x), 1)))
        return
    power = steps.take("math.exp", steps.take("arith.negf", steps.take("math.absf", x)))
    result = steps.take("arith.addf", steps.take("arith.maximumf", x, 0), steps.take("math.log1p", power))
    if node.op.type == "Mish":
        result = steps.take("arith.mulf", x, steps.take("math.tanh", result))
    steps.finish(result)


def elu(node: Node) -> None:
    """Import Celu, Elu or Selu: replace negative x by ``alpha * (exp(x) - 1)``.

    Celu uses ``alpha * (exp(x / alpha) - 1)`` instead. Selu multiplies all results of Elu by gamma.
    """
    steps, x, kind = _Steps(node), operand(node, 0), node.op.type
    alpha = node.attribute("alpha", 1.6732632423543772 if kind == "Selu" else 1.0)
    if kind == "Celu" and alpha == 0:
        node.fail("attribute 'alpha' must not be 0, because the input is divided by it")
    inside = steps.take("arith.divf", x, alpha) if kind == "Celu" and alpha != 1 else x
    below = steps.take("arith.mulf", steps.take("math.expm1", inside), alpha)
    result = steps.choose(x, 0, below, x)
    if kind == "Selu":
        result = steps.take("arith.mulf", result, node.attribute("gamma", 1.0507009873554805))
    steps.finish(result)


def gelu(node: Node) -> None:
    """Import Gelu: compute ``x / 2 * (1 + erf(x / sqrt(2)))``, or its approximation by tanh."""
    steps, x = _Steps(node), operand(node, 0)
    if node.attribute("approximate", "none") == "tanh":
        steps.finish(_gelu_of_tanh(steps, x))
        return
    inside = steps.take("math.erf", steps.take("arith.mulf", x, float(np.sqrt(0.5))))
    half = steps.take("arith.mulf", x, 0.5)
    steps.finish(steps.take("arith.mulf", half, steps.take("arith.addf", inside, 1)))


def _gelu_of_tanh(steps: _Steps, x: Operand) -> Operand:
    """Compute ``x / 2 * (1 + tanh(x * (a + b * x * x)))``, with ``a = sqrt(2 / pi)`` and ``b = 0.044715 * a``."""
    root = float(np.sqrt(2 / np.pi))
    square = steps.take("arith.mulf", x, x)
    factor = steps.take("arith.addf", steps.take("arith.mulf", square, 0.044715 * root), root)
    inside = steps.take("math.tanh", steps.take("arith.mulf", x, factor))
    return steps.take("arith.mulf", steps.take("arith.mulf", x, 0.5), steps.take("arith.addf", inside, 1))


def fast_gelu(node: Node) -> None:
    """Import FastGelu: approximate Gelu by tanh.

    If the node has a bias along the last axis, it is added to x first.
    """
    steps, x = _Steps(node, 2), operand(node, 0)
    if node.has(1):
        x = steps.take("arith.addf", x, operand(node, 1))
    steps.finish(_gelu_of_tanh(steps, x))


def bias_gelu(node: Node) -> None:
    """Import BiasGelu: add a bias along the last axis, and compute Gelu of the sum."""
    steps = _Steps(node, 2)
    x = steps.take("arith.addf", operand(node, 0), operand(node, 1))
    inside = steps.take("math.erf", steps.take("arith.mulf", x, float(np.sqrt(0.5))))
    steps.finish(steps.take("arith.mulf", steps.take("arith.mulf", x, 0.5), steps.take("arith.addf", inside, 1)))


def power(node: Node) -> None:
    """Import Pow: raise float32 to powers, correctly rounded.

    Exponents of another type are converted to float32, and must be known at import.
    """
    if node.plain(0) is not F32:
        node.refuse(f"of {node.dtype(0)}")
    exponent = operand(node, 1)
    if node.plain(1) is not F32:
        array = node.known(1, "exponents of another type than the base")
        exponent = np.asarray(array).astype(np.float32)
    known = node.constant(1)
    if known is not None and known.size == 1 and known.ndim <= len(node.shape(0)) and known.item() == 2:
        base = operand(node, 0)  # the exact square, rounded once, is the power
        finish(node, 0, apply(node, "arith.mulf", [base, base], [F32, F32], F32), F32)
        return
    finish(node, 0, apply(node, "math.powf", [operand(node, 0), exponent], [F32, F32], F32), F32)
