"""Folding: replacing results of operations by known values or constants."""

from collections.abc import Callable
from dataclasses import dataclass

from qrt.ir.core.attributes import Attribute
from qrt.ir.core.operations import Operation, Value


@dataclass(frozen=True)
class Folds:
    """Options for folds that may change values: `qcast_dcast` and `dcast_qcast` fold each such pair of casts to the
    identity.
    """

    qcast_dcast: bool = False
    dcast_qcast: bool = False


UPSTREAM_FOLDS = Folds(qcast_dcast=True, dcast_qcast=True)
"""The folds that upstream has."""


Folded = list[Value | Attribute] | None
"""The results of an operation as values or constants, one each; None where they are not known."""
Fold = Callable[[Operation, Folds], Folded]


def fold(operation: Operation, folds: Folds) -> Folded:
    """Return the values or constants to which an operation folds."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)
