"""Operators along an axis: CumSum, CumProd, TopK, OneHot, Trilu, EyeLike, ReverseSequence."""

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.data_movement import reshaped, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import BOOL, Operand, apply, as_value, cast_to, compare, number_of, select
from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import I64, finish, movable, operand, set_moved
from qrt.models.onnx.types import NUMBERS, element_of, signless
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type

_SIGNED_LESS, _SIGNED_AT_MOST = 2, 3
"""Predicates of `arith.cmpi`."""
_MOST = 1 << 24
"""The most elements of a mask, or of a list of positions."""


def _number(node: Node, i: int, what: str) -> int:
    """Return the single integer of input ``i``, which must be known at import. ``what`` names it in errors."""
    numbers = node.integers(i, what)
    if len(numbers) != 1:
        node.fail(f"{what} (input {i}) must be one integer, got {shown(list(numbers))}")
    return int(numbers[0])


def _static(node: Node, i: int = 0) -> tuple[int, ...]:
    shape = tuple(size for size in node.shape(i) if size is not None)
    if len(shape) < len(node.shape(i)):
        node.refuse("a dynamic dimension")
    return shape


def cum_sum(node: Node) -> None:
    """Import CumSum: compute running sums of integers or floats along an axis, from its start or its end.

    The axis must be known at import. A sum includes the element at its own position, unless ``exclusive`` is set.
    Integers wrap.
    """
    axis = node.integers(1, "an axis")
    if len(axis) != 1:
        node.fail(f"the axis (input 1) must be one integer, got {list(axis)}")
    axis_index, element = node.axis(axis[0], len(node.shape())), node.plain(0)
    options = {name: bool(node.attribute(name, 0)) for name in ("exclusive", "reverse")}
    node.set_plain(0, node.emit("qrt.cumsum", [node.stored(0)], {"axis": axis_index, **options}), element)


def cum_prod(node: Node) -> None:
    """Import CumProd: compute running products of float32, float64 or integers along an axis.

    The axis and its size must be known at import. The attributes ``exclusive`` and ``reverse`` have the same meaning as
    for CumSum.
    """
    rank, axis = len(node.shape()), _number(node, 1, "an axis")
    axis, element = node.axis(axis, rank), signless(node.plain(0))
    size = node.shape()[axis]
    if size is None or element is BOOL or (isinstance(element, FloatType) and element.name not in ("f32", "f64")):
        node.refuse(f"of {node.dtype(0)} and shape {list(node.shape())} along axis {axis}")
    is_reversed, x, context = bool(node.attribute("reverse", 0)), node.stored(0), lowering_context(node)
    if is_reversed:
        x = taken(node, x, axis, size - 1, size, -1)
    nest = LoopNest(context, "multiply", context.extents(x), [size])
    *outer, line = nest.loops
    before = nest.running(element, 1)
    factor = nest.read(x, [line if d == axis else loop for d, loop in enumerate(outer)])
    is_earlier = _SIGNED_LESS if node.attribute("exclusive", 0) else _SIGNED_AT_MOST
    is_factor = nest.compare(is_earlier, nest.position(line), nest.position(outer[axis]))
    name = "arith.mulf" if isinstance(element, FloatType) else "arith.muli"
    product = nest.value(name, (before, factor), element)
    (result,) = nest.finish(nest.value("arith.select", (is_factor, product, before), element))
    if is_reversed:
        result = taken(node, result, axis, size - 1, size, -1)
    node.set_plain(0, result, node.plain(0))


