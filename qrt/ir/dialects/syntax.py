"""What the custom forms of several dialects share: flags, and the constraints on types."""

from typing import TYPE_CHECKING

from qrt.ir.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.attributes import OpaqueAttr
from qrt.ir.constraints import I1, INDEX, element_of, is_float, is_integer, with_element
from qrt.ir.core import Operation
from qrt.ir.define import AttributeSpec

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

FASTMATH = enumeration("arith.fastmath", "reassoc nnan ninf nsz arcp contract afn", ",", every="fast")
OVERFLOW = enumeration("arith.overflow", "nsw nuw", ", ")


def flag_spec(name: str, default: str | None = "none") -> AttributeSpec:
    """The flags `#arith.fastmath<...>` or `#arith.overflow<...>`; absent where they are the default."""
    kind = {"fastmath": FASTMATH, "overflow": OVERFLOW}[name]
    return AttributeSpec(
        kind=kind, default=None if default is None else ENUMERATIONS[f"arith.{name}"].attribute(default)
    )


def parse_flag(parser: "Parser", pending: "PendingOperation", keyword: str, name: str) -> None:
    """`keyword<...>`, if it is next, as the attribute `name`."""
    if keyword and parser.scanner.accept_word(keyword):
        flags = ENUMERATIONS[f"arith.{keyword}"].parse_body(parser)
        if flags.text != f"#arith.{keyword}<none>":
            pending.attributes[name] = flags


def print_flag(printer: "Printer", operation: Operation, name: str) -> None:
    flag = operation.attributes.get(name)
    if isinstance(flag, OpaqueAttr):
        printer.word(flag.text.removeprefix("#arith."))


def require_same_shape(operation: Operation) -> None:
    """All operands and results: all scalars, or of one shape."""
    values = [*operation.operands, *operation.results]
    if len({with_element(value.type, I1) for value in values}) > 1:
        raise operation.op_error("requires the same shape for all operands and results")


__all__ = [
    "I1",
    "INDEX",
    "element_of",
    "flag_spec",
    "is_float",
    "is_integer",
    "parse_flag",
    "print_flag",
    "require_same_shape",
    "with_element",
]
