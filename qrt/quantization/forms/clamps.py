"""Recognition of clamps such as relu and relu6, written with maximum, minimum, clampf, or comparisons and selects."""

from dataclasses import dataclass, replace
from math import inf, isnan

from qrt.ir import Operation, Value
from qrt.quantization.forms.elements import Expression, elements_of, tensor_type
from qrt.quantization.forms.model import KernelMatch

_LOWER = ("arith.maximumf", "arith.maxnumf")
_UPPER = ("arith.minimumf", "arith.minnumf")
_GREATER = ("ogt", "oge", "ugt", "uge")
_LESS = ("olt", "ole", "ult", "ule")
_X = ("input", 0)


@dataclass(frozen=True)
class Clamp:
    """The value `min(max(source, low), high)`, and the operations that compute it."""

    source: Value
    low: float
    high: float
    operations: tuple[Operation, ...] = ()

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The bounds `(low, high)`, with None for an infinite one."""
        return (None if self.low == -inf else self.low), (None if self.high == inf else self.high)


def clamps_of(value: Value) -> list[Clamp]:
    """Return the clamps that end in a value: the last one, then the last two as one clamp, and so on.

    The search stops at a `quant.stats` annotation, which would have no effect inside of a combined clamp.
    """
    clamps = [Clamp(value, -inf, inf)]
    while True:
        last = clamps[-1]
        clamp = _clamp(last.source)
        if clamp is None:
            return clamps[1:]
        low, high = _then(clamp.low, clamp.high, last)
        clamps.append(Clamp(clamp.source, low, high, (*clamp.operations, *last.operations)))


def _then(low: float, high: float, clamp: Clamp) -> tuple[float, float]:
    """Return the bounds of one clamp that has the effect of a clamp to `[low, high]` followed by ``clamp``."""
    return min(max(low, clamp.low), clamp.high), min(max(high, clamp.low), clamp.high)


def _clamp(value: Value) -> Clamp | None:
    elements = elements_of(value)
    if elements is None:
        return None
    operations = [elements.operation]
    if elements.computed == ("arith.select", ("input", 0), ("input", 1), ("input", 2)):
        condition = elements_of(elements.inputs[0])
        if condition is not None and elements.is_identity(0):
            operations.insert(0, condition.operation)
            elements = elements.with_input(0, condition)
    simple = elements.simplified()
    if len(simple.inputs) != 1 or not simple.is_identity(0) or tensor_type(simple.inputs[0]) is not value.type:
        return None
    bounds = _bounds(simple.computed)
    if bounds is None or bounds == (-inf, inf):
        return None
    return Clamp(simple.inputs[0], *bounds, tuple(operations))


def _bounds(computed: Expression) -> tuple[float, float] | None:
    """Return the bounds to which an expression clamps its only input; None if it is not a clamp."""
    if computed == _X:
        return -inf, inf
    if computed[0] == "math.clampf":
        _, inner, low, high = computed
        return _clamped(inner, _number(low), _number(high))
    if computed[0] in (*_LOWER, *_UPPER):
        left, right = computed[1:]
        inner, bound = (left, _number(right)) if _number(right) is not None else (right, _number(left))
        return _clamped(inner, bound, inf) if computed[0] in _LOWER else _clamped(inner, -inf, bound)
    return _selected(computed)


def _selected(computed: Expression) -> tuple[float, float] | None:
    """Return the bounds to which `x > c ? x : c`, or an equivalent select, clamps `x`; None for another expression."""
    if computed[0] != "arith.select" or len(computed) != 4:
        return None
    _, condition, chosen, other = computed
    if not isinstance(condition, tuple) or condition[0] != "arith.cmpf":
        return None
    _, predicate, left, right = condition
    if left == other and right == chosen:
        keeps_left = False
    elif left == chosen and right == other:
        keeps_left = True
    else:
        return None
    if predicate not in (*_GREATER, *_LESS):
        return None
    inner, bound = (left, _number(right)) if _number(right) is not None else (right, _number(left))
    takes_greater = (predicate in _GREATER) == keeps_left
    return _clamped(inner, bound, inf) if takes_greater else _clamped(inner, -inf, bound)


def _clamped(inner: object, low: float | None, high: float | None) -> tuple[float, float] | None:
    if not isinstance(inner, tuple) or low is None or high is None or not low <= high:
        return None
    bounds = _bounds(inner)
    return None if bounds is None else _then(*bounds, Clamp(None, low, high))  # type: ignore[arg-type]


def _number(expression: object) -> float | None:
    """Return the value of a constant expression; None if the expression is not constant, or is NaN."""
    if not isinstance(expression, tuple) or expression[0] != "constant" or not isinstance(expression[1], float):
        return None
    return None if isnan(expression[1]) else expression[1]


def clamp(value: Value) -> list[KernelMatch]:
    """Return the matches if float operations compute a value as a `clamp`.

    If several consecutive clamps end in the value, each match covers one clamp more than the match before.
    """
    matches = []
    for bounding in clamps_of(value):
        low, high = bounding.bounds
        operands = ((bounding.source, None),)
        matches.append(KernelMatch("clamp", operands, bounding.operations, attributes={"min": low, "max": high}))
    return matches


def clamped(match: KernelMatch, bounding: Clamp) -> KernelMatch:
    """Return ``match`` with its result clamped by ``bounding``, whose operations become part of the match."""
    low, high = bounding.bounds
    return replace(match, operations=(*match.operations, *bounding.operations), low=low, high=high)