def top_k(node: Node) -> None:
    """Import TopK: select the k largest or k least elements along an axis, in order, and their positions.

    k must be known at import. Of equal elements, the one with the lower position comes first. An axis of fewer than k
    elements is an error, at run time if its size is known only then.
    """
    rank = len(node.shape())
    axis = node.axis(node.attribute("axis", -1), rank)
    count = _number(node, 1, "a number of elements") if node.opset >= 10 else node.required("k", int)
    largest = bool(node.attribute("largest", 1))
    order = [d for d in range(rank) if d != axis] + [axis]
    value = _order_reversed(node, node.value(0)) if not largest else node.value(0)
    if axis != rank - 1:
        value = node.emit("qrt.transpose", [value], {"permutation": order})
    values, numbers = node.emit_all("qrt.top_k", [value], {"k": count}, None)
    (wide,) = [as_value(node, apply(node, "arith.extsi", [numbers], [IntegerType(32)], I64), I64)]
    back = [order.index(d) for d in range(rank)]
    outputs = [node.emit("qrt.transpose", [output], {"permutation": back}) if axis != rank - 1 else output
             for output in (values, wide)]  # fmt: skip
    if not largest:
        outputs[0] = _order_reversed(node, outputs[0])
    set_moved(node, 0, outputs[0])
    node.set(1, outputs[1])


def _order_reversed(node: Node, value: Value) -> Value:
    """Map numbers so that the k least become the k largest: negate floats, or invert the bits of integers.

    A second call restores the numbers.
    """
    value = node.as_storage(value)
    assert isinstance(value.type, TensorType)
    element, plain = value.type.element, node.plain(0)
    if isinstance(element, FloatType):
        return as_value(node, apply(node, "arith.negf", [value], [element], element), element)
    value = as_value(
        node, apply(node, "arith.xori", [value, number_of(-1, element)], [element, element], element), element
    )
    if plain is element:
        return value
    assert isinstance(value.type, TensorType)
    return node.emit("tensor.bitcast", [value], None, value.type.with_(element=plain))


def one_hot(node: Node) -> None:
    """Import OneHot: create a new axis that has one value at the given positions and another value elsewhere.

    The size of the axis must be known at import. Negative positions count from the end. A position out of range, or
    a float that is no integer, sets no element.
    """
    depths = node.known(1, "a depth")
    depth = int(depths.ravel()[0]) if depths.size == 1 and np.isfinite(depths.ravel()[0]) else 0
    rank = len(node.shape()) + 1
    axis = node.axis(node.attribute("axis", -1), rank)
    if node.shape(2) != (2,) or depth < 1:
        node.fail(
            f"values must be a tensor of two elements and depth one number of at least 1, got {node.type(2)} and "
            f"{shown(depths.tolist())}"
        )
    if depth > _MOST:
        node.refuse(f"with a depth above {_MOST}")
    source = node.plain(0)
    is_float = isinstance(source, FloatType)
    index, add = (source, "arith.addf") if is_float else (I64, "arith.addi")
    positions = operand(node, 0)
    if not is_float:
        positions = cast_to(node, positions, signless(source), I64, form(source) == 1, False)
    below = compare(node, "slt", positions, number_of(0, index), index)
    from_end = apply(node, add, [positions, number_of(depth, index)], [index, index], index)
    positions = select(node, below, from_end, positions, index)
    shape = [*node.shape()[:axis], 1, *node.shape()[axis:]]
    positions = (
        positions.reshape([n or 0 for n in shape])
        if isinstance(positions, np.ndarray)
        else reshaped(node, positions, tuple(shape))
    )
    numbers = np.arange(depth, dtype=element_dtype(index)).reshape([depth if d == axis else 1 for d in range(rank)])
    element = node.plain(2)
    signless_type = signless(element)
    off, on = (_one(node, i) for i in range(2))
    finish(node, 0, select(node, compare(node, "eq", positions, numbers, index), on, off, signless_type), element)


def _one(node: Node, i: int) -> Operand:
    values = operand(node, 2)
    if isinstance(values, np.ndarray):
        return np.asarray(values[i])
    return reshaped(node, taken(node, values, 0, i, 1), ())


