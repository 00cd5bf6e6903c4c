"""Checks of the values that were decoded from a saved program.

A check takes a value and returns it as the `bind_*` functions need it. If the value is of a wrong kind, the check
raises a `Misfit`, which names the expected kind.
"""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Never

import numpy as np

from qrt.errors import shown

Check = Callable[[Any], Any]

MOST = 1 << 40
"""The most elements of an array, and the bound of strides and zero points, as in ``qrt/_ext/arguments.pxi``."""

_MOST_CHARACTERS = 60
"""The largest number of characters of a value in an error, which is one short line."""


class Misfit(ValueError):
    """The error for a value of the wrong kind in a file."""


def _refuse(value: Any, expected: str) -> Never:
    given = shown(value)
    if isinstance(value, np.ndarray):
        given = f"an array of {value.dtype} and shape {value.shape}"
    elif isinstance(value, dict):
        given = "a dictionary"
    if len(given) > _MOST_CHARACTERS:
        given = f"{given[:_MOST_CHARACTERS]}..."
    raise Misfit(f"expected {expected}, got {given}")


def integer(least: int = 0, most: int = MOST) -> Check:
    """Return a check for an integer within bounds."""

    def check(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            _refuse(value, f"an integer from {least} to {most}")
        return value

    return check


def integers(least: int = 0, most: int = MOST, count: int | None = None) -> Check:
    """Return a check for a tuple of ``count`` integers (None: any number of them) within bounds.

    A long tuple is stored as an array, which the check accepts too.
    """
    length = "" if count is None else f"{count} "

    def check(value: Any) -> tuple[int, ...]:
        numbers = value
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64:
            numbers = tuple(value.tolist())
        if type(numbers) is not tuple or (count is not None and len(numbers) != count):
            _refuse(value, f"{length}integers")
        for number in numbers:
            if type(number) is not int or not least <= number <= most:
                _refuse(number, f"{length}integers from {least} to {most}")
        return numbers

    return check


def number(value: Any) -> int | float:
    """Return the value if it is a finite number; raise Misfit otherwise."""
    if type(value) not in (int, float) or not isfinite(value):
        _refuse(value, "a finite number")
    checked: int | float = value
    return checked


def flag(value: Any) -> bool:
    """Return the value if it is a bool; raise Misfit otherwise."""
    if type(value) is not bool:
        _refuse(value, "true or false")
    return value


def word(value: Any) -> str:
    """Return the value if it is a string; raise Misfit otherwise."""
    if type(value) is not str:
        _refuse(value, "a text")
    return value


def choice(*words: str) -> Check:
    """Return a check for one of these words."""

    def check(value: Any) -> str:
        if type(value) is not str or value not in words:
            _refuse(value, f"one of {', '.join(words)}")
        return value

    return check


def array(*dtypes: str, rank: int | None = None) -> Check:
    """Return a check for an array of one of these dtypes (any dtype if none is given) and of this rank."""
    known = tuple(map(np.dtype, dtypes))
    of_rank = "" if rank is None else f" of {rank} dimensions"

    def check(value: Any) -> np.ndarray[Any, Any]:
        if (
            not isinstance(value, np.ndarray)
            or (known and value.dtype not in known)
            or (rank is not None and value.ndim != rank)
        ):
            _refuse(value, f"an array{of_rank} of {' or '.join(dtypes) or 'numbers'}")
        return value

    return check


def _numbers(kinds: str, types: tuple[type, ...], expected: str) -> Check:
    def check(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            is_right = value.dtype.kind in kinds
        else:
            is_right = type(value) is tuple and all(type(number) in types for number in value)
        if not is_right:
            _refuse(value, expected)
        return value

    return check


whole_numbers = _numbers("iu", (int,), "an array of integers")
"""Check integer parameters: an array, or a tuple if there are few."""
real_numbers = _numbers("iuf", (int, float), "an array of numbers")
"""Check float parameters, which may also be integers."""


def dtype(*names: str) -> Check:
    """Return a check for one of these dtypes, or for any dtype if none is given."""
    known = tuple(map(np.dtype, names))

    def check(value: Any) -> np.dtype[Any]:
        if not isinstance(value, np.dtype) or (known and value not in known):
            _refuse(value, f"the dtype {' or '.join(names)}" if names else "a dtype")
        return value

    return check


def optional(check: Check) -> Check:
    """Return a check for None or a value that passes ``check``."""
    return lambda value: None if value is None else check(value)


def either(first: Check, second: Check) -> Check:
    """Return a check for a value that passes one of two checks."""

    def check(value: Any) -> Any:
        try:
            return first(value)
        except Misfit:
            return second(value)

    return check


def record_of(*checks: Check) -> Check:
    """Return a check for a tuple with one value per check."""

    def check(value: Any) -> tuple[Any, ...]:
        if type(value) is not tuple or len(value) != len(checks):
            _refuse(value, f"{len(checks)} values")
        return tuple([own(field) for own, field in zip(checks, value, strict=True)])

    return check


def sequence(check: Check, count: int | None = None) -> Check:
    """Return a check for a tuple of values that all pass ``check``."""
    expected = "several values" if count is None else f"{count} values"

    def check_each(value: Any) -> tuple[Any, ...]:
        if type(value) is not tuple or (count is not None and len(value) != count):
            _refuse(value, expected)
        return tuple(map(check, value))

    return check_each


def fields(required: Mapping[str, Check], defaulted: Mapping[str, Check] | None = None) -> Check:
    """Return a check for a dict with all ``required`` names, some of the ``defaulted`` ones, and no others."""
    names = {**required, **(defaulted or {})}

    def check(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            _refuse(value, "a dictionary")
        missing = [name for name in required if name not in value]
        if missing:
            raise Misfit(f"{missing[0]} is missing")
        checked: dict[str, Any] = {}
        for name, given in value.items():
            own = names.get(name)
            if own is None:
                raise Misfit(f"expected only the names {', '.join(names)}, got {shown(name)}")
            try:
                checked[name] = own(given)
            except Misfit as error:
                raise Misfit(f"{name}: {error}") from None
        return checked

    return check
