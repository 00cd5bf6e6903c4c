"""Lists of integers of which the run gives some, as operands: the offsets of a slice, the sizes of a tensor, the
sizes and groups of dimensions of `expand_shape` and `collapse_shape`.
"""

from collections.abc import Sequence

from qrt.ir.core.attribute_kinds import I64_ARRAY, array_of, dense_array
from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr
from qrt.ir.core.define import AttributeSpec, segments
from qrt.ir.core.matching import constant_number
from qrt.ir.core.operations import Operation, Value
from qrt.ir.dialects._shaped.types import Shape
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.types import IntegerType

Mixed = list[int | Value]

STATIC = AttributeSpec(kind=dense_array(IntegerType(64)), required=True)
"""`static_<name>`: what operands give is marked in it."""


def static_values(operation: Operation, name: str) -> tuple[int | None, ...]:
    """The list `static_<name>`; None for what an operand gives."""
    stated = operation.attribute(f"static_{name}", DenseArrayAttr)
    return tuple(None if value == DYNAMIC else value for value in stated.values)


def mixed_values(operation: Operation, name: str) -> list[int | Value]:
    """The list as integers and operands."""
    dynamic = iter(operation.operand_group(name))
    return [next(dynamic) if value is None else value for value in static_values(operation, name)]


def with_lists(lists: dict[str, Mixed], before: Sequence[Value]) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands after `before`, and the attributes, that say lists of integers and values."""
    operands, attributes, sizes = list(before), {}, [1] * len(before)
    for name, values in lists.items():
        given = [value for value in values if isinstance(value, Value)]
        stated = tuple(DYNAMIC if isinstance(value, Value) else value for value in values)
        attributes[f"static_{name}"] = DenseArrayAttr(IntegerType(64), stated)
        operands += given
        sizes.append(len(given))
    return operands, {**attributes, "operandSegmentSizes": segments(*sizes)}


def numbers_of(values: Mixed) -> Shape:
    """A list without its values."""
    return tuple(None if isinstance(value, Value) else value for value in values)


def constant_sizes(shape: Shape, sizes: Sequence[Value]) -> tuple[Shape, list[Value]]:
    """The shape with the constants among the sizes of its open dimensions, and the other sizes."""
    following, known, kept = iter(sizes), list(shape), []
    for axis, stated in enumerate(shape):
        size = next(following) if stated is None else None
        number = None if size is None else constant_number(size)
        if number is not None and number >= 0:
            known[axis] = number
        elif size is not None:
            kept.append(size)
    return tuple(known), kept


Groups = tuple[tuple[int, ...], ...]
REASSOCIATION = AttributeSpec(kind=array_of("Array of 64-bit integer array attributes", I64_ARRAY.holds), required=True)


def reassociation_of(operation: Operation) -> Groups:
    """For each dimension of the collapsed type, those of the expanded type."""
    stated = operation.attribute("reassociation", ArrayAttr)
    return tuple(
        tuple(axis.python for axis in group.elements) for group in stated.elements if isinstance(group, ArrayAttr)
    )


def verify_dynamic_sizes(operation: Operation) -> None:
    """An `expand_shape` is given an operand for each size that it leaves open."""
    wanted, found = static_values(operation, "output_shape").count(None), len(operation.operands) - 1
    if wanted != found:
        raise operation.op_error(
            "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has "
            f"{wanted} dynamic dims while output_shape has {found} values"
        )
