"""The operators that are imported, by TFLite's names. Each is a function of a node, in a file of `operators`."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TypeVar

from qrt.formats.tflite import model, operators
from qrt.formats.tflite.node import Node

Operator = Callable[[Node], None]
_F = TypeVar("_F", bound=Operator)

OPERATORS: dict[str, Operator] = {}
"""The function that imports an operator, by the operator's name or a custom operator's code."""

PLAIN_OPERATORS: dict[str, Operator] = {}
"""The functions that import forms of which no input is quantized, where another function imports the quantized ones."""


def operator(*names: str) -> Callable[[_F], _F]:
    """Registers a function for operators of these names."""
    return _register(OPERATORS, names)


def plain_operator(*names: str) -> Callable[[_F], _F]:
    """Registers a function for forms of operators without a quantized input."""
    return _register(PLAIN_OPERATORS, names)


def find(op: model.Operator, tensors: Sequence[model.Tensor]) -> Operator | None:
    """The function that imports an operator whose inputs are these."""
    if op.name in _files(plain=True) and all(tensor.quantization is None for tensor in tensors):
        return _found(op.name, plain=True)
    return _found(op.name, plain=False) if op.name in _files(plain=False) else None


def load_all() -> None:
    """Loads the file of every operator."""
    for plain in (False, True):
        for name in _files(plain):
            _found(name, plain)


@cache
def _files(plain: bool) -> Mapping[str, str]:
    """The file of each operator."""
    table = operators.PLAIN_FILES if plain else operators.FILES
    return {name: file for file, names in table.items() for name in names.split()}


def _found(name: str, plain: bool) -> Operator:
    import_module(f"{operators.__name__}.{_files(plain)[name]}")
    return (PLAIN_OPERATORS if plain else OPERATORS)[name]


def _register(table: dict[str, Operator], names: Sequence[str]) -> Callable[[_F], _F]:
    def register(function: _F) -> _F:
        for name in names:
            assert name not in table, f"{name} is imported by {table[name].__name__} already"
            table[name] = function
        return function

    return register
