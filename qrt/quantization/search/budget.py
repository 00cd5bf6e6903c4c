"""What a search for bit widths shall reach: a budget, and the user's metric (docs/reference/bits.md)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, cast

import numpy as np

from qrt.errors import ModelError, QuantTypeError, shown
from qrt.runtime.program import Program

Kind = Literal["size", "snr", "drop"]
Metric = Callable[[Program], float]
"""How good a program is: the larger, the better."""


class MetricError(ModelError):
    """A metric that raises or returns no finite number."""


_FORMS = "size=0.6 (weight bytes as a share of those at 8 bits), snr=33 (decibels) or drop=0.005 (of the metric)"
_TEXT = re.compile(r"\s*(size|snr|drop)\s*=\s*([+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e[+-]?\d{1,2})?)\s*", re.I)
_MOST_SAID = 300
"""Characters of somebody else's message."""


@dataclass(frozen=True)
class Budget:
    """What a program may take or lose, as the decimal number that its text has.

    >>> Budget.parse("size=0.6")
    Budget(kind='size', limit=Fraction(3, 5))
    """

    kind: Kind
    limit: Fraction

    @classmethod
    def parse(cls, text: object) -> "Budget":
        """The budget that a text says. Raises QuantTypeError, which names the three forms."""
        found = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise QuantTypeError(f"budget must be {_FORMS}, got {shown(text)}")
        kind, limit = cast(Kind, found[1].lower()), Fraction(found[2])
        if limit < 0 and kind != "snr":
            raise QuantTypeError(f"budget must be {_FORMS}, not negative: got {shown(text)}")
        return cls(kind, limit)


def measured(metric: Metric, program: Program, where: str) -> float:
    """The metric of a program: a finite number. ModelError says what the metric did instead, and ``where``.

    >>> try:
    ...     measured(lambda program: float("nan"), None, "trial 3")
    ... except MetricError as error:
    ...     print(error)
    the metric '<lambda>' returned nan at trial 3: it must return a finite number, larger for better
    """
    said = f"the metric {shown(name_of(metric))}"
    try:
        value = metric(program)
    except Exception as error:  # a function of somebody else's may raise anything
        raise MetricError(f"{said} raised at {where}: {_text_of(error)}") from error
    number = _number(value)
    if number is None or not isfinite(number):
        given = shown(value) if number is None else str(number)
        raise MetricError(f"{said} returned {given} at {where}: it must return a finite number, larger for better")
    return number


def name_of(metric: Callable[..., object]) -> str:
    """What messages and journals call a function."""
    return str(getattr(metric, "__qualname__", type(metric).__qualname__))


def _number(value: Any) -> float | None:
    """A real number as float64, an array of rank 0 included; None for anything else."""
    is_other = isinstance(value, bool | np.bool_ | str | bytes | bytearray | complex | np.complexfloating)
    if is_other or getattr(value, "shape", ()) != ():
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return float("inf")


def _text_of(error: Exception) -> str:
    """An exception of somebody else's, whose text may fail too."""
    try:
        said = f"{type(error).__name__}: {error}"
    except Exception:
        said = type(error).__name__
    return " ".join(said.split())[:_MOST_SAID]
