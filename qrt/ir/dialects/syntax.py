"""What the custom forms of several dialects share: flags, bracketed operands, and the constraints on types."""

from typing import TYPE_CHECKING

from qrt.ir.attributes import OpaqueAttr
from qrt.ir.core import Operation, Value
from qrt.ir.define import AttributeSpec, instance_of
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, VectorType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

INDEX, I1 = IndexType(), IntegerType(1)


def flag_spec(name: str, default: str | None = "none") -> AttributeSpec:
    """An enumeration such as `#arith.fastmath<none>`, kept as its text; absent where it is the default."""
    absent = None if default is None else OpaqueAttr(f"#arith.{name}<{default}>")
    return AttributeSpec(instance_of(OpaqueAttr, f"#arith.{name}<...>"), default=absent)


def parse_flag(parser: "Parser", pending: "PendingOperation", keyword: str, name: str) -> None:
    """`keyword<...>`, if it is next, as the attribute `name`."""
    scanner = parser.scanner
    if keyword and scanner.accept_word(keyword):
        scanner.expect("<", f" after '{keyword}'")
        flags = [scanner.word("a flag")]
        while scanner.accept(","):
            flags.append(scanner.word("a flag"))
        scanner.expect(">", f" after {keyword} flags")
        separator = "," if keyword == "fastmath" else ", "
        if flags != ["none"]:
            pending.attributes[name] = OpaqueAttr(f"#arith.{keyword}<{separator.join(flags)}>")


def print_flag(printer: "Printer", operation: Operation, name: str) -> None:
    flag = operation.attributes.get(name)
    if isinstance(flag, OpaqueAttr):
        printer.word(flag.text.removeprefix("#arith."))


def parse_enclosed(parser: "Parser", pending: "PendingOperation", brackets: str) -> int:
    """Operands in brackets, perhaps none; how many there were."""
    scanner = parser.scanner
    scanner.expect(brackets[0])
    operands = parser.operand_list() if scanner.at("%") else []
    scanner.expect(brackets[1], " after operands")
    pending.operands.extend(operands)
    return len(operands)


def print_enclosed(printer: "Printer", values: "Sequence[Value]", brackets: str) -> None:
    printer.attach(f"{brackets[0]}{', '.join(map(printer.name, values))}{brackets[1]}")


def element_of(type: Type) -> Type:
    """The element of a tensor or vector, or a scalar type itself."""
    return type.element if isinstance(type, TensorType | VectorType) else type


def with_element(type: Type, element: Type) -> Type:
    """A type of the same shape."""
    if isinstance(type, TensorType):
        return type.with_(element=element)
    return VectorType(type.shape, element, type.scalable) if isinstance(type, VectorType) else element


def is_float(type: Type) -> bool:
    return isinstance(element_of(type), FloatType)


def is_integer(type: Type) -> bool:
    """Signless integers and index, as arith has them."""
    element = element_of(type)
    return isinstance(element, IndexType) or (isinstance(element, IntegerType) and element.is_signless)


def require_same_shape(operation: Operation) -> None:
    """All operands and results: all scalars, or of one shape."""
    values = [*operation.operands, *operation.results]
    if len({with_element(value.type, I1) for value in values}) > 1:
        raise operation.op_error("requires the same shape for all operands and results")
