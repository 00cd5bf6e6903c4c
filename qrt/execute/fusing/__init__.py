"""Passes that make fewer steps of a program before it is planned. Each keeps every bit, and is loaded for the first
program that has ops on which it works.
"""

UNARY = frozenset({"qrt.clamp", "qrt.leaky_relu", "qrt.lookup", "qrt.requantize"})
BINARY = frozenset(
    {
        "qrt.add",
        "qrt.div",
        "qrt.maximum",
        "qrt.minimum",
        "qrt.mul",
        "qrt.prelu",
        "qrt.squared_difference",
        "qrt.sub",
    }
)
"""Ops that compute each element from one of each operand."""
LOOPS = frozenset(
    {"linalg.generic", "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf"}
)
"""Loops, and the commonest of the ops that could be loops."""

_REQUANTIZED = frozenset({"qrt.requantize", "qrt.concat"})
"""Requantizations, and the op of which `split-concat` makes them."""

FUSING: dict[str, frozenset[str]] = {
    "split-concat": frozenset({"qrt.concat"}),
    "carry-layout": frozenset({"qrt.transpose"}),
    "make-tables": UNARY | BINARY | _REQUANTIZED,
    "widen-depthwise": frozenset({"qrt.depthwise_conv2d"}),
    "fold-pad": frozenset({"qrt.pad"}),
    "fold-clamp": frozenset({"qrt.clamp"}),
    "fold-sign": _REQUANTIZED,
    "fuse-loops": LOOPS,
}
"""The passes that run before planning, in order, and the ops of which each needs one."""
