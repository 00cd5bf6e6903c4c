"""Helpers for the custom forms and verifiers of ops with regions, in `scf` and `affine`."""

from collections.abc import Sequence

from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Operation, Region, Value
from qrt.types import Type


def parse_assignments(parser: FormParser) -> tuple[list[OperandName], list[OperandName]]:
    """Parse `(%argument = %operand, ...)`; return the names of the block arguments and of their initial values."""

    def assignment() -> tuple[OperandName, OperandName]:
        argument = parser.argument()
        parser.scanner.expect("=", " after an argument")
        return argument, parser.operand()

    pairs = parser.scanner.bracketed("()", assignment, " before assignments", " after assignments")
    return [argument for argument, _ in pairs], [operand for _, operand in pairs]


def spell_assignments(printer: FormPrinter, arguments: Sequence[Value], operands: Sequence[Value]) -> str:
    pairs = zip(arguments, operands, strict=True)
    return f"({', '.join(f'{printer.name(a)} = {printer.name(b)}' for a, b in pairs)})"


def parse_values(parser: FormParser, brackets: str = "()") -> list[OperandName]:
    """Parse a list of operands in the two `brackets`; the list may be empty."""
    parser.scanner.expect(brackets[0], " before operands")
    operands = parser.operand_list() if parser.scanner.at("%") else []
    parser.scanner.expect(brackets[1], " after operands")
    return operands


def parse_arguments(parser: FormParser) -> list[OperandName]:
    """Parse a parenthesized list of block arguments, which may be empty."""
    return parser.scanner.bracketed("()", parser.argument, " before arguments", " after arguments")


def spell_values(printer: FormPrinter, values: Sequence[Value], brackets: str = "()") -> str:
    return f"{brackets[0]}{', '.join(map(printer.name, values))}{brackets[1]}"


def parse_optional_results(parser: FormParser) -> list[Type]:
    """Parse `-> (types)` or `-> type` and return the types; return an empty list if no `->` follows."""
    return parser.types.results() if parser.scanner.accept("->") else []


def spell_types(types: Sequence[Type]) -> str:
    return ", ".join(map(str, types))


def parse_body(
    parser: FormParser,
    pending: PendingOperation,
    arguments: "Sequence[OperandName] | None" = None,
    types: Sequence[Type] = (),
    terminator: str | None = None,
) -> None:
    """Parse a region and append it to the regions of `pending`.

    `arguments` and `types` are the names and types of the entry block's arguments. If `arguments` is None, the region's
    text declares its block arguments itself. `terminator` is the name of a terminator that the text may omit.
    """
    if arguments is not None and len(arguments) != len(types):
        raise parser.error_at(pending, "mismatch in number of loop-carried values and defined values")
    named = None if arguments is None else [(n, at, t) for (n, _, at), t in zip(arguments, types, strict=True)]
    pending.regions.append(parser.region(False, pending.name, named, terminator))


def spell_results(values: Sequence[Value]) -> str:
    """Return the text of the result types after `->`: one type, or several in parentheses."""
    types = spell_types([value.type for value in values])
    return types if len(values) == 1 else f"({types})"


def parse_branches(parser: FormParser, pending: PendingOperation, terminator: str) -> None:
    """Parse `{region}`, optional `else {region}` and attributes; without `else`, the second region is empty.

    `terminator` is the name of a terminator that the text of a region may omit.
    """
    parse_body(parser, pending, terminator=terminator)
    if parser.scanner.accept_word("else"):
        parse_body(parser, pending, terminator=terminator)
    else:
        pending.regions.append(Region())
    pending.attributes.update(parser.optional_attributes())


def print_branches(printer: FormPrinter, operation: Operation, terminator: str) -> None:
    """Print the two regions of an operation as `{region} else {region}`, without `else` if the second is empty.

    If the operation has no results, a last operation with the name `terminator` is omitted.
    """
    implicit = None if operation.results else terminator
    print_body(printer, operation, 0, implicit)
    if operation.regions[1].blocks:
        printer.word("else")
        print_body(printer, operation, 1, implicit)


def print_body(printer: FormPrinter, operation: Operation, index: int, terminator: str | None = None) -> None:
    """Print region `index` of an operation, with a label such as `^bb0(%x: f32)` if its entry block has arguments.

    A last operation with the name `terminator` is omitted, if it has no operands.
    """
    region = operation.regions[index]
    printer.word("")
    with printer.numbered(region):
        printer.region(region, entry_printed=False, terminator=terminator)


def require_edge(
    operation: Operation, source: str, target: str, operands: Sequence[Value], inputs: Sequence[Value]
) -> None:
    """Raise VerifyError unless the `operands` passed along a control flow edge have the types of the target's `inputs`.

    `source` and `target` describe the ends of the edge in the error message.
    """
    edge = f"along control flow edge from {source} to {target}"
    if len(operands) != len(inputs):
        raise operation.op_error(
            f"{edge}: region branch point has {len(operands)} operands, but region successor needs {len(inputs)} inputs"
        )
    for index, (value, other) in enumerate(zip(operands, inputs, strict=True)):
        if value.type is not other.type:
            raise operation.op_error(
                f"{edge}: successor operand type #{index} '{value.type}' should match successor input type #{index} "
                f"'{other.type}'"
            )


def require_carried(operation: Operation, inits: Sequence[Value], arguments: Sequence[Value]) -> None:
    """Raise VerifyError unless a loop's initial values, block arguments and yielded values have the same types.

    `arguments` are the block arguments that carry values from one iteration to the next; `inits` are their initial
    values.
    """
    yielded = terminator_operands(operation, 0)
    for left, right, values, others in (
        ("inits", "region iter_args", inits, arguments),
        ("region iter_args", "yielded values", arguments, yielded),
    ):
        if len(values) != len(others):
            if others is yielded and not yielded:
                break
            raise operation.op_error(f"different number of {left} and {right}: {len(values)} != {len(others)}")
    for left, right, values, others in (
        ("init", "region iter_arg", inits, arguments),
        ("region iter_arg", "yielded value", arguments, yielded),
    ):
        for index, (value, other) in enumerate(zip(values, others, strict=False)):
            if value.type is not other.type:
                raise operation.op_error(
                    f"{index}-th {left} and {index}-th {right} have different type: '{value.type}' != '{other.type}'"
                )


def terminator_operands(operation: Operation, region: int) -> list[Value]:
    """Return the operands of the terminator of an operation's region number `region`, which has one block."""
    return operation.regions[region].blocks[0].terminator.operands
