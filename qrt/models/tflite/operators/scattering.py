"""Import of SCATTER_ND, SPARSE_TO_DENSE, DYNAMIC_UPDATE_SLICE and EMBEDDING_LOOKUP."""

from typing import Any

import numpy as np

from qrt.ir import Attribute, DenseArrayAttr, Value
from qrt.ir.core.affine import floordiv
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.data_movement import Shape, erase_unused, known_result, reshaped
from qrt.models.importing.node import index, lowering_context
from qrt.models.importing.unquantized import apply, as_value, broadcast, number_of, signless
from qrt.models.importing.unquantized import shape_of as shape_of_operand
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.gathering import check_indices, require_bytes
from qrt.models.tflite.operators.operands import finish, input_shape, raw, settle
from qrt.types import FloatType, IndexType, IntegerType, TensorType, UniformType

_F32, _I64 = FloatType("f32"), IntegerType(64)
_WHOLE = ("int8", "uint8", "int32", "int64", "float32")


def scatter_nd(node: Node) -> None:
    """Import SCATTER_ND: add updates to a tensor of zeros, in order, at the positions in the rows of the indices.

    An update is an element, or a slice of the remaining axes. Quantized updates are added as their storage.
    """
    if node.input(1).dtype not in _WHOLE:
        node.refuse(node.input(1).dtype)
    shape, element = _declared(node, 2), signless(node.type(1).element)
    rows = input_shape(node, 0)
    if not rows or rows[-1] is None or not 0 < rows[-1] <= len(shape):
        node.fail(
            f"the last dimension of the indices must be from 1 to {len(shape)}, the rank of the result, got "
            f"indices of shape {list(rows)}"
        )
    check_indices(node, shape[: rows[-1]], is_row=True, i=0)
    zeros = as_value(node, broadcast(node, number_of(0, element), element, shape), element)
    _finish(node, _scattered(node, zeros, node.value(0), as_value(node, raw(node, 1), element), "add"))


def sparse_to_dense(node: Node) -> None:
    """Import SPARSE_TO_DENSE: fill a tensor with a default value and set elements at rows of indices.

    If several rows have the same index, the last value is stored.
    """
    if node.input(2).dtype not in _WHOLE or node.input(2).dtype != node.input(3).dtype:
        node.refuse(f"{node.input(2).dtype} on {node.input(3).dtype}")
    shape, element = _declared(node, 1), signless(node.type(2).element)
    rows, values = input_shape(node, 0), raw(node, 2)
    if None in rows or None in shape_of_operand(values) or shape_of_operand(raw(node, 3)) != ():
        node.refuse("a dynamic dimension, or a default that is not a scalar")
    count = rows[0] or 0 if rows else 1
    depth = rows[1] if len(rows) == 2 else 1
    if len(rows) > 2 or depth != len(shape) or shape_of_operand(values) not in ((), (count,)):
        node.fail(
            f"for a result of shape {list(shape)}, indices must have the shape [N, {len(shape)}] and values [N] or "
            "[], got "
            f"{list(rows)} and {list(shape_of_operand(values))}"
        )
    check_indices(node, shape, is_row=len(rows) == 2, i=0)
    dense = as_value(node, broadcast(node, raw(node, 3), element, shape), element)
    indices = reshaped(node, node.value(0), (count, depth))
    updates = as_value(node, broadcast(node, values, element, (count,)), element)
    _finish(node, _scattered(node, dense, indices, updates, "none"))


def _declared(node: Node, i: int) -> tuple[int, ...]:
    """Return the shape of the result, which is given by the elements of input ``i``.

    If these elements are known only at run time, return the shape of the result in the file.
    """
    given = node.result_type().shape or () if node.constant(i) is None else node.integers(i, "a shape")
    if None in given:
        node.refuse("a shape known only at run time")
    sizes = tuple(size for size in given if size is not None)
    if any(size < 0 for size in sizes):
        node.fail(f"the shape of the result must have non-negative sizes, got {list(sizes)}")
    node.graph.check_size(node.op, TensorType(sizes, node.result_type().element))
    return sizes


def _scattered(node: Node, x: Value, indices: Value, updates: Value, reduction: str) -> Value:
    return node.emit("qrt.scatter_nd", [x, indices, updates], {"reduction": reduction})


def _finish(node: Node, value: Value) -> None:
    array = known_result(value)
    finish(node, 0, value if array is None else array)
    if array is not None:
        erase_unused(value)


# -- slices ----------------------------------------------------------------------------------------------------------


