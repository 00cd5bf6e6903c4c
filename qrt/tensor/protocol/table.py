"""The table of NumPy's functions: what each makes of QuantTensors, or what to write instead.

``__array_function__`` and ``__array_ufunc__`` look here, and so do the documentation and a test that walks NumPy's
public names. The modules of ``_RULES`` fill the table when it is first asked: `import qrt` loads none of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, TypeVar

import numpy as np

from qrt.errors import QuantTypeError
from qrt.tensor.float_results import in_floats

Kind = Literal["moves", "order", "sums", "inspects", "floats"]
"""`moves` keep the type, `order` is exact by value, `sums` are exact sums, `inspects` reads no value or writes values
out, `floats` have no exact result."""
Rule = TypeVar("Rule", bound=Callable[..., Any])
Function = Callable[..., Any] | tuple[np.ufunc, str]
"""A function of NumPy, a ufunc, or a ufunc with the name of one of its methods."""

_RULES = (
    "moves",
    "comparisons",
    "order",
    "signs",
    "sets",
    "sums",
    "moments",
    "products",
    "arithmetic",
    "inspect",
    "floats",
)
_TABLE: dict[Function, "Entry"] = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """What a function of NumPy makes of QuantTensors."""

    kind: Kind
    rule: Callable[..., Any] | None
    """It takes what NumPy's function takes. None where no result is exact."""
    hint: str = ""
    """What to write instead, where no result is exact."""


def implements(*functions: Function, kind: Kind) -> Callable[[Rule], Rule]:
    """A decorator: the rule of one function of NumPy, or of several."""

    def register(rule: Rule) -> Rule:
        _TABLE.update(dict.fromkeys(functions, Entry(kind, rule)))
        return rule

    return register


def has_no_exact_result(*functions: Function, hint: str) -> None:
    """These give floats where ``qrt.float_results`` allows them, and else an error with the hint."""
    _TABLE.update(dict.fromkeys(functions, Entry("floats", None, hint)))


def table() -> Mapping[Function, Entry]:
    """Every function that has an entry."""
    for name in _RULES:
        import_module(f"{__package__}.{name}")
    return _TABLE


def name_of(function: Function) -> str:
    """As users write it: `np.stack`, `np.linalg.norm`, `np.add.reduce`."""
    if isinstance(function, tuple):
        return f"{name_of(function[0])}.{function[1]}"
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def call(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What NumPy's function gives for these arguments, a QuantTensor among them."""
    entry = _TABLE.get(function) or table().get(function)  # the modules are loaded once
    if entry is None:
        raise QuantTypeError(f"{name_of(function)} takes no QuantTensor: give it np.asarray(q), the values as floats")
    if entry.rule is None:
        plain = getattr(*function) if isinstance(function, tuple) else function
        return in_floats(name_of(function), plain, args, kwargs, entry.hint)
    return entry.rule(*args, **kwargs)
