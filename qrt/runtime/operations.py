"""Helpers of planner and interpreter: calls of op families, and errors at an operation."""

from collections.abc import Sequence
from typing import Any

from qrt.errors import ModelError
from qrt.ir import Operation
from qrt.ops import OpFamily, family_of
from qrt.ops.core import Types, static_shape
from qrt.runtime.values import as_tensor, concrete
from qrt.types import TensorType

FUSED = "qrt.fused"
"""A discardable attribute: the names of the ops that a pass has fused into this one."""


def failure(op: Operation, message: str) -> ModelError:
    """Return a ModelError with an op's location: file:line:column, the message, the source line and a caret."""
    return ModelError(op.location.render(f"'{op.name}' op {message}"))


def family_call(op: Operation, types: Sequence[TensorType]) -> tuple[OpFamily, dict[str, Any], Types]:
    """Return the family, attributes and result types of an op, given the static types of its operands."""
    family = family_of(op)
    if family is None:
        raise failure(op, "cannot run: it has neither a kernel nor a reference implementation")
    declared = [as_tensor(value.type) for value in op.results]
    attributes = family.read(op.attributes)
    inferred = family.resolve_all(tuple(types), attributes, declared)
    shapes = [static_shape(t, family.name) for t in inferred]
    what = f"the result of {op.name}"
    results = [concrete(t, shape, what) for t, shape in zip(declared, shapes, strict=True)]
    return family, attributes, tuple(results)
