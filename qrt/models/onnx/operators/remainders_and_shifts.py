"""Remainders, shifts, signs, tests of floats, and means of several tensors."""

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
    """Import Mod: compute remainders of numbers of one type.

    A remainder has the sign of the divisor, or with ``fmod`` the sign of the dividend. The remainder of an integer by 0
    is an error.
    """
    element = one_type(node)
    kind, signless_type, fmod = form(element), signless(element), node.attribute("fmod", 0)
    if element is BOOL:
        node.refuse("of bool")
    a, b = operand(node, 0), operand(node, 1)
    remainder = _pair(node, _REMAINDERS[kind], a, b, signless_type)
    if kind != 1 and not fmod:
        zero = number_of(0, signless_type)
        below = compare(node, "slt", remainder, zero, signless_type)
        signs_differ = _pair(node, "arith.xori", below, compare(node, "slt", b, zero, signless_type), BOOL)
        signs_differ = _pair(
            node, "arith.andi", signs_differ, compare(node, "ne", remainder, zero, signless_type), BOOL
        )
        added = _pair(node, "arith.addi" if kind == 0 else "arith.addf", remainder, b, signless_type)
        remainder = select(node, signs_differ, added, remainder, signless_type)
    finish(node, 0, remainder, element)


def bit_shift(node: Node) -> None:
    """Import BitShift: shift integers to the left, or to the right with the sign kept.

    A shift by at least the width of the type moves out all bits.
    """
    element, direction = one_type(node), node.required("direction", str)
    if direction not in ("LEFT", "RIGHT"):
        node.fail(f"attribute 'direction' must be LEFT or RIGHT, got {direction!r}")
    if not isinstance(element, IntegerType) or element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    signless_type, x, by = signless(element), operand(node, 0), operand(node, 1)
    assert isinstance(signless_type, IntegerType)
    is_in_range = compare(node, "ult", by, number_of(signless_type.width, signless_type), signless_type)
    by = select(node, is_in_range, by, number_of(signless_type.width - 1, signless_type), signless_type)
    name = "arith.shli" if direction == "LEFT" else "arith.shrui" if form(element) == 1 else "arith.shrsi"
    shifted = _pair(node, name, x, by, signless_type)
    if name != "arith.shrsi":
        shifted = select(node, is_in_range, shifted, number_of(0, signless_type), signless_type)
    finish(node, 0, shifted, element)


def bitwise_not(node: Node) -> None:
    """Import BitwiseNot: invert all bits of integers."""
    element = one_type(node)
    signless_type = signless(element)
    if form(element) == 2 or element is BOOL:
        node.refuse(f"of {node.dtype(0)}")
    finish(node, 0, _pair(node, "arith.xori", operand(node, 0), number_of(-1, signless_type), signless_type), element)


def _of_floats(node: Node) -> Type:
    element = one_type(node, 0, 1)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    return element


def is_nan(node: Node) -> None:
    """Import IsNaN: test whether floats are NaN."""
    element, x = _of_floats(node), operand(node, 0)
    finish(node, 0, compare(node, "ne", x, x, element), BOOL)


def is_inf(node: Node) -> None:
    """Import IsInf: test whether floats are infinite, of either sign or of one sign only."""
    element, x = _of_floats(node), operand(node, 0)
    signs = [sign for sign, name in ((1, "positive"), (-1, "negative")) if node.attribute(f"detect_{name}", 1)]
    tests = [compare(node, "eq", x, number_of(sign * np.inf, element), element) for sign in signs]
    never = compare(node, "slt", x, number_of(-np.inf, element), element)
    finish(node, 0, reduce(lambda a, b: _pair(node, "arith.ori", a, b, BOOL), tests, never), BOOL)


def sign(node: Node) -> None:
    """Import Sign: compute -1, 0 or 1 for numbers below, at or above 0. The result for a NaN is 0."""
    element = one_type(node)
    signless_type, x = signless(element), operand(node, 0)
    if element is BOOL:
        node.refuse("of bool")
    zero = number_of(0, signless_type)
    if form(element) == 1:
        finish(
            node,
            0,
            select(node, compare(node, "ne", x, zero, signless_type), number_of(1, signless_type), zero, signless_type),
            element,
        )
        return
    below = select(
        node, compare(node, "slt", x, zero, signless_type), number_of(-1, signless_type), zero, signless_type
    )
    finish(
        node,
        0,
        select(node, compare(node, "sgt", x, zero, signless_type), number_of(1, signless_type), below, signless_type),
        element,
    )


def mean(node: Node) -> None:
    """Import Mean: average any number of float tensors elementwise.

    The sum of the tensors is divided by their number.
    """
    element = one_type(node)
    if not isinstance(element, FloatType):
        node.refuse(f"of {node.dtype(0)}")
    count = len(node.op.inputs)
    total = reduce(lambda a, b: _pair(node, "arith.addf", a, b, element), (operand(node, i) for i in range(count)))
    finish(node, 0, _pair(node, "arith.divf", total, number_of(count, element), element), element)
