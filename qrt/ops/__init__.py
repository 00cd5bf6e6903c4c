"""The op families, on plain storage arrays and types. Knows neither QuantTensor nor IR.

>>> sorted(FAMILIES)[:3]
['add', 'argmax', 'argmin']
"""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol

from qrt.ops.core import OpFamily
from qrt.types import UniformType

FAMILIES: dict[str, OpFamily] = {
    family.name: family
    for found in iter_modules(__path__)
    if not found.ispkg
    for family in getattr(import_module(f"{__name__}.{found.name}"), "FAMILIES", ())
}
"""The families by name: each module of this package lists its own in ``FAMILIES``."""
OPS: dict[str, OpFamily] = {op: family for family in FAMILIES.values() for op in family.declaration.ops}
"""The families by the names of their ops in IR."""


class FamilyOp(Protocol):
    """An operation of the IR, as far as its family depends on it."""

    @property
    def name(self) -> str: ...

    @property
    def operands(self) -> Sequence[Any]: ...


def family_of(op: FamilyOp | None) -> OpFamily | None:
    """Return the family that an operation names; None where it names none. A ``quant.cast`` is both casts."""
    if op is None:
        return None
    if op.name == "quant.cast":
        (type,) = [operand.type for operand in op.operands]
        return FAMILIES["dcast" if isinstance(getattr(type, "element", type), UniformType) else "qcast"]
    return OPS.get(op.name)


__all__ = ["FAMILIES", "OPS", "OpFamily", "family_of"]
