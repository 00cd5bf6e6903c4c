"""Helpers with which planner and interpreter read operations: op families, errors."""

from collections.abc import Sequence
from typing import Any

from qrt.errors import ModelError
from qrt.execute.values import as_tensor, concrete
from qrt.ir import Operation
from qrt.ops import FAMILIES, OpFamily
from qrt.ops.core import Types, static_shape
from qrt.types import TensorType, UniformType


def failure(op: Operation, message: str) -> ModelError:
    """The error at an op: file:line:column, what is wrong, the source line and a caret."""
    return ModelError(op.location.render(f"'{op.name}' op {message}"))


_FAMILY_OF = {family.declaration.op: name for name, family in FAMILIES.items()}
_FAMILY_OF |= {"quant.conv2d": "conv2d", "quant.matmul": "matmul"}


def family_name(op: Operation) -> str | None:
    """The op family that an op names; None where it names none."""
    if op.name == "quant.cast":
        return "dcast" if isinstance(as_tensor(op.operands[0].type).element, UniformType) else "qcast"
    return _FAMILY_OF.get(op.name)


def family_call(op: Operation, types: Sequence[TensorType]) -> tuple[OpFamily, dict[str, Any], Types]:
    """(family, attributes, result types) of an op for operands of these static types."""
    name = family_name(op)
    if name is None:
        raise failure(op, "does not run: it has neither a kernel nor a reference")
    family = FAMILIES[name]
    attributes = family.complete(family.said(op.attributes))
    declared = [as_tensor(value.type) for value in op.results]
    inferred = family.resolve_all(tuple(types), attributes, declared)
    pairs = zip(declared, inferred, strict=True)
    return family, attributes, tuple(concrete(t, static_shape(i, name), f"the result of {op.name}") for t, i in pairs)
