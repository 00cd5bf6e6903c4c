"""Regions of connected linear operations, for which export writes integer arithmetic instead of a kernel call."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.ir import Block, Operation, Value
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.rewriting.rewrite import is_dead
from qrt.quantization.forms.elements import (
    INNER_ANNOTATIONS,
    Expression,
    body_expression,
    dense_of,
    elements_of,
    repeated,
    shape_of,
    splat_of,
    tensor_type,
)
from qrt.quantization.forms.model import KernelMatch
from qrt.quantization.forms.movement import padding_of
from qrt.quantization.fusion.choose import choices_of
from qrt.quantization.fusion.wrap_region import WITHOUT_FLOATS, put_into_region, wrapped
from qrt.quantization.targets.model import Target
from qrt.types import FloatType

LINEAR = "linear"
"""The kernel name of regions of connected linear operations."""
_MOVEMENT = frozenset({"tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape", "tensor.concat"})


def fuse_linear(block: Block, target: Target) -> None:
    """Wrap connected linear operations of a block in regions, from the last to the first.

    A kernel of the target is used instead if it covers a linear operation together with all linear operations that are
    connected to it.
    """
    order = {operation: number for number, operation in enumerate(block)}
    # A block that cannot be reached may have cycles of operations.
    left = set(cyclic_operations(inner for operation in block for inner in operation.walk()))
    for root in reversed(list(order)):
        if root.parent is not block or root in left or len(root.results) != 1 or tensor_type(root.results[0]) is None:
            continue
        if root.name in INNER_ANNOTATIONS or is_dead(root):
            continue
        choice = next((c for c in choices_of(root.results[0], target) if _contains_groups(c.match, order)), None)
        if choice is not None:
            left |= {*choice.match.operations, *choice.match.copied}
            wrapped(choice, root, order)
        elif _is_linear(root) and not _repeats(root):
            _wrap(root, sorted(_group(root, order), key=lambda operation: order[operation]))


def _contains_groups(match: KernelMatch, order: dict[Operation, int]) -> bool:
    """Return True if a match contains, with each linear operation, the whole group of this operation (see `_group`)."""
    inside = {*match.operations, *match.copied}
    return all(_group(operation, order) <= inside for operation in match.operations if _is_linear(operation))


def _group(root: Operation, order: dict[Operation, int]) -> set[Operation]:
    """Return the linear operation ``root`` and the linear operations before it whose results only this group uses.

    Broadcasts before a linear operation belong to the group even if other operations use them.
    """
    group, pending = {root}, [root]
    while pending:
        operation = pending.pop()
        for value in operation.operands:
            source = value.operation
            if source is None or source in group or source not in order:
                continue
            is_inside = _is_linear(source) and (_repeats(source) or all(user in group for user, _ in value.uses))
            if is_inside or _is_repeated_constant(value):
                group.add(source)
                pending.append(source)
    while _annotations_of_operands(group):
        group -= _annotations_of_operands(group)
    return group


def _repeats(operation: Operation) -> bool:
    result = operation.results[0]
    elements = elements_of(result)
    return elements is not None and elements.is_copy and len(elements.axes[0]) < len(shape_of(result))


def _is_repeated_constant(value: Value) -> bool:
    """Return True if a value is a broadcast of a constant whose elements differ."""
    if tensor_type(value) is None or splat_of(value) is not None:
        return False
    source, _, passed = repeated(value, tuple(range(len(shape_of(value)))))
    return bool(passed) and constant_of(source) is not None


def _annotations_of_operands(group: set[Operation]) -> set[Operation]:
    """Return the annotations in a group whose operands are computed outside of the group."""
    return {
        operation
        for operation in group
        if operation.name in INNER_ANNOTATIONS and operation.operands[0].operation not in group
    }


def _wrap(root: Operation, group: list[Operation]) -> None:
    inside = set(group)
    inputs: dict[Value, None] = {}
    for operation in group:
        for value in operation.operands:
            source = value.operation
            is_made_inside = source in inside or splat_of(value) is not None or _is_repeated_exactly(operation, value)
            if not is_made_inside and (source is None or source.name not in WITHOUT_FLOATS or _is_weights(value)):
                if tensor_type(value) is None:
                    return
                inputs[value] = None
    if inputs:
        put_into_region(LINEAR, root, list(inputs), group, ())


def _is_repeated_exactly(operation: Operation, value: Value) -> bool:
    """Return True if an operation broadcasts the constant ``value``, and integers times one scale represent it exactly.

    Such a constant becomes part of the region's body. Other constants become operands.
    """
    dense = dense_of(value)
    return dense is not None and _is_repeated_constant(operation.results[0]) and _is_exact(np.asarray(dense.python))


def _is_exact(array: npt.NDArray[Any]) -> bool:
    """Return True if an array equals integers of magnitude below 2^62, times one power of two."""
    if not np.isfinite(array).all():
        return False
    values = [Fraction(float(value)) for value in array.ravel()]
    return not values or max(map(abs, values)) * max(value.denominator for value in values) < 1 << 62


def _is_weights(value: Value) -> bool:
    return constant_of(value) is not None and tensor_type(value) is not None


def _is_linear(operation: Operation) -> bool:
    """Return True if each element of an operation's result is a sum of constants and multiples of operand elements."""
    if len(operation.results) != 1:
        return False
    type = tensor_type(operation.results[0])
    if type is None or not isinstance(type.element, FloatType) or splat_of(operation.results[0]) is not None:
        return False
    if operation.name in INNER_ANNOTATIONS or operation.name in _MOVEMENT:
        return True
    if operation.name == "tensor.pad":
        padding = padding_of(operation.results[0])
        return padding is not None and padding.value == 0
    if isinstance(operation, StructuredOp):
        computed = body_expression(operation) if len(operation.outputs) == 1 else None
        return computed is not None and _degree(computed, [_degree_of(value) for value in operation.operands]) == 1
    elements = elements_of(operation.results[0])
    if elements is None:
        return False
    return _degree(elements.computed, [_degree_of(value) for value in elements.inputs]) == 1


def _degree_of(value: Value) -> int:
    """Return the polynomial degree of a value: 0 for a constant or a broadcast constant, and 1 for any other value."""
    return int(constant_of(value) is None and splat_of(value) is None and not _is_repeated_constant(value))


def _degree(expression: Expression, inputs: list[int]) -> int | None:
    """Return the polynomial degree, 0 or 1, of an expression, given those of its inputs; None for other expressions."""
    if expression[0] == "constant":
        return 0
    if expression[0] == "input":
        return inputs[int(str(expression[1]))]
    parts = [_degree(part, inputs) for part in expression[1:] if isinstance(part, tuple)]
    degrees = [part for part in parts if part is not None]
    if len(degrees) < len(parts):
        return None
    if expression[0] in ("arith.addf", "arith.subf", "arith.negf"):
        return max(degrees)
    if expression[0] == "arith.mulf" and sum(degrees) <= 1:
        return sum(degrees)
    return degrees[0] if expression[0] == "arith.divf" and degrees[1] == 0 else None
