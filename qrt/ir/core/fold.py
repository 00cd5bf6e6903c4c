"""Folding: what an operation's results are without running it. Definitions say how; `Folds` says what is allowed."""

from dataclasses import dataclass

from qrt.ir.core.attributes import Attribute, IntegerAttr
from qrt.ir.core.operations import Operation, Value


@dataclass(frozen=True)
class Folds:
    """Folds beyond those that preserve every value: `qcast_dcast` and `dcast_qcast` take each pair of inverse casts for
    the identity."""

    qcast_dcast: bool = False
    dcast_qcast: bool = False


UPSTREAM_FOLDS = Folds(qcast_dcast=True, dcast_qcast=True)
"""What upstream's folders do."""


def fold(operation: Operation, folds: Folds) -> "list[Value | Attribute] | None":
    """The results as values or constants, one each; None where there is nothing to fold."""
    definition = operation.definition
    if definition is None or definition.fold is None:
        return None
    return definition.fold(operation, folds)


_CONSTANTS = {"arith.constant": "value", "shape.const_shape": "shape"}
"""The attribute of an op that holds what its result is."""


def constant_of(value: Value) -> Attribute | None:
    """The constant a value is, if it is one."""
    source = value.operation
    if source is None or source.name not in _CONSTANTS:
        return None
    return source.attributes.get(_CONSTANTS[source.name])


def constant_number(value: Value) -> int | None:
    """The scalar integer constant a value is, if it is one."""
    constant = constant_of(value)
    return constant.value if isinstance(constant, IntegerAttr) else None


def is_known_dimension(operation: Operation) -> bool:
    """Whether a `dim` names a dimension that the type of its operand is known to have."""
    rank, index = getattr(operation.operands[0].type, "rank", None), constant_of(operation.operands[1])
    return rank is not None and isinstance(index, IntegerAttr) and 0 <= index.value < rank
