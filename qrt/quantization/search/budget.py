"""The goal of a search for bit widths: a budget, and the user's metric (docs/reference/bits.md)."""

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
"""A function that scores a compiled program; larger is better."""


class MetricError(ModelError):
    """The error for a metric that raised an exception or returned no finite number."""


_FORMS = "size=0.6 (weight bytes as a share of those at 8 bits), snr=33 (decibels) or drop=0.005 (of the metric)"
_TEXT = re.compile(r"\s*(size|snr|drop)\s*=\s*([+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:e[+-]?\d{1,2})?)\s*", re.I)
_MOST_CHARACTERS = 300
"""The greatest length of the message of an exception from the user's metric."""


@dataclass(frozen=True)
class Budget:
    """A limit on the size or the error of a program, as an exact decimal number.

    >>> Budget.parse("size=0.6")
    Budget(kind='size', limit=Fraction(3, 5))
    """

    kind: Kind
    limit: Fraction

    @classmethod
    def parse(cls, text: object) -> "Budget":
        """Parse a budget such as "size=0.6".

        Raise QuantTypeError for any other text; the message lists the three forms of a budget.
        """
        match = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise QuantTypeError(f"budget must be {_FORMS}, got {shown(text)}")
        kind, limit = cast(Kind, match[1].lower()), Fraction(match[2])
        if limit < 0 and kind != "snr":
            raise QuantTypeError(f"budget must be {_FORMS}, not negative: got {shown(text)}")
        return cls(kind, limit)


def measured(metric: Metric, program: Program, where: str) -> float:
    """Return the metric of a program.

    Raises MetricError, whose message contains ``where``, if the metric fails or is not finite.

    >>> try:
    ...     measured(lambda program: float("nan"), None, "trial 3")
    ... except MetricError as error:
    ...     print(error)
    the metric '<lambda>' returned nan at trial 3: it must return a finite number, larger for better
    """
    subject = f"the metric {shown(name_of(metric))}"
    try:
        value = metric(program)
    except Exception as error:  # a user's function may raise any exception
        raise MetricError(f"{subject} raised at {where}: {_text_of(error)}") from error
    number = _number(value)
    if number is None or not isfinite(number):
        given = shown(value) if number is None else str(number)
        raise MetricError(f"{subject} returned {given} at {where}: it must return a finite number, larger for better")
    return number


def name_of(metric: Callable[..., object]) -> str:
    """Return the name that messages and journals show for a function."""
    return str(getattr(metric, "__qualname__", type(metric).__qualname__))


def _number(value: Any) -> float | None:
    """Return a real number, or an array of rank 0, as float64; None for anything else."""
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
    """Return the text of an exception from the user's metric, even if ``str(error)`` fails."""
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    return " ".join(text.split())[:_MOST_CHARACTERS]
