"""Passes by name, and pipelines as text.

A pass is a small dataclass: its fields are its options (`zero_point` is written `zero-point`), `run(module)` does the
work. A pass is added by a file here and a line in `pipeline.PASSES`. A pass that needs layers above this package
registers itself there (see `qrt.execute.passes`).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qrt.passes.pipeline import PASSES, register_pass, run_passes
    from qrt.passes.pipeline_text import Pass, parse_pipeline

__all__ = ["PASSES", "Pass", "parse_pipeline", "register_pass", "run_passes"]

_MODULES = {"Pass": "pipeline_text", "parse_pipeline": "pipeline_text"}


def __getattr__(name: str) -> Any:
    """The names of `__all__` are loaded when one is asked for: whoever needs one pass does not load all."""
    if name not in __all__:
        raise AttributeError(f"module 'qrt.passes' has no attribute {name!r}")
    value = getattr(import_module(f"qrt.passes.{_MODULES.get(name, 'pipeline')}"), name)
    globals()[name] = value
    return value
