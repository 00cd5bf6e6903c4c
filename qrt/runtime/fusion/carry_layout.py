"""Pass that moves transposes towards the end of a program, until they cancel each other.

A transpose moves from an op's operands to its result if the op works in any order of axes. In a model with
channels-first images, each window operator has a transpose before and after it. After this pass the channels are last
from the first window operator to the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import Builder, IntegerAttr, Module, Operation, Value
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.core.traits import ELEMENTWISE
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import FAMILIES, family_of
from qrt.ops.declare import Order
from qrt.ops.traits import inverse, is_by_place
from qrt.runtime.fusion.families import accepts, attributes_of, discardable, traits_of
from qrt.runtime.fusion.pointwise import is_identity, is_pointwise, reordered
from qrt.types import TensorType, UniformType

_RESHAPE, _TRANSPOSE = FAMILIES["reshape"], "qrt.transpose"
_MOST = 1 << 16
"""The largest number of steps of the pass, which then stops."""


@dataclass(frozen=True)
class CarryLayout:
    """Moves transposes from ops' operands to their results, and composes consecutive transposes. Preserves every value.

    A transpose moves through elementwise ops (also `linalg.generic`), concatenations, pads and reductions.
    """

    def run(self, module: Module) -> None:
        operations = module.operation.walk()
        cyclic = cyclic_operations(operations)  # transposes would move forever in cycles
        pending = [op for op in operations if _is_transpose(op) and op not in cyclic][::-1]
        for _ in range(_MOST):
            if not pending:
                break
            op = pending.pop()
            if op.parent is None or not op.result.uses:
                continue
            if _is_reshape(op):
                _as_reshape(op)
                continue
            for user in list(op.result.users):
                if user.parent is not None and user not in cyclic and (moved := _moved(user)) is not None:
                    pending.append(moved)
        erase_dead([op for op in module.operation.walk() if _is_transpose(op)])


def _is_transpose(op: Operation) -> bool:
    return traits_of(op).permutation is not None


def _order(value: Value) -> Order | None:
    """Return the permutation of the transpose that computes a value; None if the value is not a transpose's result."""
    op = value.operation
    permutation = traits_of(op).permutation
    if op is None or permutation is None or not isinstance(op.operands[0].type, TensorType):
        return None
    return permutation((op.operands[0].type,), attributes_of(op))


def _shape(value: Value) -> tuple[int | None, ...] | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


def _is_reshape(op: Operation) -> bool:
    """Return True if a reshape has the same result as a transpose, because the order of the axes larger than 1 is kept.

    Return False also if a reshape could not compute a dynamic size, or does not support the element type. One dynamic
    size can be computed from the number of elements, unless this number is 0.
    """
    order, shape = _order(op.result), _shape(op.operands[0])
    assert order is not None
    large_axes = [axis for axis in order if shape is None or shape[axis] != 1]
    if shape is None or shape.count(None) > 1 or (None in shape and 0 in shape):
        return False
    if large_axes != sorted(large_axes):
        return False
    return accepts(_RESHAPE, op.operands, _RESHAPE.complete({}), op.result.type)


def _as_reshape(op: Operation) -> None:
    replace(op, [Builder(op).value(_RESHAPE.declaration.op, op.operands, op.result.type, discardable(op))])


def _moved(op: Operation) -> Operation | None:
    """Move the transposes of an op's operands to its result. Return the new transpose, or None if there is none."""
    if _is_transpose(op):
        return _composed(op)
    if op.name == "tensor.dim":
        _move_dim(op)
        return None
    if is_pointwise(op):
        return _loops(op)
    if len(op.results) != 1 or op.regions:
        return None
    orders = [_order(value) for value in op.operands]
    order = next((candidate for candidate in orders if candidate is not None), None)
    if order is None or not all(map(_is_movable_type, (*op.operands, op.result))):
        return None
    traits = traits_of(op)
    if not traits.is_movement and family_of(op) is not None and is_by_place(attributes_of(op)):
        return None
    if traits.is_elementwise or _is_elementwise(op):
        return _element_by_element(op, orders, order)
    if traits.permute is not None and all(other == order for other in orders):
        return _on_untransposed(op, *traits.permute(attributes_of(op), order))
    return None


def _is_elementwise(op: Operation) -> bool:
    return op.definition is not None and ELEMENTWISE in op.definition.traits and not op.name.startswith("quant.")


def _is_movable_type(value: Value) -> bool:
    kind = value.type
    if not isinstance(kind, TensorType) or kind.shape is None:
        return False
    return not isinstance(kind.element, UniformType) or kind.element.is_per_layer


