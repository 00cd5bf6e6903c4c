"""Passes that make fewer steps of a program before it is planned. Each keeps every bit."""

from qrt.passes.fusing.fold_clamp import FoldClamp
from qrt.passes.fusing.fold_pad import FoldPad
from qrt.passes.fusing.fold_sign import FoldSign
from qrt.passes.fusing.make_tables import MakeTables
from qrt.passes.fusing.split_concat import SplitConcat

FUSING = (SplitConcat(), MakeTables(), FoldPad(), FoldClamp(), FoldSign())
"""What runs before planning, in order."""
