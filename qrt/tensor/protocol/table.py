"""The table of NumPy's functions: an implementation of each for QuantTensors (its *rule*), or advice on what to write.

``__array_function__`` and ``__array_ufunc__`` read it, and so do the documentation and a test of NumPy's public names.
The modules of ``_RULES`` fill the table on first use: `import qrt` loads none of them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from numbers import Real
from operator import attrgetter
from typing import Any, Literal, TypeVar

import numpy as np

from qrt.errors import QuantAxisError, QuantError, QuantTypeError, shown
from qrt.registry import Registry
from qrt.tensor.float_results import advice_to_the_caller_of_numpy, in_floats
from qrt.tensor.numpy_errors import NUMPY_ERRORS, from_numpy
from qrt.tensor.protocol.written import VALUES, written_call

Kind = Literal["moves", "order", "sums", "inspects", "floats", "refused"]
"""The kind of a function.

`moves` keeps the type, `order` compares values, `sums` has exact integer results, `inspects` reads properties or prints
values, `floats` has no exact result, and `refused` always raises an error.
"""
Rule = TypeVar("Rule", bound=Callable[..., Any])
Function = Callable[..., Any] | tuple[np.ufunc, str]
"""A function of NumPy, a ufunc, or a ufunc with the name of one of its methods."""
Named = Function | str
"""A function, or its name within NumPy for a function that NumPy 2.0 does not have yet."""

_FILES = """
movement joins fills comparisons order signs sums products arithmetic inspect floats
"""
_RULES: Registry[Any] = Registry(
    "file of rules", {name: f"qrt.tensor.protocol.rules.{name}" for name in _FILES.split()}
)
"""The modules that fill the table, in the order in which the table lists functions."""
_NAMED = re.compile(r"[\w.]+: ")
"""The beginning of a message that already has the name of a function."""
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")
_ARGUMENTS = re.compile(r"[\w.<>]+\(\) (?=takes |missing |got )")
"""The beginning of Python's messages about wrong arguments of a function."""
_OBJECT = re.compile(r"'([\w.]+)' object ")
"""The beginning of Python's messages about an argument of a wrong class."""
_TABLE: dict[Function, "Entry"] = {}
_MODULES: dict[str, "Entry"] = {}


@dataclass(frozen=True, slots=True)
class Entry:
    """A NumPy function's entry in the table: its implementation for QuantTensors (the rule), or advice for errors."""

    kind: Kind
    rule: Callable[..., Any] | None
    """The function that computes the result, with the arguments of NumPy's function; None if no result is exact."""
    hint: str = ""
    """Advice if there is no rule. For a function that gives floats it is an example: errors show the caller's call."""
    word: str = VALUES
    """The text for a tensor in the call that an error advises, with ``{}`` for the tensor's name."""
    operands: int | None = None
    """The number of leading arguments that must be tensors (0: all); an array or number among them gives floats."""


def implements(*functions: Named, kind: Kind, operands: int | None = None) -> Callable[[Rule], Rule]:
    """Return a decorator that enters the decorated function into the table, as the rule of the given NumPy functions.

    ``kind`` and ``operands`` are the fields of `Entry`.
    """

    def register(rule: Rule) -> Rule:
        _add(dict.fromkeys(functions, Entry(kind, rule, operands=operands)))
        return rule

    return register


def enter(
    kind: Kind, rule_of: Callable[..., Callable[..., Any]], rows: Mapping[Any, Any], operands: int | None = None
) -> None:
    """Enter rules for functions of NumPy, all made by ``rule_of``.

    A key of ``rows`` is a function, or a tuple of functions with the same meaning. A value is a tuple (arguments, ...,
    summary), or only the summary. The rule is ``rule_of(function, *arguments)``, with the first function of a tuple,
    and the summary becomes its docstring.
    """
    entries: dict[Named, Entry] = {}
    for functions, row in rows.items():
        *parts, summary = row if isinstance(row, tuple) else (row,)
        several = functions if isinstance(functions, tuple) and not isinstance(functions[1], str) else (functions,)
        rule = rule_of(several[0], *parts)
        rule.__doc__ = summary
        entries |= dict.fromkeys(several, Entry(kind, rule, operands=operands))
    _add(entries)


def enter_rules(kind: Kind, rows: Mapping[Any, tuple[Callable[..., Any], str]]) -> None:
    """Enter rules for functions of NumPy.

    ``rows`` maps each function to (rule, summary), and the summary is documentation.
    """
    enter(kind, lambda function, rule: rule, rows)


def _add(entries: Mapping[Any, Entry]) -> None:
    for named, row in entries.items():
        function = getattr(np, named, None) if isinstance(named, str) else named
        if function in _TABLE:
            raise RuntimeError(f"{name_of(function)} already has a rule: {_TABLE[function].rule}")
        if function is not None:
            _TABLE[function] = row


