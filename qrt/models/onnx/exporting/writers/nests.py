"""The export of loop nests that compute one expression for each element, and of elementwise integer operations."""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.models.onnx.exporting.exported_value import Order
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.writers import loop_bodies as bodies
from qrt.models.onnx.exporting.writers.elementwise import OPERATORS
from qrt.quantization.forms.elements import Axes, Elements, Expression, elements_of, shape_of
from qrt.types import IntegerType

_COMPARISONS = {
    "arith.cmpf": bodies.COMPARISONS,
    "arith.cmpi": {"eq": "Equal", "sgt": "Greater", "sge": "GreaterOrEqual", "slt": "Less", "sle": "LessOrEqual"},
}
"""The operators of comparisons; for floats, those that are false for a NaN."""
_BOOLS = {"arith.andi": "And", "arith.ori": "Or", "arith.xori": "Xor"}


def elementwise(group: Group) -> None:
    """Export a loop nest that computes an expression for each element, as one ONNX operator for each of its operations.

    The operands broadcast. Loop bodies for which `loop_bodies.is_needed` is true are exported by that module.
    """
    elements = elements_of(group.op.results[0])
    if elements is None or bodies.is_needed(elements.computed) or (_is_nest(group) and not _has_all_axes(elements)):
        bodies.write(group)
        return
    elements = elements.simplified()
    rank = group.result().rank
    _check_types(group, elements.inputs)
    known: dict[Expression, str] = {
        ("input", i): group.real(group.op.operands.index(value), _order(group, axes, rank))
        for i, (value, axes) in enumerate(zip(elements.inputs, elements.axes, strict=True))
    }
    group.set_real(_written(group, elements.computed, known))


def _is_nest(group: Group) -> bool:
    return group.op.name == "linalg.generic"


def _has_all_axes(elements: Elements) -> bool:
    """Return True if the operands together have every axis of the result, and the loop nest is not a mere copy."""
    read = {axis for axes in elements.axes for axis in axes}
    rank = len(shape_of(elements.operation.results[0]))
    return not elements.is_copy and read.issuperset(range(rank))


def _check_types(group: Group, inputs: Sequence[Value]) -> None:
    """Raise UnsupportedForm if an operand or result has unsigned integers, or another width than 1, 32 or 64 bits.

    The nodes compute with signed integers, and runtimes support only these widths.
    """
    for value in (*inputs, *group.op.results):
        element = getattr(value.type, "element", None)
        if isinstance(element, IntegerType) and (
            element.width not in (1, 32, 64) or group.graph.exported(value).is_unsigned
        ):
            group.refuse(f"a tensor of {element}")


def _order(group: Group, axes: Axes, rank: int) -> Order | None:
    """Return the transposition after which an operand broadcasts to a result of rank ``rank``; None if none is needed.

    ``axes`` has the result's axis for each axis of the operand.
    """
    if list(axes) == list(range(rank)):
        return None
    if None in axes:
        group.refuse("an axis of size 1 that is read at a constant index")
    return tuple(axes.index(axis) if axis in axes else None for axis in range(rank))


def _has_no_wide_integers(group: Group) -> bool:
    """Return True if all operands and results are floats or bools: bitwise operations are then operations on bools."""
    elements = [getattr(value.type, "element", None) for value in (*group.op.operands, *group.op.results)]
    return all(not isinstance(element, IntegerType) or element.width == 1 for element in elements)


def _written(group: Group, expression: Expression, known: dict[Expression, str]) -> str:
    """Return the name of a tensor with an expression's values. ``known`` has the names of exported expressions."""
    if expression not in known:
        known[expression] = _computed(group, expression, known)
    return known[expression]


def _computed(group: Group, expression: Expression, known: dict[Expression, str]) -> str:
    op, *parts = expression
    if op == "constant":
        return group.floats(float(str(parts[0])), "constant")
    op_type = OPERATORS.get(str(op)) or bodies.INTEGERS.get(str(op))
    if op in _COMPARISONS:
        op_type, parts = _COMPARISONS[str(op)].get(str(parts[0])), parts[1:]
    elif op in _BOOLS and (group.result().type.element == IntegerType(1) or _has_no_wide_integers(group)):
        op_type = _BOOLS[str(op)]
    if op_type is None:
        group.refuse(str(op))
    operands = [_written(group, part, known) for part in parts if isinstance(part, tuple)]
    return group.node(op_type, *operands)
