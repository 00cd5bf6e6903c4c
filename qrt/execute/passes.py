"""Pipelines of every pass: those of `qrt.passes`, and those that run programs, which register here."""

from qrt.execute.fusing import FUSING
from qrt.passes.pipeline import PASSES, Observer, module_steps, register_pass, run_passes, run_steps, title
from qrt.passes.remarks import Report

PASSES.add("constant-fold", "qrt.execute.constant_fold:ConstantFold")
for _name, (_place, _) in FUSING.items():
    PASSES.add(_name, _place)
PASSES.add("fold-plan-constants", "qrt.execute.plan_constants:FoldPlanConstants")
PASSES.add("export-quant", "qrt.execute.export_quant:ExportQuant")

__all__ = ["PASSES", "Observer", "Report", "module_steps", "register_pass", "run_passes", "run_steps", "title"]
