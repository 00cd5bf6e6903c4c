"""Elements at positions that a tensor holds: GatherElements, GatherND, Scatter, ScatterElements, ScatterND.

Where positions are known, each result takes its element of the operands side by side. What is scattered to positions
that the run knows is looked for by each element of the result, in the order in which it stands in the file.
"""

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.data_movement import joined, reshaped
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import BOOL, Operand, apply, as_value, compare, number_of, select, shape_of
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import I64, movable, set_moved
from qrt.models.onnx.types import signless
from qrt.ops.core import Array
from qrt.ops.scatter import is_number
from qrt.types import TensorType

_REDUCTIONS = {
    "add": ("arith.addi", "arith.addi", "arith.addf"),
    "mul": ("arith.muli", "arith.muli", "arith.mulf"),
    "max": ("arith.maxsi", "arith.maxui", "arith.maximumf"),
    "min": ("arith.minsi", "arith.minui", "arith.minimumf"),
}
"""The ops of signed integers, of unsigned ones, and of floats."""


def _static(node: Node, i: int = 0) -> tuple[int, ...]:
    """The shape of an input, all of whose sizes must be known."""
    shape = tuple(size for size in node.shape(i) if size is not None)
    if len(shape) < len(node.shape(i)):
        node.refuse("a dynamic dimension")
    return shape


def _wrapped(node: Node, i: int, sizes: Array) -> Operand:
    """Positions counted from 0, as int64: of sizes that broadcast to them. One that is none is an error: here where it
    is known, or else -1, which no tensor has.
    """
    if node.dtype(i) not in ("int32", "int64"):
        node.refuse(f"indices of {node.dtype(i)}")
    known = node.constant(i)
    if known is not None:
        if not ((known >= -sizes) & (known < sizes)).all():
            node.fail(f"indices from {known.min()} to {known.max()} are out of range for size {sizes.max(initial=0)}")
        return np.where(known < 0, known + sizes, known).astype(np.int64)
    found: Operand = node.value(i)
    if node.plain(i) is not I64:
        found = apply(node, "arith.extsi", [found], [node.plain(i)], I64)
    zero = number_of(0, I64)
    found = select(node, compare(node, "slt", found, zero, I64), _op(node, "arith.addi", found, sizes), found, I64)
    return select(node, compare(node, "ult", found, sizes, I64), found, number_of(-1, I64), I64)


def _op(node: Node, name: str, a: Operand, b: Operand) -> Operand:
    return apply(node, name, [a, b], [I64, I64], I64)


def _strides(shape: Sequence[int]) -> Array:
    return np.array([prod(shape[d + 1 :]) for d in range(len(shape))], np.int64)


def _unless_none(node: Node, at: Operand, found: Operand) -> Operand:
    """Numbers that follow from positions; -1 where these are none."""
    none = number_of(-1, I64)
    return select(node, compare(node, "eq", at, none, I64), none, found, I64)


def _elements(node: Node, shape: Sequence[int], at: Operand, axis: int, own: Sequence[int]) -> Operand:
    """The numbers of elements of a tensor of shape ``own``, at positions along one axis."""
    strides = _strides(own)
    others = [np.arange(n).reshape([n if d == e else 1 for e in range(len(shape))]) * strides[d]
              for d, n in enumerate(shape) if d != axis]  # fmt: skip
    base = np.asarray(reduce(np.add, others, np.zeros([1] * len(shape), np.int64)), np.int64)
    along = _op(node, "arith.muli", at, number_of(strides[axis], I64))
    return _unless_none(node, at, _op(node, "arith.addi", along, base))


def _taken(node: Node, x: Value, at: Operand, axis: int = 0) -> Value:
    return node.emit("qrt.gather", [x, as_value(node, at, I64)], {"axis": axis})


def gather_elements(node: Node) -> None:
    """Along an axis each element at its own position, from the end where negative."""
    own, shape = _static(node), _static(node, 1)
    axis = _axis(node, own, shape)
    at = _elements(node, shape, _wrapped(node, 1, np.array(own[axis], np.int64)), axis, own)
    array = node.constant(0)
    if array is not None and isinstance(at, np.ndarray):
        node.set_constant(0, array.reshape(-1)[at], node.plain(0))
        return
    node.set(0, _taken(node, reshaped(node, movable(node), (prod(own),)), at))


def _axis(node: Node, own: Sequence[int], shape: Sequence[int]) -> int:
    """The axis of positions, which are as many as elements, or less, along the others."""
    axis = node.axis(node.attribute("axis", 0), len(own))
    if len(own) != len(shape) or any(n > m for d, (n, m) in enumerate(zip(shape, own, strict=True)) if d != axis):
        node.fail(f"indices of shape {list(shape)} do not match shape {list(own)} along axis {axis}")
    return axis


