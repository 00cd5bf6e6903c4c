"""Pipelines of every pass: those of `qrt.passes`, and those that run programs, which register here."""

from qrt.execute.constant_fold import ConstantFold
from qrt.execute.export_quant import ExportQuant
from qrt.execute.fusing import FUSING
from qrt.passes.pipeline import PASSES, Observer, module_steps, register_pass, run_passes, run_steps, title
from qrt.passes.remarks import Report

register_pass("constant-fold", ConstantFold)
for _fusing, _kind in FUSING.items():
    register_pass(_fusing, _kind)
register_pass("export-quant", ExportQuant)

__all__ = ["PASSES", "Observer", "Report", "module_steps", "register_pass", "run_passes", "run_steps", "title"]
