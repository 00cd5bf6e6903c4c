"""Replacing and erasing operations, and the type of rewrite patterns."""

from collections.abc import Callable, Sequence
from functools import cache

from qrt.ir.builder import Builder
from qrt.ir.core.define import Definition
from qrt.ir.core.folding import Folds, fold
from qrt.ir.core.matching import constant_of, cycle_error, cyclic_operations
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import would_be_dead
from qrt.registry import import_place


def replace(operation: Operation, values: Sequence[Value]) -> None:
    """Replace each result of an operation by the value at its position in `values`, and erase the operation.

    Raises VerifyError if `values` contains a result of the operation itself.
    """
    if any(value.operation is operation for value in values):
        raise cycle_error(operation)
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses(value)
    operation.erase()


def fold_at_once(root: Operation, folds: Folds, applies: Callable[[Operation], bool]) -> list[Operation]:
    """Replace the results of each operation that folds to existing values by these values.

    Returns the folded operations, which the caller erases. Every fold sees the original program, as in upstream MLIR's
    conversion driver. Only operations for which `applies` returns True and which do not depend on their own results are
    folded.
    """
    decided: dict[Value, Value] = {}
    operations = root.walk()
    cyclic = cyclic_operations(operations)
    for operation in operations:
        values = fold(operation, folds) if applies(operation) and operation not in cyclic else None
        if values is not None and isinstance(values[0], Value):
            decided[operation.results[0]] = values[0]
    for result, value in decided.items():
        while value in decided:
            value = decided[value]
        result.replace_all_uses(value)
    return [result.operation for result in decided if result.operation is not None]


PatternResult = list[Value] | None
Pattern = Callable[[Operation, Builder], PatternResult]
"""A function that creates the replacement of an operation and returns the values that replace its results. A pattern
that does not apply returns None and creates nothing.
"""

IN_PLACE: list[Value] = []
"""A pattern returns this if it has changed an operation without replacing it."""


def canonicalizations(definition: Definition) -> tuple[Pattern, ...]:
    """Return an op's canonicalization patterns. Their modules are imported at the first call."""
    return _loaded(definition.canonicalize)


@cache
def _loaded(entries: tuple[str, ...]) -> tuple[Pattern, ...]:
    patterns: list[Pattern] = []
    for entry in entries:
        module, _, names = entry.partition(": ")
        patterns += [import_place(f"qrt.ir.dialects.{module}:{name}") for name in names.split()]
    return tuple(patterns)


def is_dead(operation: Operation) -> bool:
    """Return True if an operation may be erased: its results have no uses, and it only reads or allocates memory."""
    return not any(value.uses for value in operation.results) and would_be_dead(operation)


def erase_dead(pending: list[Operation]) -> None:
    """Erase the dead operations in `pending`, and the operations that are dead once these are gone."""
    while pending:
        operation = pending.pop()
        if operation.parent is not None and is_dead(operation):
            sources = [value.operation for value in operation.operands]
            operation.erase()
            pending.extend(source for source in sources if source is not None)


def constants_last(operation: Operation) -> bool:
    """Move the constant operands of a commutative operation behind the others. Return True if the order changed."""
    ordered = sorted(operation.operands, key=lambda value: constant_of(value) is not None)
    if ordered == list(operation.operands):
        return False
    operation.set_operands(ordered)
    return True
