"""Sums of polynomials over loops, in a canonical form.

A loop over several packed indices is split into one loop per index, and padding is left out of the sums.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from math import prod

import numpy as np

from qrt.ir import DenseElementsAttr, Value
from qrt.ir.core.affine import Expression, evaluate
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.lowering import Array
from qrt.ir.passes.raise_to_qrt.terms import (
    FIRST_SUM_LOOP,
    ONE,
    Indicator,
    Monomial,
    NotRaisedError,
    Polynomial,
    Read,
    Sum,
    Variable,
    canonical,
    dimensions,
    integer_range,
    rewritten,
)

_MOST_CONSTANTS = 1 << 24
"""The largest number of products of constants that are added; larger programs are not raised."""
_WIDEST = 32
"""Sums of constants of this many bits fit 64 bits."""
_END = 1 << 62
"""More than the extent of any loop."""


def constant_values(source: Value) -> Array | None:
    """Return the integers of a constant tensor; None if the tensor is not constant."""
    constant = constant_of(source)
    return np.asarray(constant.python) if isinstance(constant, DenseElementsAttr) else None


def evaluated_read(read: Read, sizes: dict[int, int]) -> Array:
    """Return the elements of a constant that is read, as an array with one dimension per loop.

    `sizes` are the extents by loop number. A dimension has size 1 if the elements do not depend on its loop.
    """
    values = constant_values(read.source)
    assert values is not None
    grid = np.ogrid[tuple(map(slice, sizes.values()))]
    loops = dict(zip(sizes, grid, strict=True))
    indices = tuple(np.asarray(evaluate(index, loops)) for index in read.indices)  # type: ignore[arg-type]
    low, _ = integer_range(read.width, read.signed)
    dtype = np.int64 if read.width <= _WIDEST else object
    picked = np.asarray(values[indices], dtype)
    picked = np.asarray((picked - low) % (1 << read.width) + low, dtype)
    return picked.reshape((1,) * (len(sizes) - np.ndim(picked)) + np.shape(picked))


class Summation:
    """Summation of polynomials over `loops`, a dict of extents by loop number.

    `outer` are the extents of the result's loops, `static` the numbers of those loops whose extent is static.
    """

    def __init__(self, outer: Sequence[int], static: Set[int], loops: dict[int, int]) -> None:
        self.outer = dict(enumerate(outer))
        self.static = static
        self.loops = loops

    def of(self, value: Polynomial) -> Polynomial:
        total = Polynomial({})
        for monomial, factor in value.terms.items():
            total += self._monomial(monomial) * Polynomial.constant(factor)
        return total

    def _monomial(self, monomial: Monomial) -> Polynomial:
        loops, reads, outside = dict(self.loops), list[Read](), dict[Variable, int]()
        limits = list[Indicator]()
        for variable, power in monomial:
            if not any(loop in self.loops for loop in loops_of(variable)):
                outside[variable] = power
            elif isinstance(variable, Read):
                reads += [variable] * power
            elif isinstance(variable, Indicator):
                limits.append(variable)
            elif isinstance(variable, Sum) and power == 1 and len(loops) == len(self.loops):
                first = max(self.loops) + 1
                names: dict[Expression, Expression] = {
                    ("d", FIRST_SUM_LOOP + i): ("d", first + i) for i in range(len(variable.extents))
                }
                loops |= {first + i: extent for i, extent in enumerate(variable.extents)}
                reads += [read.map(lambda index: rewritten(index, names)) for read in variable.reads]  # noqa: B023
            else:
                raise NotRaisedError("a sum adds values that are not products of integers that are read")
        factor = Polynomial({frozenset(outside.items()): 1})
        return factor * self._products(loops, reads, limits)

    def _products(self, loops: dict[int, int], reads: list[Read], limits: list[Indicator]) -> Polynomial:
        loops, reads = _simplified(loops, reads, limits)
        used = {loop for read in reads for loop in loops_of(read)}
        count = prod(extent for loop, extent in loops.items() if loop not in used)
        loops = {loop: extent for loop, extent in loops.items() if loop in used}
        is_closed = used <= {*self.static, *loops}
        if is_closed and all(constant_values(read.source) is not None for read in reads):
            return Polynomial({ONE: count * self._evaluated(loops, reads)})
        if not loops:
            powers = {read: reads.count(read) for read in reads}
            return Polynomial({frozenset(powers.items()): count})
        return Polynomial({frozenset(((_named(loops, reads), 1),)): count})

    def _evaluated(self, loops: dict[int, int], reads: Sequence[Read]) -> Array:
        sizes = self.outer | loops
        used = {loop for read in reads for loop in loops_of(read)}
        if prod(extent for loop, extent in sizes.items() if loop in used) > _MOST_CONSTANTS:
            raise NotRaisedError("a sum of constants is too large to be evaluated")
        product = np.asarray(1)
        for read in reads:
            values = evaluated_read(read, sizes)
            product = product * (values if len(reads) == 1 else values.astype(object))
        return np.asarray(product.sum(axis=tuple(range(len(self.outer), len(sizes))))).astype(object)


def loops_of(variable: Variable) -> set[int]:
    if isinstance(variable, Read):
        return {loop for expression in variable.indices for loop in dimensions(expression)}
    if isinstance(variable, Indicator):
        return dimensions(variable.index)
    if isinstance(variable, Sum):
        return {loop for read in variable.reads for loop in loops_of(read) if loop < FIRST_SUM_LOOP}
    inner = getattr(variable, "value", None)
    return set() if inner is None else {loop for m in inner.terms for v, _ in m for loop in loops_of(v)}


def _named(loops: dict[int, int], reads: list[Read]) -> Sum:
    """Return the `Sum` of the product of `reads` over `loops`, in a canonical form.

    The reads are sorted, and the loops are numbered in the order in which the sorted reads use them.
    """
    order = sorted(reads, key=lambda read: (str(read.indices), read.signed, id(read.source)))
    numbers: dict[Expression, Expression] = {}
    extents = []
    for read in order:
        for expression in read.indices:
            for loop in _in_order(expression):
                if loop in loops and ("d", loop) not in numbers:
                    numbers[("d", loop)] = ("d", FIRST_SUM_LOOP + len(numbers))
                    extents.append(loops[loop])
    named = [read.map(lambda index: canonical(rewritten(index, numbers))) for read in order]
    return Sum(tuple(extents), tuple(named))


def _in_order(expression: Expression) -> Iterator[int]:
    if not isinstance(expression, int):
        if expression[0] == "d":
            yield expression[1]
        else:
            yield from _in_order(expression[1])
            yield from _in_order(expression[2])


# -- simpler loops ---------------------------------------------------------------------------------------------------


def _simplified(
    loops: dict[int, int], reads: list[Read], limits: Sequence[Indicator]
) -> tuple[dict[int, int], list[Read]]:
    names: dict[Expression, Expression] = {("d", loop): 0 for loop, extent in loops.items() if extent == 1}
    reads = _renamed(reads, names)
    loops = {loop: extent for loop, extent in loops.items() if extent != 1}
    for limit in limits:
        index = rewritten(limit.index, names)
        if not isinstance(index, tuple) or index[0] != "d" or index[1] not in loops:
            raise NotRaisedError("it adds elements of a padded tensor in another order than the tensor's")
        loops[index[1]] = min(loops[index[1]], limit.size)
    loops, reads = _split(loops, reads)
    return loops, [read.map(canonical) for read in reads]


def _renamed(reads: list[Read], names: dict[Expression, Expression]) -> list[Read]:
    return [read.map(lambda index: rewritten(index, names)) for read in reads]


def _split(loops: dict[int, int], reads: list[Read]) -> tuple[dict[int, int], list[Read]]:
    """Replace each loop that occurs only in quotients and remainders by several loops.

    For example, if a loop d occurs only as ``d floordiv 3`` and ``d mod 3``, it is replaced by a loop over the
    quotients and a loop over the remainders. Each new loop is one digit of d; the least significant digit comes first.
    """
    for loop, extent in list(loops.items()):
        parts = [part for read in reads for index in read.indices for part in _digits_of(index, loop)]
        divisors = {number for part in parts if part is not None for number in part[:2]} - {1, extent, _END}
        places = [1, *sorted(number for number in divisors if number < extent), extent]
        if not divisors or None in parts or any(high % low for low, high in pairwise(places)):
            continue
        first = max(*loops, FIRST_SUM_LOOP) + 1
        digits = {place: ("d", first + i) for i, place in enumerate(places[:-1])}
        names: dict[Expression, Expression] = {}
        for part in parts:
            assert part is not None
            low, high, expression = part
            value: Expression = 0
            for place in places[:-1]:
                if low <= place < high:
                    value = ("+", value, ("*", digits[place], place // low))
            names[expression] = canonical(value)
        reads = _renamed(reads, names)
        del loops[loop]
        loops |= {first + i: high // low for i, (low, high) in enumerate(pairwise(places))}
    return loops, reads


def _digits_of(expression: Expression, loop: int) -> Iterator[tuple[int, int, Expression] | None]:
    """Yield (low, high, part) for each part `(d floordiv low) mod (high / low)` of an expression, where d is `loop`.

    `high` is `_END` for a part without a modulus. Yield None for any other use of the loop.
    """
    if loop not in dimensions(expression):
        return
    assert isinstance(expression, tuple)
    divisor = _divisor(expression, loop)
    if divisor:
        yield divisor, _END, expression
        return
    operator, left, right = expression
    if operator == "mod" and isinstance(right, int) and _divisor(left, loop):
        yield _divisor(left, loop), _divisor(left, loop) * right, expression
    elif operator in "+*":
        yield from _digits_of(left, loop)
        yield from _digits_of(right, loop)
    else:
        yield None


def _divisor(expression: Expression, loop: int) -> int:
    """Return n for an expression `d floordiv n`, where d is `loop`; 1 for `d`; 0 for any other expression.

    n is the product of the divisors for `d floordiv n1 floordiv n2`.
    """
    if not isinstance(expression, tuple):
        return 0
    if expression[0] == "d":
        return int(expression[1] == loop)
    is_quotient = expression[0] == "floordiv" and isinstance(expression[2], int)
    return _divisor(expression[1], loop) * int(expression[2]) if is_quotient else 0
