"""Op families that were recognized in float code: operands, the form of a region's body, and the match of a value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ir import Operation, Value

Permutation = tuple[int, ...] | None


@dataclass(frozen=True)
class Operand:
    """An operand of an op family's operation: operand ``number`` of the region, transposed if the axis orders differ.

    `permutation` transposes the region's operand, as `numpy.transpose` does, to the axis order of the family: for
    example HWCF filters to OHWI. It is None if the orders are equal.
    """

    number: int
    permutation: Permutation = None


@dataclass(frozen=True)
class KernelForm:
    """A region's body as a call of an op family.

    ``family`` is a name in ``qrt.ops.FAMILIES``. ``attributes`` are the family's attributes that follow from the body.
    ``requant``, the requantization rule, is among them only if the family's default rule does not round to the nearest
    result. ``low`` and ``high`` are the bounds to which the result is clamped, as real numbers (0 and None for relu). A
    body that only clamps has the family `clamp`, with the bounds as attributes. A ``lookup`` has one operand, and its
    table is the body's function.
    """

    family: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class KernelMatch:
    """A value as the result of an op family, with the float operations that compute it.

    ``operands`` are the input values, each with its permutation. ``operations`` compute the result, and only the result
    of the last one is used elsewhere. ``copied`` are cheap operations, such as broadcasts, between the operands and
    ``operations``; their results may have other uses, so a region gets copies of them. Operations without float
    operands, such as constants and `tensor.empty`, are in neither tuple.

    Examples
    --------
    >>> KernelMatch("add", (), ()).size
    0
    """

    family: str
    operands: tuple[tuple[Value, Permutation], ...]
    operations: tuple[Operation, ...]
    copied: tuple[Operation, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None

    @property
    def size(self) -> int:
        """The number of operations that the match covers."""
        return len(self.operations) + len(self.copied)


Matcher = Callable[[Value], list[KernelMatch]]
"""A function that returns the matches of some op families at a value."""
