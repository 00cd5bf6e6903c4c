"""Folding: computing the results of an operation as existing values or constants."""

from collections.abc import Callable
from dataclasses import dataclass

from qrt.ir.core.attributes import Attribute
from qrt.ir.core.operations import Operation, Value


@dataclass(frozen=True)
class Folds:
    """Options for folds that may change results, because they remove a rounding.

    `qcast_dcast` folds `qcast(dcast(q))` to `q`; `dcast_qcast` folds `dcast(qcast(x))` to `x`.
    """

    qcast_dcast: bool = False
    dcast_qcast: bool = False


UPSTREAM_FOLDS = Folds(qcast_dcast=True, dcast_qcast=True)
"""The options with which folds behave as in upstream MLIR."""


Folded = list[Value | Attribute] | None
"""An existing value or a constant for each result of an operation; None if the operation does not fold."""
Fold = Callable[[Operation, Folds], Folded]


def fold(operation: Operation, folds: Folds) -> Folded:
    """Return an existing value or a constant for each result of an operation; None if the operation does not fold."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)
