"""`tensor`: making tensors, asking for extents, reading elements, changing shapes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from qrt.ir.core import Operation
from qrt.ir.define import PURE, Definition
from qrt.ir.dialects.syntax import INDEX, parse_enclosed, print_enclosed
from qrt.types import IndexType, IntegerType, TensorType, Type

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer


def _tensor(operation: Operation, type: Type, what: str) -> TensorType:
    if not isinstance(type, TensorType):
        raise operation.op_error(f"{what} must be a tensor, but got '{type}'")
    return type


def _ranked(operation: Operation, type: Type, what: str) -> TensorType:
    found = _tensor(operation, type, what)
    if found.shape is None:
        raise operation.op_error(f"{what} must be ranked tensor of any type values, but got '{type}'")
    return found


def _parse_type(parser: "Parser", pending: "PendingOperation") -> TensorType:
    """`attr-dict : tensor type`."""
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the type")
    start = parser.scanner.skip()
    type = parser.type()
    if not isinstance(type, TensorType):
        raise parser.scanner.error("expected a tensor type", start, parser.scanner.pos)
    return type


def _check_dynamic(operation: Operation, made: TensorType, sizes: int) -> None:
    dynamic = (made.shape or ()).count(None)
    if dynamic != sizes:
        raise operation.op_error(f"incorrect number of dynamic sizes, has {sizes}, expected {dynamic}")


def _require_index(operation: Operation, start: int) -> None:
    for index, value in enumerate(operation.operands[start:], start):
        if value.type is not INDEX:
            raise operation.op_error(f"operand #{index} must be variadic of index, but got '{value.type}'")


# -- tensor.empty(%d) : type, tensor.splat %x[%d] : type ------------------------------------------------------------


def _parse_empty(parser: "Parser", pending: "PendingOperation") -> None:
    count = parse_enclosed(parser, pending, "()")
    pending.operand_types = [INDEX] * count
    pending.result_types = [_parse_type(parser, pending)]


def _print_empty(printer: "Printer", operation: Operation) -> None:
    print_enclosed(printer, operation.operands, "()")
    _print_type(printer, operation, operation.results[0].type)


def _print_type(printer: "Printer", operation: Operation, type: Type) -> None:
    printer.attributes(operation)
    printer.word(f": {type}")


def _verify_empty(operation: Operation) -> None:
    made = _ranked(operation, operation.results[0].type, "result #0")
    _require_index(operation, 0)
    _check_dynamic(operation, made, len(operation.operands))


def _parse_splat(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = [parser.operand()]
    count = parse_enclosed(parser, pending, "[]") if parser.scanner.at("[") else 0
    type = _parse_type(parser, pending)
    pending.operand_types, pending.result_types = [type.element, *[INDEX] * count], [type]


def _print_splat(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands[:1])
    if len(operation.operands) > 1:
        print_enclosed(printer, operation.operands[1:], "[]")
    _print_type(printer, operation, operation.results[0].type)


def _verify_splat(operation: Operation) -> None:
    made = _ranked(operation, operation.results[0].type, "result #0")
    if operation.operands[0].type is not made.element:
        raise operation.op_error("failed to verify that operand type matches element type of result")
    _require_index(operation, 1)
    _check_dynamic(operation, made, len(operation.operands) - 1)


# -- tensor.dim %x, %i : type, tensor.extract %x[%i] : type, tensor.from_elements %a, %b : type ----------------------


def _parse_dim(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = [parser.operand()]
    parser.scanner.expect(",", " before the index")
    pending.operands.append(parser.operand())
    pending.operand_types, pending.result_types = [_parse_type(parser, pending), INDEX], [INDEX]


def _print_dim(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands)
    _print_type(printer, operation, operation.operands[0].type)


def _verify_dim(operation: Operation) -> None:
    given = _tensor(operation, operation.operands[0].type, "operand #0")
    if given.shape == ():
        raise operation.op_error("operand #0 must be non-0-ranked or unranked tensor, but got a tensor of rank 0")
    _require_index(operation, 1)
    if operation.results[0].type is not INDEX:
        raise operation.op_error("result #0 must be index")


def _parse_extract(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = [parser.operand()]
    count = parse_enclosed(parser, pending, "[]")
    type = _parse_type(parser, pending)
    pending.operand_types, pending.result_types = [type, *[INDEX] * count], [type.element]


def _print_extract(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands[:1])
    print_enclosed(printer, operation.operands[1:], "[]")
    _print_type(printer, operation, operation.operands[0].type)


def _verify_extract(operation: Operation) -> None:
    given = _ranked(operation, operation.operands[0].type, "operand #0")
    _require_index(operation, 1)
    if given.rank != len(operation.operands) - 1:
        raise operation.op_error("incorrect number of indices for extract_element")
    if operation.results[0].type is not given.element:
        raise operation.op_error("failed to verify that result type matches element type of tensor")


def _parse_from_elements(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = parser.operand_list() if parser.scanner.at("%") else []
    type = _parse_type(parser, pending)
    pending.operand_types, pending.result_types = [type.element] * len(pending.operands), [type]


def _print_from_elements(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands)
    _print_type(printer, operation, operation.results[0].type)


def _verify_from_elements(operation: Operation) -> None:
    made = _ranked(operation, operation.results[0].type, "result #0")
    if not made.has_static_shape:
        raise operation.op_error(f"result #0 must be statically shaped tensor of any type values, but got '{made}'")
    count = 1
    for size in made.shape or ():
        count *= size or 0
    if len(operation.operands) != count or any(value.type is not made.element for value in operation.operands):
        raise operation.op_error(f"takes {count} operands of type '{made.element}'")


# -- tensor.reshape %x(%shape) : (type, type) -> type, tensor.cast %x : type to type ---------------------------------


def _parse_reshape(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = [parser.operand()]
    parse_enclosed(parser, pending, "()")
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the types")
    pending.operand_types, pending.result_types = parser.signature()


def _print_reshape(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands[:1])
    print_enclosed(printer, operation.operands[1:], "()")
    printer.attributes(operation)
    printer.word(":")
    printer.signature(operation)


def _verify_reshape(operation: Operation) -> None:
    source = _tensor(operation, operation.operands[0].type, "operand #0")
    shape = _ranked(operation, operation.operands[1].type, "operand #1")
    made = _tensor(operation, operation.results[0].type, "result #0")
    if shape.rank != 1 or not isinstance(shape.element, IndexType | IntegerType):
        raise operation.op_error(f"operand #1 must be 1D tensor of signless integer or index values, but got '{shape}'")
    if source.element is not made.element:
        raise operation.op_error("element types of source and destination tensor types should be the same")
    if made.rank is not None and shape.shape != (made.rank,):
        known = shape.shape is not None and shape.shape[0] is not None
        message = "length of shape operand differs from the result's tensor rank"
        raise operation.op_error(
            message
            if known
            else "cannot use shape operand with dynamic length to reshape to statically-ranked tensor type"
        )


def _verify_cast(operation: Operation) -> None:
    given = _tensor(operation, operation.operands[0].type, "operand #0")
    made = _tensor(operation, operation.results[0].type, "result #0")
    fits = given.element is made.element and (
        given.shape is None
        or made.shape is None
        or (
            len(given.shape) == len(made.shape)
            and all(a is None or b is None or a == b for a, b in zip(given.shape, made.shape, strict=True))
        )
    )
    if not fits:
        raise operation.op_error(f"operand type '{given}' and result type '{made}' are cast incompatible")


def _op(
    name: str,
    operands: tuple[str, ...],
    verify: Callable[[Operation], None],
    parse: "Callable[[Parser, PendingOperation], None] | None" = None,
    show: "Callable[[Printer, Operation], None] | None" = None,
    format: str | None = None,
) -> Definition:
    return Definition(
        f"tensor.{name}",
        operands=operands,
        results=("result",),
        traits={PURE},
        parse=parse,
        print=show,
        format=format,
        verify_signature=verify,
    )


OPS = [
    _op("empty", ("dynamicSizes*",), _verify_empty, _parse_empty, _print_empty),
    _op("splat", ("input", "dynamicSizes*"), _verify_splat, _parse_splat, _print_splat),
    _op("dim", ("source", "index"), _verify_dim, _parse_dim, _print_dim),
    _op("extract", ("tensor", "indices*"), _verify_extract, _parse_extract, _print_extract),
    _op("from_elements", ("elements*",), _verify_from_elements, _parse_from_elements, _print_from_elements),
    _op("reshape", ("source", "shape"), _verify_reshape, _parse_reshape, _print_reshape),
    _op("cast", ("source",), _verify_cast, format="$source attr-dict `:` type($source) `to` type($result)"),
]
