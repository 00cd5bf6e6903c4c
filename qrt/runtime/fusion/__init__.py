"""Passes that make fewer steps of a program before it is planned. Each keeps every bit, and is loaded for the first
program that has ops on which it works.
"""

from collections.abc import Callable

from qrt.ops import FAMILIES
from qrt.ops.declare import Traits

LOOPS = frozenset(
    {"linalg.generic", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf"}
)
"""Loops, and the commonest of the ops that could be loops."""


def _ops(has_trait: Callable[[Traits], bool]) -> frozenset[str]:
    """Return the ops of the families that have a trait."""
    return frozenset(op for family in FAMILIES.values() if has_trait(family.traits) for op in family.declaration.ops)


_CONCAT = frozenset({"qrt.concat"})
"""The op of which `split-concat` makes requantizations."""
_TRANSPOSES = _ops(lambda traits: traits.permutation is not None)
_ELEMENTWISE = _ops(lambda traits: traits.is_elementwise)
_CLAMPS = _ops(lambda traits: traits.bounds is not None)

FUSING: dict[str, frozenset[str]] = {
    "split-concat": _CONCAT,
    "carry-layout": _TRANSPOSES,
    "make-tables": _ELEMENTWISE | _CONCAT,
    "widen-depthwise": frozenset({"qrt.depthwise_conv2d"}),
    "fold-pad": frozenset({"qrt.pad"}),
    "fold-clamp": _CLAMPS,
    "fold-sign": frozenset({"qrt.requantize"}) | _CONCAT,
    "fuse-loops": LOOPS,
}
"""The passes that run before planning, in order, and the ops of which each needs one."""
