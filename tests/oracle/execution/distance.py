"""How far results lie apart."""

import math
from collections.abc import Sequence

from tests.oracle.execution.values import Value, is_float, number, width


def distance(ours: Sequence[Value], theirs: Sequence[Value]) -> float:
    """The largest distance of two elements in units of the last place; 0 for the same bits. All NaNs are alike, numbers
    and NaNs infinitely far apart, as are integers that differ."""
    if len(ours) != len(theirs):
        return math.inf
    return max(map(_between, ours, theirs), default=0)


def _between(a: Value, b: Value) -> float:
    if (a.element, a.shape) != (b.element, b.shape):
        return math.inf
    return max((_apart(x, y, a.element) for x, y in zip(a.bits, b.bits, strict=True)), default=0)


def _apart(x: int, y: int, element: str) -> float:
    if x == y:
        return 0
    if not is_float(element):
        return math.inf
    left, right = number(x, element), number(y, element)
    if math.isnan(left) or math.isnan(right):
        return 0 if math.isnan(left) and math.isnan(right) else math.inf
    if left == right:
        return 1  # zeros of two signs
    return abs(_place(x, width(element)) - _place(y, width(element)))


def _place(bits: int, size: int) -> int:
    """Of a float among all in their order."""
    top = 1 << (size - 1)
    return top - bits if bits & top else bits