def _composed(op: Operation) -> Operation | None:
    """Replace two consecutive transposes by one, which is returned; return None if they cancel and both are removed.

    ``op`` is the second transpose.
    """
    first = op.operands[0].operation
    before, after = _order(op.operands[0]), _order(op.result)
    assert first is not None
    assert before is not None
    assert after is not None
    order = tuple(before[axis] for axis in after)
    source = first.operands[0]
    if order == tuple(range(len(order))):
        replace(op, [source])
        return None
    composed = _transposed(op, source, order, op.result.type)
    replace(op, [composed])
    return composed.operation


def _transposed(op: Operation, source: Value, order: Order, kind: Any) -> Value:
    attributes = discardable(op) | {"permutation": attribute(list(order))}
    return Builder(op).value(_TRANSPOSE, (source,), kind, attributes)


def _element_by_element(op: Operation, orders: Sequence[Order | None], order: Order) -> Operation | None:
    tables = traits_of(op).tables
    operands: list[Value] = []
    for i, (value, given) in enumerate(zip(op.operands, orders, strict=True)):
        if i in tables:
            operands.append(value)
            continue
        transpose = value.operation
        if given == order and transpose is not None:
            operands.append(transpose.operands[0])
        elif given is None and _is_constant(value) and len(_shape(value) or ()) == len(order):
            inner = inverse(order)
            kind = _in_order(value, inner)
            operands.append(Builder(op).value(
                _TRANSPOSE, (value,), kind, {"permutation": attribute(list(inner))}
            ))  # fmt: skip
        else:
            return None
    return _on_untransposed(op, {}, order, operands)


def _move_dim(op: Operation) -> None:
    """Replace the `tensor.dim` of a transpose's result by the `tensor.dim` of the transpose's operand."""
    order, axis = _order(op.operands[0]), constant_of(op.operands[1])
    source = op.operands[0].operation
    if order is None or source is None or not isinstance(axis, IntegerAttr) or not 0 <= axis.value < len(order):
        return
    builder = Builder(op)
    replace(
        op,
        [builder.value("tensor.dim", [source.operands[0], builder.constant(order[axis.value], INDEX)], op.result.type)],
    )


def _loops(op: StructuredOp) -> Operation | None:
    """Reorder the loops of an elementwise `linalg.generic` so that it reads the operands of transposes, not results.

    Return the new transpose of the result. Return None if the loops cannot be reordered. An input that is not
    transposed in the same way must be constant or have fewer axes; its indexing map is permuted.
    """
    reads = list(zip(op.inputs, op.indexing_maps, strict=False))
    orders = [_order(value) if is_identity(map) else None for value, map in reads]
    order = next((candidate for candidate in orders if candidate is not None), None)
    empty = op.outputs[0].operation
    if order is None or empty is None or empty.name != "tensor.empty":
        return None
    inputs: list[Value | None] = []
    for (value, map), given in zip(reads, orders, strict=True):
        source = value.operation
        if given == order and source is not None:
            inputs.append(source.operands[0])
        elif given is None and (len(map.results) < len(order) or _is_constant(value)):
            inputs.append(None)
        else:
            return None
    inner = inverse(order)
    sizes, given_sizes = list(_shape(empty.result) or ()), iter(empty.operands)
    known = [next(given_sizes) if size is None else None for size in sizes]
    moved = [size for axis in inner if (size := known[axis]) is not None]
    init = Builder(op).value("tensor.empty", moved, _in_order(empty.result, inner))
    transposed = _transposed(op, reordered(op, inputs, init, order).result, order, op.result.type)
    replace(op, [transposed])
    erase_dead([empty])
    return transposed.operation


def _is_constant(value: Value) -> bool:
    op = value.operation
    if op is not None and op.name == "quant.scast":
        op = op.operands[0].operation
    return op is not None and op.name == "arith.constant"


def _in_order(value: Value, order: Sequence[int]) -> TensorType:
    kind = value.type
    assert isinstance(kind, TensorType)
    return kind.with_(shape=tuple((kind.shape or ())[axis] for axis in order))


def _on_untransposed(
    op: Operation, changed: dict[str, Any], after: Order, operands: Sequence[Value] | None = None
) -> Operation | None:
    """Replace an op by the same op on untransposed operands and a transpose of its result; return the transpose.

    ``changed`` has the attributes whose values differ in the new op. ``after`` is the permutation of the new transpose.
    ``operands`` are the operands of the new op; if None, each operand of ``op`` is the result of a transpose, and the
    new op takes the transpose's operand. The new transpose gets the discardable attributes of ``op``.
    """
    if operands is None:
        operands = [operand.operation.operands[0] for operand in op.operands if operand.operation is not None]
    own = {name: value for name, value in op.attributes.items() if "." not in name}
    inner = inverse(after)
    kind = _in_order(op.result, inner)
    attributes = own | {name: attribute(value) for name, value in changed.items()}
    result = Builder(op).value(op.name, operands, kind, attributes)
    transposed = _transposed(op, result, after, op.result.type)
    replace(op, [transposed])
    return transposed.operation
