"""The layout of scales in a tensor: which of its elements share one scale."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.quantization.propagation.graph import PropagationNode
from qrt.quantization.targets.model import TargetPort
from qrt.types import TensorType, UniformType

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class PortLayout:
    """A layout of scales in a tensor: one scale for each index of an axis, or one for each block.

    ``shape`` is that of the tensor. ``blocks`` holds pairs of an axis and the size of the blocks along this axis.
    """

    shape: tuple[int, ...]
    axis: int | None = None
    blocks: tuple[tuple[int, int], ...] = ()

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword arguments of ``UniformType`` for this layout: ``axis`` or ``block_sizes``."""
        return {"axis": self.axis} if self.axis is not None else {"block_sizes": dict(self.blocks)}

    @property
    def scales_shape(self) -> tuple[int, ...]:
        """The shape of the array of scales of a type with this layout."""
        if self.axis is not None:
            return (self.shape[self.axis],)
        return tuple(size // self._block(d) for d, size in enumerate(self.shape))

    def _block(self, d: int) -> int:
        if self.axis is not None:
            return 1 if d == self.axis else self.shape[d]
        return dict(self.blocks).get(d, self.shape[d])

    def rows(self, values: Array) -> Array:
        """Return the tensor's elements as a matrix that has one row for each scale, in the order of the scales."""
        sizes = [self._block(d) for d in range(len(self.shape))]
        counts = [size // block if block else 1 for size, block in zip(self.shape, sizes, strict=True)]
        parts = values.reshape([length for pair in zip(counts, sizes, strict=True) for length in pair])
        order = [*range(0, parts.ndim, 2), *range(1, parts.ndim, 2)]
        return np.transpose(parts, order).reshape(prod(counts), prod(sizes))

    def is_of(self, spec: UniformType) -> bool:
        """Return True if the scales of a type have this layout."""
        if spec.scale_array.shape != self.scales_shape:
            return False
        return spec.axis == self.axis if self.axis is not None else dict(spec.block_sizes or ()) == dict(self.blocks)


def layout_of_port(port: TargetPort, node: PropagationNode) -> PortLayout | None:
    """Return the layout of scales that a kernel's port requires of a node's tensor; None for a single scale.

    The result is also None if the layout does not fit the tensor: it lacks the port's axis, its size is unknown, or its
    size is no multiple of the port's block.
    """
    if port.axis is None and port.blocks is None:
        return None
    type = node.value.type
    shape = type.shape if isinstance(type, TensorType) else ()
    if shape is None:
        return None
    order = _order(node, len(shape))
    if port.axis is not None:
        axis = port.axis_of(len(shape))
        if axis is None or not shape[order[axis]]:
            return None  # the number of channels is unknown or 0
        return PortLayout(tuple(size or 0 for size in shape), order[axis])
    assert port.blocks is not None
    blocks = [(order[axis], size) for axis, size in sorted(port.blocks.items()) if axis < len(shape)]
    if len(blocks) < len(port.blocks) or None in shape:
        return None
    known = tuple(size or 0 for size in shape)
    if any(known[axis] % size or not known[axis] for axis, size in blocks):
        return None
    return PortLayout(known, None, tuple(sorted(blocks)))


def _order(node: PropagationNode, rank: int) -> tuple[int, ...]:
    """Return, for each axis of an operand in the kernel's axis order, the number of this axis in the program."""
    form = node.region.form if node.region is not None else None
    for operand in form.operands if form is not None else ():
        if operand.number == node.index and node.is_input and operand.permutation is not None:
            return operand.permutation
    return tuple(range(rank))
