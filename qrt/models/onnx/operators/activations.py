"""Piecewise functions of one number: Relu, Clip, LeakyRelu, PRelu, HardSigmoid, HardSwish."""

import numpy as np

from qrt.models.importing.unquantized import Operand, apply, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import finish, one_type, operand
from qrt.models.onnx.types import signless
from qrt.types import FloatType, Type

_MOST = ("arith.maxsi", "arith.maxui", "arith.maximumf")
_LEAST = ("arith.minsi", "arith.minui", "arith.minimumf")


def _pair(node: Node, name: str, a: Operand, b: Operand, element: Type) -> Operand:
    return apply(node, name, [a, b], [element, element], element)


def relu(node: Node) -> None:
    """Import Relu: replace negative floats or signed integers by 0. A NaN stays a NaN."""
    element = one_type(node)
    if form(element) == 1:
        node.refuse(f"of {node.dtype(0)}")
    finish(node, 0, _pair(node, _MOST[form(element)], operand(node, 0), number_of(0, element), element), element)


def clip(node: Node) -> None:
    """Import Clip: clamp numbers to optional bounds.

    The bounds are attributes before opset 11, and inputs since opset 11. A NaN stays a NaN, and a bound that is a NaN
    is ignored.
    """
    element = node.plain(0)
    signless_type, result = signless(element), operand(node, 0)
    if node.opset < 11 and not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)} before opset 11")
    for i, names, default in ((1, _MOST, "min"), (2, _LEAST, "max")):
        bound: Operand | None = None
        if node.opset < 11:
            if node.has_attribute(default):
                bound = number_of(node.attribute(default, 0.0), signless_type)
        elif node.has(i):
            bound = operand(node, i)
        if bound is not None:
            if node.opset >= 11 and node.plain(i) is not element:
                node.fail(f"input {i} (a bound) must have the type of input 0, {node.dtype(0)}, got {node.dtype(i)}")
            result = _bounded(node, names[form(element)], result, bound, signless_type)
    if not isinstance(result, np.ndarray) and result is node.graph.values.get(node.input(0)):
        result = node.emit("qrt.reshape", [result], None, result.type)
    finish(node, 0, result, element)


def _bounded(node: Node, name: str, x: Operand, bound: Operand, element: Type) -> Operand:
    """Apply the op ``name``, a maximum or a minimum, to ``x`` and ``bound``. A bound that is a NaN is ignored."""
    if isinstance(bound, np.ndarray) and bool(np.isnan(bound.astype(np.float64)).any()):
        return x
    result = _pair(node, name, x, bound, element)
    if isinstance(bound, np.ndarray) or not isinstance(element, FloatType):
        return result
    return select(node, compare(node, "eq", bound, bound, element), result, x, element)


def leaky_relu(node: Node) -> None:
    """Import LeakyRelu or PRelu: multiply negative floats by a slope.

    The slope is an attribute of LeakyRelu, and an input of PRelu.
    """
    element = _floats(node)
    x = operand(node, 0)
    slope: Operand = number_of(node.attribute("alpha", 0.01), element)
    if node.op.type == "PRelu":
        slope = operand(node, 1)
    below = compare(node, "slt", x, number_of(0, element), element)
    finish(node, 0, select(node, below, _pair(node, "arith.mulf", x, slope, element), x, element), element)


def _floats(node: Node) -> FloatType:
    element = one_type(node)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    return element


def hard_sigmoid(node: Node, x: Operand, alpha: float, beta: float, element: Type) -> Operand:
    """Compute ``alpha * x + beta``, clamped to the range from 0 to 1. The product and the sum are both rounded."""
    result = _pair(node, "arith.mulf", x, number_of(alpha, element), element)
    result = _pair(node, "arith.addf", result, number_of(beta, element), element)
    result = _pair(node, "arith.maximumf", result, number_of(0, element), element)
    return _pair(node, "arith.minimumf", result, number_of(1, element), element)


def hard_sigmoid_(node: Node) -> None:
    """Import HardSigmoid: compute ``alpha * x + beta`` of floats, clamped to the range from 0 to 1.

    The product and the sum are both rounded.
    """
    element = _floats(node)
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    finish(node, 0, hard_sigmoid(node, operand(node, 0), alpha, beta, element), element)


def hard_swish(node: Node) -> None:
    """Import HardSwish: multiply floats by their HardSigmoid with alpha 1/6 and beta 1/2."""
    element = _floats(node)
    x = operand(node, 0)
    finish(node, 0, _pair(node, "arith.mulf", x, hard_sigmoid(node, x, 1 / 6, 0.5, element), element), element)