def dynamic_update_slice(node: Node) -> None:
    """Import DYNAMIC_UPDATE_SLICE: replace a part of a tensor, at constant or computed start indices.

    The start indices are clamped so that the part lies inside the tensor.
    """
    shape, part = input_shape(node), input_shape(node, 1)
    if node.type(0).element is not node.type(1).element or node.input(2).dtype not in ("int32", "int64"):
        node.refuse(f"{node.input(1).dtype} in {node.input(0).dtype}, at indices of {node.input(2).dtype}")
    if None in (*shape, *part):
        node.refuse("a dynamic dimension")
    if len(part) != len(shape) or input_shape(node, 2) != (len(shape),):
        node.fail(
            f"for an input of shape {list(shape)}, the update must have rank {len(shape)} and the index the shape "
            f"[{len(shape)}], got {list(part)} and {list(input_shape(node, 2))}"
        )
    room = np.array([(n or 0) - (m or 0) for n, m in zip(shape, part, strict=True)])
    if (room < 0).any():
        node.fail(
            f"the update must not be larger than the input, of shape {list(shape)}, along any axis, got shape "
            f"{list(part)}"
        )
    element = signless(node.type(0).element)
    x, update = (as_value(node, raw(node, i), element) for i in range(2))
    known = node.constant(2)
    if known is not None:
        _finish(node, _inserted(node, update, x, part, np.clip(known, 0, room).tolist()))
        return
    kind = node.type(2).element
    least = apply(node, "arith.maxsi", [node.value(2), number_of(0, kind)], [kind] * 2, kind)
    starts = apply(node, "arith.minsi", [least, room.astype(node.input(2).dtype)], [kind] * 2, kind)
    assert isinstance(starts, Value)
    scalars = [node.emit("tensor.extract", [starts, index(node, axis)], None, kind) for axis in range(len(shape))]
    places = [node.emit("arith.index_cast", [scalar], None, IndexType()) for scalar in scalars]
    finish(node, 0, _inserted(node, update, x, part, places))


def _inserted(node: Node, update: Value, x: Value, part: Shape, starts: list[Any]) -> Value:
    """Return ``x`` with a part of shape ``part`` replaced by ``update``.

    ``starts`` has the part's start index along each axis, an integer or a value of type index.
    """
    values = [start for start in starts if isinstance(start, Value)]
    lists = {
        "static_offsets": [-(1 << 63) if isinstance(start, Value) else int(start) for start in starts],
        "static_sizes": [size or 0 for size in part],
        "static_strides": [1] * len(part),
    }
    attributes: dict[str, Attribute] = {name: DenseArrayAttr(_I64, tuple(integers)) for name, integers in lists.items()}
    attributes[OPERAND_SEGMENTS] = segments(1, 1, len(values), 0, 0)
    return lowering_context(node).value("tensor.insert_slice", (update, x, *values), x.type, attributes)


# -- rows of a table -------------------------------------------------------------------------------------------------


def embedding_lookup(node: Node) -> None:
    """Import EMBEDDING_LOOKUP: take rows of a table at int32 indices.

    Rows of an int8, int4 or int2 table may be dequantized to float32. The table then has a single scale, or a scale for
    each row. A table of int4 or int2 may also have float16 scales for blocks of a row.
    """
    shape = input_shape(node, 1)
    if node.input(0).dtype != "int32" or len(input_shape(node)) != 1 or len(shape) < 2:
        node.fail(
            f"indices must be int32 of rank 1, and the table have at least 2 axes, got {node.type(0).shown()} and "
            f"{node.type(1).shown()}"
        )
    check_indices(node, shape[:1], i=0)
    require_bytes(node, 1, shape[1:])
    table = node.type(1).element
    if not isinstance(table, UniformType) or node.result_type().element is not _F32:
        if isinstance(table, UniformType) and (not table.is_per_layer or table.storage_width < 8):
            node.refuse(f"{node.input(1).dtype} of several scales or less than 8 bits, not to float32")
        settle(node, 0, node.emit("qrt.gather", [node.value(1), node.value(0)], _ROWS))
        return
    if table.storage not in ("i2", "i4", "i8") or any(table.zero_point_array.ravel()):
        node.refuse(f"{node.input(1).dtype} with zero points other than 0 to float32")
    if table.is_per_layer:
        rows = node.emit("qrt.gather", [node.value(1), node.value(0)], _ROWS)
        settle(node, 0, node.emit("quant.dcast", [rows], None, _F32))
        return
    if table.is_per_axis and table.axis != 0:
        node.refuse(f"scales on axis {table.axis} of the table")
    if table.is_sub_channel and table.storage == "i8":
        node.refuse("int8 with scales for blocks")
    _scaled_rows(node, table)


_ROWS = {"axis": 0, "batch_dims": 0}


def _scaled_rows(node: Node, table: UniformType) -> None:
    """Set the result to rows of a table that has a scale for each row, or for each block of a row."""
    array = node.constant(1)
    if array is None:
        node.refuse(f"{node.input(1).dtype} of several scales, known only at run time")
    indices, scales = node.value(0), table.scale_array.astype(np.float32)
    storage = node.emit("qrt.gather", [node.dense(array, table.storage_type), indices], _ROWS)
    steps = node.emit("qrt.gather", [node.dense(scales.reshape(array.shape[0], -1), _F32), indices], _ROWS)
    context = lowering_context(node)
    nest = LoopNest(context, "dequantize", context.extents(storage))
    row, *_, last = nest.loops
    block = floordiv(last, dict(table.block_sizes)[1]) if table.block_sizes is not None else 0
    element = nest.value("arith.sitofp", (nest.read(storage, nest.loops),), _F32)
    node.set(0, nest.finish(nest.value("arith.mulf", (element, nest.read(steps, [row, block])), _F32))[0])