def gather_nd(node: Node) -> None:
    """Each row of positions, from the end where negative, names an element or what the axes behind hold; the first axes
    may go together.
    """
    own, batch = _static(node), node.attribute("batch_dims", 0)
    shape = _static(node, 1)
    count = shape[-1] if shape else 0
    if not 0 <= batch < len(shape) or batch + count > len(own) or not count or own[:batch] != shape[:batch]:
        node.fail(f"indices of shape {list(shape)} do not match shape {list(own)} with batch_dims = {batch}")
    at = _rows(node, own, batch, count)
    value = reshaped(node, movable(node), (prod(own[: batch + count]), *own[batch + count :]))
    node.set(0, _taken(node, value, at))


def _rows(node: Node, own: Sequence[int], batch: int, count: int) -> Operand:
    """The numbers that rows of positions name, of all that the first axes hold."""
    sizes, shape = np.array(own[batch : batch + count], np.int64), _static(node, 1)
    at, strides = _wrapped(node, 1, sizes), _strides(own[: batch + count])
    base: Array = np.zeros([1] * (len(shape) - 1), np.int64)
    for d in range(batch):
        base = base + np.arange(own[d]).reshape([own[d] if d == e else 1 for e in range(len(shape) - 1)]) * strides[d]
    total: Operand = np.asarray(base, np.int64)
    is_none: Operand | None = None
    for d in range(count):
        column = _column(node, at, d)
        total = _op(node, "arith.addi", total, _op(node, "arith.muli", column, number_of(strides[batch + d], I64)))
        none = compare(node, "slt", column, number_of(0, I64), I64)
        is_none = none if is_none is None else apply(node, "arith.ori", [is_none, none], [BOOL, BOOL], BOOL)
    return total if is_none is None else select(node, is_none, number_of(-1, I64), total, I64)


def _column(node: Node, at: Operand, d: int) -> Operand:
    if isinstance(at, np.ndarray):
        return np.ascontiguousarray(at[..., d])
    return node.emit("qrt.gather", [at, node.dense(np.array(d, np.int64), I64)], {"axis": len(shape_of(at)) - 1})


# -- scattered -------------------------------------------------------------------------------------------------------


def scatter_elements(node: Node) -> None:
    """Elements in place of those at positions along an axis, or added to them, multiplied, or the larger or less one of
    both; one after the other where several name one.
    """
    own, shape = _static(node), _static(node, 1)
    axis = _axis(node, own, shape)
    _check_types(node)
    if _static(node, 2) != shape:
        node.fail(f"its indices have shape {list(shape)}, but the updates {list(_static(node, 2))}")
    at = _wrapped(node, 1, np.array(own[axis], np.int64))
    if isinstance(at, np.ndarray):
        _scatter_known(node, np.asarray(_elements(node, shape, at, axis, own)).reshape(-1), 1)
        return
    if _is_plain(node):
        _scatter_rows(node, _elements(node, shape, at, axis, own), prod(own), 1, prod(shape))
        return
    if any(n != m for d, (n, m) in enumerate(zip(shape, own, strict=True)) if d != axis):
        node.refuse("positions known only at run time, for a part of the other axes")
    at = _checked(node, at, own[axis])
    _scatter_of_run(node, at, own, shape, shape, axis)


def scatter_nd(node: Node) -> None:
    """What rows of positions name, replaced, or as the reductions of ScatterElements have it."""
    own, shape = _static(node), _static(node, 1)
    _check_types(node)
    count = shape[-1] if shape else 0
    if not 0 < count <= len(own) or _static(node, 2) != (*shape[:-1], *own[count:]):
        node.fail(
            f"indices of shape {list(shape)} and updates of shape {list(node.shape(2))} do not match shape {list(own)}"
        )
    at, size, rows = _rows(node, own, 0, count), prod(own[count:]), prod(own[:count])
    if isinstance(at, np.ndarray):
        _scatter_known(node, at.reshape(-1), size)
        return
    if _is_plain(node):
        _scatter_rows(node, at, rows, size, prod(shape[:-1]))
        return
    at = _checked(node, reshaped(node, at, (prod(shape[:-1]), 1)), rows)
    _scatter_of_run(node, at, (rows, size), (prod(shape[:-1]), 1), (prod(shape[:-1]), size), 0)


def _check_types(node: Node) -> None:
    if node.plain(0) is not node.plain(2):
        node.fail(f"its updates have the type {node.dtype(2)}, but its input {node.dtype(0)}")


def _is_plain(node: Node) -> bool:
    """Whether `qrt.scatter_nd` has the reduction, of this type."""
    said, element = node.attribute("reduction", "none"), signless(node.plain(0))
    return said == "none" or (said == "add" and is_number(element))


