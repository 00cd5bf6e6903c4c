"""Strided copies: bindings of the kernel with which families move storage."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from qrt._ext.kernels import bind_copy
from qrt.ops.core import Array, KernelCall, Shape, row_major_strides


@dataclass(frozen=True)
class StridedPart:
    """Elements of one source that are copied to the result; strides and offsets count elements.

    A part with a ``constant`` reads that, and has no operand.
    """

    shape: Shape
    source: Shape
    target: Shape
    source_size: int
    source_offset: int = 0
    target_offset: int = 0
    constant: Array | None = None


def whole(shape: Shape, target: Shape, target_offset: int = 0) -> StridedPart:
    """Return the part of all elements of an operand."""
    return StridedPart(shape, row_major_strides(shape), target, prod(shape), 0, target_offset)


def bind_parts(dtype: np.dtype[Any], parts: Sequence[StridedPart], target_size: int) -> KernelCall | None:
    """Bind one copy of parts; return None if an array has more axes than the kernel supports."""
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
    """Return True if elements at these strides are adjacent in row-major order."""
    dense = row_major_strides(shape)
    return all(size == 1 or stride == wanted for size, stride, wanted in zip(shape, strides, dense, strict=True))


def offset(index: Sequence[int], strides: Shape) -> int:
    return sum(i * stride for i, stride in zip(index, strides, strict=True))


def _merged(shape: Shape, source: Shape, target: Shape) -> tuple[Shape, Shape, Shape]:
    """Return (shape, source strides, target strides) with neighbouring axes merged if both sides allow it.

    Runs are longer then. Axes of size 1 are left out.
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
