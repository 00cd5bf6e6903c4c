"""`scf`: structured control flow."""

from qrt.ir.core import attribute_kinds
from qrt.ir.core.attributes import UNIT, DenseArrayAttr, IntegerAttr
from qrt.ir.core.constraints import INDEX, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import (
    LOOP_LIKE,
    NO_REGION_ARGUMENTS,
    PURE,
    RECURSIVE_MEMORY_EFFECTS,
    RECURSIVELY_SPECULATABLE,
    RETURN_LIKE,
    SINGLE_BLOCK,
    TERMINATOR,
    is_speculatable_inside,
)
from qrt.ir.dialects._regions.forms import (
    parse_assignments,
    parse_body,
    parse_branches,
    parse_optional_results,
    print_body,
    print_branches,
    require_carried,
    require_edge,
    spell_assignments,
    spell_results,
    spell_types,
    terminator_operands,
)
from qrt.ir.dialects.scf.parallel import PARALLEL_OPS
from qrt.types import IntegerType

_YIELD = "scf.yield"
_I64 = IntegerType(64)

# -- scf.for -----------------------------------------------------------------------------------------------------------


def _parse_for(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    if scanner.accept_word("unsigned"):
        pending.attributes["unsignedCmp"] = UNIT
    induction = parser.operand()
    scanner.expect("=", " after the induction variable")
    bounds = [parser.operand()]
    for word in ("to", "step"):
        scanner.expect_word(word, " in the loop's bounds")
        bounds.append(parser.operand())
    arguments, inits = parse_assignments(parser) if scanner.accept_word("iter_args") else ([], [])
    pending.result_types = parse_optional_results(parser)
    type = parser.type() if scanner.accept(":") else INDEX
    pending.operands = [*bounds, *inits]
    pending.operand_types = [type, type, type, *pending.result_types]
    parse_body(parser, pending, [induction, *arguments], [type, *pending.result_types], _YIELD)
    pending.attributes.update(parser.optional_attributes())


def _print_for(printer: FormPrinter, operation: Operation) -> None:
    region = operation.regions[0]
    with printer.numbered(region):
        induction, *arguments = region.blocks[0].arguments
        lower, upper, step = map(printer.name, operation.operands[:3])
        if "unsignedCmp" in operation.attributes:
            printer.word("unsigned")
        printer.word(f"{printer.name(induction)} = {lower} to {upper} step {step}")
        if arguments:
            printer.word(f"iter_args{spell_assignments(printer, arguments, operation.operands[3:])}")
            printer.word(f"-> ({spell_types([value.type for value in arguments])})")
        printer.attach(" " if induction.type is INDEX else f"  : {induction.type} ")
        printer.region(region, entry_printed=True, terminator=None if operation.results else _YIELD)
    printer.attributes(operation, ("unsignedCmp",))


def _verify_for(operation: Operation) -> None:
    inits, arguments = operation.operands[3:], operation.regions[0].blocks[0].arguments
    if len(inits) != len(operation.results):
        raise operation.op_error("mismatch in number of loop-carried values and defined values")
    if not arguments or arguments[0].type is not operation.operands[0].type:
        raise operation.op_error("expected induction variable to be same type as bounds and step")
    require_carried(operation, inits, arguments[1:])
    require_edge(operation, "Operation scf.yield", "Region #0", terminator_operands(operation, 0), arguments[1:])
    require_edge(operation, "Operation scf.yield", "parent", terminator_operands(operation, 0), operation.results)


def _ends(operation: Operation) -> bool:
    """Return True if an `scf.for` has step 1, so that it ends for all bounds, and its body is speculatable."""
    step = constant_of(operation.operands[2])
    return isinstance(step, IntegerAttr) and step.value == 1 and is_speculatable_inside(operation)


# -- scf.if ------------------------------------------------------------------------------------------------------------


def _parse_if(parser: FormParser, pending: PendingOperation) -> None:
    pending.operands, pending.operand_types = [parser.operand()], [IntegerType(1)]
    pending.result_types = parse_optional_results(parser)
    parse_branches(parser, pending, _YIELD)


def _print_if(printer: FormPrinter, operation: Operation) -> None:
    printer.operands(operation.operands)
    if operation.results:
        printer.word(f"-> ({spell_types([value.type for value in operation.results])})")
    print_branches(printer, operation, _YIELD)
    printer.attributes(operation)


def _verify_if(operation: Operation) -> None:
    if operation.results and not operation.regions[1].blocks:
        raise operation.op_error("must have an else block if defining values")
    for index, region in enumerate(operation.regions):
        if region.blocks:
            require_edge(
                operation, "Operation scf.yield", "parent", terminator_operands(operation, index), operation.results
            )


# -- scf.while ---------------------------------------------------------------------------------------------------------


def _parse_while(parser: FormParser, pending: PendingOperation) -> None:
    arguments, pending.operands = parse_assignments(parser) if parser.scanner.at("(") else ([], [])
    parser.scanner.expect(":", " before the loop's type")
    pending.operand_types, pending.result_types = parser.signature()
    parse_body(parser, pending, arguments, pending.operand_types)
    parser.scanner.expect_word("do", " after the region that decides")
    parse_body(parser, pending)
    if parser.scanner.accept_word("attributes"):
        pending.attributes.update(parser.attribute_dictionary())


def _print_while(printer: FormPrinter, operation: Operation) -> None:
    before = operation.regions[0]
    with printer.numbered(before):
        if operation.operands:
            printer.word(spell_assignments(printer, before.blocks[0].arguments, operation.operands))
        printer.word(":")
        printer.signature(operation)
        printer.word("")
        printer.region(before, entry_printed=True)
    printer.word("do")
    print_body(printer, operation, 1)
    printer.attributes(operation, keyword="attributes")


def _verify_while(operation: Operation) -> None:
    before, after = (region.blocks[0] for region in operation.regions)
    for name, block, terminator in (("before", before, "scf.condition"), ("after", after, _YIELD)):
        if block.last is None or block.last.name != terminator:
            raise operation.op_error(f"expects the '{name}' region to terminate with '{terminator}'")
    require_edge(operation, "parent", "Region #0", operation.operands, before.arguments)
    forwarded = terminator_operands(operation, 0)[1:]
    require_edge(operation, "Operation scf.condition", "parent", forwarded, operation.results)
    require_edge(operation, "Operation scf.condition", "Region #1", forwarded, after.arguments)
    require_edge(operation, "Operation scf.yield", "Region #0", terminator_operands(operation, 1), before.arguments)


# -- scf.execute_region, scf.index_switch ------------------------------------------------------------------------------


def _verify_execute_region(operation: Operation) -> None:
    blocks = operation.regions[0].blocks
    if not blocks:
        raise operation.op_error("region needs to have at least one block")
    if blocks[0].arguments:
        raise operation.op_error("region cannot have any arguments")
    for block in blocks:
        if block.last is not None and block.last.name == _YIELD:
            require_edge(operation, "Operation scf.yield", "parent", block.last.operands, operation.results)


def _parse_execute_region(parser: FormParser, pending: PendingOperation) -> None:
    pending.result_types = parse_optional_results(parser)
    if parser.scanner.accept_word("no_inline"):
        pending.attributes["no_inline"] = UNIT
    parse_body(parser, pending)
    pending.attributes.update(parser.optional_attributes())


def _print_execute_region(printer: FormPrinter, operation: Operation) -> None:
    if operation.results:
        printer.word(f"-> {spell_results(operation.results)}")
    if "no_inline" in operation.attributes:
        printer.word("no_inline")
    print_body(printer, operation, 0)
    printer.attributes(operation, ("no_inline",))


def _parse_index_switch(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    pending.operands, pending.operand_types = [parser.operand()], [INDEX]
    pending.attributes.update(parser.optional_attributes())
    if scanner.accept("->"):
        pending.result_types = scanner.separated(parser.type)
    cases: list[int] = []
    while scanner.accept_word("case"):
        cases.append(scanner.integer(64, "a case"))
        parse_body(parser, pending)  # with an explicit terminator: only that of the default is implicit
    scanner.expect_word("default", " after the cases")
    parse_body(parser, pending, terminator=_YIELD)
    pending.regions.insert(0, pending.regions.pop())
    pending.attributes["cases"] = DenseArrayAttr(_I64, tuple(cases))


def _print_index_switch(printer: FormPrinter, operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.attributes(operation, ("cases",))
    if operation.results:
        printer.word(f"-> {spell_types([value.type for value in operation.results])}")
    printer.attach(" ")
    for index, case in enumerate(_cases(operation), 1):
        printer.new_line()
        printer.attach(f"case {case}")
        print_body(printer, operation, index)
    printer.new_line()
    printer.attach("default")
    print_body(printer, operation, 0, None if operation.results else _YIELD)


def _cases(operation: Operation) -> tuple[int, ...]:
    return operation.attribute("cases", DenseArrayAttr).values


def _verify_index_switch(operation: Operation) -> None:
    cases = _cases(operation)
    if len(operation.regions) != len(cases) + 1:
        raise operation.op_error(f"has {len(operation.regions) - 1} case regions but {len(cases)} case values")
    for index, case in enumerate(cases):
        if case in cases[:index]:
            raise operation.op_error(f"has duplicate case value: {case}")
    for index, region in enumerate(operation.regions):
        name = f"case region #{index - 1}" if index else "default region"
        last = region.blocks[0].last
        if last is None or last.name != _YIELD:
            raise operation.op_error(
                f"expected region to end with scf.yield, but got {last.name if last else 'nothing'}"
            )
        if len(last.operands) != len(operation.results):
            raise operation.op_error(
                f"expected each region to return {len(operation.results)} values, but {name} returns "
                f"{len(last.operands)}"
            )
        for number, (value, result) in enumerate(zip(last.operands, operation.results, strict=True)):
            if value.type is not result.type:
                raise operation.op_error(
                    f"expected result #{number} of each region to be '{result.type}' but {name} yields '{value.type}'"
                )


# -- the ops -----------------------------------------------------------------------------------------------------------

_EFFECTS = (RECURSIVE_MEMORY_EFFECTS,)

FOR = Definition(
    "scf.for",
    operands=(
        "lowerBound: signless integer or index",
        "upperBound: signless integer or index",
        "step: signless integer or index",
        "initArgs*",
    ),
    results=("results*",),
    attributes={"unsignedCmp": AttributeSpec(kind=attribute_kinds.UNIT)},
    regions=("region: 1",),
    traits=(*_EFFECTS, LOOP_LIKE),
    speculatable=_ends,
    implicit_terminator=_YIELD,
    infer={"upperBound": same_as("lowerBound"), "step": same_as("lowerBound")},
    parse=_parse_for,
    print=_print_for,
    verify=_verify_for,
    canonicalize=(
        "scf.canonicalize: trivial_for",
        "scf.canonicalize_casts: casts_into_for",
        "scf.canonicalize_branches: only_value equal_inputs unread_results",
    ),
)

OPS = [
    FOR,
    Definition(
        "scf.if",
        operands=("condition: i1",),
        results=("results*",),
        regions=("thenRegion: 1", "elseRegion: max 1"),
        traits=(*_EFFECTS, RECURSIVELY_SPECULATABLE, NO_REGION_ARGUMENTS),
        implicit_terminator=_YIELD,
        parse=_parse_if,
        print=_print_if,
        verify=_verify_if,
        canonicalize=(
            "scf.canonicalize: adjacent_ifs nested_ifs condition_inside to_select no_else known_if",
            "scf.canonicalize_branches: only_value equal_inputs unread_results",
        ),
    ),
    Definition(
        "scf.while",
        operands=("inits*",),
        results=("results*",),
        regions=("before: 1", "after: 1"),
        traits=(*_EFFECTS, LOOP_LIKE, SINGLE_BLOCK),
        parse=_parse_while,
        print=_print_while,
        verify=_verify_while,
        canonicalize=(
            "scf.canonicalize_while: true_after compared_after in_order_of_carried if_moved_down",
            "scf.canonicalize_branches: only_value equal_inputs unread_results",
        ),
    ),
    Definition(
        "scf.condition",
        operands=("condition: i1", "args*"),
        traits={TERMINATOR, PURE},
        parents=("scf.while",),
        format="`(` $condition `)` attr-dict ($args^ `:` type($args))?",
    ),
    Definition(
        "scf.execute_region",
        results=("results*",),
        attributes={"no_inline": AttributeSpec(kind=attribute_kinds.UNIT)},
        regions=("region",),
        traits=_EFFECTS,
        parse=_parse_execute_region,
        print=_print_execute_region,
        verify=_verify_execute_region,
        canonicalize=(
            "scf.canonicalize: execute_region",
            "scf.canonicalize_branches: only_value equal_inputs unread_results",
        ),
    ),
    Definition(
        "scf.index_switch",
        operands=("arg: index",),
        results=("results*",),
        attributes={"cases": AttributeSpec(kind=attribute_kinds.dense_array(_I64), required=True)},
        regions=("defaultRegion: 1", "caseRegions*: 1"),
        traits=_EFFECTS,
        implicit_terminator=_YIELD,
        parse=_parse_index_switch,
        print=_print_index_switch,
        verify=_verify_index_switch,
        canonicalize=(
            "scf.canonicalize: known_case",
            "scf.canonicalize_branches: only_value equal_inputs unread_results",
        ),
    ),
    *PARALLEL_OPS,
    Definition(
        _YIELD,
        operands=("results*",),
        traits={TERMINATOR, RETURN_LIKE, PURE},
        parents=("scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"),
        format="attr-dict ($results^ `:` type($results))?",
    ),
]
