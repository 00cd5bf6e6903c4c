"""`arith`: constants."""

from typing import TYPE_CHECKING

from qrt.ir.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core import Operation
from qrt.ir.define import CONSTANT_LIKE, PURE, AttributeSpec, Definition
from qrt.ir.dense import DenseElementsAttr, DenseResourceAttr
from qrt.types import IntegerType, TensorType, Type, VectorType

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

_TYPED = (IntegerAttr, FloatAttr, DenseElementsAttr, DenseResourceAttr)


def _typed(value: Attribute) -> str | None:
    return None if isinstance(value, _TYPED) else "must be an integer, a float or elements"


def _parse_constant(parser: "Parser", pending: "PendingOperation") -> None:
    pending.attributes.update(parser.optional_attributes())
    start = parser.scanner.skip()
    value = parser.attribute()
    if not isinstance(value, _TYPED):
        raise parser.scanner.error("a constant is an integer, a float or elements", start, parser.scanner.pos)
    pending.attributes["value"] = value
    pending.result_types = [value.type]


def _print_constant(printer: "Printer", operation: Operation) -> None:
    printer.attributes(operation, elided=("value",))
    printer.word(str(operation.attributes["value"]))


def _verify_constant(operation: Operation) -> None:
    value = operation.attributes["value"]
    assert isinstance(value, _TYPED)
    if value.type is not operation.result.type:
        raise operation.op_error(
            f"failed to verify that all of {{value, result}} have same type: {value.type}, {operation.result.type}"
        )
    element: Type = value.type.element if isinstance(value.type, TensorType | VectorType) else value.type
    if isinstance(element, IntegerType) and not element.is_signless:
        raise operation.op_error("integer return type must be signless")


CONSTANT = Definition(
    "arith.constant",
    results=("result",),
    attributes={"value": AttributeSpec(_typed, required=True)},
    traits={PURE, CONSTANT_LIKE},
    parse=_parse_constant,
    print=_print_constant,
    verify=_verify_constant,
)

OPS = [CONSTANT]
