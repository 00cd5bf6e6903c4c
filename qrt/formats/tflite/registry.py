"""The operators that are imported, by TFLite's names. Each is a function of a node, in a file of `operators`."""

from collections.abc import Callable
from typing import TypeVar

from qrt.formats.tflite.node import Node

Operator = Callable[[Node], None]
_F = TypeVar("_F", bound=Operator)

OPERATORS: dict[str, Operator] = {}
"""The function that imports an operator, by the operator's name or a custom operator's code."""


def operator(*names: str) -> Callable[[_F], _F]:
    """Registers a function for operators of these names."""

    def register(function: _F) -> _F:
        for name in names:
            assert name not in OPERATORS, f"{name} is imported by {OPERATORS[name].__name__} already"
            OPERATORS[name] = function
        return function

    return register