def trilu(node: Node) -> None:
    """Import Trilu: keep the upper or the lower triangle of each matrix, and set all other elements to 0.

    The diagonal at which the triangle begins must be known at import.
    """
    if len(node.shape()) < 2:
        node.fail(f"its input must have at least 2 axes, got shape {list(node.shape())}")
    k = _number(node, 1, "a diagonal") if node.has(1) else 0
    if None in node.shape()[-2:]:
        _mask_open_triangle(node, k)
        return
    shape, element = _static(node), node.plain(0)
    rows, columns = shape[-2:]
    if rows * columns > _MOST:
        node.refuse(f"matrices with more than {_MOST} elements")
    diagonals = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    is_inside = diagonals >= k if node.attribute("upper", 1) else diagonals <= k
    signless_type = signless(element)
    finish(node, 0, select(node, is_inside, operand(node, 0), number_of(0, signless_type), signless_type), element)


def _mask_open_triangle(node: Node, k: int) -> None:
    """Keep the upper or lower triangle of matrices whose sizes are known only at run time."""
    graph, x = composed(node), node.op.inputs[0]
    sides = []
    for axis in (-2, -1):
        size = graph.add("Shape", x, start=axis, end=axis + 1 or len(node.shape()))
        bounds = graph.constant(0, np.int64), graph.add("Squeeze", size), graph.constant(1, np.int64)
        sides.append(graph.add("Range", *bounds))
    rows = graph.add("Add", graph.add("Unsqueeze", sides[0], graph.integers(1)), graph.constant(k, np.int64))
    upper = bool(node.attribute("upper", 1))
    is_inside = graph.add("GreaterOrEqual" if upper else "LessOrEqual", graph.add("Unsqueeze", sides[1],
                          graph.integers(0)), rows)  # fmt: skip
    zero = graph.add("CastLike", graph.constant(0), x)
    graph.replace(node, graph.add("Where", is_inside, x, zero))


def eye_like(node: Node) -> None:
    """Import EyeLike: create a matrix of zeros with ones on a diagonal.

    It has the shape of the input, which must be known at import.
    """
    shape, number = _static(node), node.attribute("dtype", 0)
    if len(shape) != 2 or (number and number not in NUMBERS):
        node.fail(
            f"its input must be a matrix, and attribute 'dtype' the number of a type, got shape {list(shape)} and "
            f"{number}"
        )
    element: Type = element_of(NUMBERS[number]) if number else node.plain(0)
    node.graph.check_size(node.op, TensorType(shape, element))
    ones = np.eye(*shape, node.attribute("k", 0), dtype=np.bool_)
    node.set_constant(0, ones if element is BOOL else ones.astype(number_of(0, element).dtype), element)


def reverse_sequence(node: Node) -> None:
    """Import ReverseSequence: reverse the first n elements of each sequence of a batch.

    The lengths n must be known at import.
    """
    shape, lengths = _static(node), node.integers(1, "lengths")
    batch, time = (node.axis(node.attribute(name, d), len(shape)) for name, d in (("batch_axis", 1), ("time_axis", 0)))
    if {batch, time} != {0, 1} or len(lengths) != shape[batch] or any(not 0 <= n <= shape[time] for n in lengths):
        node.fail(
            "batch_axis and time_axis must be axes 0 and 1, with a length from 0 to the size of the time axis for "
            f"each row of the batch, got {batch} and {time}, and lengths {list(lengths)} for shape {list(shape)}"
        )
    steps = np.arange(shape[time])
    counts = np.array(lengths)[:, np.newaxis]
    source = np.where(steps < counts, counts - 1 - steps, steps)
    lines = np.arange(shape[batch])[:, np.newaxis]
    flat = (lines * shape[time] + source if batch == 0 else source * shape[batch] + lines).astype(np.int64)
    rows = reshaped(node, movable(node), (shape[0] * shape[1], *shape[2:]))
    result = node.emit(
        "qrt.gather", [rows, node.dense(flat if batch == 0 else np.ascontiguousarray(flat.T), I64)], {"axis": 0}
    )
    node.set(0, result)
