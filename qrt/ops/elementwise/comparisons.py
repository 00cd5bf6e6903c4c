"""Comparisons, classification of floats, and selection."""

import operator
from collections.abc import Callable

import numpy as np

from qrt.numerics.elements import Function, choose
from qrt.ops.elementwise.conversions import widened
from qrt.ops.elementwise.signature import I1, Signature, float_type, integer

INTEGER_PREDICATES: dict[str, Function] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "ult": operator.lt,
    "ule": operator.le,
    "ugt": operator.gt,
    "uge": operator.ge,
}
"""``cmpi``'s predicates in the order of their numbers, each with the comparison of the readings it is of."""

FLOAT_PREDICATES: dict[str, Function] = {
    "false": lambda a, b: (a < b) & (a > b),
    "oeq": operator.eq,
    "ogt": operator.gt,
    "oge": operator.ge,
    "olt": operator.lt,
    "ole": operator.le,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: (a == a) & (b == b),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": operator.ne,
    "uno": lambda a, b: (a != a) | (b != b),
    "true": lambda a, b: (a == a) | (a != a) | (b == b),
}
"""``cmpf``'s predicates in the order of their numbers."""


def bind(signature: Signature) -> Function:
    """An op of ``OPS``."""
    return OPS[signature.name](signature)


def _cmpi(signature: Signature) -> Function:
    name = tuple(INTEGER_PREDICATES)[signature.attributes["predicate"]]
    compare: Function = INTEGER_PREDICATES[name]
    if signature.operand is I1 and name[0] == "s":
        return lambda a, b: compare(b, a)  # true is -1, below false
    if signature.operand is not I1 and name[0] == "u":
        sign = integer(signature.operand).sign
        return lambda a, b: compare(a ^ sign, b ^ sign)
    integer(signature.operand)
    return compare


def _cmpf(signature: Signature) -> Function:
    float_type(signature.operand)
    compare: Function = FLOAT_PREDICATES[tuple(FLOAT_PREDICATES)[signature.attributes["predicate"]]]
    return compare


def _select(signature: Signature) -> Function:
    return choose


def _classified(test: Function) -> Callable[[Signature], Function]:
    """A test of the value in float64, which keeps NaNs, infinities and subnormals apart."""

    def bind(signature: Signature) -> Function:
        widen = widened(float_type(signature.operand))
        return lambda x: test(widen(x))

    return bind


def _isnormal(signature: Signature) -> Function:
    t = float_type(signature.operand)
    widen, least = widened(t), float(2.0**t.min_exponent)
    return lambda x: np.isfinite(y := abs(widen(x))) & (y >= least)


OPS: dict[str, Callable[[Signature], Function]] = {
    "arith.cmpi": _cmpi,
    "arith.cmpf": _cmpf,
    "arith.select": _select,
    "math.isfinite": _classified(np.isfinite),
    "math.isinf": _classified(np.isinf),
    "math.isnan": _classified(np.isnan),
    "math.isnormal": _isnormal,
}
