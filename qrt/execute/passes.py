"""Pipelines of every pass: those of `qrt.passes`, and those that run programs, which register here."""

from qrt.execute.constant_fold import ConstantFold
from qrt.execute.export_quant import ExportQuant
from qrt.execute.fusing import FUSING, pass_class
from qrt.passes.pipeline import PASSES, Observer, module_steps, register_pass, run_passes, run_steps, title
from qrt.passes.remarks import Report

register_pass("constant-fold", ConstantFold)
for _fusing in FUSING:
    register_pass(_fusing, pass_class(_fusing))
register_pass("export-quant", ExportQuant)

__all__ = ["PASSES", "Observer", "Report", "module_steps", "register_pass", "run_passes", "run_steps", "title"]
