"""Transposes move towards the end of a program, through ops that do the same in any order of axes, until they cancel.

A model whose images have the channels first stands between transposes at each window. Behind this pass its channels are
last from the first window to the last.
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
from qrt.runtime.fusion.families import discardable, may_be, said, traits_of
from qrt.runtime.fusion.pointwise import is_identity, is_pointwise, reordered
from qrt.types import TensorType, UniformType

_RESHAPE, _TRANSPOSE = FAMILIES["reshape"], "qrt.transpose"
_MOST = 1 << 16
"""Steps of the pass. A program with more stays as it is behind them."""


@dataclass(frozen=True)
class CarryLayout:
    """Moves transposes behind ops and loops that work element by element, concatenations, pads and reductions, and
    cancels those that meet. Preserves every value."""

    def run(self, module: Module) -> None:
        operations = module.operation.walk()
        cyclic = cyclic_operations(operations)  # nor do transposes move into these: they would move on forever
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
    """The permutation of the transpose that makes a value."""
    op = value.operation
    permutation = traits_of(op).permutation
    if op is None or permutation is None or not isinstance(op.operands[0].type, TensorType):
        return None
    return permutation((op.operands[0].type,), said(op))


def _shape(value: Value) -> tuple[int | None, ...] | None:
    return value.type.shape if isinstance(value.type, TensorType) else None


def _is_reshape(op: Operation) -> bool:
    """Whether a transpose leaves the elements where they are: axes that change their places have one element. A size
    that is open must follow from the number of elements, which it does not beside a size of 0. Channels and blocks must
    be such that a reshape lets them follow."""
    order, shape = _order(op.result), _shape(op.operands[0])
    assert order is not None
    kept = [axis for axis in order if shape is None or shape[axis] != 1]
    if shape is None or shape.count(None) > 1 or (None in shape and 0 in shape):
        return False
    if kept != sorted(kept):
        return False
    return may_be(_RESHAPE, op.operands, _RESHAPE.complete({}), op.result.type)


def _as_reshape(op: Operation) -> None:
    replace(op, [Builder(op).value(_RESHAPE.declaration.op, op.operands, op.result.type, discardable(op))])


def _moved(op: Operation) -> Operation | None:
    """Moves the transposes before an op behind it. Returns the transpose that stands there now, or None."""
    if _is_transpose(op):
        return _composed(op)
    if op.name == "tensor.dim":
        _measure(op)
        return None
    if is_pointwise(op):
        return _loops(op)
    if len(op.results) != 1 or op.regions:
        return None
    orders = [_order(value) for value in op.operands]
    order = next((each for each in orders if each is not None), None)
    if order is None or not all(map(_is_movable_type, (*op.operands, op.result))):
        return None
    traits = traits_of(op)
    if not traits.is_movement and family_of(op) is not None and is_by_place(said(op)):
        return None
    if traits.is_elementwise or _is_elementwise(op):
        return _element_by_element(op, orders, order)
    if traits.permute is not None and all(other == order for other in orders):
        return _again(op, order, *traits.permute(said(op), order))
    return None


def _is_elementwise(op: Operation) -> bool:
    return op.definition is not None and ELEMENTWISE in op.definition.traits and not op.name.startswith("quant.")


def _is_movable_type(value: Value) -> bool:
    """Whether a value is a tensor of known rank, whose scales lie along no axis."""
    kind = value.type
    if not isinstance(kind, TensorType) or kind.shape is None:
        return False
    return not isinstance(kind.element, UniformType) or kind.element.is_per_layer


def _composed(op: Operation) -> Operation | None:
    """Two transposes as one; none where they cancel."""
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
    made = _transposed(op, source, order, op.result.type)
    replace(op, [made])
    return made.operation


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
        found = value.operation
        if given == order and found is not None:
            operands.append(found.operands[0])
        elif given is None and _is_constant(value) and len(_shape(value) or ()) == len(order):
            inner = inverse(order)
            kind = _in_order(value, inner)
            operands.append(Builder(op).value(
                _TRANSPOSE, (value,), kind, {"permutation": attribute(list(inner))}
            ))  # fmt: skip
        else:
            return None
    return _again(op, order, {}, order, operands)


def _measure(op: Operation) -> None:
    """A size of what a transpose reads in place of its result's."""
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
    """Loops in the order of what their transposed input was made of. All else that they read is constant, or lacks an
    axis: that is read in another order."""
    reads = list(zip(op.inputs, op.indexing_maps, strict=False))
    orders = [_order(value) if is_identity(map) else None for value, map in reads]
    order = next((each for each in orders if each is not None), None)
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
    made = _transposed(op, reordered(op, inputs, init, order).result, order, op.result.type)
    replace(op, [made])
    erase_dead([empty])
    return made.operation


def _is_constant(value: Value) -> bool:
    op = value.operation
    if op is not None and op.name == "quant.scast":
        op = op.operands[0].operation
    return op is not None and op.name == "arith.constant"


def _in_order(value: Value, order: Sequence[int]) -> TensorType:
    kind = value.type
    assert isinstance(kind, TensorType)
    return kind.with_(shape=tuple((kind.shape or ())[axis] for axis in order))


def _again(
    op: Operation, order: Order, changed: dict[str, Any], after: Order, operands: Sequence[Value] | None = None
) -> Operation | None:
    """The op on what its transposes read, and a transpose behind it. What is said of the value stands there."""
    if operands is None:
        operands = [each.operation.operands[0] for each in op.operands if each.operation is not None]
    own = {name: value for name, value in op.attributes.items() if "." not in name}
    inner = inverse(after)
    kind = _in_order(op.result, inner)
    attributes = own | {name: attribute(value) for name, value in changed.items()}
    result = Builder(op).value(op.name, operands, kind, attributes)
    made = _transposed(op, result, after, op.result.type)
    replace(op, [made])
    return made.operation
