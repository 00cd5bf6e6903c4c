"""The operators that are imported. Each is a function of a node, in a file of `operators`."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

from qrt.formats.onnx import model, operators
from qrt.formats.onnx.node import Node

Operator = Callable[[Node], None]
_F = TypeVar("_F", bound=Operator)

OPERATORS: dict[str, Operator] = {}
"""The function that imports an operator, by its key: "Conv", "com.microsoft::QGemm"."""


def operator(*names: str, domain: str = "") -> Callable[[_F], _F]:
    """Registers a function for operators of these names. Forms that changed their meaning ask ``node.opset``."""

    def register(function: _F) -> _F:
        for name in names:
            key = f"{domain}::{name}" if domain else name
            assert key not in OPERATORS, f"{key} is imported by {OPERATORS[key].__name__} already"
            OPERATORS[key] = function
        return function

    return register


def find(op: model.Operator) -> Operator | None:
    """The function that imports an operator."""
    return _found(op.key) if op.key in _files() else None


def load_all() -> None:
    """Loads the file of every operator."""
    for key in _files():
        _found(key)


@cache
def _files() -> Mapping[str, str]:
    """The file of each operator."""
    return {key: file for file, keys in operators.FILES.items() for key in keys.split()}


def _found(key: str) -> Operator:
    import_module(f"{operators.__name__}.{_files()[key]}")
    return OPERATORS[key]
