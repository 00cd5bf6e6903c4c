"""`func`: functions, calls and returns."""

from typing import Literal, cast

from qrt.ir.core.attribute_kinds import FLAT_SYMBOL_REF, array_of
from qrt.ir.core.attributes import (
    ArrayAttr,
    Attribute,
    DictAttr,
    StringAttr,
    TypeAttr,
    instance_of,
    one_of,
    spell_entries,
    symbol_text,
)
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.discardable import check_argument
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.operations import Operation, Region
from qrt.ir.core.symbols import symbol_of
from qrt.ir.core.traits import ISOLATED_FROM_ABOVE, PURE, RETURN_LIKE, SYMBOL, TERMINATOR
from qrt.types import FunctionType, Type

_INFERRED = ("sym_name", "sym_visibility", "function_type")
_INHERENT = (*_INFERRED, "arg_attrs", "res_attrs")


# -- func.func ---------------------------------------------------------------------------------------------------------


def _parse_function(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    for visibility in ("private", "public", "nested"):
        if scanner.accept_word(visibility):
            pending.attributes["sym_visibility"] = StringAttr(visibility)
            break
    pending.attributes["sym_name"] = StringAttr(parser.symbol_name())
    names, inputs, input_attributes = _parse_arguments(parser)
    results, result_attributes = _parse_results(parser) if scanner.accept("->") else ([], [])
    pending.attributes["function_type"] = TypeAttr(FunctionType(inputs, results))
    for key, attributes in (("arg_attrs", input_attributes), ("res_attrs", result_attributes)):
        if any(entry.items for entry in attributes):
            pending.attributes[key] = ArrayAttr(tuple(attributes))
    if scanner.accept_word("attributes"):
        start = scanner.skip()
        extra = parser.attribute_dictionary()
        _merge(parser, pending, extra, start)
    if not scanner.at("{"):
        pending.regions.append(Region())
        return
    arguments = [(name, at, type) for (name, _, at), type in zip(names, inputs, strict=False)]
    pending.regions.append(parser.region(isolated=True, dialect="func", arguments=arguments))


def _merge(parser: FormParser, pending: PendingOperation, extra: dict[str, Attribute], start: int) -> None:
    """Add the attributes `extra`, which follow a function's header at `start`, to `pending`.

    Raise ParseError for an attribute that occurs twice or that the header implies.
    """
    for name, value in extra.items():
        if name in _INFERRED:
            message = (
                f"'{name}' is an inferred attribute and should not be specified in the explicit attribute dictionary"
            )
            raise parser.scanner.error(message, start, parser.scanner.pos)
        if name in pending.attributes:
            message = f"attribute '{name}' occurs more than once in the attribute list"
            raise parser.scanner.error(message, pending.start)
        pending.attributes[name] = value


def _parse_arguments(parser: FormParser) -> tuple[list[OperandName], list[Type], list[DictAttr]]:
    scanner = parser.scanner
    names: list[OperandName] = []
    types: list[Type] = []
    attributes: list[DictAttr] = []

    def argument() -> None:
        if names or (not types and scanner.at("%")):
            names.append(parser.argument())
            scanner.expect(":", " after argument name")
        elif scanner.at("%"):
            raise scanner.error("expected a type without a name, because the arguments before it have no names")
        types.append(parser.type())
        attributes.append(DictAttr.of(parser.optional_attributes()))
        parser.optional_location()

    scanner.bracketed("()", argument, " before function arguments", " after function arguments")
    return names, types, attributes


def _parse_results(parser: FormParser) -> tuple[list[Type], list[DictAttr]]:
    if not parser.scanner.at("("):
        return [parser.types.parse_non_function()], []

    def result() -> tuple[Type, DictAttr]:
        return parser.type(), DictAttr.of(parser.optional_attributes())

    results = parser.scanner.bracketed("()", result, after=" after function results")
    return [type for type, _ in results], [attributes for _, attributes in results]


def _print_function(printer: FormPrinter, operation: Operation) -> None:
    assert isinstance(operation, FuncOp)
    visibility = operation.attributes.get("sym_visibility")
    if isinstance(visibility, StringAttr):
        printer.word(visibility.value)
    with printer.numbered(operation.regions[0]):
        arguments = []
        if not operation.is_declaration:
            entry = operation.regions[0].blocks[0]
            arguments = [printer.name(value) + ": " for value in entry.arguments]
        inputs = [
            f"{arguments[i] if arguments else ''}{type}{_port_text(operation, 'inputs', i)}"
            for i, type in enumerate(operation.type.inputs)
        ]
        results = [f"{type}{_port_text(operation, 'results', i)}" for i, type in enumerate(operation.type.results)]
        printer.word(f"{symbol_text(operation.sym_name)}({', '.join(inputs)})")
        if results:
            bare = len(results) == 1 and results[0] == str(operation.type.results[0]) and results[0][0] != "("
            printer.word(f"-> {results[0]}" if bare else f"-> ({', '.join(results)})")
        printer.attributes(operation, elided=_INHERENT, keyword="attributes")
        if not operation.is_declaration:
            printer.word("")
            printer.region(operation.regions[0], entry_printed=True)


def _port_text(operation: FuncOp, kind: Literal["inputs", "results"], index: int) -> str:
    attributes = operation.port_attributes(kind, index)
    return f" {spell_entries(sorted(attributes.items()))}" if attributes else ""


def _verify_function(operation: Operation) -> None:
    kind = cast("TypeAttr", operation.attributes["function_type"]).type
    if not isinstance(kind, FunctionType):
        raise operation.op_error("requires a function type")
    for key, count in (("arg_attrs", len(kind.inputs)), ("res_attrs", len(kind.results))):
        attributes = operation.attributes.get(key)
        if isinstance(attributes, ArrayAttr) and len(attributes.elements) != count:
            raise operation.op_error(f"attribute '{key}' must have {count} entries, got {len(attributes.elements)}")
        for entry in attributes.elements if isinstance(attributes, ArrayAttr) else ():
            assert isinstance(entry, DictAttr)  # the attribute's kind
            bare = [name for name, _ in entry.items if "." not in name]
            if bare:
                what = "arguments" if key == "arg_attrs" else "results"
                raise operation.op_error(f"{what} may only have dialect attributes, found: '{bare[0]}'")
            if key == "arg_attrs":
                for name, value in entry.items:
                    check_argument(operation, name, value)
    blocks = operation.regions[0].blocks
    if not blocks:
        visibility = operation.attributes.get("sym_visibility")
        if visibility is None or visibility.python == "public":
            raise operation.op_error("symbol declaration cannot have public visibility")
        return
    types = tuple(argument.type for argument in blocks[0].arguments)
    if len(types) != len(kind.inputs):
        raise operation.op_error(f"entry block must have {len(kind.inputs)} arguments to match function signature")
    for index, (given, declared) in enumerate(zip(types, kind.inputs, strict=True)):
        if given is not declared:
            raise operation.op_error(
                f"type of entry block argument #{index}('{given}') must match the type of the corresponding argument "
                f"in function signature('{declared}')"
            )


# -- func.return and func.call -----------------------------------------------------------------------------------------


def _verify_return(operation: Operation) -> None:
    function = operation.parent_operation
    assert isinstance(function, FuncOp)  # HasParent
    expected = function.type.results
    if len(expected) != len(operation.operands):
        raise operation.op_error(
            f"has {len(operation.operands)} operands, but enclosing function (@{function.sym_name}) returns "
            f"{len(expected)}"
        )
    for index, (value, type) in enumerate(zip(operation.operands, expected, strict=True)):
        if value.type is not type:
            raise operation.error(
                f"type of return operand {index} ('{value.type}') doesn't match function result type ('{type}') "
                f"in function @{function.sym_name}"
            )


def _verify_call(operation: Operation) -> None:
    function = symbol_of(operation)
    if not isinstance(function, FuncOp):
        name = operation.attributes["callee"].python
        raise operation.op_error(f"'{name}' does not reference a valid function")
    for what, values, types in (
        ("operand", operation.operands, function.type.inputs),
        ("result", operation.results, function.type.results),
    ):
        if len(values) != len(types):
            raise operation.op_error(f"incorrect number of {what}s for callee: {len(values)}, expected {len(types)}")
        for index, (value, type) in enumerate(zip(values, types, strict=True)):
            if value.type is not type:
                raise operation.op_error(
                    f"{what} type mismatch at index {index}: expected {what} type '{type}', but provided '{value.type}'"
                )


_DICTIONARIES = array_of("Array of dictionary attributes", lambda value: isinstance(value, DictAttr))

FUNC = Definition(
    "func.func",
    attributes={
        "sym_name": AttributeSpec(instance_of(StringAttr, "a string"), required=True),
        "function_type": AttributeSpec(instance_of(TypeAttr, "a type"), required=True),
        "sym_visibility": AttributeSpec(one_of("public", "private", "nested")),
        "arg_attrs": AttributeSpec(kind=_DICTIONARIES),
        "res_attrs": AttributeSpec(kind=_DICTIONARIES),
    },
    regions=1,
    traits={ISOLATED_FROM_ABOVE, SYMBOL},
    parse=_parse_function,
    print=_print_function,
    verify=_verify_function,
    operation_class=FuncOp,
)

RETURN = Definition(
    "func.return",
    operands=("operands*",),
    traits=(PURE, RETURN_LIKE, TERMINATOR),
    parents=("func.func",),
    format="attr-dict ($operands^ `:` type($operands))?",
    verify=_verify_return,
)

CALL = Definition(
    "func.call",
    operands=("operands*",),
    results=("results*",),
    attributes={"callee": AttributeSpec(kind=FLAT_SYMBOL_REF, required=True)},
    format="$callee `(` $operands `)` attr-dict `:` functional-type(operands, results)",
    verify=_verify_call,
)

OPS = [FUNC, RETURN, CALL]
