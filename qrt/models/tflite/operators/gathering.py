"""Import of GATHER, GATHER_ND and REVERSE_SEQUENCE."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.models.importing import unquantized as plain
from qrt.models.importing.data_movement import Shape, axis_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import input_shape, raw, settle
from qrt.types import TensorType, UniformType


def gather(node: Node) -> None:
    """Import GATHER: take elements along an axis at indices. The first axes of both inputs may be batch axes.

    The indices may be constant or computed.
    """
    rank, rows = len(input_shape(node)), len(input_shape(node, 1))
    axis, batch = axis_of(node, node.options["axis"], rank), node.options.get("batch_dims") or 0
    batch += rows if batch < 0 else 0
    if not 0 <= batch <= min(axis, rows):
        node.fail(f"batch_dims must be from 0 to the axis, {axis}, and to the rank of the indices, {rows}, got {batch}")
    require_bytes(node, 0, None if axis or batch else input_shape(node)[1:])
    check_indices(node, [input_shape(node)[axis]])
    attributes = {"axis": axis, "batch_dims": batch}
    settle(node, 0, node.emit("qrt.gather", [node.value(0), node.value(1)], attributes))


def gather_nd(node: Node) -> None:
    """Import GATHER_ND: take the element, or the slice of the remaining axes, at each row of indices."""
    indices = input_shape(node, 1)
    if not indices or indices[-1] is None or indices[-1] > len(input_shape(node)):
        node.fail(
            f"the last dimension of the indices must be at most {len(input_shape(node))}, the rank of the input, "
            f"got indices of shape {list(indices)}"
        )
    check_indices(node, input_shape(node)[: indices[-1]], is_row=True)
    settle(node, 0, node.emit("qrt.gather_nd", [node.value(0), node.value(1)]))


def reverse_sequence(node: Node) -> None:
    """Import REVERSE_SEQUENCE: reverse the first n elements along an axis, where each batch has its own n.

    These lengths may be computed. A run fails if a length is not between 0 and the size of the axis.
    """
    shape = input_shape(node)
    along, batch = (axis_of(node, node.options[name], len(shape)) for name in ("seq_dim", "batch_dim"))
    if along == batch or len(input_shape(node, 1)) != 1 or None in shape or input_shape(node, 1) != (shape[batch],):
        node.fail(
            f"batch_dim and seq_dim must be two axes of the input of shape {list(shape)}, with a length for each "
            f"row of batch_dim, got {batch} and {along}, and lengths of shape {list(input_shape(node, 1))}"
        )
    element, count = node.type(1).element, shape[along] or 0
    if node.input(1).dtype not in ("int32", "int64"):
        node.refuse(f"lengths of {node.input(1).dtype}")
    known = node.constant(1)
    if known is not None and ((known < 0) | (known > count)).any():
        node.fail(f"the lengths must be from 0 to {count}, got {shown(known.tolist())}")
    last = plain.apply(node, "arith.subi", [raw(node, 1), plain.number_of(1, element)], [element] * 2, element)
    rows = last.reshape(-1, 1) if isinstance(last, np.ndarray) else _column(node, last)
    steps = np.arange(count, dtype=node.input(1).dtype)[np.newaxis]
    mirrored = plain.apply(node, "arith.subi", [rows, steps], [element] * 2, element)
    is_within = plain.compare(node, "sge", mirrored, plain.number_of(0, element), element)
    places = plain.as_value(node, plain.select(node, is_within, mirrored, steps, element), element)
    order = (batch, along, *(axis for axis in range(len(shape)) if axis not in (batch, along)))
    value = node.emit("qrt.transpose", [node.value(0)], {"permutation": order})
    value = node.emit("qrt.gather", [value, places], {"axis": 1, "batch_dims": 1})
    back = tuple(int(axis) for axis in np.argsort(order))
    settle(node, 0, node.emit("qrt.transpose", [value], {"permutation": back}))


def _column(node: Node, value: Value) -> Value:
    tensor = value.type
    assert isinstance(tensor, TensorType)
    return node.emit("qrt.reshape", [value], None, TensorType((*(tensor.shape or ()), 1), tensor.element))


def require_bytes(node: Node, i: int, row: Shape | None) -> None:
    """Raise UnsupportedForm if the rows of input ``i`` are integers of less than 8 bits that do not fill whole bytes.

    LiteRT copies whole bytes, so it would not return the elements at the indices. ``row`` is the shape of a row, or
    None if elements are taken along another axis than the first.
    """
    element = node.type(i).element
    width = element.storage_width if isinstance(element, UniformType) else 8
    if width < 8 and (row is None or None in row or prod(size or 0 for size in row) * width % 8):
        taken = (
            "along an axis other than 0" if row is None else f"in rows of shape {list(row)}, which end inside a byte"
        )
        node.refuse(f"{node.input(i).dtype} {taken}")


def check_indices(node: Node, sizes: Sequence[int | None], is_row: bool = False, i: int = 1) -> None:
    """Raise an error if input ``i`` has invalid indices into axes of the given sizes.

    The error is UnsupportedForm for another dtype than int32 or int64, and ModelError for a constant index out of
    range. With ``is_row``, the last axis of the input has an index for each size. Otherwise ``sizes`` has one entry,
    which is the limit of all indices.
    """
    tensor, array = node.input(i), node.constant(i)
    if tensor.dtype not in ("int32", "int64"):
        node.refuse(f"indices of {tensor.dtype}")
    if array is None:
        return
    rows = array if is_row else array[..., None]
    wrong = (rows < 0) | (rows >= np.array([np.iinfo(np.int64).max if n is None else n for n in sizes], np.int64))
    if wrong.any():
        node.fail(f"index {rows[wrong].flat[0]} is out of bounds of the indexed axes, with sizes {list(sizes)}")
