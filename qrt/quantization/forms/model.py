"""The result of recognizing an op family in float code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ir import Operation, Value

Permutation = tuple[int, ...] | None


@dataclass(frozen=True)
class Operand:
    """An operand of the family, by its number among the region's operands.

    `permutation` takes the family's axes from the operand's own axes, such as OHWI filters from HWCF filters; None if
    they are the same.
    """

    number: int
    permutation: Permutation = None


@dataclass(frozen=True)
class KernelForm:
    """A region's body as a call of an op family.

    ``family`` is a name in ``qrt.ops.FAMILIES``; ``attributes`` are the attributes that the body determines, with
    ``requant`` only if the family's default does not give the nearest result. ``low`` and ``high`` clamp the result
    (relu: 0 and None), in expressed values. A clamp alone is the family `clamp` with its bounds as attributes. A
    ``lookup`` has one operand, and its table is the body's function.
    """

    family: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class KernelMatch:
    """A reading of a value as the result of an op family.

    ``operands`` are the input values, each with its permutation. ``operations`` compute the result from them, and only
    the last one's result is used elsewhere. ``copied`` are cheap operations in between, whose results may have other
    uses. Operations without float operands, such as constants and `tensor.empty`, are in neither tuple.

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
        """The number of operations in the reading."""
        return len(self.operations) + len(self.copied)


Matcher = Callable[[Value], list[KernelMatch]]
"""A function that returns the matches of some op families at a value."""
