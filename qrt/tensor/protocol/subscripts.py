"""What ``np.einsum`` is asked for: labels of the axes of each operand, and of the result."""

from collections import Counter
from collections.abc import Sequence
from operator import index
from typing import Any

from qrt.errors import QuantTypeError, QuantValueError, shown

Labels = tuple[str, ...]
_OTHERS = "..."
"""It stands among labels for axes without one."""


def subscripts_of(operands: tuple[Any, ...]) -> tuple[list[Labels], Labels | None, Sequence[Any]]:
    """Return (labels of each operand, those of the result if given, tensors) of both forms: ``"ij,jk->ik", a, b`` and
    ``a, [0, 1], b, [1, 2], [0, 2]``."""
    if operands and isinstance(operands[0], str):
        text = operands[0]
        left, arrow, right = text.replace(" ", "").partition("->")
        inputs = [_of_term(term, text) for term in left.split(",")]
        return inputs, _of_term(right, text) if arrow else None, operands[1:]
    lists = [_of_list(given) for given in operands[1::2]]
    output = _of_list(operands[-1]) if len(operands) % 2 else None
    return lists, output, operands[: len(operands) // 2 * 2 : 2]


def _of_term(term: str, text: str) -> Labels:
    before, dots, after = term.partition(_OTHERS)
    letters = before + after
    if letters and not (letters.isascii() and letters.isalpha()):
        raise QuantTypeError(f"{shown(text)} is no list of subscripts")
    return (*before, dots, *after) if dots else tuple(before)


def _of_list(given: Any) -> Labels:
    try:
        return tuple(_OTHERS if x is ... else f"{index(x):09}" for x in given)
    except TypeError:
        raise QuantTypeError(f"subscripts are text or lists of integers, got {shown(given)}") from None


def parsed(inputs: list[Labels], output: Labels | None, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Return (labels of each operand, labels of the result), an ellipsis spelled out as axes counted from the last."""
    if len(inputs) != len(ranks) or not ranks:
        raise QuantValueError(f"subscripts for {len(inputs)} operands are given, and {len(ranks)} operands")
    gaps = [_gap(labels, rank) for labels, rank in zip(inputs, ranks, strict=True)]
    whole = [_spelled_out(labels, gap) for labels, gap in zip(inputs, gaps, strict=True)]
    batch = max(gaps, key=len)
    if output is None:
        times = Counter(label for labels in inputs for label in labels if label != _OTHERS)
        return whole, (*batch, *sorted(label for label, n in times.items() if n == 1))
    result = _spelled_out(output, batch)
    known = {label for labels in whole for label in labels}
    if len(set(result)) != len(result) or not known.issuperset(result) or (batch and _OTHERS not in output):
        raise QuantValueError("the result must have labels of the operands, each once, and their ellipsis")
    return whole, result


def _gap(labels: Labels, rank: int) -> Labels:
    named = sum(label != _OTHERS for label in labels)
    if named > rank or (named < rank and _OTHERS not in labels):
        raise QuantValueError(f"{named} subscripts are given for an operand of rank {rank}")
    return tuple(f".{i}" for i in range(rank - named, 0, -1))


def _spelled_out(labels: Labels, gap: Labels) -> Labels:
    return tuple(x for label in labels for x in (gap if label == _OTHERS else (label,)))
