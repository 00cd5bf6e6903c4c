"""`builtin`: the op `builtin.module`."""

from qrt.ir.core.attributes import StringAttr, instance_of, symbol_text
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import GRAPH_REGION, ISOLATED_FROM_ABOVE, SYMBOL_TABLE


def _parse_module(parser: FormParser, pending: PendingOperation) -> None:
    if parser.scanner.at("@"):
        pending.attributes["sym_name"] = StringAttr(parser.symbol_name())
    if parser.scanner.accept_word("attributes"):
        pending.attributes.update(parser.attribute_dictionary())
    pending.regions.append(parser.region(isolated=True, dialect="builtin", arguments=()))


def _print_module(printer: FormPrinter, operation: Operation) -> None:
    name = operation.attributes.get("sym_name")
    if isinstance(name, StringAttr):
        printer.word(symbol_text(name.value))
    printer.attributes(operation, elided=("sym_name",), keyword="attributes")
    printer.word("")
    with printer.numbered(operation.regions[0]):
        printer.region(operation.regions[0], entry_printed=True)


def _verify_module(operation: Operation) -> None:
    if len(operation.regions[0].blocks) != 1:
        raise operation.op_error("requires one block")
    if operation.regions[0].blocks[0].arguments:
        raise operation.op_error("region should have no arguments")
    for name in operation.attributes:
        if "." not in name and name not in MODULE.attributes:
            raise operation.op_error(f"can only contain attributes with dialect-prefixed names, found: '{name}'")


MODULE = Definition(
    "builtin.module",
    attributes={
        "sym_name": AttributeSpec(instance_of(StringAttr, "a string")),
        "sym_visibility": AttributeSpec(instance_of(StringAttr, "a string")),
    },
    regions=1,
    traits={ISOLATED_FROM_ABOVE, SYMBOL_TABLE, GRAPH_REGION},
    parse=_parse_module,
    print=_print_module,
    verify=_verify_module,
)

OPS = [MODULE]
