"""GATHER and GATHER_ND."""

from collections.abc import Sequence

import numpy as np

from qrt.formats.importing.moving import axis_of
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.moving import settle, shape_of
from qrt.formats.tflite.registry import operator


@operator("GATHER")
def gather(node: Node) -> None:
    """Along an axis, at positions that are known or not; the first axes of both inputs may go together."""
    rank, rows = len(shape_of(node)), len(shape_of(node, 1))
    axis, batch = axis_of(node, node.options["axis"], rank), node.options.get("batch_dims") or 0
    batch += rows if batch < 0 else 0
    if not 0 <= batch <= min(axis, rows):
        node.fail(f"the first {batch} axes cannot go together where positions of axis {axis} have rank {rows}")
    _check_indices(node, [shape_of(node)[axis]])
    attributes = {"axis": axis, "batch_dims": batch}
    settle(node, 0, node.emit("qrt.gather", [node.value(0), node.value(1)], attributes))


@operator("GATHER_ND")
def gather_nd(node: Node) -> None:
    """Each row of positions names an element, or what the axes behind it hold."""
    indices = shape_of(node, 1)
    if not indices or indices[-1] is None or indices[-1] > len(shape_of(node)):
        node.fail(f"rows of positions {list(indices)} do not name elements of {list(shape_of(node))}")
    _check_indices(node, shape_of(node)[: indices[-1]], is_row=True)
    settle(node, 0, node.emit("qrt.gather_nd", [node.value(0), node.value(1)]))


def _check_indices(node: Node, sizes: Sequence[int | None], is_row: bool = False) -> None:
    """Positions of 32 or 64 bits; those that are known must lie among ``sizes``, one or a row of them."""
    tensor, array = node.input(1), node.constant(1)
    if tensor.dtype not in ("int32", "int64"):
        node.refuse(f"positions of {tensor.dtype}")
    if array is None:
        return
    rows = array if is_row else array[..., None]
    wrong = (rows < 0) | (rows >= np.array([np.iinfo(np.int64).max if n is None else n for n in sizes], np.int64))
    if wrong.any():
        node.fail(f"position {rows[wrong].flat[0]} is not among {list(sizes)}")