def _scatter_rows(node: Node, at: Operand, rows: int, size: int, count: int) -> None:
    """To numbers of rows that the run knows, each of so many elements."""
    x, updates = _operands(node)
    reduction = node.attribute("reduction", "none")
    operands = [reshaped(node, x, (rows, size)), reshaped(node, as_value(node, at, I64), (count, 1))]
    operands.append(reshaped(node, updates, (count, size)))
    found = node.emit("qrt.scatter_nd", operands, {"reduction": reduction})
    set_moved(node, 0, reshaped(node, found, _static(node)))


def _checked(node: Node, at: Operand, size: int) -> Value:
    """Positions, which are an error of the run where they name nothing."""
    return _taken(node, node.dense(np.arange(size, dtype=np.int64), I64), at)


def _operands(node: Node) -> tuple[Value, Value]:
    """What is scattered to, and what is scattered, of one type."""
    values = movable(node), movable(node, 2)
    if len({value.type.element for value in values if isinstance(value.type, TensorType)}) > 1 or _reduction(node):
        return node.stored(0), node.stored(2)
    return values


def _reduction(node: Node) -> str:
    """The op that joins an element with the one before; nothing where it takes its place."""
    said = node.attribute("reduction", "none")
    if said != "none" and said not in _REDUCTIONS:
        node.fail(f"its reduction is {said!r}, expected none, {', '.join(_REDUCTIONS)}")
    return "" if said == "none" else _REDUCTIONS[said][form(node.plain(0))]


def _scatter_known(node: Node, at: Array, size: int) -> None:
    """To numbers of rows, each of so many elements. Where several name one, each is joined in a round of its own."""
    name, (x, updates) = _reduction(node), _operands(node)
    own = _static(node)
    rows = prod(own) // max(size, 1)
    x, updates = reshaped(node, x, (rows, size)), reshaped(node, updates, (len(at), size))
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], at[order])
    turns = np.empty(len(at), np.int64)
    turns[order] = np.arange(len(at)) - starts
    for turn in range(int(turns.max(initial=-1)) + 1) if name else [None]:
        of_turn = np.arange(len(at)) if turn is None else np.flatnonzero(turns == turn)
        sources = np.arange(rows)
        sources[at[of_turn]] = rows + of_turn
        found = _taken(node, joined(node, [x, updates], 0), sources)
        if turn is None:
            x = found
            continue
        element = signless(node.plain(0))
        both = apply(node, name, [x, found], [element, element], element)
        is_new = (sources >= rows).reshape(rows, 1)
        x = as_value(node, select(node, is_new, both, x, element), element)
    x = reshaped(node, x, own)
    if x is node.graph.values.get(node.input(0)):
        x = node.emit("qrt.reshape", [x], None, x.type)
    set_moved(node, 0, x)


def _scatter_of_run(
    node: Node, at: Value, own: Sequence[int], shape: Sequence[int], of_updates: Sequence[int], axis: int
) -> None:
    """To positions along an axis that the run knows: each element goes over those of its line."""
    name, element = _reduction(node), signless(node.plain(0))
    x = reshaped(node, node.stored(0), tuple(own))
    updates = reshaped(node, node.stored(2), tuple(of_updates))
    nest = LoopNest(lowering_context(node), "scatter", list(own), [shape[axis]])
    *kept, line = nest.loops
    place = [line if d == axis else loop for d, loop in enumerate(kept)]
    of_rows = [0 if n == 1 and m != 1 else loop for n, m, loop in zip(shape, own, place, strict=True)]
    here = nest.value("arith.index_cast", (nest.position(kept[axis]),), I64)
    named = nest.compare(0, nest.read(at, of_rows), here)
    before, new = nest.running(element, x), nest.read(updates, place)
    both = nest.value(name, (before, new), element) if name else new
    (found,) = nest.finish(nest.value("arith.select", (named, both, before), element))
    set_moved(node, 0, reshaped(node, found, _static(node)))


# -- of the run's number ---------------------------------------------------------------------------------------------


def non_zero(node: Node) -> None:
    """Of a tensor that is known at import: how many positions there are is a size of the result."""
    array = node.known(0, "a result whose size depends on elements")
    node.set_constant(0, np.array(np.nonzero(array.reshape(-1) if not array.ndim else array), np.int64))


def compress(node: Node) -> None:
    """The elements, or parts along an axis, for which bools hold that are known at import."""
    kept = np.flatnonzero(node.known(1, "a result whose size depends on elements"))
    own = _static(node)
    is_flat = not node.says("axis")
    axis = 0 if is_flat else node.axis(node.attribute("axis", 0), len(own))
    if kept.max(initial=-1) >= (prod(own) if is_flat else own[axis]) or not kept.size:
        node.fail(f"it selects {kept.size} elements, the last at index {kept.max(initial=-1)}, from shape {list(own)}")
    value = reshaped(node, movable(node), (prod(own),)) if is_flat else movable(node)
    set_moved(node, 0, _taken(node, value, kept.astype(np.int64), axis))
