"""Import of STABLEHLO_GATHER and STABLEHLO_SCATTER, which move slices of a tensor to or from computed positions."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.data_movement import joined, reshaped, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import COMPARISONS, as_value, number_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, input_shape, raw
from qrt.types import FloatType, IndexType, IntegerType

_I64 = IntegerType(64)
_DTYPES = ("int8", "uint8", "int16", "int32", "int64", "float32")


def gather(node: Node) -> None:
    """Import STABLEHLO_GATHER: take slices of a tensor at int32 or int64 positions, which may be computed.

    Positions are clamped so that the slices lie inside the tensor. Slices of quantized tensors are taken as storage.
    """
    shape, positions = _sizes(node, 0), _positions(node, 1)
    sizes, offsets, collapsed, axes = (
        _integers(node, name) for name in ("slice_sizes", "offset_dims", "collapsed_slice_dims", "start_index_map")
    )
    around = _batch(node, positions)
    rank = len(around) + len(offsets)
    _check_axes(node, "offset_dims", offsets, rank)
    _check_axes(node, "collapsed_slice_dims", collapsed, len(shape))
    _check_map(node, "start_index_map", axes, len(shape), positions)
    if len(sizes) != len(shape) or any(not 0 <= size <= n for size, n in zip(sizes, shape, strict=False)):
        node.fail(f"slice_sizes must be from 0 to the sizes {list(shape)} of the input, got {list(sizes)}")
    if len(offsets) != len(shape) - len(collapsed) or any(sizes[axis] != 1 for axis in collapsed):
        node.fail(
            f"collapsed_slice_dims must be axes whose slices have size 1, and offset_dims have an axis for each other "
            f"one, got {list(collapsed)} and {list(offsets)} for slices of {list(sizes)}"
        )
    if node.result_type().rank != rank:
        node.fail(f"the result must have rank {rank}, got {node.result_type().rank}")
    inside = [axis for axis in range(len(shape)) if axis not in collapsed]
    of_slice, of_batch = iter([sizes[axis] for axis in inside]), iter(around)
    extents = [next(of_slice) if axis in offsets else next(of_batch) for axis in range(rank)]
    node.graph.check_size(node.op, node.type(0).with_(element=signless(node.type(0).element), shape=tuple(extents)))
    element = signless(node.type(0).element)
    nest = LoopNest(lowering_context(node), "gather", extents)
    within = dict(zip(inside, (nest.loops[axis] for axis in offsets), strict=True))
    batch = [nest.loops[axis] for axis in range(rank) if axis not in offsets]
    places: list[Value] = []
    for axis, n in enumerate(shape):
        place = nest.position(within[axis]) if axis in within else nest.constant(0, IndexType())
        if axis in axes:
            start = _position(node, nest, batch, axes.index(axis), 1)
            start = nest.value("arith.maxsi", (start, nest.constant(0, _I64)), _I64)
            start = nest.value("arith.minsi", (start, nest.constant(n - sizes[axis], _I64)), _I64)
            start = nest.value("arith.index_cast", (start,), IndexType())
            place = nest.value("arith.addi", (start, place), IndexType())
        places.append(place)
    finish(node, 0, nest.finish(nest.gather(as_value(node, raw(node, 0), element), places))[0])


_BODIES = {
    "STABLEHLO_ADD": "add", "STABLEHLO_MULTIPLY": "multiply", "STABLEHLO_MAXIMUM": "slt", "STABLEHLO_MINIMUM": "sgt",
}  # fmt: skip
"""The function that each operator of a body computes. For a maximum or minimum it is a comparison, which is true if the
update replaces the element."""


def scatter(node: Node) -> None:
    """Import STABLEHLO_SCATTER: combine elements of a tensor with updates, in order, at int32 or int64 positions.

    The body replaces an element by the update, adds or multiplies both, or takes the larger or smaller of them. Updates
    beyond the end of an axis are left out. A run fails if a position is negative.
    """
    shape, positions, given = _sizes(node, 0), _positions(node, 1), _sizes(node, 2)
    windows, inserted, axes = (
        _integers(node, name) for name in ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims")
    )
    around = _batch(node, positions)
    _check_axes(node, "update_window_dims", windows, len(given))
    _check_axes(node, "inserted_window_dims", inserted, len(shape))
    _check_map(node, "scatter_dims_to_operand_dims", axes, len(shape), positions)
    batch = [axis for axis in range(len(given)) if axis not in windows]
    inside = [axis for axis in range(len(shape)) if axis not in inserted]
    if len(inside) != len(windows) or [given[axis] for axis in batch] != around:
        node.fail(
            f"updates must have the batch {around} and a window with an axis for each of {len(inside)} axes, got shape "
            f"{list(given)} with windows on {list(windows)}"
        )
    if node.input(0).dtype != node.input(2).dtype:
        node.fail(f"updates must be of {node.input(0).dtype}, got {node.input(2).dtype}")
    body = _body(node)
    element = signless(node.type(0).element)
    nest = LoopNest(lowering_context(node), "places", given)
    within = dict(zip(inside, (nest.loops[axis] for axis in windows), strict=True))
    flat, is_inside = nest.constant(0, _I64), nest.constant(1, IntegerType(1))
    is_negative = nest.constant(0, IntegerType(1))
    zero = nest.constant(0, _I64)
    for axis, n in enumerate(shape):
        place = zero
        if axis in within:
            place = nest.value("arith.index_cast", (nest.position(within[axis]),), _I64)
        if axis in axes:
            start = _position(node, nest, [nest.loops[d] for d in batch], axes.index(axis), 1)
            below = nest.compare(COMPARISONS["slt"][0], start, zero)
            is_negative = nest.value("arith.ori", (is_negative, below), IntegerType(1))
            place = nest.value("arith.addi", (start, place), _I64)
        before = nest.compare(COMPARISONS["slt"][0], place, nest.constant(n, _I64))
        is_inside = nest.value("arith.andi", (is_inside, before), IntegerType(1))
        flat = nest.value("arith.addi", (nest.value("arith.muli", (flat, nest.constant(n, _I64)), _I64), place), _I64)
    total, count = prod(shape), prod(given)
    flat = nest.value("arith.select", (is_inside, flat, nest.constant(total, _I64)), _I64)
    flat = nest.value("arith.select", (is_negative, nest.constant(-1, _I64), flat), _I64)
    (places,) = nest.finish(flat)
    x = reshaped(node, as_value(node, raw(node, 0), element), (total,))
    updates = reshaped(node, as_value(node, raw(node, 2), element), (count,))
    places = reshaped(node, places, (count,))
    # The last element, beyond those of the tensor, takes the updates that are left out.
    x = joined(node, [x, node.dense(np.asarray([number_of(0, element)]), element)], 0)
    if body in ("", "add"):
        reduction = {"": "none", "add": "add"}[body]
        rows = reshaped(node, places, (count, 1))
        x = node.emit("qrt.scatter_nd", [x, rows, updates], {"reduction": reduction})
    else:
        x = _combined(node, x, places, updates, body, total)
    finish(node, 0, reshaped(node, taken(node, x, 0, 0, total), shape))


def _combined(node: Node, x: Value, places: Value, updates: Value, body: str, total: int) -> Value:
    """Combine each element of ``x`` by the function ``body`` with the updates at its position, in their order."""
    numbers = node.dense(np.arange(total + 1), _I64)
    places = node.emit("qrt.gather", [numbers, places], {"axis": 0})  # a negative place is an error
    context, element = lowering_context(node), signless(node.type(0).element)
    nest = LoopNest(context, "combine", [total + 1], [context.extent(updates, 0)])
    element_loop, update_loop = nest.loops
    running, update = nest.running(element, x), nest.read(updates, [update_loop])
    place = nest.value("arith.index_cast", (nest.read(places, [update_loop]),), IndexType())
    is_here = nest.compare(COMPARISONS["eq"][0], place, nest.position(element_loop))
    is_float = isinstance(element, FloatType)
    if body == "multiply":
        combined = nest.value("arith.mulf" if is_float else "arith.muli", (running, update), element)
    else:
        of_integers, of_floats = COMPARISONS[body.replace("s", "u", 1) if node.input(0).dtype[0] == "u" else body]
        is_next = (
            nest.compare_floats(of_floats, running, update) if is_float else nest.compare(of_integers, running, update)
        )
        combined = nest.value("arith.select", (is_next, update, running), element)
    return nest.finish(nest.value("arith.select", (is_here, combined, running), element))[0]


def _body(node: Node) -> str:
    """Return the function by which the body combines an element and an update; "" if it returns the update."""
    number, subgraphs = node.options["update_computation_subgraph_index"], node.graph.model.subgraphs
    if not 0 <= number < len(subgraphs):
        node.fail(f"its body is subgraph {number}, but the file has {len(subgraphs)}")
    body = subgraphs[number]
    names = [op.name for op in body.operators]
    if not names and len(body.inputs) == 2 and list(body.outputs) == [body.inputs[1]]:
        return ""
    if len(names) != 1 or names[0] not in _BODIES:
        node.refuse(f"a body of {', '.join(names) or 'no operator that does not return the update'}")
    return _BODIES[names[0]]


# -- attributes ------------------------------------------------------------------------------------------------------


def _integers(node: Node, name: str) -> tuple[int, ...]:
    return tuple(int(n) for n in node.options[name])


def _sizes(node: Node, i: int) -> tuple[int, ...]:
    shape = input_shape(node, i)
    if node.input(i).dtype not in _DTYPES:
        node.refuse(node.input(i).dtype)
    if None in shape:
        node.refuse("a dynamic dimension")
    return tuple(size or 0 for size in shape)


def _positions(node: Node, i: int) -> tuple[int, ...]:
    """Return the shape of the positions in input ``i``. Raise UnsupportedForm or ModelError if they are not valid."""
    shape, last = _sizes(node, i), int(node.options["index_vector_dim"])
    if node.input(i).dtype not in ("int32", "int64"):
        node.refuse(f"positions of {node.input(i).dtype}")
    if not 0 <= last <= len(shape):
        node.fail(f"index_vector_dim must be from 0 to {len(shape) - 1}, an axis of the positions, got {last}")
    if last == len(shape):
        node.refuse("index_vector_dim after the last axis of the positions, with which LiteRT crashes")
    return shape


def _batch(node: Node, positions: tuple[int, ...]) -> list[int]:
    last = int(node.options["index_vector_dim"])
    return [size for axis, size in enumerate(positions) if axis != last]


def _check_axes(node: Node, name: str, axes: Sequence[int], rank: int) -> None:
    if list(axes) != sorted({*axes}) or not {*axes} <= {*range(rank)}:
        node.fail(f"{name} must be ascending axes from 0 to {rank - 1}, got {list(axes)}")


def _check_map(node: Node, name: str, axes: Sequence[int], rank: int, positions: tuple[int, ...]) -> None:
    size = positions[int(node.options["index_vector_dim"])]
    if len(axes) != size or len({*axes}) != len(axes) or not {*axes} <= {*range(rank)}:
        node.fail(f"{name} must have {size} axes of {rank}, one for each index of a position, got {list(axes)}")


def _position(node: Node, nest: LoopNest, batch: Sequence[Expression], number: int, i: int) -> Value:
    """Return coordinate ``number`` of the position at ``batch`` in input ``i``, as a 64-bit integer."""
    last = int(node.options["index_vector_dim"])
    return nest.extend(nest.read(node.value(i), [*batch[:last], number, *batch[last:]]), _I64)
