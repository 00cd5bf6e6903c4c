"""A float body as a call of an op family, and what was read to find that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ir import Operation, Value

Permutation = tuple[int, ...] | None


@dataclass(frozen=True)
class Operand:
    """An operand of the family: the number of the region's operand, and how the family's axes are taken from its own
    (`permutation`), such as OHWI filters from HWCF ones; None where they are the same."""

    number: int
    permutation: Permutation = None


@dataclass(frozen=True)
class KernelForm:
    """A body as a call of an op family.

    ``family`` is a name of ``qrt.ops.FAMILIES``; ``attributes`` are those that the body says, ``requant`` never.
    ``low`` and ``high`` clamp the result (relu: 0 and None), in expressed values. A clamp alone is the family `clamp`,
    whose attributes are its bounds. A ``lookup`` has one operand; the body is the function of its table.
    """

    family: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class KernelMatch:
    """A value as the result of an op family on other values.

    ``operands`` are these values, each with its permutation. ``operations`` compute the result from them, and nothing
    else needs their results. ``copied`` are cheap ones on the way, which others may use too. Operations without float
    operands, such as constants and `tensor.empty`, are in neither.
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
        """The number of operations that it covers."""
        return len(self.operations) + len(self.copied)


Reader = Callable[[Value], list[KernelMatch]]
"""A function that finds the readings of a value as a result of some families."""
