"""What is beside the four kinds of arithmetic: remainders, shifts, signs, what a float is, means of several tensors."""

from functools import reduce

import numpy as np

from qrt.models.importing.unquantized import BOOL, Operand, apply, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import finish, one_type, operand
from qrt.models.onnx.types import signless
from qrt.types import FloatType, IntegerType, Type

_REMAINDERS = ("arith.remsi", "arith.remui", "arith.remf")


def _pair(node: Node, name: str, a: Operand, b: Operand, element: Type) -> Operand:
    return apply(node, name, [a, b], [element, element], element)


def mod(node: Node) -> None:
    """Of numbers of one type: the remainder has the sign of the divisor, or with ``fmod`` that of the dividend. Of
    integers by 0 it is an error.
    """
    element = one_type(node)
    kind, own, fmod = form(element), signless(element), node.attribute("fmod", 0)
    if element is BOOL:
        node.refuse("of bool")
    a, b = operand(node, 0), operand(node, 1)
    found = _pair(node, _REMAINDERS[kind], a, b, own)
    if kind != 1 and not fmod:
        zero = number_of(0, own)
        below = compare(node, "slt", found, zero, own)
        apart = _pair(node, "arith.xori", below, compare(node, "slt", b, zero, own), BOOL)
        apart = _pair(node, "arith.andi", apart, compare(node, "ne", found, zero, own), BOOL)
        added = _pair(node, "arith.addi" if kind == 0 else "arith.addf", found, b, own)
        found = select(node, apart, added, found, own)
    finish(node, 0, found, element)


def bit_shift(node: Node) -> None:
    """Of integers, to the left or the right, where the sign stays. By their width or more, all bits leave."""
    element, direction = one_type(node), node.required("direction", str)
    if direction not in ("LEFT", "RIGHT"):
        node.fail(f"its direction is {direction!r}, expected LEFT or RIGHT")
    if not isinstance(element, IntegerType) or element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    own, x, by = signless(element), operand(node, 0), operand(node, 1)
    assert isinstance(own, IntegerType)
    stays = compare(node, "ult", by, number_of(own.width, own), own)
    by = select(node, stays, by, number_of(own.width - 1, own), own)
    name = "arith.shli" if direction == "LEFT" else "arith.shrui" if form(element) == 1 else "arith.shrsi"
    found = _pair(node, name, x, by, own)
    if name != "arith.shrsi":
        found = select(node, stays, found, number_of(0, own), own)
    finish(node, 0, found, element)


def bitwise_not(node: Node) -> None:
    """Of integers."""
    element = one_type(node)
    own = signless(element)
    if form(element) == 2 or element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    finish(node, 0, _pair(node, "arith.xori", operand(node, 0), number_of(-1, own), own), element)


def _of_floats(node: Node) -> Type:
    element = one_type(node, 0, 1)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    return element


def is_nan(node: Node) -> None:
    """Of floats."""
    element, x = _of_floats(node), operand(node, 0)
    finish(node, 0, compare(node, "ne", x, x, element), BOOL)


def is_inf(node: Node) -> None:
    """Of floats: of both signs, or of one."""
    element, x = _of_floats(node), operand(node, 0)
    signs = [sign for sign, name in ((1, "positive"), (-1, "negative")) if node.attribute(f"detect_{name}", 1)]
    found = [compare(node, "eq", x, number_of(sign * np.inf, element), element) for sign in signs]
    never = compare(node, "slt", x, number_of(-np.inf, element), element)
    finish(node, 0, reduce(lambda a, b: _pair(node, "arith.ori", a, b, BOOL), found, never), BOOL)


def sign(node: Node) -> None:
    """-1, 0 or 1: of what is below, at or above 0, and of a NaN 0."""
    element = one_type(node)
    own, x = signless(element), operand(node, 0)
    if element is BOOL:
        node.refuse("of bool")
    zero = number_of(0, own)
    if form(element) == 1:
        finish(node, 0, select(node, compare(node, "ne", x, zero, own), number_of(1, own), zero, own), element)
        return
    below = select(node, compare(node, "slt", x, zero, own), number_of(-1, own), zero, own)
    finish(node, 0, select(node, compare(node, "sgt", x, zero, own), number_of(1, own), below, own), element)


def mean(node: Node) -> None:
    """Of floats: the sum of any number of tensors, divided by that."""
    element = one_type(node)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    count = len(node.op.inputs)
    total = reduce(lambda a, b: _pair(node, "arith.addf", a, b, element), (operand(node, i) for i in range(count)))
    finish(node, 0, _pair(node, "arith.divf", total, number_of(count, element), element), element)
