"""Import of SEGMENT_SUM and UNSORTED_SEGMENT_*: reductions of the rows that have the same segment number."""

from math import prod

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I32
from qrt.models.importing.data_movement import erase_unused, known_result, reshaped
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import apply, as_value, broadcast, number_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, input_shape, one_integer, raw
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IndexType, Type


def segment_sum(node: Node) -> None:
    """Import SEGMENT_SUM: add the int32 or float32 rows of each segment, in order.

    The segment numbers must be known at import. They start with 0, and each equals its predecessor or is larger by 1.
    """
    node.rule("segment_sum")
    _require_types(node)
    shape = input_shape(node)
    numbers = np.array(node.integers(1, "segment numbers"), np.int32)
    if None in shape or not shape or numbers.shape != shape[:1]:
        node.fail(
            f"segment numbers must have the shape [rows] for data of shape {list(shape)}, got {list(numbers.shape)}"
        )
    if numbers.size and (numbers[0] != 0 or not set(np.diff(numbers).tolist()) <= {0, 1}):
        node.fail(
            f"segment numbers must begin with 0 and rise by 0 or 1 from row to row, got {shown(numbers.tolist())}"
        )
    element = node.type(0).element
    result_shape = (int(numbers[-1]) + 1 if numbers.size else 0, *shape[1:])
    zeros = as_value(node, broadcast(node, number_of(0, element), element, result_shape), element)
    rows = node.dense(numbers.reshape(-1, 1), node.type(1).element)
    value = node.emit("qrt.scatter_nd", [zeros, rows, as_value(node, raw(node, 0), element)], {"reduction": "add"})
    array = known_result(value)
    finish(node, 0, value if array is None else array)
    if array is not None:
        erase_unused(value)


def _require_types(node: Node) -> None:
    if node.input(0).dtype not in ("int32", "float32") or node.input(1).dtype != "int32":
        node.refuse(f"{node.input(0).dtype} with segment numbers of {node.input(1).dtype}")


def unsorted_segment(node: Node) -> None:
    """Import UNSORTED_SEGMENT_MAX, _MIN, _PROD or _SUM: reduce the int32 or float32 rows of each segment, in order.

    Rows with a negative segment number are left out. A segment without rows has the value with which its reduction
    starts: 0, 1, or the type's least or greatest finite number. The number of segments must be known at import. A run
    fails if a segment number is too large.
    """
    _require_types(node)
    shape, given = input_shape(node), input_shape(node, 1)
    if None in shape or not given or given != shape[: len(given)]:
        node.fail(
            f"segment numbers must have one or more axes, the first ones of data of shape {list(shape)}, got shape "
            f"{list(given)}"
        )
    count = one_integer(node, 2, "a number of segments")
    if count < 0:
        node.fail(f"the number of segments must not be negative, got {count}")
    node.graph.check_size(node.op, node.type(0).with_(shape=(count, *shape[len(given) :])))
    rows = prod(size or 0 for size in given)
    data = reshaped(node, node.value(0), (rows, *shape[len(given) :]))
    known = node.constant(1)
    if known is None:
        finish(node, 0, _of_computed_segments(node, data, count, rows))
        return
    if (known >= count).any():
        node.fail(f"segment numbers must be less than {count}, got {shown(known.ravel().tolist())}")
    finish(node, 0, _of_known_segments(node, data, known.ravel(), count))


def _of_known_segments(node: Node, data: Value, numbers: Array, count: int) -> Value:
    """Reduce the rows of each segment. ``numbers`` has the segment number of each row.

    Each segment reads the indices of its rows from a row of a constant table, in which -1 pads the shorter rows.
    """
    members = [np.flatnonzero(numbers == segment) for segment in range(count)]
    table = np.full((count, max(map(len, members), default=0)), -1, np.int32)
    for line, rows in zip(table, members, strict=True):
        line[: len(rows)] = rows
    context = lowering_context(node)
    _, *others = context.extents(data)
    nest = LoopNest(context, "accumulate", [count, *others], [table.shape[1]])
    segment, *inner, term = nest.loops
    row = nest.read(node.dense(table, I32), (segment, term))
    zero = nest.constant(0, I32)
    is_member = nest.compare(_AT_LEAST, row, zero)
    place = nest.value("arith.index_cast", (nest.value("arith.maxsi", (row, zero), I32),), IndexType())
    return _reduced(node, nest, is_member, nest.gather(data, [place, *inner]))


def _of_computed_segments(node: Node, data: Value, count: int, rows: int) -> Value:
    """Reduce the rows of each segment, whose numbers are known only at run time.

    Every segment reads all rows, and leaves out the rows of other segments.
    """
    segments = np.arange(-1, count, dtype=np.int32)
    numbers = reshaped(node, node.value(1), (rows,))
    places = apply(node, "arith.maxsi", [numbers, number_of(-1, I32)], [I32] * 2, I32)
    places = apply(node, "arith.addi", [places, number_of(1, I32)], [I32] * 2, I32)
    # The gather checks that no number is too large.
    numbers = node.emit("qrt.gather", [node.dense(segments, I32), as_value(node, places, I32)], {"axis": 0})
    context = lowering_context(node)
    extent, *others = context.extents(data)
    nest = LoopNest(context, "accumulate", [count, *others], [extent])
    segment, *inner, row = nest.loops
    number = nest.value("arith.index_cast", (nest.read(numbers, [row]),), IndexType())
    return _reduced(node, nest, nest.compare(_EQUAL, number, nest.position(segment)), nest.read(data, [row, *inner]))


_EQUAL, _AT_LEAST, _LESS, _MORE = 0, 5, 2, 4
"""Numbers of predicates of arith.cmpi. Those of `olt` and `ogt` of arith.cmpf are `_LESS_FLOAT` and `_MORE_FLOAT`."""
_LESS_FLOAT, _MORE_FLOAT = 4, 2


def _reduced(node: Node, nest: LoopNest, is_member: Value, scalar: Value) -> Value:
    """Finish a loop nest that reduces the scalars for which ``is_member`` is true, and return its result."""
    element, name = scalar.type, node.op.name.removeprefix("UNSORTED_SEGMENT_")
    is_float = isinstance(element, FloatType)
    running = nest.running(element, _start(name, element))
    if name in ("SUM", "PROD"):
        op = {"SUM": "arith.add", "PROD": "arith.mul"}[name] + ("f" if is_float else "i")
        reduced = nest.value(op, (running, scalar), element)
    else:  # a comparison with a NaN is false: then the reduction so far is kept
        predicates = (_LESS_FLOAT, _MORE_FLOAT) if is_float else (_LESS, _MORE)
        compared = nest.compare_floats if is_float else nest.compare
        is_next = compared(predicates[name == "MIN"], running, scalar)
        reduced = nest.value("arith.select", (is_next, scalar, running), element)
    return nest.finish(nest.value("arith.select", (is_member, reduced, running), element))[0]


def _start(name: str, element: Type) -> float:
    if name in ("SUM", "PROD"):
        return int(name == "PROD")
    dtype = element_dtype(element)
    if dtype.kind == "f":
        return float(np.finfo(dtype).min if name == "MAX" else np.finfo(dtype).max)
    return int(np.iinfo(dtype).min if name == "MAX" else np.iinfo(dtype).max)
