"""Integer operations of `arith` applied to polynomials, with a function for each op that lowered programs contain."""

from collections.abc import Callable, Sequence

import numpy as np

from qrt.ir import Operation
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.lowering import Array
from qrt.ir.passes.raise_to_qrt.terms import (
    Clamp,
    Extension,
    Indicator,
    Monomial,
    NotRaisedError,
    Polynomial,
    Read,
    Scalar,
    Shift,
    integer_range,
    signed,
)
from qrt.types import IntegerType


def width_of(operation: Operation) -> int:
    """Return the bit width of an operation's result; raise NotRaisedError if the result is not an integer."""
    element = element_of(operation.results[0].type)
    if not isinstance(element, IntegerType):
        raise NotRaisedError(f"{operation.name} gives values of type {element}, not integers")
    return element.width


def _add(operation: Operation, x: Scalar, y: Scalar) -> Scalar:
    return Scalar((x.value + y.value).modulo(x.width), x.width)


def _subtract(operation: Operation, x: Scalar, y: Scalar) -> Scalar:
    return _add(operation, x, Scalar(y.value * Polynomial.constant(-1), y.width))


def _multiply(operation: Operation, x: Scalar, y: Scalar) -> Scalar:
    return Scalar((x.value * y.value).modulo(x.width), x.width)


def _truncate(operation: Operation, x: Scalar) -> Scalar:
    width = width_of(operation)
    return Scalar(x.value.modulo(width), width)


def _extend(is_signed: bool) -> Callable[[Operation, Scalar], Scalar]:
    def extend(operation: Operation, x: Scalar) -> Scalar:
        width = width_of(operation)
        number = x.value.number
        if number is not None:
            low, _ = integer_range(x.width, is_signed)
            return Scalar(Polynomial.constant((number - low) % (1 << x.width) + low).modulo(width), width)
        limits, rest = _without_limits(x.value)
        exact = _exact(rest, x.width, is_signed)
        if exact is None:
            return Scalar(Polynomial.variable(Extension(x.value, x.width, is_signed)), width)
        return Scalar(exact * Polynomial({limits: 1}), width)

    return extend


def _without_limits(value: Polynomial) -> tuple[Monomial, Polynomial]:
    """Return the `Indicator` factors that all terms share, and the polynomial without these factors.

    Where a shared factor is 0, the value is 0 and its extension is 0 too, so the rest can be extended by itself.
    """
    shared = [frozenset(pair for pair in monomial if isinstance(pair[0], Indicator)) for monomial in value.terms]
    if len(set(shared)) != 1:
        return frozenset(), value
    return shared[0], Polynomial({monomial - shared[0]: factor for monomial, factor in value.terms.items()})


def _exact(value: Polynomial, width: int, is_signed: bool) -> Polynomial | None:
    """Return a polynomial that equals a `width`-bit integer exactly, not only modulo `2**width`; None if there is none.

    The value must be an element that is read, plus a constant.
    """
    terms = dict(value.terms)
    constant = terms.pop(frozenset(), np.asarray(0, object))
    if len(terms) != 1 or np.ndim(constant):
        return None
    ((monomial, factor),) = terms.items()
    pairs = list(monomial)
    if len(pairs) != 1 or not isinstance(pairs[0][0], Read) or pairs[0][1] != 1 or np.any(factor != 1):
        return None
    read = pairs[0][0]
    low, high = integer_range(width, is_signed)
    for sign in (read.signed, not read.signed) if read.width == width else (read.signed,):
        least, most = integer_range(read.width, sign)
        shift = int(signed(constant, width)) if read.width < width else low - least
        fits = low <= least + shift and most + shift <= high
        if fits and (shift - int(constant)) % (1 << width) == 0:
            other = Read(read.source, read.indices, read.width, sign)
            return Polynomial.variable(other) + Polynomial.constant(shift)
    return None


def _constant(x: Scalar, what: str) -> Array:
    number = x.value.number
    if number is None:
        raise NotRaisedError(f"{what} is not constant")
    return np.asarray(number % (1 << x.width), object)


def _shift_left(operation: Operation, x: Scalar, places: Scalar) -> Scalar:
    count = _constant(places, "the number of places of arith.shli")
    if np.any(count >= x.width):
        raise NotRaisedError("arith.shli shifts by all bits")
    return Scalar((x.value * Polynomial.constant(2**count)).modulo(x.width), x.width)


def _shift_right(operation: Operation, x: Scalar, places: Scalar) -> Scalar:
    count = _constant(places, f"the number of places of {operation.name}")
    is_signed = operation.name == "arith.shrsi"
    if np.any(count >= x.width):
        raise NotRaisedError(f"{operation.name} shifts by all bits")
    number = x.value.number
    if number is not None:
        low, _ = integer_range(x.width, is_signed)
        return Scalar(Polynomial.constant(((number - low) % (1 << x.width) + low) // 2**count).modulo(x.width), x.width)
    if not is_signed:
        raise NotRaisedError("arith.shrui shifts a value that is not constant")
    return Scalar(Polynomial.variable(Shift(x.value, count, x.width)), x.width)


def _limit(operation: Operation, x: Scalar, y: Scalar) -> Scalar:
    if x.value.number is not None:
        x, y = y, x
    limit = y.value.number
    if limit is None or x.value.number is not None:
        raise NotRaisedError(f"{operation.name} has no constant operand")
    return Scalar(Polynomial.variable(Clamp(x.value, limit, operation.name == "arith.maxsi", x.width)), x.width)


def _exclusive_or(operation: Operation, x: Scalar, y: Scalar) -> Scalar:
    """Return the sum of the operands if one of them is the constant with only the highest bit set.

    The sum then equals the exclusive or, because the carry of the highest bit is lost. Raise NotRaisedError otherwise.
    """
    half = 1 << (x.width - 1)
    for value, mask in ((x, y), (y, x)):
        number = mask.value.number
        if number is not None and np.all(number % (1 << x.width) == half):
            return _add(operation, value, Scalar(Polynomial.constant(half), x.width))
    raise NotRaisedError("arith.xori changes other bits than the highest")


SCALARS: dict[str, Callable[..., Scalar]] = {
    "arith.addi": _add,
    "arith.subi": _subtract,
    "arith.muli": _multiply,
    "arith.trunci": _truncate,
    "arith.extsi": _extend(True),
    "arith.extui": _extend(False),
    "arith.shli": _shift_left,
    "arith.shrsi": _shift_right,
    "arith.shrui": _shift_right,
    "arith.maxsi": _limit,
    "arith.minsi": _limit,
    "arith.xori": _exclusive_or,
}


def computed(operation: Operation, operands: Sequence[Scalar]) -> Scalar:
    """Return the result of an operation on `operands`; raise NotRaisedError for an op that kernels do not use."""
    compute = SCALARS.get(operation.name)
    if compute is None:
        raise NotRaisedError(f"{operation.name} is not a step of the integer arithmetic of kernels")
    return compute(operation, *operands)