def has_no_exact_result(hints: Mapping[str, str], word: str = VALUES) -> None:
    """Enter functions of NumPy that have no exact quantized result, by their names within NumPy.

    They give floats if ``qrt.float_results`` allows that. Otherwise they raise an error, which advises to call the
    function with ``word``, such as ``np.asarray({})``, for each tensor. ``hints`` has an example of this call for each
    function. Rules take precedence over these entries.
    """
    for path, hint in hints.items():
        if "." in path or hasattr(np, path):
            _TABLE.setdefault(attrgetter(path)(np), Entry("floats", None, hint, word))


def refuses(*functions: Function, hint: str) -> None:
    """Enter functions that always raise an error with the hint, also if ``qrt.float_results`` allows floats.

    Rules take precedence over these entries.
    """
    for function in functions:
        _TABLE.setdefault(function, Entry("refused", None, hint))


def refuses_module(module: str, hint: str) -> None:
    """Enter all functions of the named module as errors with the hint. The module is not imported."""
    _MODULES[module] = Entry("refused", None, hint)


def entry(function: Function) -> Entry | None:
    """Return the entry of a function or of its module; None if there is none."""
    return table().get(function) or _MODULES.get(getattr(function, "__module__", ""))


@cache
def table() -> Mapping[Function, Entry]:
    """Return the entries of all functions, after loading the rules."""
    for name in _RULES:
        _RULES[name]
    return _TABLE


def name_of(function: Function) -> str:
    """Return the name of a function as users write it: `np.stack`, `np.linalg.norm`, `np.add.reduce`."""
    if isinstance(function, tuple):
        return f"{name_of(function[0])}.{function[1]}"
    module = (getattr(function, "__module__", None) or "numpy").replace("numpy.lib.scimath", "numpy.emath")
    return f"{module.replace('numpy', 'np', 1)}.{function.__name__}"


def answer(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a NumPy function's result for arguments with a QuantTensor, or raise an error with advice."""
    row, name = entry(function), name_of(function)
    if row is not None and row.rule is not None:
        if row.operands is not None and _are_floats(args, row.operands):
            return answer_in_floats(function, args, kwargs)
        try:
            return row.rule(*args, **kwargs)
        except Exception as error:
            _in_words(name, error, args, kwargs)
            raise
    if row is None or row.kind == "refused":
        raise QuantTypeError(f"{name} takes no QuantTensor{advice_to_the_caller_of_numpy() or _instead(function, row)}")
    return answer_in_floats(function, args, kwargs, row.word)


def _instead(function: Function, row: Entry | None) -> str:
    if row is not None:
        return f": {row.hint}"
    if isinstance(function, tuple) and function[1] == "at":
        return ": q[indices] = x writes elements"
    return ": give np.asarray(q), the values as floats"


def _are_floats(args: tuple[Any, ...], count: int) -> bool:
    """Return True if an array or a number is among the operands: the first ``count`` arguments, or all if that is 0.

    If ``count`` is 1 and the argument is a list, its items are the operands.
    """
    is_list = count == 1 and bool(args) and isinstance(args[0], (list, tuple))
    given = args[0] if is_list else args[: count or len(args)]
    return any(isinstance(x, (np.ndarray, np.generic, Real, complex)) for x in given)


def answer_in_floats(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], word: str = VALUES) -> Any:
    """Return a function's result for dequantized values if floats are allowed, else raise an error with advice."""
    name, plain = name_of(function), getattr(*function) if isinstance(function, tuple) else function
    return in_floats(name, plain, args, kwargs, lambda: written_call(name, args, kwargs, word))


def _in_words(name: str, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Add the function's name to an error of a rule; raise qrt's error in place of one of NumPy or Python."""
    if isinstance(error, QuantError):
        if len(error.args) == 1 and not _NAMED.match(str(error)) and not str(error).startswith(name):
            if isinstance(error, QuantAxisError):  # its text differs from its arguments
                raise QuantAxisError(f"{name}: {error}") from error
            error.args = (f"{name}: {error}",)
    elif isinstance(error, NUMPY_ERRORS):
        raise from_numpy(_of_signature(error), name, _argument_of(error, args, kwargs)) from error


def _argument_of(error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the argument that Python's error is about, as a text such as `` (axis = None)``.

    The error names only the argument's class. Return an empty text unless exactly one argument has this class.
    """
    kind = _OBJECT.match(str(error))
    values = [*((f"{key} = ", value) for key, value in kwargs.items()), *(("", value) for value in args[1:])]
    named = [f" ({key}{shown(value)})" for key, value in values if kind and type(value).__name__ == kind[1]]
    return named[0] if len(named) == 1 else ""


def _of_signature(error: Exception) -> Exception:
    """Reword Python's error about wrong arguments of a rule as an error about NumPy's function.

    Return any other error unchanged.
    """
    message = str(error)
    keyword = _KEYWORD.search(message)
    if not isinstance(error, TypeError) or not (keyword or _ARGUMENTS.match(message)):
        return error
    return TypeError(
        f"the argument {keyword[1]!r} is not supported for a QuantTensor" if keyword else _ARGUMENTS.sub("", message)
    )
