"""The loops of structured ops as kernels take them: the extents of the loops, and each operand's strides over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from qrt.errors import QuantError
from qrt.ir.core.affine import AffineMapAttr, linear, plain_loops
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops.core import Array, Shape, row_major_strides, static_shape
from qrt.runtime.loops import extents
from qrt.types import TensorType


@dataclass(frozen=True)
class Strided:
    """The layout of an operand over loops: a stride for each loop, and an offset, both in elements.

    ``size`` is the number of elements of the operand's array.
    """

    strides: tuple[int, ...]
    offset: int
    size: int


@dataclass(frozen=True)
class Loops:
    """The loops of a structured op: the extent of each, the layout of each operand, and the parallel loops.

    ``parallel`` are the loops that index the first output, in the order of its dimensions. A loop of one iteration has
    the stride 0 in every operand.
    """

    extents: tuple[int, ...]
    operands: tuple[Strided, ...]
    parallel: tuple[int, ...]

    @property
    def reduced(self) -> tuple[int, ...]:
        return tuple(loop for loop in range(len(self.extents)) if loop not in self.parallel)


def loops_of(op: StructuredOp, types: Sequence[TensorType]) -> Loops | None:
    """Return the loops of an op whose operands have these static types; None if kernels cannot run the loops.

    Kernels cannot run the loops if an operand's index is not a weighted sum of loop indices, if outputs share elements
    or are indexed by different loops, if there is nothing to compute, or if the op would raise an error.
    """
    maps, shapes = op.indexing_maps, [static_shape(t, op.name) for t in types]
    try:
        sizes = extents(maps, shapes)
    except QuantError:
        return None
    outputs = [plain_loops(map) for map in maps[op.input_count :]]
    if not outputs or outputs[0] is None or any(o is None or set(o) != set(outputs[0]) for o in outputs):
        return None
    if any(sizes[loop] == 0 for loop in outputs[0]):
        return None
    operands = [_strided(map, shape, sizes) for map, shape in zip(maps, shapes, strict=True)]
    known = tuple(operand for operand in operands if operand is not None)
    return Loops(sizes, known, outputs[0]) if len(known) == len(operands) else None


def _strided(map: AffineMapAttr, shape: Shape, loops: Sequence[int]) -> Strided | None:
    rows = [linear(result, len(loops)) for result in map.results]
    strides, offset = [0] * len(loops), 0
    for row, step in zip(rows, row_major_strides(shape), strict=True):
        if row is None:
            return None
        offset += row[0] * step
        for loop, extent in enumerate(loops):
            strides[loop] += row[loop + 1] * step if extent > 1 else 0
    return Strided(tuple(strides), offset, prod(shape)) if offset >= 0 else None


def collapsed(array: Array, operand: Strided, axes: Sequence[int]) -> tuple[Array, Strided]:
    """Return a constant and its layout over the loops, after reducing axes of equal elements to size 1.

    ``axes[i]`` is the loop that indexes axis i of the array; the loop of a reduced axis gets the stride 0. For example,
    a bias that was broadcast over pixels becomes a vector again.
    """
    strides = list(operand.strides)
    for axis, loop in enumerate(axes):
        first = array[(slice(None),) * axis + (slice(0, 1),)]
        if array.shape[axis] > 1 and np.array_equal(_bits(array), _bits(np.broadcast_to(first, array.shape))):
            array = first
            strides[loop] = 0
    array = np.asarray(array, order="C")
    for step, axis, loop in zip(row_major_strides(array.shape), range(array.ndim), axes, strict=True):
        strides[loop] = step if array.shape[axis] > 1 else 0
    return array, Strided(tuple(strides), 0, array.size)


def _bits(array: Array) -> Array:
    bits: Array = array.view(f"u{array.itemsize}")
    return bits


Constants = Mapping[int, Array]
"""The arrays of constant operands, by operand number."""
