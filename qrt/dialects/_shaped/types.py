"""The types of values that constraints hold to be tensors or memrefs."""

from qrt.ir.core.operations import Value
from qrt.types import MemRefType, TensorType

Shape = tuple[int | None, ...]


def ranked(value: Value) -> TensorType:
    """The type of a value that a constraint holds to be a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def memref_type(value: Value) -> MemRefType:
    """The type of a value that a constraint holds to be a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type
