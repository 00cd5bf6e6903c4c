"""`ml_program`: global variables, whose values outlive a call of the program."""

from qrt.ir.core.attribute_kinds import UNIT, enumeration
from qrt.ir.core.attributes import UNIT as PRESENT
from qrt.ir.core.attributes import StringAttr, SymbolRefAttr, TypeAttr, instance_of, one_of, symbol_text
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.symbols import nearest_table
from qrt.ir.core.traits import MEM_READ, MEM_WRITE, PURE, SYMBOL
from qrt.types import Type

enumeration("ml_program.extern", "", typed=True)

_VISIBILITIES = ("public", "private", "nested")


def _parse_global(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    visibility = next(filter(scanner.accept_word, _VISIBILITIES), None)
    if visibility is None:
        raise scanner.error("expected 'public', 'private', or 'nested'", scanner.skip())
    pending.attributes["sym_visibility"] = StringAttr(visibility)
    if scanner.accept_word("mutable"):
        pending.attributes["is_mutable"] = PRESENT
    pending.attributes["sym_name"] = StringAttr(parser.symbol_name())
    if scanner.accept("("):
        pending.attributes["value"] = parser.attribute()
        scanner.expect(")")
    scanner.expect(":")
    pending.attributes["type"] = TypeAttr(parser.type())
    pending.attributes.update(parser.optional_attributes())


def _print_global(printer: FormPrinter, operation: Operation) -> None:
    attributes = operation.attributes
    printer.word(str(attributes["sym_visibility"].python) if "sym_visibility" in attributes else "public")
    if "is_mutable" in attributes:
        printer.word("mutable")
    printer.word(symbol_text(str(attributes["sym_name"].python)))
    if "value" in attributes:
        printer.attach(f"({attributes['value']})")
    printer.word(f": {attributes['type']}")
    printer.attributes(operation, ("sym_name", "sym_visibility", "is_mutable", "type", "value"))


def _verify_global(operation: Operation) -> None:
    if "is_mutable" not in operation.attributes and "value" not in operation.attributes:
        raise operation.op_error("immutable global must have an initial value")


def global_of(operation: Operation) -> Operation | None:
    """Return the `ml_program.global` that a load or store names; None if there is none.

    The symbol tables around the operation are searched from the inside out.
    """
    path, table = operation.attribute("global", SymbolRefAttr).path, nearest_table(operation)
    while table is not None and len(path) == 1:
        named = table.regions[0].blocks[0].symbol(path[0])
        if named is not None and named.name == "ml_program.global":
            return named
        table = nearest_table(table)
    return None


def global_type(operation: Operation) -> Type:
    """Return the type of an `ml_program.global`."""
    type = operation.attributes["type"].python
    assert isinstance(type, Type)  # the verifier has checked it
    return type


def _named(operation: Operation) -> Operation:
    definition = global_of(operation)
    if definition is None:
        raise operation.op_error(f"undefined global: {operation.attributes['global']}")
    return definition


def _verify_load(operation: Operation) -> None:
    type, result_type = global_type(_named(operation)), operation.results[0].type
    if type is not result_type:
        raise operation.op_error(f"cannot load from global typed '{type}' as '{result_type}'")


def _verify_load_const(operation: Operation) -> None:
    if "is_mutable" in _named(operation).attributes:
        raise operation.op_error(f"cannot load as const from mutable global {operation.attributes['global']}")
    _verify_load(operation)


def _verify_store(operation: Operation) -> None:
    definition = _named(operation)
    if "is_mutable" not in definition.attributes:
        raise operation.op_error(f"cannot store to an immutable global {operation.attributes['global']}")
    type, given = global_type(definition), operation.operands[0].type
    if type is not given:
        raise operation.op_error(f"cannot store to a global typed '{type}' from '{given}'")


_NAMES_GLOBAL = {"global": AttributeSpec(instance_of(SymbolRefAttr, "a symbol"), required=True)}

OPS = [
    Definition(
        "ml_program.global",
        attributes={
            "sym_name": AttributeSpec(instance_of(StringAttr, "a string"), required=True),
            "type": AttributeSpec(instance_of(TypeAttr, "a type"), required=True),
            "is_mutable": AttributeSpec(kind=UNIT),
            "value": AttributeSpec(),
            "sym_visibility": AttributeSpec(one_of(*_VISIBILITIES)),
        },
        traits={SYMBOL},
        parse=_parse_global,
        print=_print_global,
        verify=_verify_global,
    ),
    Definition(
        "ml_program.global_load",
        results=("result",),
        attributes=_NAMES_GLOBAL,
        traits={MEM_READ},
        format="$global `:` type($result) attr-dict",
        verify=_verify_load,
    ),
    Definition(
        "ml_program.global_load_const",
        results=("result",),
        attributes=_NAMES_GLOBAL,
        traits={PURE},
        format="$global `:` type($result) attr-dict",
        verify=_verify_load_const,
    ),
    Definition(
        "ml_program.global_store",
        operands=("value",),
        attributes=_NAMES_GLOBAL,
        traits={MEM_WRITE},
        format="$global `=` $value `:` type($value) attr-dict",
        verify=_verify_store,
    ),
]
