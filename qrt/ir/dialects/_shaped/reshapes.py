"""Dimensions that are regrouped: what `expand_shape` and `collapse_shape` declare."""

from qrt.ir.core.attribute_kinds import I64_ARRAY, array_of
from qrt.ir.core.attributes import ArrayAttr
from qrt.ir.core.define import AttributeSpec
from qrt.ir.core.operations import Operation
from qrt.ir.dialects._shaped.lists import static_values

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
