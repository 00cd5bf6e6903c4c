"""The loops of structured ops as kernels take them: the extents of the loops, and each operand's strides over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from qrt.errors import QuantError
from qrt.ir.core.affine import Expression, add, linear, multiply, parts_of, plain_loops
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

    A loop over the channels of a grouped convolution, whose index is divided by the channels of a group, is split into
    a loop over groups, which keeps the number of the loop, and one over the channels of a group. ``inner`` has the
    number of the second loop, by that of the first.
    """

    extents: tuple[int, ...]
    operands: tuple[Strided, ...]
    parallel: tuple[int, ...]
    inner: Mapping[int, int] = field(default_factory=dict)

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
    divisors = _divisors([result for map in maps for result in map.results])
    if any(loop not in outputs[0] or sizes[loop] % divisor for loop, divisor in divisors.items()):
        return None
    inner = {loop: len(sizes) + number for number, loop in enumerate(divisors)}
    results = [[_split(result, divisors, inner) for result in map.results] for map in maps]
    sizes = (*(size // divisors.get(loop, 1) for loop, size in enumerate(sizes)), *divisors.values())
    operands = [_strided(indices, shape, sizes) for indices, shape in zip(results, shapes, strict=True)]
    known = tuple(operand for operand in operands if operand is not None)
    return Loops(sizes, known, _with_inner(outputs[0], inner), inner) if len(known) == len(operands) else None


def _divisors(results: Sequence[Expression]) -> dict[int, int]:
    """Return the number by which indices of loops are divided, by loop; 1 if a loop is divided by several numbers."""
    divisors: dict[int, int] = {}
    for part in parts_of(results):
        if (
            isinstance(part, tuple)
            and part[0] in ("floordiv", "mod")
            and _is_loop(part[1])
            and isinstance(part[2], int)
        ):
            loop = part[1][1]
            divisors[loop] = part[2] if divisors.get(loop, part[2]) == part[2] else 1
    return {loop: divisor for loop, divisor in divisors.items() if divisor > 1}


def _is_loop(part: Expression) -> bool:
    return isinstance(part, tuple) and part[0] == "d"


def _split(part: Expression, divisors: Mapping[int, int], inner: Mapping[int, int]) -> Expression:
    """Return an index with the loops in ``divisors`` split into two."""
    if isinstance(part, int) or part[0] == "s":
        return part
    if part[0] == "d":
        loop = part[1]
        return add(multiply(part, divisors[loop]), ("d", inner[loop])) if loop in divisors else part
    operator, left, right = part
    if operator in ("floordiv", "mod") and _is_loop(left) and divisors.get(left[1]) == right:
        return left if operator == "floordiv" else ("d", inner[left[1]])
    return operator, _split(left, divisors, inner), _split(right, divisors, inner)


def _with_inner(loops: Sequence[int], inner: Mapping[int, int]) -> tuple[int, ...]:
    """Return the loops with the second part of a split loop behind the first."""
    return tuple(part for loop in loops for part in ((loop, inner[loop]) if loop in inner else (loop,)))


def _strided(indices: Sequence[Expression], shape: Shape, loops: Sequence[int]) -> Strided | None:
    rows = [linear(result, len(loops)) for result in indices]
    strides, offset = [0] * len(loops), 0
    for row, step in zip(rows, row_major_strides(shape), strict=True):
        if row is None:
            return None
        offset += row[0] * step
        for loop, extent in enumerate(loops):
            strides[loop] += row[loop + 1] * step if extent > 1 else 0
    return Strided(tuple(strides), offset, prod(shape)) if offset >= 0 else None


def collapsed(array: Array, operand: Strided, loops: Loops, axes: Sequence[int]) -> tuple[Array, Strided]:
    """Return a constant and its layout over the loops, after reducing axes of equal elements to size 1.

    ``axes[i]`` is the loop that indexes axis i of the array; the loop of a reduced axis gets the stride 0. For example,
    a bias that was broadcast over pixels becomes a vector again.
    """
    whole = [(loop, size) for loop, size in zip(axes, array.shape, strict=True)]
    parts = [
        (size // loops.extents[loops.inner[a]], loops.extents[loops.inner[a]]) if a in loops.inner else (size,)
        for a, size in whole
    ]
    array = array.reshape([size for part in parts for size in part])
    axes = _with_inner(axes, loops.inner)
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
