"""Folds: the results of operations that are known without a new operation."""

from collections.abc import Callable
from dataclasses import dataclass

from qrt.ir.core.attributes import Attribute
from qrt.ir.core.operations import Operation, Value


@dataclass(frozen=True)
class Folds:
    """Folds beyond those that preserve every value: `qcast_dcast` and `dcast_qcast` take each pair of inverse casts for
    the identity."""

    qcast_dcast: bool = False
    dcast_qcast: bool = False


UPSTREAM_FOLDS = Folds(qcast_dcast=True, dcast_qcast=True)
"""The folds that upstream has."""


Folded = list[Value | Attribute] | None
"""The results of an operation as values or constants, one each; None where they are not known."""
Fold = Callable[[Operation, Folds], Folded]


def fold(operation: Operation, folds: Folds) -> Folded:
    """Return the values or constants that an operation folds to."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)
