"""Lists of static integers and index operands (offsets, sizes, strides), and the groups of dimensions of reshapes."""

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
"""The attribute `static_<name>`: the value DYNAMIC marks an entry that an operand supplies."""


def static_values(operation: Operation, name: str) -> tuple[int | None, ...]:
    """Return the attribute `static_<name>`, with None in place of the number DYNAMIC.

    DYNAMIC marks an entry that is given by an operand.
    """
    stated = operation.attribute(f"static_{name}", DenseArrayAttr)
    return tuple(None if value == DYNAMIC else value for value in stated.values)


def mixed_values(operation: Operation, name: str) -> list[int | Value]:
    """Return the list `name`, such as "offsets": static entries as integers, dynamic entries as operands."""
    dynamic = iter(operation.operand_group(name))
    return [next(dynamic) if value is None else value for value in static_values(operation, name)]


def with_lists(lists: dict[str, Mixed], before: Sequence[Value]) -> tuple[list[Value], dict[str, Attribute]]:
    """Encode lists of integers and operands: return all operands, `before` first, and the attributes `static_<name>`.

    The attributes include `operandSegmentSizes`.
    """
    operands, attributes, sizes = list(before), {}, [1] * len(before)
    for name, values in lists.items():
        given = [value for value in values if isinstance(value, Value)]
        stated = tuple(DYNAMIC if isinstance(value, Value) else value for value in values)
        attributes[f"static_{name}"] = DenseArrayAttr(IntegerType(64), stated)
        operands += given
        sizes.append(len(given))
    return operands, {**attributes, "operandSegmentSizes": segments(*sizes)}


def numbers_of(values: Mixed) -> Shape:
    """Return a list of integers and operands with None in place of each operand."""
    return tuple(None if isinstance(value, Value) else value for value in values)


def constant_sizes(shape: Shape, sizes: Sequence[Value]) -> tuple[Shape, list[Value]]:
    """Make dynamic dimensions of `shape` static where their size operand in `sizes` is a constant.

    Return the new shape, and the operands of the dimensions that remain dynamic.
    """
    following, known, dynamic = iter(sizes), list(shape), []
    for axis, stated in enumerate(shape):
        size = next(following) if stated is None else None
        number = None if size is None else constant_number(size)
        if number is not None and number >= 0:
            known[axis] = number
        elif size is not None:
            dynamic.append(size)
    return tuple(known), dynamic


Groups = tuple[tuple[int, ...], ...]
REASSOCIATION = AttributeSpec(kind=array_of("Array of 64-bit integer array attributes", I64_ARRAY.holds), required=True)


def reassociation_of(operation: Operation) -> Groups:
    """Return the dimensions of the expanded type that form each dimension of the collapsed type."""
    stated = operation.attribute("reassociation", ArrayAttr)
    return tuple(
        tuple(axis.python for axis in group.elements) for group in stated.elements if isinstance(group, ArrayAttr)
    )


def verify_dynamic_sizes(operation: Operation) -> None:
    """Raise VerifyError unless an `expand_shape` has one operand for each dynamic output size."""
    wanted, count = static_values(operation, "output_shape").count(None), len(operation.operands) - 1
    if wanted != count:
        raise operation.op_error(
            "mismatch in dynamic dims in output_shape and static_output_shape: static_output_shape has "
            f"{wanted} dynamic dims while output_shape has {count} values"
        )
