"""Encoder of sparse tensors for files that tests write."""

from collections.abc import Sequence

import numpy as np

from tests.models.tflite.writing import Dimension, Sparsity


def sparse(
    dense: np.ndarray,
    sparse_axes: Sequence[int],
    blocks: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    dtype: str = "Int32",
) -> tuple[np.ndarray, Sparsity]:
    """Return the stored elements of an array and the levels that place them.

    ``sparse_axes`` lists the axes without their zeros, ``blocks`` the block size of each axis (1 for none), and
    ``order`` the axes in the order in which they are traversed. ``dtype`` is that of the vectors of the levels.
    """
    sizes = blocks or [1] * dense.ndim
    outer = [n // size for n, size in zip(dense.shape, sizes, strict=True)]
    blocked = [axis for axis, size in enumerate(sizes) if size > 1]
    axes = list(range(dense.ndim)) if order is None else list(order)
    split = dense.reshape([n for pair in zip(outer, sizes, strict=True) for n in pair])
    split = split.transpose([2 * axis for axis in axes] + [2 * axis + 1 for axis in range(dense.ndim)])
    nodes, dimensions = [()], []
    for level, axis in enumerate(axes):
        count = outer[axis]
        if axis not in sparse_axes:
            dimensions.append(Dimension(count))
            nodes = [(*node, index) for node in nodes for index in range(count)]
            continue
        kept = [[index for index in range(count) if split[(*node, index)].any()] for node in nodes]
        segments = np.cumsum([0, *map(len, kept)]).tolist()
        dimensions.append(Dimension(0, segments, [index for indices in kept for index in indices], dtype))
        nodes = [(*node, index) for node, indices in zip(nodes, kept, strict=True) for index in indices]
        assert level < dense.ndim
    dimensions += [Dimension(sizes[axis]) for axis in blocked]
    values = np.array([split[node].ravel() for node in nodes], dense.dtype).ravel()
    return values, Sparsity([*axes, *(dense.ndim + i for i in range(len(blocked)))], blocked, dimensions)
