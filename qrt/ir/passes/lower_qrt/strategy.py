"""The cost rule of `zero-point=auto`: the operations that each strategy for zero points adds to a sum of products.

The cost of a strategy is the number of `muli`, `addi` and `subi` at run time because of zero points:

    in-loop             one per product and operand with a zero point
    post-accumulation   two per result and operand with a zero point, three more per result if both have one, and the
                        additions of the other operand's sums, unless these sums are constants

A dynamic size counts as 64. At equal cost the strategy is `post-accumulation`, whose loop has fewer operations.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from qrt.ir.dialects.linalg.lowering import Extent

DYNAMIC_SIZE = 64
"""The size that a dynamic dimension counts as."""


@dataclass(frozen=True)
class OperandCost:
    """Facts about an operand of the products that determine the cost of zero points.

    `extents` are the sizes of its non-reduced dimensions.
    """

    extents: Sequence[Extent]
    has_zero_point: bool
    has_constant_sums: bool


@dataclass(frozen=True)
class Costs:
    """The numbers of operations that the two strategies add; `is_exact` is False if a size is dynamic."""

    in_loop: int
    post_accumulation: int
    is_exact: bool

    @property
    def is_in_loop(self) -> bool:
        return self.in_loop < self.post_accumulation

    def __str__(self) -> str:
        costs = {"in-loop": self.in_loop, "post-accumulation": self.post_accumulation}
        chosen = "in-loop" if self.is_in_loop else "post-accumulation"
        other = "post-accumulation" if self.is_in_loop else "in-loop"
        sizes = "" if self.is_exact else f" (a dynamic size counts as {DYNAMIC_SIZE})"
        return (
            f"zero-point={chosen}: {costs[chosen]} operations for zero points, {costs[other]} with zero-point={other}"
            f"{sizes}"
        )


def costs(outer: Sequence[Extent], reduced: Sequence[Extent], a: OperandCost, w: OperandCost) -> Costs:
    """Return the costs of both strategies for a sum over the loops `reduced` at each point of `outer`."""
    results, depth = _count(outer), _count(reduced)
    in_loop = results * depth * (a.has_zero_point + w.has_zero_point)
    after = 3 * results if a.has_zero_point and w.has_zero_point else 0
    for summed, other in ((a, w), (w, a)):
        if other.has_zero_point:
            after += 2 * results
            after += 0 if summed.has_constant_sums else _count(summed.extents) * depth
    return Costs(in_loop, after, all(isinstance(size, int) for size in (*outer, *reduced)))


def _count(extents: Sequence[Extent]) -> int:
    return prod(size if isinstance(size, int) else DYNAMIC_SIZE for size in extents)
