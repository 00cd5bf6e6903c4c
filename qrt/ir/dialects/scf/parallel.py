"""`scf` loops with unordered iterations: `scf.parallel` with its reductions, and `scf.forall`."""

from qrt.ir.core import attribute_kinds
from qrt.ir.core.attributes import ArrayAttr, DenseArrayAttr, IntegerAttr, OpaqueAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import AttributeSpec, Definition, segments
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.traits import LOOP_LIKE, NO_TERMINATOR, PURE, RECURSIVE_MEMORY_EFFECTS, SINGLE_BLOCK, TERMINATOR
from qrt.ir.dialects._regions.forms import (
    parse_arguments,
    parse_assignments,
    parse_body,
    parse_optional_results,
    parse_values,
    print_body,
    spell_assignments,
    spell_results,
    spell_types,
    spell_values,
)
from qrt.ir.text.assembly_elements import DYNAMIC, parse_mixed
from qrt.types import IntegerType

_I64 = IntegerType(64)

# -- scf.parallel, scf.reduce ------------------------------------------------------------------------------------------


def _parse_parallel(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    induction = parse_arguments(parser)
    for word in ("=", "to", "step"):
        scanner.expect(word, " before bounds")
        given = parse_values(parser)
        if len(given) != len(induction):
            raise scanner.error(f"expected {len(induction)} operands", pending.start)
        pending.operands.extend(given)
    inits = parse_values(parser) if scanner.accept_word("init") else []
    pending.operands.extend(inits)
    rank = len(induction)
    pending.attributes["operandSegmentSizes"] = segments(rank, rank, rank, len(inits))
    pending.result_types = parse_optional_results(parser)
    if len(pending.result_types) != len(inits):
        message = f"expects number of results: {len(pending.result_types)} to be the same as number of reductions"
        raise scanner.error(f"{message}: {len(inits)}", pending.start)
    pending.operand_types = [INDEX] * (3 * rank) + pending.result_types
    parse_body(parser, pending, induction, [INDEX] * rank, "scf.reduce")
    pending.attributes.update(parser.optional_attributes())


def _print_parallel(printer: FormPrinter, operation: Operation) -> None:
    region = operation.regions[0]
    with printer.numbered(region):
        parts = [operation.operand_group(group) for group in ("lowerBound", "upperBound", "step", "initVals")]
        lower, upper, step, inits = (spell_values(printer, part) for part in parts)
        induction = spell_values(printer, region.blocks[0].arguments)
        printer.word(f"{induction} = {lower} to {upper} step {step}")
        if operation.results:
            printer.word(f"init {inits} -> {spell_results(operation.results)}")
        printer.word("")
        printer.region(region, entry_printed=True)
    printer.attributes(operation, ("operandSegmentSizes",))


def _verify_parallel(operation: Operation) -> None:
    lower, upper, step, inits = (
        operation.operand_group(group) for group in ("lowerBound", "upperBound", "step", "initVals")
    )
    if not lower:
        raise operation.op_error("needs at least one tuple element for lowerBound, upperBound and step")
    if not len(lower) == len(upper) == len(step):
        raise operation.op_error("expects as many lower bounds as upper bounds and steps")
    for value in step:
        constant = constant_of(value)
        if isinstance(constant, IntegerAttr) and constant.value <= 0:
            raise operation.op_error("constant step operand must be positive")
    body = operation.regions[0].blocks[0]
    if len(body.arguments) != len(lower):
        raise operation.op_error(
            f"expects the same number of induction variables: {len(body.arguments)} as bound and step values: "
            f"{len(lower)}"
        )
    if any(argument.type is not INDEX for argument in body.arguments):
        raise operation.op_error("expects arguments for the induction variable to be of index type")
    if body.last is None or body.last.name != "scf.reduce":
        raise operation.op_error("expects body to terminate with 'scf.reduce' operation")
    counts = (len(operation.results), len(body.last.operands), len(inits))
    if counts[0] != counts[1]:
        raise operation.op_error(
            f"expects number of results: {counts[0]} to be the same as number of reductions: {counts[1]}"
        )
    if counts[0] != counts[2]:
        raise operation.op_error(
            f"expects number of results: {counts[0]} to be the same as number of initial values: {counts[2]}"
        )
    for index, (value, result) in enumerate(zip(body.last.operands, operation.results, strict=True)):
        if value.type is not result.type:
            raise body.last.op_error(
                f"expects type of {index}-th reduction operand: '{value.type}' to be the same as the {index}-th "
                f"result type: '{result.type}'"
            )


def _parse_reduce(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    if scanner.accept("("):
        pending.operands = parser.operand_list()
        scanner.expect(":", " before operand types")
        pending.operand_types = scanner.separated(parser.type)
        scanner.expect(")", " after operand types")
    while scanner.at("{") and len(pending.regions) < len(pending.operands):
        parse_body(parser, pending)
        scanner.accept(",")
    pending.attributes.update(parser.optional_attributes())


def _print_reduce(printer: FormPrinter, operation: Operation) -> None:
    if operation.operands:
        names = ", ".join(map(printer.name, operation.operands))
        printer.attach(f"({names} : {spell_types([value.type for value in operation.operands])})")
    else:
        printer.attach(" ")
    for index in range(len(operation.regions)):
        printer.attach("," if index else "")
        print_body(printer, operation, index)
    printer.attributes(operation)


def _verify_reduce(operation: Operation) -> None:
    if len(operation.regions) != len(operation.operands):
        raise operation.op_error(
            f"expects number of operands: {len(operation.operands)} to be the same as number of reduction regions: "
            f"{len(operation.regions)}"
        )
    for index, (value, region) in enumerate(zip(operation.operands, operation.regions, strict=True)):
        if not region.blocks:
            raise operation.op_error(f"{index}-th reduction has an empty body")
        block = region.blocks[0]
        if [argument.type for argument in block.arguments] != [value.type, value.type]:
            raise operation.op_error(
                f"expected two block arguments with type '{value.type}' in the {index}-th reduction region"
            )
        if block.last is None or block.last.name != "scf.reduce.return":
            raise operation.op_error("reduction bodies must be terminated with an 'scf.reduce.return' op")


def _verify_reduce_return(operation: Operation) -> None:
    assert operation.parent is not None  # HasParent
    expected = operation.parent.arguments[0].type
    if operation.operands[0].type is not expected:
        raise operation.op_error(f"must have type '{expected}' (the type of the reduction inputs)")


# -- scf.forall --------------------------------------------------------------------------------------------------------

BOUNDS = ("LowerBound", "UpperBound", "Step")
_IN_PARALLEL = "scf.forall.in_parallel"
_PLACES = "x y z " + " ".join(f"linear_dim_{i}" for i in range(10))
for _name in ("block", "thread", "warp", "warpgroup", "lane"):
    attribute_kinds.enumeration(f"gpu.{_name}", _PLACES)
_MAPPING = attribute_kinds.array_of(
    "Device Mapping array attribute", lambda value: isinstance(value, OpaqueAttr) and value.text.startswith("#gpu.")
)


def _parse_forall(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    induction = parse_arguments(parser)
    rank = len(induction)
    parts: list[tuple[list[OperandName], tuple[int, ...]]] = []
    if scanner.accept_word("in"):
        parts = [([], (0,) * rank), parse_mixed(parser, "()", "bounds"), ([], (1,) * rank)]
    else:
        for word in ("=", "to", "step"):
            scanner.expect(word, " before bounds")
            parts.append(parse_mixed(parser, "()", "bounds"))
    for what, (operands, static) in zip(("lower bound", "upper bound", "step"), parts, strict=True):
        if len(static) != rank:
            raise scanner.error(f"expected {rank} {what} values, got {len(static)}", pending.start)
        pending.operands.extend(operands)
    arguments, outputs = parse_assignments(parser) if scanner.accept_word("shared_outs") else ([], [])
    pending.result_types = parse_optional_results(parser)
    pending.attributes["operandSegmentSizes"] = segments(*(len(operands) for operands, _ in parts), len(outputs))
    for name, (_, static) in zip(BOUNDS, parts, strict=True):
        pending.attributes[f"static{name}"] = DenseArrayAttr(_I64, static)
    pending.operand_types = [INDEX] * len(pending.operands) + pending.result_types
    pending.operands.extend(outputs)
    types = [INDEX] * rank + pending.result_types
    parse_body(parser, pending, [*induction, *arguments], types, _IN_PARALLEL)
    _give_block(pending.regions[0])
    pending.attributes.update(parser.optional_attributes())


def _give_block(region: Region) -> None:
    """Add an empty block to the `scf.forall.in_parallel` that ends `region`, if the program text omits that op."""
    last = region.blocks[0].last
    if last is not None and last.name == _IN_PARALLEL and not last.regions:
        last.regions = (Region([Block(location=last.location)]),)
        last.regions[0].parent = last


def mixed_bounds(operation: Operation) -> list[list[int | Value]]:
    """Return the lower bounds, the upper bounds and the steps of an `scf.forall`, as integers or operands."""
    lists = []
    for name in BOUNDS:
        static = operation.attribute(f"static{name}", DenseArrayAttr)
        dynamic = iter(operation.operand_group(f"dynamic{name}"))
        lists.append([next(dynamic) if value == DYNAMIC else value for value in static.values])
    return lists


def _print_forall(printer: FormPrinter, operation: Operation) -> None:
    region = operation.regions[0]
    with printer.numbered(region):
        lower, upper, step = mixed_bounds(operation)
        arguments = region.blocks[0].arguments
        text = spell_values(printer, arguments[: len(lower)])
        parts = [
            ", ".join(str(n) if isinstance(n, int) else printer.name(n) for n in part) for part in (lower, upper, step)
        ]
        if all(isinstance(n, int) and n == 0 for n in lower) and all(isinstance(n, int) and n == 1 for n in step):
            printer.word(f"{text} in ({parts[1]})")
        else:
            printer.word("{} = ({}) to ({}) step ({})".format(text, *parts))
        if operation.results:
            outputs = operation.operand_group("outputs")
            printer.word(f"shared_outs{spell_assignments(printer, arguments[len(lower) :], outputs)}")
            printer.word(f"-> ({spell_types([value.type for value in operation.results])})")
        printer.word("")
        printer.region(region, entry_printed=True, terminator=None if operation.results else _IN_PARALLEL)
    printer.attributes(operation, ("operandSegmentSizes", *(f"static{name}" for name in BOUNDS)))


def _verify_forall(operation: Operation) -> None:
    ranks = []
    for name, what in zip(BOUNDS, ("lower bound", "upper bound", "step"), strict=True):
        static = operation.attribute(f"static{name}", DenseArrayAttr)
        given = len(operation.operand_group(f"dynamic{name}"))
        if static.values.count(DYNAMIC) != given:
            raise operation.op_error(f"expected {static.values.count(DYNAMIC)} dynamic {what} values")
        ranks.append(len(static.values))
    arguments, outputs = operation.regions[0].blocks[0].arguments, operation.operand_group("outputs")
    if len(set(ranks)) > 1:
        raise operation.op_error("expected as many lower bounds as upper bounds and steps")
    if len(outputs) != len(operation.results):
        raise operation.op_error(f"produces {len(operation.results)} results, but has only {len(outputs)} outputs")
    if len(arguments) != ranks[0] + len(outputs):
        raise operation.op_error(f"region expects {ranks[0] + len(outputs)} arguments")
    wanted = [INDEX] * ranks[0] + [value.type for value in outputs]
    for index, (argument, type) in enumerate(zip(arguments, wanted, strict=True)):
        if argument.type is not type:
            raise operation.op_error(f"type mismatch between {index}-th argument ('{argument.type}') and '{type}'")
    if [value.type for value in outputs] != [value.type for value in operation.results]:
        raise operation.op_error("type mismatch between outputs and results")
    mapping = operation.attributes.get("mapping")
    if isinstance(mapping, ArrayAttr) and len(mapping.elements) != ranks[0]:
        raise operation.op_error("mapping attribute size must match op rank")


def _parse_in_parallel(parser: FormParser, pending: PendingOperation) -> None:
    parse_body(parser, pending, ())
    pending.attributes.update(parser.optional_attributes())


def _print_in_parallel(printer: FormPrinter, operation: Operation) -> None:
    print_body(printer, operation, 0)
    printer.attributes(operation)


def _verify_in_parallel(operation: Operation) -> None:
    if any(child.name != "tensor.parallel_insert_slice" for child in operation.regions[0].blocks[0]):
        raise operation.op_error("expected only ParallelCombiningOpInterface ops")


# -- the ops -----------------------------------------------------------------------------------------------------------

_EFFECTS = (RECURSIVE_MEMORY_EFFECTS,)

PARALLEL = Definition(
    "scf.parallel",
    operands=("lowerBound*: index", "upperBound*: index", "step*: index", "initVals*"),
    results=("results*",),
    regions=("region: 1",),
    traits=(*_EFFECTS, LOOP_LIKE, SINGLE_BLOCK),
    parse=_parse_parallel,
    print=_print_parallel,
    verify=_verify_parallel,
    canonicalize=("scf.canonicalize: parallel", "scf.canonicalize_parallel: nested_parallel"),
)

_STATIC = AttributeSpec(kind=attribute_kinds.dense_array(_I64), required=True)

FORALL = Definition(
    "scf.forall",
    operands=(*(f"dynamic{name}*: index" for name in BOUNDS), "outputs*: ranked tensor"),
    results=("results*",),
    attributes={
        **{f"static{name}": _STATIC for name in BOUNDS},
        "mapping": AttributeSpec(kind=_MAPPING),
    },
    regions=("region: 1",),
    traits=(*_EFFECTS, LOOP_LIKE),
    implicit_terminator=_IN_PARALLEL,
    parse=_parse_forall,
    print=_print_forall,
    verify=_verify_forall,
    canonicalize=(
        "scf.canonicalize_casts: casts_into_forall",
        "scf.canonicalize_parallel: constant_bounds unread_or_unwritten single_iterations constant_variables",
    ),
)

PARALLEL_OPS = [
    PARALLEL,
    Definition(
        "scf.reduce",
        operands=("operands*",),
        regions=("reductions*: 1",),
        traits=(TERMINATOR, *_EFFECTS),
        parents=("scf.parallel",),
        parse=_parse_reduce,
        print=_print_reduce,
        verify=_verify_reduce,
    ),
    Definition(
        "scf.reduce.return",
        operands=("result",),
        traits={TERMINATOR},
        parents=("scf.reduce",),
        format="$result attr-dict `:` type($result)",
        verify=_verify_reduce_return,
    ),
    FORALL,
    Definition(
        _IN_PARALLEL,
        regions=("region: 1",),
        traits={TERMINATOR, PURE, NO_TERMINATOR},
        parents=("scf.forall",),
        parse=_parse_in_parallel,
        print=_print_in_parallel,
        verify=_verify_in_parallel,
    ),
]
