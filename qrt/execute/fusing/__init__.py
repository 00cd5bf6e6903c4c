"""Passes that make fewer steps of a program before it is planned. Each keeps every bit, and is loaded for the first
program that has ops on which it works.
"""

from importlib import import_module
from typing import Any

from qrt.ir import Module

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

FUSING: dict[str, tuple[str, frozenset[str]]] = {
    "split-concat": ("SplitConcat", frozenset({"qrt.concat"})),
    "carry-layout": ("CarryLayout", frozenset({"qrt.transpose"})),
    "make-tables": ("MakeTables", UNARY | BINARY),
    "widen-depthwise": ("WidenDepthwise", frozenset({"qrt.depthwise_conv2d"})),
    "fold-pad": ("FoldPad", frozenset({"qrt.pad"})),
    "fold-clamp": ("FoldClamp", frozenset({"qrt.clamp"})),
    "fold-sign": ("FoldSign", frozenset({"qrt.requantize"})),
    "fuse-loops": ("FuseLoops", LOOPS),
}
"""What runs before planning, in order: each pass by name, its class, and the ops of which it needs one."""


def pass_class(name: str) -> Any:
    """The class of a pass."""
    return getattr(import_module(f"{__name__}.{name.replace('-', '_')}"), FUSING[name][0])


def fuse(module: Module) -> None:
    """Runs every pass that the ops of a program need."""
    names = {op.name for op in module.operation.walk()}
    for name, (_, needed) in FUSING.items():
        if not names.isdisjoint(needed):
            pass_class(name)().run(module)
            names = {op.name for op in module.operation.walk()}
