"""Which operands leave an op of arith or math undefined, from MLIR's and LLVM's documents: exact integers, and none of
qrt's code."""

import math
from collections.abc import Callable
from fractions import Fraction

from tests.oracle.execution.values import number, signed, width

Rule = Callable[[int, int, int], bool]
"""Of two operands' bits and the width."""


def _of_signed(rule: Rule) -> Rule:
    return lambda a, b, size: rule(signed(a, size), signed(b, size), size)


def _overflows(value: int, size: int) -> bool:
    return not -(1 << (size - 1)) <= value < 1 << (size - 1)


def _exceeds(value: int, size: int) -> bool:
    return not 0 <= value < 1 << size


_QUOTIENT: Rule = lambda a, b, size: b == 0 or (b == (1 << size) - 1 and a == 1 << (size - 1))  # noqa: E731
_BY_ZERO: Rule = lambda a, b, size: b == 0  # noqa: E731
_TOO_FAR: Rule = lambda a, b, size: b >= size  # noqa: E731

ALWAYS: dict[str, Rule] = {
    **dict.fromkeys(("arith.divsi", "arith.remsi", "arith.ceildivsi", "arith.floordivsi"), _QUOTIENT),
    **dict.fromkeys(("arith.divui", "arith.remui", "arith.ceildivui"), _BY_ZERO),
    **dict.fromkeys(("arith.shli", "arith.shrsi", "arith.shrui"), _TOO_FAR),
    "math.ipowi": _of_signed(lambda a, b, size: a == 0 and b < 0),
}

PROMISES: dict[tuple[str, str], Rule] = {
    ("arith.addi", "overflow<nsw>"): _of_signed(lambda a, b, size: _overflows(a + b, size)),
    ("arith.addi", "overflow<nuw>"): lambda a, b, size: _exceeds(a + b, size),
    ("arith.subi", "overflow<nsw>"): _of_signed(lambda a, b, size: _overflows(a - b, size)),
    ("arith.subi", "overflow<nuw>"): lambda a, b, size: _exceeds(a - b, size),
    ("arith.muli", "overflow<nsw>"): _of_signed(lambda a, b, size: _overflows(a * b, size)),
    ("arith.muli", "overflow<nuw>"): lambda a, b, size: _exceeds(a * b, size),
    ("arith.shli", "overflow<nsw>"): lambda a, b, size: b >= size or _overflows(signed(a, size) << b, size),
    ("arith.shli", "overflow<nuw>"): lambda a, b, size: b >= size or _exceeds(a << b, size),
    ("arith.divsi", "exact"): lambda a, b, size: _QUOTIENT(a, b, size) or signed(a, size) % signed(b, size) != 0,
    ("arith.divui", "exact"): lambda a, b, size: b == 0 or a % b != 0,
    ("arith.shrsi", "exact"): lambda a, b, size: b >= size or a & (1 << b) - 1 != 0,
    ("arith.shrui", "exact"): lambda a, b, size: b >= size or a & (1 << b) - 1 != 0,
}
"""What an op promises beside: breaking it is undefined."""


def of_integers(name: str, flag: str, element: str, operands: list[int]) -> bool:
    rule = PROMISES[name, flag] if flag else ALWAYS.get(name)
    size = width(element)
    return rule is not None and rule(operands[0], operands[1], size)


def of_conversion(name: str, flag: str, source: str, target: str, bits: int) -> bool:
    """`fptosi` and `fptoui` beyond the target; `trunci` that breaks its promise."""
    size = width(target)
    if name in ("arith.fptosi", "arith.fptoui"):
        value = number(bits, source)
        if not math.isfinite(value):
            return True
        beyond = _overflows if name == "arith.fptosi" else _exceeds
        return beyond(math.trunc(Fraction(value)), size)
    if flag == "overflow<nsw>":
        return _overflows(signed(bits, width(source)), size)
    return flag == "overflow<nuw>" and bits >> size != 0
