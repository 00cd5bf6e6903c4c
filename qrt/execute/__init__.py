"""Programs: planned and run on the kernels, or interpreted op by op."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from qrt.execute.planning.slots import Coverage
    from qrt.execute.ports import Port
    from qrt.execute.program import Program, compile

_LAZY = {
    "Coverage": "qrt.execute.planning.slots",
    "Port": "qrt.execute.ports",
    "Program": "qrt.execute.program",
    "compile": "qrt.execute.program",
}
"""Loaded on first use: a saved program needs little of the package."""

__all__ = ["Coverage", "Port", "Program", "compile"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'qrt.execute' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_LAZY[name]), name)
    return value
