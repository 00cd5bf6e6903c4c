"""Passes that make fewer steps of a program before it is planned. Each keeps every bit."""

from typing import Any

from qrt.execute.fusing.carry_layout import CarryLayout
from qrt.execute.fusing.fold_clamp import FoldClamp
from qrt.execute.fusing.fold_pad import FoldPad
from qrt.execute.fusing.fold_sign import FoldSign
from qrt.execute.fusing.make_tables import MakeTables
from qrt.execute.fusing.split_concat import SplitConcat
from qrt.execute.fusing.widen_depthwise import WidenDepthwise

FUSING: dict[str, Any] = {
    "split-concat": SplitConcat,
    "carry-layout": CarryLayout,
    "make-tables": MakeTables,
    "widen-depthwise": WidenDepthwise,
    "fold-pad": FoldPad,
    "fold-clamp": FoldClamp,
    "fold-sign": FoldSign,
}
"""What runs before planning, in order, by name."""
