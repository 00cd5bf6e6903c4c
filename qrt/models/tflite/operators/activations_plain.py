"""Import of activation operators on floats."""

import math

from qrt.models.importing.unquantized import Operand, apply, clamped, compare, number_of, select
from qrt.models.tflite.node import ACTIVATIONS, Node
from qrt.models.tflite.operators.operands import finish, raw
from qrt.types import FloatType

_F32 = FloatType("f32")


def _input(node: Node, count: int = 1) -> list[Operand]:
    for number in range(count):
        if node.input(number).dtype != "float32":
            node.refuse(node.input(number).dtype)
    return [raw(node, number) for number in range(count)]


def _binary(node: Node, name: str, a: Operand, b: Operand) -> Operand:
    return apply(node, name, [a, b], [_F32, _F32], _F32)


def _unary(node: Node, name: str, x: Operand) -> Operand:
    return apply(node, name, [x], [_F32], _F32)


def _is_negative(node: Node, x: Operand) -> Operand:
    return compare(node, "slt", x, number_of(0, _F32), _F32)


def relu(node: Node) -> None:
    """Import RELU, RELU6, RELU_0_TO_1 or RELU_N1_TO_1: clamp float32 values to the operator's bounds."""
    (x,) = _input(node)
    finish(node, 0, clamped(node, x, ACTIVATIONS[node.op.name], _F32))


def leaky_relu(node: Node) -> None:
    """Import LEAKY_RELU: multiply negative float32 values by a slope."""
    (x,) = _input(node)
    steep = _binary(node, "arith.mulf", x, number_of(node.options["alpha"], _F32))
    finish(node, 0, select(node, _is_negative(node, x), steep, x, _F32))


def prelu(node: Node) -> None:
    """Import PRELU: multiply negative float32 values by slopes, which broadcast."""
    x, slopes = _input(node, 2)
    finish(node, 0, select(node, _is_negative(node, x), _binary(node, "arith.mulf", x, slopes), x, _F32))


def elu(node: Node) -> None:
    """Import ELU: replace each negative float32 value x by exp(x) - 1."""
    (x,) = _input(node)
    finish(node, 0, select(node, _is_negative(node, x), _unary(node, "math.expm1", x), x, _F32))


_CUT = -9.0
"""The bound below which LiteRT's reference kernel returns exp(x) as the sigmoid of x."""


def logistic(node: Node) -> None:
    """Import LOGISTIC: compute 1 / (1 + exp(-x)) of float32 values from exp(-abs(x)), which cannot overflow."""
    (x,) = _input(node)
    one = number_of(1, _F32)
    power = _unary(node, "math.exp", _unary(node, "arith.negf", _unary(node, "math.absf", x)))
    quotient = _binary(node, "arith.divf", one, _binary(node, "arith.addf", one, power))
    small = _binary(node, "arith.mulf", power, quotient)
    if node.rule("float_logistic") == "cut":
        small = select(node, compare(node, "slt", x, number_of(_CUT, _F32), _F32), power, small, _F32)
    finish(node, 0, select(node, _is_negative(node, x), small, quotient, _F32))


def hard_swish(node: Node) -> None:
    """Import HARD_SWISH: compute x * clamp(x + 3, 0, 6) / 6 for each float32 value x."""
    (x,) = _input(node)
    shifted: Operand = clamped(node, _binary(node, "arith.addf", x, number_of(3, _F32)), (0, 6), _F32)
    product = _binary(node, "arith.mulf", x, shifted)
    finish(node, 0, _binary(node, "arith.divf", product, number_of(6, _F32)))


def gelu(node: Node) -> None:
    """Import GELU: compute the GELU of float32 values, by erfc, or by tanh if the option ``approximate`` is set."""
    (x,) = _input(node)
    half = _binary(node, "arith.mulf", number_of(0.5, _F32), x)
    if not node.options["approximate"]:
        scaled = _binary(node, "arith.mulf", x, number_of(-math.sqrt(0.5), _F32))
        finish(node, 0, _binary(node, "arith.mulf", half, _unary(node, "math.erfc", scaled)))
        return
    cube = _binary(node, "arith.mulf", _binary(node, "arith.mulf", x, x), x)
    inner = _binary(node, "arith.addf", x, _binary(node, "arith.mulf", number_of(0.044715, _F32), cube))
    bent = _unary(node, "math.tanh", _binary(node, "arith.mulf", number_of(math.sqrt(2 / math.pi), _F32), inner))
    finish(node, 0, _binary(node, "arith.mulf", half, _binary(node, "arith.addf", number_of(1, _F32), bent)))
