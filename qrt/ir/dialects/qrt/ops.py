"""`qrt`: one op on quantized types for each operation family of `qrt.ops`; the family infers the result types."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from qrt.errors import QuantTypeError
from qrt.ir.core.attributes import ArrayAttr, Attribute, Constraint, DenseArrayAttr, IntegerAttr, one_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation
from qrt.ir.core.places import type_of
from qrt.ir.core.traits import EXTENSION, PURE, have_compatible_shapes
from qrt.ops import FAMILIES
from qrt.ops.declare import Attribute as Declared
from qrt.ops.declare import Declaration
from qrt.types import IntegerType, TensorType, Type

_FORMAT = "operands attr-dict `:` functional-type(operands, results)"


def verify_family(family_name: str, operation: Operation) -> None:
    """Raise VerifyError unless the result types are those that the family infers from operands and attributes.

    `family_name` is a name in `qrt.ops.FAMILIES`, such as "conv2d".
    """
    family = FAMILIES[family_name]
    types = []
    for side, values in (("operand", operation.operands), ("result", operation.results)):
        for index, value in enumerate(values):
            if not isinstance(value.type, TensorType):
                message = f"{side} #{index} must be a tensor, but got '{value.type}'"
                raise operation.op_error(message, type_of(operation, side, index))
            types.append(value.type)
    count = len(operation.operands)
    operands, results = tuple(types[:count]), types[count:]
    every = family.resolve_all(operands, family.read(operation.attributes), results)
    for index, (declared, inferred) in enumerate(zip(results, every, strict=True)):
        # A dimension that is dynamic in one of the two is checked at run time.
        if inferred.element is not declared.element or not have_compatible_shapes((inferred, declared)):
            which = "result" if len(results) == 1 else f"result #{index}"
            message = f"{which} is declared as {declared}, but the operands and attributes give {inferred}"
            raise operation.op_error(message, type_of(operation, "result", index))


def infer_family(family_name: str, operands: Sequence[Type], attributes: Mapping[str, Attribute]) -> list[Type]:
    """Return the result types that the family named `family_name` infers from operand types and attributes."""
    family = FAMILIES[family_name]
    tensors = tuple(type for type in operands if isinstance(type, TensorType))
    if len(tensors) < len(operands):
        raise QuantTypeError(f"{family_name}: the operands must be tensors, got {', '.join(map(str, operands))}")
    return list(family.resolve_all(tensors, family.read(attributes)))


def _is_integer(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and not value.is_bool


def _integers(value: Attribute) -> str | None:
    """Return None if the attribute is a list of integers, else an error message."""
    dense = isinstance(value, DenseArrayAttr) and isinstance(value.element, IntegerType)
    listed = isinstance(value, ArrayAttr) and all(map(_is_integer, value.elements))
    return None if dense or listed else "must be a list of integers"


def specs_of(declared: Declaration, is_property: bool = True) -> dict[str, AttributeSpec]:
    """Return the attribute specifications of an op from the declaration of its operation family.

    The specifications only check choices and lists of integers. The family checks all other constraints, as it does in
    eager calls.
    """

    def constraint(attribute: Declared) -> Constraint | None:
        if attribute.kind == "choice":
            return one_of(*attribute.choices)
        return _integers if attribute.kind == "axes" else None

    return {a.name: AttributeSpec(constraint(a), is_property=is_property) for a in declared.attributes}


def definition_of(
    name: str,
    dialect: str = "qrt",
    format: str | None = _FORMAT,
    also: Mapping[str, AttributeSpec] | None = None,
    verify: Callable[[str, Operation], None] = verify_family,
    canonicalize: tuple[str, ...] = (),
) -> Definition:
    """Define the op `<dialect>.<name>` for the operation family `name`.

    `also` holds specifications of attributes that the family does not declare.
    """
    declared = FAMILIES[name].declaration
    return Definition(
        f"{dialect}.{name}",
        operands=tuple(operand.name + operand.size for operand in declared.operands),
        results=declared.results,
        attributes=specs_of(declared) | dict(also or {}),
        traits={PURE, EXTENSION},
        result_types=partial(infer_family, name),
        format=format,
        verify_signature=partial(verify, name),
        canonicalize=canonicalize,
    )


OPS = [definition_of(name) for name, family in FAMILIES.items() if family.declaration.dialect == "qrt"]
