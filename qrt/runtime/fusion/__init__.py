"""Fusion passes, which reduce the number of steps of a program before it is planned, without changing any result bit.

The module of a pass is imported when a program first has an op that the pass can change.
"""

from collections.abc import Callable

from qrt.ops import FAMILIES
from qrt.ops.declare import Traits
from qrt.runtime.planner.loop_steps import CODES

_LOOPS = (
    "linalg.generic", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf",
    "arith.cmpf", "math.rsqrt",
)  # fmt: skip
LOOPS = frozenset(_LOOPS) | {name for name in CODES if name.startswith("math.")}
"""The op `linalg.generic`, and the most common elementwise ops that can become a `linalg.generic`."""


def _ops(has_trait: Callable[[Traits], bool]) -> frozenset[str]:
    return frozenset(op for family in FAMILIES.values() if has_trait(family.traits) for op in family.declaration.ops)


_CONCAT = frozenset({"qrt.concat"})
"""The op whose operands `split-concat` requantizes."""
_TRANSPOSES = _ops(lambda traits: traits.permutation is not None)
_ELEMENTWISE = _ops(lambda traits: traits.is_elementwise)
_CLAMPS = _ops(lambda traits: traits.bounds is not None)

FUSING: dict[str, frozenset[str]] = {
    "split-concat": _CONCAT,
    "carry-layout": _TRANSPOSES,
    "tabulate-casts": frozenset({"quant.qcast"}),
    "make-tables": _ELEMENTWISE | _CONCAT,
    "widen-depthwise": frozenset({"qrt.depthwise_conv2d"}),
    "fold-pad": frozenset({"qrt.pad"}),
    "fold-clamp": _CLAMPS,
    "fold-sign": frozenset({"qrt.requantize"}) | _CONCAT,
    "fuse-loops": LOOPS,
}
"""The fusion passes in order. A pass runs if the program has at least one of its ops."""
