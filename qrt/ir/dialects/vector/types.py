"""The types of vectors, and the constraints that name them."""

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
    """The type of a value that a constraint holds to be a vector."""
    assert isinstance(value.type, VectorType)
    return value.type


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a vector; a scalar has none."""
    return type.shape if isinstance(type, VectorType) else ()


def part_type(vector: VectorType, axes: Iterable[int]) -> Type:
    """A vector with some of the dimensions of another; its element itself where there is none."""
    kept = list(axes)
    if not kept:
        return vector.element
    return VectorType([vector.shape[axis] for axis in kept], vector.element, [vector.scalable[axis] for axis in kept])


def integers(operation: Operation, name: str) -> tuple[int, ...]:
    """An attribute that lists integers."""
    found = operation.attributes[name]
    return found.values if isinstance(found, DenseArrayAttr) else tuple(found.python)
