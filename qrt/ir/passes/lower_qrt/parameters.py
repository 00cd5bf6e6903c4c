"""Quantization parameters at each iteration of a loop nest."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, floordiv
from qrt.ir.dialects.linalg.loop_nest import Index, LoopNest
from qrt.ir.dialects.linalg.lowering import Array
from qrt.ir.passes.lower_qrt.requantize import Requantization
from qrt.ops.requant import combined_parameters
from qrt.types import IntegerType, UniformType


@dataclass(frozen=True)
class Channels:
    """The quantization parameters of a type, and the index expressions at which a loop nest reads them.

    The parameters form an array of shape `shape`; `indices` has one expression per dimension. Both are empty for a
    per-layer type.
    """

    type: UniformType
    shape: tuple[int, ...] = ()
    indices: tuple[Expression, ...] = ()

    @classmethod
    def of(cls, t: UniformType, indices: Sequence[Expression]) -> "Channels":
        """Return the parameters of the element at `indices`, one expression per dimension, of a tensor of type `t`."""
        if t.is_sub_channel:
            blocks = dict(t.block_sizes or ())
            positions = {d: floordiv(indices[d], blocks.get(d, 1)) for d, size in enumerate(t.scales_shape) if size > 1}
            return cls(t, tuple(t.scales_shape[d] for d in positions), tuple(positions.values()))
        return cls(t) if t.axis is None else cls.along(t, indices[t.axis])

    @classmethod
    def along(cls, t: UniformType, index: Expression) -> "Channels":
        """Return the parameters of a per-layer or per-axis type at the position `index` along its axis."""
        return cls(t) if len(t.scales) == 1 else cls(t, (len(t.scales),), (index,))

    def zero_points(self) -> Array:
        return np.array(self.type.zero_points, np.int64).reshape(self.shape)


def joint(*channels: Channels) -> tuple[tuple[Index, ...], list[Array]]:
    """Combine several `Channels` over a common list of distinct indices.

    Return the indices, and one array for each of the `Channels`, with the positions of the parameters in the type's
    flat list of scales. An array has one axis for each index; the axis has size 1 if the parameters do not depend on
    the index.
    """
    indices = tuple(dict.fromkeys(index for c in channels for index in c.indices))
    numbers = []
    for c in channels:
        order = sorted(range(len(c.shape)), key=lambda axis: indices.index(c.indices[axis]))
        extents = dict(zip(c.indices, c.shape, strict=True))
        numbers.append(
            np.arange(prod(c.shape))
            .reshape(c.shape)
            .transpose(order)
            .reshape([extents.get(index, 1) for index in indices])
        )
    return indices, numbers


def requantization(
    rule: str, factors: Sequence[Channels], result: Channels, counts: Array | None = None, count: Index | None = None
) -> Requantization:
    """Return the parameters of requantization by `product of the factors' scales / (result's scale * count)`.

    ``counts`` has the count, or a vector of counts that the loop nest reads at the index `count`. None means a count of
    1.
    """
    indices, (*others, own) = joint(*factors, result)
    if counts is not None and count is not None:
        counts = counts.reshape(-1, *[1] * len(indices))
        indices = (count, *indices)
    numbers = [(c.type, index) for c, index in zip(factors, others, strict=True)]
    parameters, channel = combined_parameters(rule, numbers, result.type, own, counts)
    return Requantization(parameters, channel, indices, result.type)


def centred(nest: LoopNest, stored: Value, at: Sequence[Expression], channels: Channels, width: IntegerType) -> Value:
    """Return `q - zp` for the element of the tensor `stored` at the indices `at`, as an integer of type `width`."""
    nest.stage("zero-point")
    return without_zero_point(nest, nest.extend(nest.read(stored, at), width, channels.type.is_signed), channels)


def without_zero_point(nest: LoopNest, value: Value, channels: Channels, count: int = 1) -> Value:
    """Return `value - count * zp`; `value` itself if the zero point is 0."""
    zero_points = count * channels.zero_points()
    if not zero_points.any():
        return value
    nest.stage("zero-point")
    return nest.value("arith.subi", (value, nest.parameter(zero_points, value.type, channels.indices)), value.type)
