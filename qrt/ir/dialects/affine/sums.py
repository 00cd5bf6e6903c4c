"""Canonical form of affine sums, as upstream's `simplifyAffineExpr` writes them.

The terms are dimensions, then symbols, then quotients in the order of their first use, then a constant. If an
expression multiplies or divides by symbols, its terms are sorted by the position of their dimension or symbol instead.
"""

from math import gcd

from qrt.ir.core.affine import Compound, Expression, add, combine, floordiv, is_index, is_readable, multiply

_Terms = dict[Expression, int]
"""Coefficients by dimension, symbol or another term; the key 1 is the constant term."""


def flattened(value: Expression, dimensions: int, symbols: int) -> Expression:
    """Return an affine expression with equal terms added up; return it unchanged if the result would be too large.

    Too large means more than `MAX_OPERATORS` operators, or a coefficient past 64 bits: a nested `mod` may double both.
    An expression with a divisor below 1 is also returned unchanged. `dimensions` and `symbols` are the numbers of
    dimensions and symbols of the expression's map.

    >>> flattened(("+", ("*", ("s", 0), ("s", 1)), ("+", ("d", 0), ("*", ("d", 0), 2))), 1, 2)
    ('+', ('*', ('d', 0), 3), ('*', ('s', 0), ('s', 1)))
    """
    sums = _Sums()
    terms = sums.terms(value)
    if terms is None:
        return value
    total = sums.total(terms)
    if total != value and not _is_pure(value):
        total = sums.total_by_position(terms, max(dimensions, symbols))
    return total if is_readable(total) else value


def _is_pure(value: Expression) -> bool:
    """Return True if all factors and divisors in an expression are constants."""
    if isinstance(value, int) or value[0] in ("d", "s"):
        return True
    operator, left, right = value
    return (operator == "+" or isinstance(right, int)) and _is_pure(left) and _is_pure(right)


class _Sums:
    def __init__(self) -> None:
        self.met: dict[Expression, int] = {}  # quotients and products, numbered in the order of their first use
        self._known: dict[Expression, _Terms | None] = {}

    def total(self, terms: _Terms) -> Expression:
        kinds = {"d": 0, "s": 1}

        def place(part: Expression) -> tuple[int, int]:
            assert isinstance(part, tuple)
            return (kinds[part[0]], part[1]) if part[0] in kinds else (2, self.met[part])

        total: Expression = 0
        for part in sorted((part for part, number in terms.items() if number and part != 1), key=place):
            total = add(total, multiply(part, terms[part]))
        return add(total, terms.get(1, 0))

    def total_by_position(self, terms: _Terms, behind: int) -> Expression:
        """Return the sum of the terms, sorted by the position of their dimension or symbol, as upstream does.

        At each position i, the order is `d_i`, quotients and products of `d_i`, `s_i`, products of `s_i`. Other terms
        come last. `behind` is a number greater than all positions.
        """
        used = [part for part, number in terms.items() if number and isinstance(part, tuple)]
        symbols = sorted(part for part in used if part[0] == "s")
        met = sorted((part for part in used if part in self.met), key=self.met.__getitem__)
        placed = [(part[1], behind + index, part) for index, part in enumerate(symbols)]
        others, of_symbols, of_dimensions = [], len(symbols), -1
        for part in met:
            _, left, right = part
            if isinstance(left, int) or left[0] not in ("d", "s") or _is_compound(right):
                others.append(part)
            elif left[0] == "s":
                placed.append((left[1], behind + of_symbols, part))
                of_symbols += 1
            elif isinstance(right, int):
                placed.append((left[1], of_dimensions, part))
                of_dimensions -= 1
            else:
                placed.append((left[1], right[1], part))
        for part in sorted(part for part in used if part[0] == "d"):
            placed.append((part[1], of_dimensions, part))
            of_dimensions -= 1
        total: Expression = 0
        for part in [*(part for _, _, part in sorted(placed, key=lambda entry: entry[:2])), *others]:
            total = add(total, multiply(part, terms[part]))
        return add(total, terms.get(1, 0))

    def terms(self, value: Expression) -> _Terms | None:
        """Return the coefficient of each term of an expression; None if a divisor is below 1 or a number too large."""
        if isinstance(value, int):
            return {1: value}
        if value[0] in ("d", "s"):
            return {value: 1}
        if value not in self._known:
            self._known[value] = self._terms(*value)
        return self._known[value]

    def _terms(self, operator: str, left: Expression, right: Expression) -> _Terms | None:
        first, second = self.terms(left), self.terms(right)
        if first is None or second is None:
            return None
        if operator == "+":
            terms: _Terms | None = {part: first.get(part, 0) + second.get(part, 0) for part in [*first, *second]}
        elif not isinstance(right, int):
            terms = self._of(combine(operator, self.total(first), self.total(second)))
        elif operator == "*":
            terms = {part: number * right for part, number in first.items()}
        else:
            terms = None if right < 1 else self._quotient(operator, first, right)
        return terms if terms is not None and all(map(is_index, terms.values())) else None

    def _quotient(self, operator: str, terms: _Terms, divisor: int) -> _Terms | None:
        common = gcd(divisor, *terms.values())
        small = {part: number // common for part, number in terms.items()}
        if divisor == common:
            return {} if operator == "mod" else small
        if operator == "ceildiv":
            return self._of(Compound((operator, self.total(small), divisor // common)))
        quotient = self._of(floordiv(self.total(small), divisor // common))
        if operator == "floordiv" or quotient is None:
            return quotient
        return {part: terms.get(part, 0) - divisor * quotient.get(part, 0) for part in [*terms, *quotient]}

    def _of(self, value: Expression) -> _Terms | None:
        """Return the terms of an expression that is a single term; None if the expression is too large."""
        if not _is_compound(value):
            return {1: value} if isinstance(value, int) else {value: 1}
        if not is_readable(value):
            return None
        self.met.setdefault(value, len(self.met))
        return {value: 1}


def _is_compound(value: Expression) -> bool:
    return isinstance(value, tuple) and value[0] not in ("d", "s")
