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

FUSING: dict[str, tuple[str, frozenset[str]]] = {
    "split-concat": ("qrt.execute.fusing.split_concat:SplitConcat", frozenset({"qrt.concat"})),
    "carry-layout": ("qrt.execute.fusing.carry_layout:CarryLayout", frozenset({"qrt.transpose"})),
    "make-tables": ("qrt.execute.fusing.make_tables:MakeTables", UNARY | BINARY | _REQUANTIZED),
    "widen-depthwise": ("qrt.execute.fusing.widen_depthwise:WidenDepthwise", frozenset({"qrt.depthwise_conv2d"})),
    "fold-pad": ("qrt.execute.fusing.fold_pad:FoldPad", frozenset({"qrt.pad"})),
    "fold-clamp": ("qrt.execute.fusing.fold_clamp:FoldClamp", frozenset({"qrt.clamp"})),
    "fold-sign": ("qrt.execute.fusing.fold_sign:FoldSign", _REQUANTIZED),
    "fuse-loops": ("qrt.execute.fusing.fuse_loops:FuseLoops", LOOPS),
}
"""The passes that run before planning, in order: each by name, the place of its class, and the ops of which it needs
one."""
