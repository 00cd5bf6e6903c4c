"""Elements at positions that a tensor gives: gather, scatter, and selection by bools.

A scatter with positions that are known at import becomes a gather from the input joined with the updates. With
positions known only at run time, a loop nest compares the index of each element of the result with all positions, in
the order of the updates.
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
from qrt.models.onnx.operators import open_indexing
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import I64, movable, set_moved
from qrt.models.onnx.types import signless
from qrt.ops.core import Array
from qrt.types import TensorType

_REDUCTIONS = {
    "add": ("arith.addi", "arith.addi", "arith.addf"),
    "mul": ("arith.muli", "arith.muli", "arith.mulf"),
    "max": ("arith.maxsi", "arith.maxui", "arith.maximumf"),
    "min": ("arith.minsi", "arith.minui", "arith.minimumf"),
}
"""The operations on signed integers, on unsigned integers, and on floats."""
_EXTREMES = {"arith.maximumf": "sgt", "arith.minimumf": "slt"}
"""Of floats, the predicate by which an element remains: an update replaces a NaN, as in ONNX Runtime."""


def _static(node: Node, i: int = 0) -> tuple[int, ...]:
    shape = tuple(size for size in node.shape(i) if size is not None)
    if len(shape) < len(node.shape(i)):
        node.refuse("a dynamic dimension")
    return shape


def _wrapped(node: Node, i: int, sizes: Array) -> Operand:
    """Return the positions in input ``i`` as int64, with negative positions counted from the end.

    ``sizes`` has the sizes of the indexed axes, and broadcasts to the positions. A position out of range is an error.
    If the position is known only at run time, it becomes -1, which raises the error then.
    """
    if node.dtype(i) not in ("int32", "int64"):
        node.refuse(f"indices of {node.dtype(i)}")
    known = node.constant(i)
    if known is not None:
        if not ((known >= -sizes) & (known < sizes)).all():
            node.fail(
                f"an index is out of bounds: the indexed axes have sizes up to {sizes.max(initial=0)}, got "
                f"{known.min()} to {known.max()}"
            )
        return np.where(known < 0, known + sizes, known).astype(np.int64)
    positions: Operand = node.value(i)
    if node.plain(i) is not I64:
        positions = apply(node, "arith.extsi", [positions], [node.plain(i)], I64)
    zero = number_of(0, I64)
    positions = select(
        node, compare(node, "slt", positions, zero, I64), _op(node, "arith.addi", positions, sizes), positions, I64
    )
    return select(node, compare(node, "ult", positions, sizes, I64), positions, number_of(-1, I64), I64)


def _op(node: Node, name: str, a: Operand, b: Operand) -> Operand:
    return apply(node, name, [a, b], [I64, I64], I64)


def _strides(shape: Sequence[int]) -> Array:
    return np.array([prod(shape[d + 1 :]) for d in range(len(shape))], np.int64)


def _keep_invalid(node: Node, positions: Operand, numbers: Operand) -> Operand:
    """Return ``numbers``, with -1 where ``positions`` is -1. A position of -1 is out of range."""
    none = number_of(-1, I64)
    return select(node, compare(node, "eq", positions, none, I64), none, numbers, I64)


def _elements(node: Node, shape: Sequence[int], positions: Operand, axis: int, data_shape: Sequence[int]) -> Operand:
    """Return the flat indices of the elements that ``positions`` select along ``axis`` of data of shape ``data_shape``.

    ``shape`` is the shape of ``positions``. For ``axis`` 0, the position ``p`` at index [i, j] selects element [p, j].
    """
    strides = _strides(data_shape)
    others = [np.arange(n).reshape([n if d == e else 1 for e in range(len(shape))]) * strides[d]
              for d, n in enumerate(shape) if d != axis]  # fmt: skip
    base = np.asarray(reduce(np.add, others, np.zeros([1] * len(shape), np.int64)), np.int64)
    along = _op(node, "arith.muli", positions, number_of(strides[axis], I64))
    return _keep_invalid(node, positions, _op(node, "arith.addi", along, base))


def _taken(node: Node, x: Value, indices: Operand, axis: int = 0) -> Value:
    return node.emit("qrt.gather", [x, as_value(node, indices, I64)], {"axis": axis})


def gather_elements(node: Node) -> None:
    """Import GatherElements: take the element at each position along an axis, as `numpy.take_along_axis` does.

    Negative positions count from the end. Along the other axes, there may be fewer positions than elements.
    """
    if open_indexing.has_open_sizes(node):
        open_indexing.gather_elements(node)
        return
    data_shape, shape = _static(node), _static(node, 1)
    axis = _axis(node, data_shape, shape)
    indices = _elements(node, shape, _wrapped(node, 1, np.array(data_shape[axis], np.int64)), axis, data_shape)
    array = node.constant(0)
    if array is not None and isinstance(indices, np.ndarray):
        node.set_constant(0, array.reshape(-1)[indices], node.plain(0))
        return
    node.set(0, _taken(node, reshaped(node, movable(node), (prod(data_shape),)), indices))


def _axis(node: Node, data_shape: Sequence[int], shape: Sequence[int]) -> int:
    """Return the axis along which positions of ``shape`` index the data. Raise ModelError if the shapes do not match.

    Along the other axes there may be fewer positions than elements.
    """
    axis = node.axis(node.attribute("axis", 0), len(data_shape))
    if len(data_shape) != len(shape) or any(
        n > m for d, (n, m) in enumerate(zip(shape, data_shape, strict=True)) if d != axis
    ):
        node.fail(
            f"the indices must have the rank of the input and at most its sizes on all axes but {axis}, got shape "
            f"{list(shape)} for {list(data_shape)}"
        )
    return axis


def gather_nd(node: Node) -> None:
    """Import GatherND: for each row of the indices, take an element, or a slice along the last axes.

    Negative indices count from the end. The first axes may be batch axes.
    """
    if open_indexing.has_open_sizes(node):
        open_indexing.gather_nd(node)
        return
    data_shape, batch = _static(node), node.attribute("batch_dims", 0)
    shape = _static(node, 1)
    count = shape[-1] if shape else 0
    if (
        not 0 <= batch < len(shape)
        or batch + count > len(data_shape)
        or not count
        or data_shape[:batch] != shape[:batch]
    ):
        node.fail(
            f"for an input of shape {list(data_shape)} and batch_dims = {batch}, indices of shape {list(shape)} "
            "must have the same batch sizes and a last dimension of at most the other axes"
        )
    indices = _rows(node, data_shape, batch, count)
    value = reshaped(node, movable(node), (prod(data_shape[: batch + count]), *data_shape[batch + count :]))
    node.set(0, _taken(node, value, indices))


def _rows(node: Node, data_shape: Sequence[int], batch: int, count: int) -> Operand:
    """Return, for each row of positions in input 1, the flat index of the element or slice that it selects.

    The first ``batch`` axes of the data and of the positions are the same. A row has one position for each of the next
    ``count`` axes of the data. The flat index counts in row-major order over all these axes.
    """
    sizes, shape = np.array(data_shape[batch : batch + count], np.int64), _static(node, 1)
    positions, strides = _wrapped(node, 1, sizes), _strides(data_shape[: batch + count])
    base: Array = np.zeros([1] * (len(shape) - 1), np.int64)
    for d in range(batch):
        base = (
            base
            + np.arange(data_shape[d]).reshape([data_shape[d] if d == e else 1 for e in range(len(shape) - 1)])
            * strides[d]
        )
    total: Operand = np.asarray(base, np.int64)
    is_none: Operand | None = None
    for d in range(count):
        column = _column(node, positions, d)
        total = _op(node, "arith.addi", total, _op(node, "arith.muli", column, number_of(strides[batch + d], I64)))
        none = compare(node, "slt", column, number_of(0, I64), I64)
        is_none = none if is_none is None else apply(node, "arith.ori", [is_none, none], [BOOL, BOOL], BOOL)
    return total if is_none is None else select(node, is_none, number_of(-1, I64), total, I64)


def _column(node: Node, positions: Operand, d: int) -> Operand:
    if isinstance(positions, np.ndarray):
        return np.ascontiguousarray(positions[..., d])
    return node.emit(
        "qrt.gather", [positions, node.dense(np.array(d, np.int64), I64)], {"axis": len(shape_of(positions)) - 1}
    )


# -- scattered -------------------------------------------------------------------------------------------------------


def scatter_elements(node: Node) -> None:
    """Import Scatter or ScatterElements: replace elements at positions along an axis by updates, or combine them.

    Elements are replaced as by `numpy.put_along_axis`. Elements and updates are combined by add, mul, max or min; the
    sum of two bools is true if one of them is. For max and min, an update replaces a NaN. Several updates of one
    element are applied in order.
    """
    if open_indexing.combines_bools(node):
        open_indexing.scatter_bools(node)
        return
    if open_indexing.has_open_sizes(node):
        open_indexing.scatter_elements(node)
        return
    data_shape, shape = _static(node), _static(node, 1)
    axis = _axis(node, data_shape, shape)
    open_indexing.check_types(node)
    if _static(node, 2) != shape:
        node.fail(
            f"the indices and the updates must have the same shape, got {list(shape)} and {list(_static(node, 2))}"
        )
    positions = _wrapped(node, 1, np.array(data_shape[axis], np.int64))
    if isinstance(positions, np.ndarray):
        _scatter_known(node, np.asarray(_elements(node, shape, positions, axis, data_shape)).reshape(-1), 1)
        return
    if open_indexing.has_scatter_nd(node):
        _scatter_rows(node, _elements(node, shape, positions, axis, data_shape), prod(data_shape), 1, prod(shape))
        return
    if any(n != m for d, (n, m) in enumerate(zip(shape, data_shape, strict=True)) if d != axis):
        node.refuse("indices known only at run time, for a part of the other axes")
    positions = _checked_positions(node, positions, data_shape[axis])
    _scatter_of_run(node, positions, data_shape, shape, shape, axis)


def scatter_nd(node: Node) -> None:
    """Import ScatterND: for each row of the indices, replace an element or a slice by an update, or combine both.

    An element is combined with its update by the same operations as in ScatterElements.
    """
    if open_indexing.combines_bools(node):
        open_indexing.scatter_bools(node)
        return
    if open_indexing.has_open_sizes(node):
        open_indexing.scatter_nd(node)
        return
    data_shape, shape = _static(node), _static(node, 1)
    open_indexing.check_types(node)
    count = shape[-1] if shape else 0
    if not 0 < count <= len(data_shape) or _static(node, 2) != (*shape[:-1], *data_shape[count:]):
        node.fail(
            f"for an input of shape {list(data_shape)}, the shape of the updates must be that of the indices "
            "without the "
            f"last axis, and the sizes of the axes not indexed, got indices {list(shape)} and updates "
            f"{list(node.shape(2))}"
        )
    indices, size, rows = _rows(node, data_shape, 0, count), prod(data_shape[count:]), prod(data_shape[:count])
    if isinstance(indices, np.ndarray):
        _scatter_known(node, indices.reshape(-1), size)
        return
    if open_indexing.has_scatter_nd(node):
        _scatter_rows(node, indices, rows, size, prod(shape[:-1]))
        return
    indices = _checked_positions(node, reshaped(node, indices, (prod(shape[:-1]), 1)), rows)
    _scatter_of_run(node, indices, (rows, size), (prod(shape[:-1]), 1), (prod(shape[:-1]), size), 0)


def _scatter_rows(node: Node, indices: Operand, rows: int, size: int, count: int) -> None:
    """Scatter ``count`` updates to rows of the data, at row indices that are known only at run time.

    The data is treated as a matrix of ``rows`` rows with ``size`` elements each.
    """
    x, updates = _operands(node)
    column = reshaped(node, as_value(node, indices, I64), (count, 1))
    x, updates = reshaped(node, x, (rows, size)), reshaped(node, updates, (count, size))
    result = open_indexing.scattered(node, x, column, updates)
    set_moved(node, 0, reshaped(node, result, _static(node)))


def _checked_positions(node: Node, positions: Operand, size: int) -> Value:
    """Return positions, and add an operation that raises an error at run time if one is not from 0 to ``size - 1``."""
    return _taken(node, node.dense(np.arange(size, dtype=np.int64), I64), positions)


def _operands(node: Node) -> tuple[Value, Value]:
    values = movable(node), movable(node, 2)
    if len({value.type.element for value in values if isinstance(value.type, TensorType)}) > 1 or _reduction(node):
        return node.stored(0), node.stored(2)
    return values


def _reduction(node: Node) -> str:
    """Return the operation that combines an element with an update, or "" if the update replaces the element."""
    reduction = node.attribute("reduction", "none")
    if reduction != "none" and reduction not in _REDUCTIONS:
        node.fail(f"attribute 'reduction' must be one of none, {', '.join(_REDUCTIONS)}, got {reduction!r}")
    return "" if reduction == "none" else _REDUCTIONS[reduction][form(node.plain(0))]


def _scatter_known(node: Node, indices: Array, size: int) -> None:
    """Scatter updates to rows of ``size`` elements, at row indices that are known at import.

    If the node combines updates with elements, the first update of every row is applied, then the second update of
    every row, and so on.
    """
    name, (x, updates) = _reduction(node), _operands(node)
    data_shape = _static(node)
    if 0 in data_shape or not len(indices) * size:
        set_moved(node, 0, node.emit("qrt.reshape", [x], None, x.type))
        return
    rows = prod(data_shape) // size
    x, updates = reshaped(node, x, (rows, size)), reshaped(node, updates, (len(indices), size))
    order = np.argsort(indices, kind="stable")
    starts = np.searchsorted(indices[order], indices[order])
    turns = np.empty(len(indices), np.int64)
    turns[order] = np.arange(len(indices)) - starts
    for turn in range(int(turns.max(initial=-1)) + 1) if name else [None]:
        of_turn = np.arange(len(indices)) if turn is None else np.flatnonzero(turns == turn)
        sources = np.arange(rows)
        sources[indices[of_turn]] = rows + of_turn
        updated = _taken(node, joined(node, [x, updates], 0), sources)
        if turn is None:
            x = updated
            continue
        element = signless(node.plain(0))
        if name in _EXTREMES:
            both = select(node, compare(node, _EXTREMES[name], x, updated, element), x, updated, element)
        else:
            both = apply(node, name, [x, updated], [element, element], element)
        is_new = (sources >= rows).reshape(rows, 1)
        x = as_value(node, select(node, is_new, both, x, element), element)
    x = reshaped(node, x, data_shape)
    if x is node.graph.values.get(node.input(0)):
        x = node.emit("qrt.reshape", [x], None, x.type)
    set_moved(node, 0, x)


def _scatter_of_run(
    node: Node,
    positions: Value,
    data_shape: Sequence[int],
    shape: Sequence[int],
    updates_shape: Sequence[int],
    axis: int,
) -> None:
    """Scatter updates along an axis to positions that are known only at run time.

    For each element of the result, a loop compares the element's index along ``axis`` with all positions along this
    axis. Where they are equal, the update is applied. ``shape`` is the shape of the positions.
    """
    name, element = _reduction(node), signless(node.plain(0))
    x = reshaped(node, node.stored(0), tuple(data_shape))
    updates = reshaped(node, node.stored(2), tuple(updates_shape))
    nest = LoopNest(lowering_context(node), "scatter", list(data_shape), [shape[axis]])
    *outer, line = nest.loops
    place = [line if d == axis else loop for d, loop in enumerate(outer)]
    of_rows = [0 if n == 1 and m != 1 else loop for n, m, loop in zip(shape, data_shape, place, strict=True)]
    here = nest.value("arith.index_cast", (nest.position(outer[axis]),), I64)
    named = nest.compare(0, nest.read(positions, of_rows), here)
    before, new = nest.running(element, x), nest.read(updates, place)
    both = nest.value(name, (before, new), element) if name else new
    (result,) = nest.finish(nest.value("arith.select", (named, both, before), element))
    set_moved(node, 0, reshaped(node, result, _static(node)))


# -- results whose size depends on elements --------------------------------------------------------------------------


def non_zero(node: Node) -> None:
    """Import NonZero: compute the positions of the nonzero elements of a tensor that is known at import."""
    array = node.known(0, "a result whose size depends on elements")
    node.set_constant(0, np.array(np.nonzero(array.reshape(-1) if not array.ndim else array), np.int64))


def compress(node: Node) -> None:
    """Import Compress: select the elements of a tensor, or its slices along an axis, by bools.

    The bools must be known at import.
    """
    selected = np.flatnonzero(node.known(1, "a result whose size depends on elements"))
    data_shape = _static(node)
    is_flat = not node.has_attribute("axis")
    axis = 0 if is_flat else node.axis(node.attribute("axis", 0), len(data_shape))
    if selected.max(initial=-1) >= (prod(data_shape) if is_flat else data_shape[axis]) or not selected.size:
        node.fail(
            f"the condition must not select elements outside the input of shape {list(data_shape)}, got index "
            f"{selected.max(initial=-1)}"
        )
    value = reshaped(node, movable(node), (prod(data_shape),)) if is_flat else movable(node)
    set_moved(node, 0, _taken(node, value, selected.astype(np.int64), axis))
