"""Decoding of sparse constants.

A sparse tensor is stored as a tree of levels, one for each axis, in an order that the file gives. A node has children
in the next level: on a dense level, one child for each position along the axis; on a sparse level, one child for each
stored position. As in a CSR matrix, a sparse level lists these positions. An axis may be divided into blocks; the
positions inside its blocks are one more level. The stored elements are the leaves of the tree. All other elements are
0.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError, plural
from qrt.ops.core import Array


class _Level(NamedTuple):
    """A level with ``size`` positions, which are ``stride`` elements apart in the dense tensor.

    ``segments`` and ``indices`` are None for a dense level. In a sparse level, node i of the level above has the
    positions ``indices[segments[i]:segments[i + 1]]``.
    """

    size: int
    stride: int
    segments: npt.NDArray[np.int64] | None
    indices: npt.NDArray[np.int64] | None


class Sparsity:
    """The levels of a sparse tensor, read from the table `SparsityParameters` of a file.

    ``place`` describes the tensor for error messages. ``blocks`` has the block size of each axis, 1 for an axis without
    blocks. ``count`` is the number of stored elements. Raise ModelError if the levels do not fit ``shape``.
    """

    def __init__(self, place: str, table: Mapping[str, Any], shape: tuple[int, ...]) -> None:
        self.place, self.shape = place, shape
        order, blocked = table["traversal_order"].tolist(), table["block_map"].tolist()
        tables: Sequence[Mapping[str, Any]] = table["dim_metadata"]
        rank, expected = len(shape), len(shape) + len(blocked)
        if sorted(order) != list(range(expected)) or len(tables) != expected:
            self._fail(
                f"traversal_order must have each number from 0 to {expected - 1} once, and dim_metadata {expected} "
                "entries"
                f" ({rank} axes and {len(blocked)} in blocks), got {order[:16]} and "
                f"{plural(len(tables), 'entry', 'entries')}"
            )
        if len(set(blocked)) < len(blocked) or not all(0 <= axis < rank for axis in blocked):
            self._fail(f"block_map must have different axes from 0 to {rank - 1}, got {blocked[:16]}")
        sizes = dict(zip(order, (level["dense_size"] for level in tables), strict=True))
        blocks = [1] * rank
        for number, axis in enumerate(blocked):
            blocks[axis] = sizes[rank + number]
        self.blocks = tuple(blocks)
        if any(block < 1 or extent % block for block, extent in zip(blocks, shape, strict=True)):
            self._fail(f"the block sizes must divide its shape {list(shape)}, got {blocks}")
        strides = [prod(shape[axis + 1 :]) for axis in range(rank)]
        steps = [(shape[axis] // blocks[axis], strides[axis] * blocks[axis]) for axis in range(rank)]
        steps += [(blocks[axis], strides[axis]) for axis in blocked]
        self._levels: list[_Level] = []
        self.count = 1
        for axis, level in zip(order, tables, strict=True):
            self._add(axis, level, *steps[axis])

    def _add(self, axis: int, table: Mapping[str, Any], size: int, stride: int) -> None:
        """Append a level, and set ``count`` to its number of nodes."""
        if table["format"] == "DENSE":
            if table["dense_size"] != size:
                self._fail(f"level {axis} must have {size} positions (dense_size), got {table['dense_size']}")
            self._levels.append(_Level(size, stride, None, None))
            self.count *= size
            return
        segments, indices = (_integers(table[name]) for name in ("array_segments", "array_indices"))
        if segments.size != self.count + 1:
            self._fail(f"level {axis} must have {self.count + 1} values in array_segments, got {segments.size}")
        if segments[0] or segments[-1] != indices.size or (np.diff(segments) < 0).any():
            self._fail(
                f"array_segments of level {axis} must rise from 0 to {indices.size}, the number of its indices, "
                "but do not"
            )
        if indices.size and not 0 <= indices.min() <= indices.max() < size:
            self._fail(
                f"the indices of level {axis} must be from 0 to {size - 1}, got {indices.min()} to {indices.max()}"
            )
        self._levels.append(_Level(size, stride, segments, indices))
        self.count = indices.size

    def densified(self, stored: Array) -> Array:
        """Return the dense tensor, given its ``count`` stored elements.

        Raise ModelError if two stored elements have the same position in the dense tensor.
        """
        positions = np.zeros(1, np.int64)
        for level in self._levels:
            if level.segments is None or level.indices is None:
                positions = (positions[:, np.newaxis] + np.arange(level.size) * level.stride).ravel()
            else:
                positions = positions.repeat(np.diff(level.segments)) + level.indices * level.stride
        dense = np.zeros(prod(self.shape), stored.dtype)
        is_stored = np.zeros(dense.size, np.bool_)
        is_stored[positions] = True
        if np.count_nonzero(is_stored) != positions.size:
            self._fail("every stored element must have its own position, but two have the same")
        dense[positions] = stored
        dense.flags.writeable = False
        return dense.reshape(self.shape)

    def _fail(self, message: str) -> NoReturn:
        raise ModelError(f"{self.place}: sparse tensor: {message}")


def _integers(vector: Mapping[str, Any] | None) -> npt.NDArray[np.int64]:
    return np.zeros(0, np.int64) if vector is None else np.asarray(vector["values"], np.int64)
