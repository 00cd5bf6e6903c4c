"""The text of the call that an error advises. It repeats the caller's arguments, with other expressions for tensors.

Numbers, text and short lists appear as they were given. In the order of the arguments, tensors are named q, r, s, ...,
functions f, g, h, and arrays and all other objects x, y, z, .... An object that is given twice has one name.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from qrt.errors import shown
from qrt.tensor.calls import Tensor

VALUES = "np.asarray({})"
"""The text for a tensor's values; the tensor's name replaces the braces."""
STORAGE = "{}.storage"
_MOST_ITEMS = 8
"""The largest number of items of a list that is written out; a longer list is written as a name."""
_BUILTIN = (bool, int, float, complex, object)
"""The dtypes that are written as names of Python, such as ``float``."""


def written_call(name: str, args: Sequence[Any], kwargs: Mapping[str, Any], word: str = VALUES) -> str:
    """Return the text of a call of the function ``name``, with ``word`` for each tensor.

    A tensor given as ``out`` is left out: it cannot hold floats.
    """
    writer = _Writer(word)
    words = [writer.written(value) for value in args]
    for key, value in kwargs.items():
        given = _places_of_floats(value) if key == "out" else value
        if given is not np._NoValue and not (key == "out" and given is None):
            words.append(f"{key}={writer.written(given)}")
    return f"{name}({', '.join(words)})"


def _places_of_floats(out: Any) -> Any:
    """Return ``out`` with each tensor replaced by None; None if no array is left."""
    if isinstance(out, tuple):
        places = tuple(map(_places_of_floats, out))
        return places if any(place is not None for place in places) else None
    return None if isinstance(out, Tensor) else out


def written_operands(*operands: Any, word: str = VALUES) -> list[str]:
    """Return the texts of the operands of an operator."""
    writer = _Writer(word)
    return [writer.written(x) for x in operands]


def written_operator(sign: str, a: Any, b: Any) -> str:
    """Return the text of an operator on two operands."""
    first, second = written_operands(a, b)
    return f"({first}) ** {second}" if sign == "**" and first.startswith("-") else f"{first} {sign} {second}"


def nondefault_options(**options: Any) -> dict[str, Any]:
    """Return the options that are not None or False, their functions' defaults."""
    return {key: value for key, value in options.items() if value is not None and value is not False}


class _Writer:
    """A writer of arguments, which remembers the names it has given."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.names: dict[int, str] = {}
        self.counts = {"qrstuv": 0, "xyzabc": 0, "fgh": 0}

    def written(self, value: Any) -> str:
        """Return the text of one argument."""
        if isinstance(value, Tensor):
            return self.word.format(self._name(value, "qrstuv"))
        literal = _literal(value)
        if literal is not None:
            return literal
        if type(value) in (list, tuple):
            if len(value) <= _MOST_ITEMS:
                return _sequence([self.written(item) for item in value], type(value) is tuple)
            if any(isinstance(item, Tensor) for item in value):
                return f"[{self.word.format('q')} for q in {self._name(value, 'xyzabc')}]"
        return self._name(value, "fgh" if callable(value) else "xyzabc")

    def _name(self, value: Any, letters: str) -> str:
        if id(value) not in self.names:
            count = self.counts[letters]
            self.names[id(value)] = letters[count] if count < len(letters) else f"{letters[0]}{count}"
            self.counts[letters] = count + 1
        return self.names[id(value)]


def _sequence(words: list[str], is_tuple: bool) -> str:
    if is_tuple:
        return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
    return f"[{', '.join(words)}]"


def _literal(value: Any) -> str | None:
    """Return the text of a value that appears as a literal; None for other values."""
    if value is None or value is ... or type(value) in (bool, int, float, complex, str, slice):
        if type(value) is float and not isfinite(value):
            return f'float("{value}")'
        if type(value) is complex and not (isfinite(value.real) and isfinite(value.imag)):
            return None
        text = shown(value)
        return text if not text.endswith("...") and not text.startswith("a value of") else None
    if isinstance(value, np.generic):
        is_number = value.dtype.kind in "iuf" and value.dtype.itemsize <= 8 and value.dtype.type.__module__ == "numpy"
        return f"np.{value.dtype.name}({_literal(value.item())})" if is_number else None
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and getattr(np, name, None) is value:
        return f"np.{name}"
    return name if any(value is kind for kind in _BUILTIN) else None
