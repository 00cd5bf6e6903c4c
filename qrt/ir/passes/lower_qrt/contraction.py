"""Description of the sums of products in matmul and in convolutions: their operands and their loops.

The lowering of each of these operations makes such a description, from which the same code builds the loops.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.lowering import I32, I64, Array, Extent
from qrt.ops.accumulate import accumulator_bound
from qrt.types import IntegerType, UniformType

Indices = Sequence[Expression]


@dataclass(frozen=True)
class ProductOperand:
    """An operand of the products: its storage tensor, and the indices at which the loops read the tensor.

    `coordinates` are the operand's non-reduced coordinates, expressions of the outer loops, and `extents` their sizes.
    `index(coordinates, reduced)` returns the tensor's indices for such coordinates and the reduced loops. The array
    `zero_points` is read at the indices `channel`, expressions of the outer loops. The factors of the products are the
    stored integers plus `offset`, which the zero points include.
    """

    tensor: Value
    type: UniformType
    coordinates: tuple[Expression, ...]
    extents: tuple[Extent, ...]
    index: Callable[[Indices, Indices], tuple[Expression, ...]]
    zero_points: Array
    channel: tuple[Expression, ...]
    offset: int = 0

    @property
    def has_zero_point(self) -> bool:
        return bool(self.zero_points.any())


@dataclass(frozen=True)
class Contraction:
    """The sums of `(a - za) * (w - zw)` over the reduced loops, one sum for each point of the outer loops.

    `outer` and `reduced` are the sizes of these loops. `depth` is the number of products that contribute to one element
    of the operation's result, in all blocks for sub-channel weights; None if it is dynamic.
    """

    a: ProductOperand
    w: ProductOperand
    outer: tuple[Extent, ...]
    reduced: tuple[Extent, ...]
    depth: int | None

    @property
    def bound(self) -> int | None:
        return accumulator_bound(self.a.type, self.w.type, self.depth)

    @property
    def width(self) -> IntegerType:
        return I32 if self.bound is not None and self.bound < 1 << 31 else I64


def zero_points_of(t: UniformType) -> Array:
    """Return the zero points of a per-layer or per-axis type as a vector; as a scalar array if all are equal."""
    points = np.array(t.zero_points, np.int64)
    return points[:1].reshape(()) if (points == points[0]).all() else points
