"""The types of values that constraints hold to be tensors or memrefs."""

from qrt.ir.core.operations import Operation, Value
from qrt.types import MemRefType, TensorType

Shape = tuple[int | None, ...]


def ranked(value: Value) -> TensorType:
    """The type of a value that a constraint holds to be a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def shaped(value: Value) -> TensorType | MemRefType:
    """The type of a value that a constraint holds to be a tensor or a memref."""
    assert isinstance(value.type, TensorType | MemRefType)
    return value.type


def require_cast(operation: Operation, fits: bool) -> None:
    """Raise VerifyError unless the type of the operand may be cast to that of the result."""
    if not fits:
        given, made = operation.operands[0].type, operation.results[0].type
        raise operation.op_error(f"operand type '{given}' and result type '{made}' are cast incompatible")


def require_sizes(operation: Operation, type: TensorType | MemRefType, found: int) -> None:
    """Raise VerifyError unless there are as many sizes as a type has dynamic dimensions."""
    dynamic = (type.shape or ()).count(None)
    if dynamic != found:
        raise operation.op_error(f"incorrect number of dynamic sizes, has {found}, expected {dynamic}")


def memref_type(value: Value) -> MemRefType:
    """The type of a value that a constraint holds to be a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type
