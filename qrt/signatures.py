"""Arguments that do not fit a signature: an error in words about what the caller wrote, not Python's own."""

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from qrt.errors import QuantTypeError, nearest

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")


def worded(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator: the function raises a ``QuantTypeError`` where its arguments do not fit."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if not is_of_call(error):
                raise
            raise misfit(function, len(args), kwargs) from None

    return call


def worded_methods(kind: type[C]) -> type[C]:
    """A decorator: ``worded`` for each public method that the class defines, and for what makes instances."""
    for name, value in list(vars(kind).items()):
        if isinstance(value, FunctionType) and (not name.startswith("_") or name == "__init__"):
            setattr(kind, name, worded(value))
    return kind


def is_of_call(error: TypeError) -> bool:
    """Whether the error that a frame caught is about its own call: no frame below it was entered."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def misfit(function: Callable[..., Any], count: int, names: Iterable[str]) -> QuantTypeError:
    """The error about a call with so many arguments by position, and those named."""
    parameters = list(signature(function).parameters.values())
    name = function.__name__
    if name in ("__init__", "__new__"):
        name = function.__qualname__.split(".")[-2]
    if parameters and parameters[0].name in ("self", "cls"):
        parameters, count = parameters[1:], count - 1
    by_position = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    by_name = [p.name for p in parameters if p.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]
    given = {*by_position[:count], *names}
    missing = [
        p.name for p in parameters if p.default is Parameter.empty and p.name not in given and "VAR" not in p.kind.name
    ]
    return QuantTypeError(f"{name}: {_wrong(by_position, by_name, missing, count, names)}")


def _wrong(by_position: list[str], by_name: list[str], missing: list[str], count: int, names: Iterable[str]) -> str:
    for name in names:
        if name in by_position[:count]:
            return f"{name} is given twice"
        if name in by_position and name not in by_name:
            return f"{name} is given by position, without its name"
        if name not in by_name:
            near = nearest(name, by_name)
            takes = f"did you mean {near!r}?" if near else f"it takes {_listed(by_position, by_name)}"
            return f"no argument is named {name!r}: {takes}"
    if count > len(by_position):
        return f"it takes at most {len(by_position)} argument{'s'[: len(by_position) != 1]} by position, got {count}"
    return f"an argument is missing: {', '.join(missing)}"


def _listed(by_position: list[str], by_name: list[str]) -> str:
    known = list(dict.fromkeys(by_position + by_name))
    return ", ".join(known) if known else "no argument"
