"""Recognition of softmax written as exponentials divided by their sum."""

from dataclasses import dataclass, replace

from qrt.ir import Operation, Value
from qrt.quantization.forms.elements import Elements, Expression, behind, elements_of, repeated, shape_of
from qrt.quantization.forms.model import KernelMatch
from qrt.quantization.forms.reductions import axis_reduction_of


@dataclass(frozen=True)
class _Term:
    """A subexpression of the exponent in a softmax, and the operations between this expression and the exponential."""

    elements: Elements
    expression: Expression
    operations: tuple[Operation, ...]

    @property
    def number(self) -> int | None:
        """The number of the input that the term's expression consists of; None for any other expression."""
        return int(str(self.expression[1])) if self.expression[0] == "input" else None

    def opened(self) -> "_Term":
        """Return the term with an input replaced by the expression that computes it; return other terms unchanged."""
        if self.number is None or not self.elements.is_identity(self.number):
            return self
        passed: list[Operation] = []
        elements = elements_of(behind(self.elements.inputs[self.number], passed))
        if elements is None:
            return self
        simple = elements.simplified()
        return _Term(simple, simple.computed, (elements.operation, *reversed(passed), *self.operations))

    def part(self, number: int) -> "_Term":
        """Return operand ``number`` of the term's expression; the first operand has number 1."""
        inner = self.expression[number]
        assert isinstance(inner, tuple)
        return replace(self, expression=inner)


def softmax(value: Value) -> list[KernelMatch]:
    """Return the matches if float operations compute a value as a `softmax` along an axis.

    If the exponent is `x - max(x)`, one match has `x` as its operand, and another the difference.
    """
    elements = elements_of(value)
    if elements is None or elements.computed != ("arith.divf", ("input", 0), ("input", 1)):
        return []
    if not elements.is_identity(0):
        return []
    power, total = elements.inputs
    total, axes, spread = repeated(total, elements.axes[1])
    sums = axis_reduction_of(total, kind="sum")
    if sums is None or sums.source is not power or len(sums.axes) != 1 or not _lacks(axes, sums.axes[0], value):
        return []
    outer = (*sums.operations, *spread, elements.operation)
    matches = []
    for source, beta, operations in _exponents(power, sums.axes[0]):
        attributes = {"axis": sums.axes[0], "beta": beta}
        matches.append(KernelMatch("softmax", ((source, None),), (*operations, *outer), attributes=attributes))
    return matches


def _lacks(axes: tuple[int | None, ...], axis: int, value: Value) -> bool:
    """Return True if ``axes``, without None and ``axis``, lists all axes of a value except ``axis``, in order."""
    others = [other for other in range(len(shape_of(value))) if other != axis]
    return [other for other in axes if other is not None and other != axis] == others


def _exponents(power: Value, axis: int) -> list[tuple[Value, float, tuple[Operation, ...]]]:
    """Return each way to write ``power`` as `exp(beta * x)`: the tensor x, beta, and the operations in between.

    If the program subtracts the maximum of x along ``axis`` from x, x is returned, because the softmax is the same.
    """
    elements = elements_of(power)
    if elements is None:
        return []
    simple = elements.simplified()
    if simple.computed[0] != "math.exp":
        return []
    term = _Term(simple, simple.computed, (elements.operation,)).part(1)
    exponents = []
    beta = 1.0
    scaled = _product(term.opened())
    if scaled is not None and scaled[1] > 0:
        term, beta = scaled
    if term.number is not None and term.elements.is_identity(term.number):
        exponents.append((term.elements.inputs[term.number], beta, term.operations))
    difference = _without_maximum(term.opened(), axis)
    return exponents if difference is None else [*exponents, (difference[0], beta, difference[1])]


def _product(term: _Term) -> tuple[_Term, float] | None:
    """Return ``(x, c)`` if ``term`` is ``x * c`` or ``c * x`` with a float constant ``c``; None otherwise."""
    if term.expression[0] != "arith.mulf":
        return None
    for number in (1, 2):
        factor = term.expression[3 - number]
        if isinstance(factor, tuple) and factor[0] == "constant" and isinstance(factor[1], float):
            return term.part(number), factor[1]
    return None


def _without_maximum(term: _Term, axis: int) -> tuple[Value, tuple[Operation, ...]] | None:
    """Return `x` and the operations after it if a term is `x` minus its maximum along ``axis``; None otherwise."""
    if term.expression[0] != "arith.subf":
        return None
    left, right = term.part(1).number, term.part(2).number
    if left is None or right is None or not term.elements.is_identity(left):
        return None
    source = term.elements.inputs[left]
    maximum, axes, spread = repeated(term.elements.inputs[right], term.elements.axes[right])
    greatest = axis_reduction_of(maximum, kind="max")
    if greatest is None or greatest.source is not source or greatest.axes != (axis,) or not _lacks(axes, axis, source):
        return None
    return source, (*greatest.operations, *spread, *term.operations)
