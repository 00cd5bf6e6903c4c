"""What the float body of a region computes, as an op family: the same reading serves fusing, which makes bodies, and
export, which writes an op in place of one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Operand:
    """An operand of the family: the number of the region's operand, and how the family's axes are taken from its own
    (`permutation`), such as OHWI filters from HWCF ones; None where they are the same."""

    number: int
    permutation: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Form:
    """A body as a call of an op family.

    ``family`` is a name of ``qrt.ops.FAMILIES``; ``attributes`` are those that the body says, ``requant`` never.
    ``low`` and ``high`` clamp the result (relu: 0 and None), in expressed values.
    """

    family: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
