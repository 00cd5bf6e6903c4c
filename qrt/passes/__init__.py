"""Passes by name, and pipelines as text.

A pass is a small dataclass: its fields are its options (`zero_point` is written `zero-point`), `run(module)` does the
work. A pass is added by a file here and a line in `pipeline.PASSES`. A pass that needs layers above this package
registers itself there (see `qrt.execute.passes`).
"""

from qrt.passes.pipeline import PASSES, register_pass, run_passes
from qrt.passes.pipeline_text import Pass, parse_pipeline

__all__ = ["PASSES", "Pass", "parse_pipeline", "register_pass", "run_passes"]
