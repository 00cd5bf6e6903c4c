"""`arith.constant`: an integer or float, or the elements of a tensor or vector."""

from collections.abc import Mapping, Sequence

from qrt.errors import QuantTypeError
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import CONSTANT_LIKE, PURE
from qrt.ir.text.dense import DenseElementsAttr, DenseResourceAttr, KeptElementsAttr
from qrt.types import IntegerType, Type, VectorType

_TYPED = (IntegerAttr, FloatAttr, DenseElementsAttr, DenseResourceAttr, KeptElementsAttr)


def _typed(value: Attribute) -> str | None:
    return None if isinstance(value, _TYPED) else "must be an integer, a float or elements"


def _parse_constant(parser: FormParser, pending: PendingOperation) -> None:
    pending.attributes.update(parser.optional_attributes())
    start = parser.scanner.skip()
    value = parser.attribute()
    if not isinstance(value, _TYPED):
        raise parser.scanner.error(
            "expected the value of a constant: an integer, a float, or elements (dense<...>)",
            start,
            parser.scanner.pos,
        )
    pending.attributes["value"] = value
    pending.result_types = [value.type]


def _print_constant(printer: FormPrinter, operation: Operation) -> None:
    printer.attributes(operation, elided=("value",))
    printer.word(str(operation.attributes["value"]))


def _verify_constant(operation: Operation) -> None:
    value = operation.attributes["value"]
    assert isinstance(value, _TYPED)
    if value.type is not operation.result.type:
        raise operation.op_error("failed to verify that all of {value, result} have same type")
    if isinstance(value.type, IntegerType) and not value.type.is_signless:
        raise operation.op_error("integer return type must be signless")
    if not isinstance(value.type, VectorType) or not any(value.type.scalable):
        return
    if not (isinstance(value, DenseElementsAttr | KeptElementsAttr) and value.is_splat):
        raise operation.op_error(
            "intializing scalable vectors with elements attribute is not supported unless it's a vector splat"
        )


def _type_of_constant(operands: Sequence[Type], attributes: Mapping[str, Attribute]) -> list[Type]:
    value = attributes.get("value")
    if not isinstance(value, _TYPED):
        raise QuantTypeError("attribute 'value' must be an integer, a float or elements")
    return [value.type]


CONSTANT = Definition(
    "arith.constant",
    results=("result",),
    attributes={"value": AttributeSpec(_typed, required=True)},
    traits={PURE, CONSTANT_LIKE},
    result_types=_type_of_constant,
    parse=_parse_constant,
    print=_print_constant,
    verify=_verify_constant,
)
