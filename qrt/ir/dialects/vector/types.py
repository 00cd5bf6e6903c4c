"""Vector types and the type constraints of `vector` ops."""

from collections.abc import Iterable

from qrt.ir.core.attribute_kinds import dense_array
from qrt.ir.core.attributes import DenseArrayAttr
from qrt.ir.core.constraints import I1, add_type_constraint
from qrt.ir.core.define import AttributeSpec
from qrt.ir.core.operations import Operation, Value
from qrt.types import FloatType, IndexType, IntegerType, Type, VectorType

I64_NUMBERS = dense_array(IntegerType(64))
POSITIONS = AttributeSpec(kind=I64_NUMBERS, required=True)
FIXED, FLOATS, NOT_SCALAR = "fixed-length vector", "vector of floats", "vector of rank above 0"

add_type_constraint(
    FIXED,
    lambda type: isinstance(type, VectorType) and not any(type.scalable),
    "fixed-length vector of any type values",
)
add_type_constraint(
    FLOATS,
    lambda type: isinstance(type, VectorType) and isinstance(type.element, FloatType),
    "vector of floating-point values",
)
add_type_constraint(
    NOT_SCALAR, lambda type: isinstance(type, VectorType) and type.shape != (), "vector of any type values"
)
add_type_constraint("printable", lambda type: isinstance(type, VectorType | IntegerType | IndexType | FloatType), "")
add_type_constraint("vector of i1", lambda type: isinstance(type, VectorType) and type.element is I1)
add_type_constraint(
    "1D vector of index",
    lambda type: isinstance(type, VectorType) and len(type.shape) == 1 and isinstance(type.element, IndexType),
    "vector of index values of ranks 1",
)


def vector_of(value: Value) -> VectorType:
    """Return the type of a value that a constraint has checked to be a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def shape_of(type: Type) -> tuple[int, ...]:
    """Return the shape of a vector; `()` for a scalar."""
    return type.shape if isinstance(type, VectorType) else ()


def part_type(vector: VectorType, axes: Iterable[int]) -> Type:
    """Return the vector type that has these `axes` of `vector`, in this order; without axes, the element type."""
    order = list(axes)
    if not order:
        return vector.element
    return VectorType([vector.shape[axis] for axis in order], vector.element, [vector.scalable[axis] for axis in order])


def integers(operation: Operation, name: str) -> tuple[int, ...]:
    """Return the integers of the attribute `name`, an array of integers."""
    numbers = operation.attributes[name]
    return numbers.values if isinstance(numbers, DenseArrayAttr) else tuple(numbers.python)
