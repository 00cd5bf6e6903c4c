"""Transposes move towards the end of a program, through ops that do the same in any order of axes, until they cancel.

A model whose images have the channels first stands between transposes at each window. Behind this pass its channels are
last from the first window to the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qrt.dialects.linalg.structure import StructuredOp
from qrt.execute.fusing.families import discardable, may_be, said
from qrt.execute.fusing.pointwise import is_identity, is_pointwise, reordered
from qrt.ir import Builder, IntegerAttr, Module, Operation, Value
from qrt.ir.core.attributes import attribute
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of, cyclic_operations
from qrt.ir.core.rewrite import erase_dead, replace
from qrt.ir.core.traits import ELEMENTWISE
from qrt.ops import FAMILIES
from qrt.ops.movement import axes_order
from qrt.types import TensorType, UniformType

Order = tuple[int, ...]
_ONE_BY_ONE = frozenset(
    {
        "qrt.add", "qrt.clamp", "qrt.div", "qrt.leaky_relu", "qrt.logistic", "qrt.lookup", "qrt.lookup_interpolated",
        "qrt.maximum", "qrt.minimum", "qrt.mul", "qrt.requantize", "qrt.squared_difference", "qrt.sub", "qrt.tanh",
        "quant.dcast", "quant.qcast", "quant.scast",
    }
)  # fmt: skip
"""Ops of families that compute each element from those in its place; of a table the same one for all."""
_TABLES = frozenset({"qrt.lookup", "qrt.lookup_interpolated"})
_BY_BLOCKS = "_16"
"""Rules whose name ends so round the elements of whole blocks, in memory, in another way than those behind."""
_MOST = 1 << 16
"""Steps of the pass. A program with more stays as it is behind them."""


@dataclass(frozen=True)
class CarryLayout:
    """Moves transposes behind ops and loops that work element by element, concatenations, pads and reductions, and
    cancels those that meet. Preserves every value."""

    def run(self, module: Module) -> None:
        operations = list(module.operation.walk())
        cyclic = cyclic_operations(operations)  # nor do transposes move into these: they would move on forever
        pending = [op for op in operations if op.name == "qrt.transpose" and op not in cyclic][::-1]
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
        erase_dead([op for op in module.operation.walk() if op.name == "qrt.transpose"])


def _order(value: Value) -> Order | None:
    """The permutation of the transpose that makes a value."""
    op = value.operation
    if op is None or op.name != "qrt.transpose" or not isinstance(op.operands[0].type, TensorType):
        return None
    return axes_order((op.operands[0].type,), said(op))


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
    return may_be("qrt.reshape", op.operands, FAMILIES["reshape"].complete({}), op.result.type)


def _as_reshape(op: Operation) -> None:
    replace(op, [Builder(op).value("qrt.reshape", op.operands, op.result.type, discardable(op))])


def _moved(op: Operation) -> Operation | None:
    """Moves the transposes before an op behind it. Returns the transpose that stands there now, or None."""
    if op.name == "qrt.transpose":
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
    if op.name in _ONE_BY_ONE or _is_elementwise(op):
        return _element_by_element(op, orders, order)
    if op.name == "qrt.concat" and all(each == order for each in orders):
        return _again(op, order, {"axis": order[said(op)["axis"] % len(order)]}, order)
    if op.name == "qrt.pad":
        padding = said(op)["padding"]
        pairs = [padding[order.index(axis)] for axis in range(len(order))]
        return _again(op, order, {"padding": pairs}, order)
    if op.name in ("qrt.mean", "qrt.sum", "qrt.reduce_max", "qrt.reduce_min"):
        return _reduced(op, order)
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
    return Builder(op).value("qrt.transpose", (source,), kind, attributes)


def _element_by_element(op: Operation, orders: Sequence[Order | None], order: Order) -> Operation | None:
    if str(said(op).get("requant", "") if op.name in _ONE_BY_ONE else "").endswith(_BY_BLOCKS):
        return None
    count = 1 if op.name in _TABLES else len(op.operands)
    operands: list[Value] = []
    for value, given in zip(op.operands[:count], orders, strict=False):
        found = value.operation
        if given == order and found is not None:
            operands.append(found.operands[0])
        elif given is None and _is_constant(value) and len(_shape(value) or ()) == len(order):
            inverse = [order.index(axis) for axis in range(len(order))]
            kind = _in_order(value, inverse)
            operands.append(Builder(op).value(
                "qrt.transpose", (value,), kind, {"permutation": attribute(inverse)}
            ))  # fmt: skip
        else:
            return None
    return _again(op, order, {}, order, [*operands, *op.operands[count:]])


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
    inverse = [order.index(axis) for axis in range(len(order))]
    sizes, given_sizes = list(_shape(empty.result) or ()), iter(empty.operands)
    known = [next(given_sizes) if size is None else None for size in sizes]
    moved = [size for axis in inverse if (size := known[axis]) is not None]
    init = Builder(op).value("tensor.empty", moved, _in_order(empty.result, inverse))
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


def _reduced(op: Operation, order: Order) -> Operation | None:
    """A reduction over axes, which may leave these out."""
    attributes, rank = said(op), len(order)
    if str(attributes.get("requant", "")).endswith(_BY_BLOCKS):
        return None
    axes = [axis % rank for axis in (range(rank) if attributes["axes"] is None else attributes["axes"])]
    kept = list(order)
    if not attributes["keepdims"]:
        left = [order[axis] for axis in range(rank) if axis not in axes]
        kept = [sorted(left).index(axis) for axis in left]
    return _again(op, order, {"axes": sorted(order[axis] for axis in axes)}, tuple(kept))


def _again(
    op: Operation, order: Order, changed: dict[str, Any], after: Order, operands: Sequence[Value] | None = None
) -> Operation | None:
    """The op on what its transposes read, and a transpose behind it. What is said of the value stands there."""
    if operands is None:
        operands = [each.operation.operands[0] for each in op.operands if each.operation is not None]
    own = {name: value for name, value in op.attributes.items() if "." not in name}
    inverse = [after.index(axis) for axis in range(len(after))]
    kind = _in_order(op.result, inverse)
    attributes = own | {name: attribute(value) for name, value in changed.items()}
    result = Builder(op).value(op.name, operands, kind, attributes)
    made = _transposed(op, result, after, op.result.type)
    replace(op, [made])
    return made.operation
