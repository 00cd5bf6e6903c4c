"""Strided copies: the kernel that families such as transpose, concat, pad and slice use to move elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qrt._ext.kernels import bind_copy
from qrt.ops.core import Array, KernelCall, Shape, row_major_strides


@dataclass(frozen=True)
class StridedPart:
    """A box of elements to copy from one operand (or a ``constant``) to the result.

    ``shape`` is the box's shape; ``source`` and ``target`` are its strides in the operand and in the result, in
    elements, as are the offsets. ``source_size`` is the operand's number of elements.
    """

    shape: Shape
    source: Shape
    target: Shape
    source_size: int
    source_offset: int = 0
    target_offset: int = 0
    constant: Array | None = None


def whole(shape: Shape, target: Shape, target_offset: int = 0) -> StridedPart:
    """Return the part that copies a whole contiguous operand to a box of the result with strides ``target``."""
    return StridedPart(shape, row_major_strides(shape), target, prod(shape), 0, target_offset)


def bind_parts(dtype: np.dtype[Any], parts: Sequence[StridedPart], target_size: int) -> KernelCall | None:
    """Bind one kernel call that copies all parts; return None if a part has more axes than the kernel supports.

    ``target_size`` is the number of elements of the result.
    """
    walked = [_merged(part.shape, part.source, part.target) for part in parts]
    if any(len(shape) > _MOST_AXES for shape, _, _ in walked):
        return None
    return bind_copy(
        dtype=dtype,
        shapes=[shape for shape, _, _ in walked],
        source_strides=[source for _, source, _ in walked],
        target_strides=[target for _, _, target in walked],
        source_sizes=[part.source_size for part in parts],
        source_offsets=[part.source_offset for part in parts],
        target_offsets=[part.target_offset for part in parts],
        target_size=target_size,
        constants=[part.constant for part in parts],
    )


_MOST_AXES = 31


def is_contiguous(shape: Shape, strides: Shape) -> bool:
    """Return True if an array with this shape and these strides in elements is C-contiguous."""
    dense = row_major_strides(shape)
    return all(size == 1 or stride == wanted for size, stride, wanted in zip(shape, strides, dense, strict=True))


def offset(index: Sequence[int], strides: Shape) -> int:
    return sum(i * stride for i, stride in zip(index, strides, strict=True))


def _merged(shape: Shape, source: Shape, target: Shape) -> tuple[Shape, Shape, Shape]:
    """Return (shape, source strides, target strides) of a copy with neighbouring axes merged wherever possible.

    The innermost runs are longer then. Axes of size 1 are dropped.
    """
    merged: list[tuple[int, int, int]] = []
    for size, s, t in zip(shape, source, target, strict=True):
        if size == 1:
            continue
        if merged and merged[-1][1:] == (s * size, t * size):
            merged[-1] = (merged[-1][0] * size, s, t)
        else:
            merged.append((size, s, t))
    return tuple(m[0] for m in merged), tuple(m[1] for m in merged), tuple(m[2] for m in merged)
