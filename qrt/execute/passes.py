"""Pipelines of every pass: those of `qrt.passes`, and those that run programs, which register here."""

from qrt.execute.constant_fold import ConstantFold
from qrt.passes.pipeline import PASSES, Report, register, run_passes, run_pipeline

register("constant-fold", ConstantFold)

__all__ = ["PASSES", "Report", "run_passes", "run_pipeline"]
