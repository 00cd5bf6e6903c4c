"""What an error tells its caller to write: the code in it, run with the names that the code has for the arguments."""

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import qrt

_LETTERS = {"tensor": "qrstuv", "function": "fgh", "other": "xyzabc"}
_BUILTIN = (bool, int, float, complex, object)
GIVE_VALUES = "give np.asarray(q), the values as floats"


def codes(error: BaseException) -> list[str]:
    """Return the expressions that the message says to write, the one it begins with first."""
    _, _, advice = str(error).partition(": write ")
    parts = [advice, *(advice[match.end() :] for match in re.finditer(", or ", advice))]
    written = [code for code in map(_expression, parts) if code and not code.startswith("qrt.float_results")]
    return written if advice and written and advice.startswith(written[0]) else []


def _expression(text: str) -> str:
    """Return the longest beginning of a text that is an expression of more than a name."""
    ends = [match.start() for match in re.finditer(r"[\s,:;]|$", text)]
    for end in reversed(ends):
        code = text[:end].rstrip(",:;")
        try:
            tree = ast.parse(code, mode="eval").body
        except (SyntaxError, ValueError):
            continue
        is_name = isinstance(tree, ast.Name | ast.Constant | ast.Tuple) or re.fullmatch(r"(qrt|np)\.[\w.]+", code)
        return "" if is_name else code
    return ""


def names(args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what the letters of a hint stand for: tensors are q, r, ..., and what is not written out x, y, ..."""
    known: dict[int, Any] = {}
    letters = {kind: iter([*word, *(f"{word[0]}{i}" for i in range(len(word), 99))]) for kind, word in _LETTERS.items()}
    named: dict[str, Any] = {}

    def name(value: Any) -> None:
        if id(value) not in known:
            known[id(value)] = value
            kind = "tensor" if isinstance(value, qrt.QuantTensor) else "function" if callable(value) else "other"
            named[next(letters[kind])] = value

    def walk(value: Any) -> None:
        if isinstance(value, qrt.QuantTensor):
            name(value)
        elif type(value) in (list, tuple) and len(value) <= 8:
            for item in value:
                walk(item)
        elif not _is_literal(value):
            name(value)

    options = dict(kwargs or {})
    if isinstance(options.get("out"), qrt.QuantTensor):
        del options["out"]
    for value in [*args, *options.values()]:
        walk(value)
    return named


def _is_literal(value: Any) -> bool:
    if isinstance(value, np.generic):
        return value.dtype.kind in "iuf" and value.dtype.itemsize <= 8 and type(value).__module__ == "numpy"
    if callable(value):
        return getattr(np, getattr(value, "__name__", ""), None) is value or value in _BUILTIN
    if type(value) in (int, str):
        return not (type(value) is int and abs(value) >= 10**4000) and len(str(value)) < 190
    return value is None or value is ... or type(value) in (bool, float, complex, slice)


@contextmanager
def quietly() -> Iterator[None]:
    """Silence NumPy's warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def run(code: str, known: Mapping[str, Any]) -> Any:
    """Return the value of an expression."""
    with quietly():
        return eval(code, {"np": np, "qrt": qrt, **known})


def dequantized(value: Any) -> Any:
    """Return the value with floats for its tensors."""
    if isinstance(value, qrt.QuantTensor):
        return np.asarray(value)
    if isinstance(value, dict):
        return {key: dequantized(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(map(dequantized, value))
    return value
