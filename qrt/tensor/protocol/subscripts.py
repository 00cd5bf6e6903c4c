"""What ``np.einsum`` is asked for: labels of the axes of each operand, and of the result."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from qrt.errors import QuantTypeError, QuantValueError, shown

Labels = tuple[Hashable, ...]
_Subscripts = tuple[tuple[Labels, ...], Labels | None]
"""The labels of the operands, and those of the result if given. An ellipsis stands for axes without a label."""


def interleaved(operands: tuple[Any, ...]) -> tuple[str | _Subscripts, Sequence[Any]]:
    """(subscripts, tensors) of both forms: ``"ij,jk->ik", a, b``, whose text stays as it is, and
    ``a, [0, 1], b, [1, 2], [0, 2]``."""
    if operands and isinstance(operands[0], str):
        return str(operands[0]), operands[1:]
    tensors, lists = list(operands[: len(operands) // 2 * 2 : 2]), list(operands[1::2])
    output = operands[-1:] if len(operands) % 2 else ()
    inputs = tuple([_of_list(given) for given in lists])
    return (inputs, _of_list(output[0]) if output else None), tensors


def of_text(text: str) -> _Subscripts:
    """The subscripts that a text says."""
    left, arrow, right = text.replace(" ", "").partition("->")
    return tuple([_of_term(term, text) for term in left.split(",")]), _of_term(right, text) if arrow else None


def _of_term(term: str, text: str) -> Labels:
    letters = term.replace("...", ".", 1)
    if not all(letter == "." or (letter.isascii() and letter.isalpha()) for letter in letters) or term.count(
        "."
    ) not in (0, 3):
        raise QuantTypeError(f"{shown(text)} is no list of subscripts")
    return tuple(... if letter == "." else letter for letter in letters)


def _of_list(given: Any) -> Labels:
    try:
        return tuple(x if x is Ellipsis else index(x) for x in given)
    except TypeError:
        raise QuantTypeError(f"subscripts are text or lists of integers, got {shown(given)}") from None


def parsed(subscripts: _Subscripts, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """(labels of each operand, labels of the result), an ellipsis spelled out."""
    inputs, output = subscripts
    if len(inputs) != len(ranks) or not ranks:
        raise QuantValueError(f"subscripts for {len(inputs)} operands are given, and {len(ranks)} operands")
    whole = [_expanded(labels, rank) for labels, rank in zip(inputs, ranks, strict=True)]
    batch = max((tuple(x for x in labels if isinstance(x, _Axis)) for labels in whole), key=len, default=())
    if output is None:
        times = Counter(label for labels in inputs for label in labels if label is not Ellipsis)
        return whole, (*batch, *sorted(label for label, n in times.items() if n == 1))  # type: ignore[type-var]
    result = tuple(x for label in output for x in (batch if label is Ellipsis else (label,)))
    known = {label for labels in whole for label in labels}
    if len(set(result)) != len(result) or not known.issuperset(result) or (batch and ... not in output):
        raise QuantValueError("the result must have labels of the operands, each once, and their ellipsis")
    return whole, result


@dataclass(frozen=True)
class _Axis:
    """The label of an axis that an ellipsis stands for, counted from the last."""

    number: int


def _expanded(labels: Labels, rank: int) -> Labels:
    named = sum(label is not Ellipsis for label in labels)
    if named > rank or (named < rank and ... not in labels):
        raise QuantValueError(f"{named} subscripts are given for an operand of rank {rank}")
    gap = tuple(_Axis(i) for i in range(rank - named, 0, -1))
    return tuple(x for label in labels for x in (gap if label is Ellipsis else (label,)))
