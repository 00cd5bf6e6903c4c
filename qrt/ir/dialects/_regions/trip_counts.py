"""Trip counts of loops with constant bounds."""

from collections.abc import Sequence

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.core.matching import number_of
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.affine.ops import step_of
from qrt.ir.dialects.scf.parallel import mixed_bounds

Number = int | None
"""A loop bound or trip count; None if it is unknown."""


def trips(low: Number, high: Number, step: Number) -> Number:
    """Return the number of iterations of a loop from `low` to `high` (exclusive); None if the number is unknown.

    It is unknown if an argument is None (not a constant), or if the step is not positive, which is an error at run
    time.

    >>> trips(0, 5, 2), trips(5, 0, 1), trips(0, None, 1)
    (3, 0, None)
    """
    if low is None or high is None or step is None or step <= 0:
        return None
    return max(0, -((low - high) // step))


def trips_of_for(op: Operation) -> Number:
    """Return the number of iterations of an `scf.for`; None if the number is unknown."""
    if op.operands[0] is op.operands[1]:
        return 0
    return None if "unsignedCmp" in op.attributes else trips(*map(number_of, op.operands[:3]))


def trips_of_affine_for(op: Operation) -> Number:
    """Return the number of iterations of an `affine.for`; None if the number is unknown."""
    return trips(*constant_bounds(op), step_of(op))


def constant_bounds(op: Operation) -> tuple[Number, Number]:
    """Return the lower and upper bounds of an `affine.for`; None for a bound that is not a single constant."""
    low, high = (_only_number(map_of(op, f"{which}BoundMap").results) for which in ("lower", "upper"))
    return low, high


def _only_number(results: Sequence[Expression]) -> Number:
    return results[0] if len(results) == 1 and isinstance(results[0], int) else None


def ranges_of_parallel(op: Operation) -> list[tuple[int | Value, int | Value, int | Value]]:
    """Return (lower bound, upper bound, step) for each dimension of an `scf.parallel` or `scf.forall`."""
    if op.name == "scf.forall":
        return list(zip(*mixed_bounds(op), strict=True))
    groups = (op.operand_group(name) for name in ("lowerBound", "upperBound", "step"))
    return list(zip(*groups, strict=True))


def runs(loop: Operation) -> bool:
    """Return True if the first region of a loop is known to run at least once; always True for an `scf.while`."""
    match loop.name:
        case "scf.while":
            return True
        case "scf.for":
            counts = [trips_of_for(loop)]
        case "affine.for":
            counts = [trips_of_affine_for(loop)]
        case "scf.parallel" | "scf.forall":
            counts = [trips(*map(number_of, bounds)) for bounds in ranges_of_parallel(loop)]
        case _:
            return False
    return None not in counts and 0 not in counts
