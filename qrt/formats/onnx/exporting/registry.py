"""The functions that write ops as nodes of ONNX, by the name of the op. Each stands in a file of `writers`."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

from qrt.formats.onnx.exporting import writers
from qrt.formats.onnx.exporting.group import Group
from qrt.ops import OPS

Writer = Callable[[Group], None]
_F = TypeVar("_F", bound=Writer)

WRITERS: dict[str, Writer] = {}
"""The function that writes an op."""


def writer(*names: str) -> Callable[[_F], _F]:
    """Registers a function for ops of these names."""

    def register(function: _F) -> _F:
        for name in names:
            assert name not in WRITERS, f"{name} is written by {WRITERS[name].__name__} already"
            WRITERS[name] = function
        return function

    return register


def find(name: str) -> Writer | None:
    """The function that writes an op, if there is one. An op that works element by element may have none of its own."""
    file, family = _files().get(name), OPS.get(name)
    if file is not None:
        import_module(f"{writers.__name__}.{file}")
        return WRITERS[name]
    if family is not None and family.traits.is_elementwise and not family.traits.tables:
        written: Writer = import_module(f"{writers.__name__}.functions").elementwise
        return written
    return None


def load_all() -> None:
    """Loads the file of every writer."""
    for name in _files():
        find(name)


@cache
def _files() -> Mapping[str, str]:
    return {name: file for file, names in writers.FILES.items() for name in names.split()}
