"""Loop nests that compute each element of a tensor of floats alone."""

from qrt.formats.onnx.exporting.group import Group
from qrt.formats.onnx.exporting.held import Order
from qrt.formats.onnx.exporting.registry import writer
from qrt.formats.onnx.exporting.writers.floats import OPERATORS
from qrt.passes.quantization.forms.elements import Axes, Expression, elements_of

_COMPARISONS = {"oeq": "Equal", "ogt": "Greater", "oge": "GreaterOrEqual", "olt": "Less", "ole": "LessOrEqual"}
"""The operators of comparisons that are false of a NaN."""


@writer("linalg.generic")
def elementwise(group: Group) -> None:
    """An operator for each operation of the body, with broadcasting."""
    elements = elements_of(group.op.results[0])
    if elements is None:
        group.refuse("a loop nest that no kernel computes")
    elements = elements.simplified()
    rank = group.result().rank
    known: dict[Expression, str] = {
        ("input", i): group.real(group.op.operands.index(value), _order(group, axes, rank))
        for i, (value, axes) in enumerate(zip(elements.inputs, elements.axes, strict=True))
    }
    group.set_real(_written(group, elements.computed, known))


def _order(group: Group, axes: Axes, rank: int) -> Order | None:
    """The order in which an operand broadcasts to the result; None of one that has all its axes."""
    if list(axes) == list(range(rank)):
        return None
    if None in axes:
        group.refuse("an axis of size 1 that is read at one place")
    return tuple(axes.index(axis) if axis in axes else None for axis in range(rank))


def _written(group: Group, expression: Expression, known: dict[Expression, str]) -> str:
    """The tensor of an expression, of which each part is computed once."""
    if expression not in known:
        known[expression] = _computed(group, expression, known)
    return known[expression]


def _computed(group: Group, expression: Expression, known: dict[Expression, str]) -> str:
    op, *parts = expression
    if op == "constant":
        return group.floats(float(str(parts[0])), "constant")
    op_type = OPERATORS.get(str(op))
    if op == "arith.cmpf":
        op_type, parts = _COMPARISONS.get(str(parts[0])), parts[1:]
    elif op == "arith.select":
        op_type = "Where"
    if op_type is None:
        group.refuse(str(op))
    operands = [_written(group, part, known) for part in parts if isinstance(part, tuple)]
    return group.node(op_type, *operands)
