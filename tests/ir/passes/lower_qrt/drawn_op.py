"""An op that is drawn: operands, types, attributes, what the plain loops make of it, and which dimensions a program may
leave open."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from qrt.types import TensorType, UniformType
from tests.ir.passes.lower_qrt.draw_types import OpDraw
from tests.ops.harness import Array, tensor


@dataclass
class DrawnOp:
    """An op on arrays. `plain` gives its result by plain loops, of a result type and of the result's shape."""

    name: str
    arrays: list[Array]
    elements: list[UniformType]
    out: UniformType | TensorType | None
    plain: Callable[[UniformType, Sequence[int]], Array]
    attributes: dict[str, Any] = field(default_factory=dict)
    open: list[Collection[int]] = field(default_factory=list)
    """For each operand, the dimensions that need not be known."""
    bound: int = 0
    """The largest magnitude that the accumulator of a rule can have, a bias of its scale included."""

    @property
    def types(self) -> list[TensorType]:
        return [tensor(array.shape, t) for array, t in zip(self.arrays, self.elements, strict=True)]


def any_element(draw: OpDraw, shape: Sequence[int]) -> UniformType:
    """Per layer, per axis or in blocks."""
    if shape and 0 not in shape and draw.chance(0.2):
        return draw.blocks(shape)
    axis = draw.randrange(len(shape)) if shape else None
    return draw.element(shape[axis] if axis is not None else None, axis)


def open_of(t: UniformType, shape: Sequence[int]) -> Sequence[int]:
    """Blocks need sizes."""
    return () if t.is_sub_channel else range(len(shape))
