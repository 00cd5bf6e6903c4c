"""Broadcasting of arrays of any rank. NumPy's functions of these names take 32 dimensions at most, its arrays 64."""

from typing import Any

import numpy as np


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of operands together. Raises ValueError where they do not broadcast.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    rank = max(map(len, shapes), default=0)
    together = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and together[axis] not in (1, size):
                raise ValueError(f"shapes do not broadcast: {', '.join(map(str, shapes))}")
            together[axis] = together[axis] if size == 1 else int(size)
    return tuple(together)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The arrays as views of the shape of all together."""
    shape = broadcast_shapes(*map(np.shape, arrays))
    return [np.broadcast_to(array, shape) for array in arrays]
