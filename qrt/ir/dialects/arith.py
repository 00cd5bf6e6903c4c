"""`arith`: constants, and the element-wise ops that lowered casts and kernels are made of."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from qrt.ir.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core import Operation
from qrt.ir.define import COMMUTATIVE, CONSTANT_LIKE, PURE, AttributeSpec, Definition, Trait
from qrt.ir.dense import DenseElementsAttr, DenseResourceAttr
from qrt.ir.dialects.syntax import (
    I1,
    element_of,
    flag_spec,
    is_float,
    is_integer,
    parse_flag,
    print_flag,
    require_same_shape,
    with_element,
)
from qrt.types import IndexType, IntegerType, TensorType, Type, VectorType

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

_TYPED = (IntegerAttr, FloatAttr, DenseElementsAttr, DenseResourceAttr)
Is = Callable[[Type], bool]


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


# -- element-wise: `%a, %b flags attr-dict : type` --------------------------------------------------------------------

_FLAGS = {"fastmath": ("fastmath", "fastmath"), "overflow": ("overflowFlags", "overflow"), "": ("", "")}


def elementwise(name: str, arity: int, takes: Is, what: str, flags: str, traits: set[Trait]) -> Definition:
    """An op whose operands and result have one type."""
    attribute, keyword = _FLAGS[flags]

    def parse(parser: "Parser", pending: "PendingOperation") -> None:
        start = parser.scanner.skip()
        pending.operands = parser.operand_list()
        if len(pending.operands) != arity:
            raise parser.scanner.error(f"'{name}' takes {arity} operands", start, parser.scanner.pos)
        parse_flag(parser, pending, keyword, attribute)
        pending.attributes.update(parser.optional_attributes())
        parser.scanner.expect(":", " before the type")
        type = parser.type()
        pending.operand_types, pending.result_types = [type] * arity, [type]

    def show(printer: "Printer", operation: Operation) -> None:
        printer.operands(operation.operands)
        print_flag(printer, operation, attribute)
        printer.attributes(operation, elided=(attribute,))
        printer.word(f": {operation.results[0].type}")

    def verify(operation: Operation) -> None:
        first = operation.results[0].type
        if any(value.type is not first for value in operation.operands):
            raise operation.op_error("requires the same type for all operands and results")
        if not takes(first):
            raise operation.op_error(f"operand #0 must be {what}, but got '{first}'")

    return Definition(
        name,
        operands=("lhs", "rhs")[:arity] if arity > 1 else ("operand",),
        results=("result",),
        attributes={attribute: flag_spec(keyword)} if flags else {},
        traits=frozenset({PURE} | traits),
        parse=parse,
        print=show,
        verify_signature=verify,
    )


def _float_op(name: str, *traits: Trait) -> Definition:
    return elementwise(f"arith.{name}", 2, is_float, "floating-point-like", "fastmath", set(traits))


def _integer_op(name: str, *traits: Trait, flags: str = "") -> Definition:
    return elementwise(f"arith.{name}", 2, is_integer, "signless-integer-like", flags, set(traits))


# -- conversions: `%a flags attr-dict : from to to` -------------------------------------------------------------------


def _conversion(name: str, source: Is, target: Is, flags: str = "", width: int = 0, default: bool = True) -> Definition:
    """`width` is 1 where the result must be wider, -1 where it must be narrower."""
    attribute, keyword = _FLAGS[flags]

    def parse(parser: "Parser", pending: "PendingOperation") -> None:
        pending.operands = [parser.operand()]
        parse_flag(parser, pending, keyword, attribute)
        pending.attributes.update(parser.optional_attributes())
        parser.scanner.expect(":", " before the types")
        pending.operand_types = [parser.type()]
        if not parser.scanner.accept_word("to"):
            raise parser.scanner.error("expected 'to'")
        pending.result_types = [parser.type()]

    def show(printer: "Printer", operation: Operation) -> None:
        printer.operands(operation.operands)
        print_flag(printer, operation, attribute)
        printer.attributes(operation, elided=(attribute,))
        printer.word(f": {operation.operands[0].type} to {operation.results[0].type}")

    def verify(operation: Operation) -> None:
        given, made = operation.operands[0].type, operation.results[0].type
        require_same_shape(operation)
        widths = [getattr(element_of(type), "width", 0) for type in (given, made)]
        if not (source(given) and target(made)) or (width and (widths[1] - widths[0]) * width <= 0):
            raise operation.op_error(f"operand type '{given}' and result type '{made}' are cast incompatible")

    return Definition(
        f"arith.{name}",
        operands=("in",),
        results=("out",),
        attributes={attribute: flag_spec(keyword, "none" if default else None)} if flags else {},
        traits={PURE},
        parse=parse,
        print=show,
        verify_signature=verify,
    )


def _is_width(type: Type) -> bool:
    """An integer of a stated width: index has none."""
    return is_integer(type) and not isinstance(element_of(type), IndexType)


# -- comparison and selection -----------------------------------------------------------------------------------------

FLOAT_PREDICATES = tuple("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())  # noqa: SIM905
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def _comparison(name: str, takes: Is, what: str, predicates: tuple[str, ...], flags: str) -> Definition:
    attribute, keyword = _FLAGS[flags]

    def known(value: Attribute) -> str | None:
        fine = isinstance(value, IntegerAttr) and 0 <= value.value < len(predicates)
        return None if fine else f"must be an i64 from 0 to {len(predicates) - 1}"

    def parse(parser: "Parser", pending: "PendingOperation") -> None:
        scanner = parser.scanner
        start = scanner.skip()
        predicate = scanner.word("a predicate")
        if predicate not in predicates:
            raise scanner.error(f"expected one of {', '.join(predicates)}", start, scanner.pos)
        pending.attributes["predicate"] = IntegerAttr(predicates.index(predicate), IntegerType(64))
        scanner.expect(",", " after the predicate")
        pending.operands = parser.operand_list()
        parse_flag(parser, pending, keyword, attribute)
        pending.attributes.update(parser.optional_attributes())
        scanner.expect(":", " before the type")
        type = parser.type()
        pending.operand_types = [type] * len(pending.operands)
        pending.result_types = [with_element(type, I1)]

    def show(printer: "Printer", operation: Operation) -> None:
        printer.word(predicates[operation.attributes["predicate"].python] + ",")
        printer.operands(operation.operands)
        print_flag(printer, operation, attribute)
        printer.attributes(operation, elided=(attribute, "predicate"))
        printer.word(f": {operation.operands[0].type}")

    def verify(operation: Operation) -> None:
        left, right = (value.type for value in operation.operands)
        if left is not right or operation.results[0].type is not with_element(left, I1):
            raise operation.op_error("requires operands of one type, and a result of i1 in their shape")
        if not takes(left):
            raise operation.op_error(f"operand #0 must be {what}, but got '{left}'")

    return Definition(
        f"arith.{name}",
        operands=("lhs", "rhs"),
        results=("result",),
        attributes={"predicate": AttributeSpec(known, required=True)}
        | ({attribute: flag_spec(keyword)} if flags else {}),
        traits={PURE},
        parse=parse,
        print=show,
        verify_signature=verify,
    )


def _parse_select(parser: "Parser", pending: "PendingOperation") -> None:
    pending.operands = parser.operand_list()
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the type")
    type = parser.type()
    condition: Type = I1
    if parser.scanner.accept(","):
        condition, type = type, parser.type()
    pending.operand_types, pending.result_types = [condition, type, type], [type]


def _print_select(printer: "Printer", operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.attributes(operation)
    condition = operation.operands[0].type
    printer.word(f": {'' if condition is I1 else f'{condition}, '}{operation.results[0].type}")


def _verify_select(operation: Operation) -> None:
    condition, left, right = (value.type for value in operation.operands)
    result = operation.results[0].type
    if not (left is right is result):
        raise operation.op_error("failed to verify that all of {true_value, false_value, result} have same type")
    if condition is not I1 and condition is not with_element(result, I1):
        raise operation.op_error(f"expected condition type to have the same shape as the result type, got {condition}")


SELECT = Definition(
    "arith.select",
    operands=("condition", "true_value", "false_value"),
    results=("result",),
    traits={PURE},
    parse=_parse_select,
    print=_print_select,
    verify_signature=_verify_select,
)

OPS = [
    CONSTANT,
    SELECT,
    *(_float_op(name, COMMUTATIVE) for name in ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")),
    *map(_float_op, ("subf", "divf")),
    *(_integer_op(name, COMMUTATIVE) for name in ("maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori")),
    *(_integer_op(name, COMMUTATIVE, flags="overflow") for name in ("addi", "muli")),
    _integer_op("subi", flags="overflow"),
    *(_conversion(name, _is_width, is_float) for name in ("sitofp", "uitofp")),
    *(_conversion(name, is_float, _is_width) for name in ("fptosi", "fptoui")),
    *(_conversion(name, _is_width, _is_width, width=1) for name in ("extsi", "extui")),
    _conversion("trunci", _is_width, _is_width, "overflow", width=-1),
    _conversion("extf", is_float, is_float, "fastmath", width=1, default=False),
    _conversion("truncf", is_float, is_float, "fastmath", width=-1, default=False),
    _conversion("index_cast", is_integer, is_integer),
    _comparison("cmpf", is_float, "floating-point-like", FLOAT_PREDICATES, "fastmath"),
    _comparison("cmpi", is_integer, "signless-integer-like", INTEGER_PREDICATES, ""),
]
