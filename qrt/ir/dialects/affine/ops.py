"""`affine`: loops, conditions and memory accesses, given by affine functions of loop variables and symbols."""

from collections.abc import Callable, Sequence

from qrt.errors import ParseError, UndefinedError
from qrt.ir.core.affine import AffineMapAttr, IntegerSetAttr, evaluate, is_index, spell_expression
from qrt.ir.core.attribute_kinds import AFFINE_MAP
from qrt.ir.core.attribute_kinds import INDEX as INDEX_ATTRIBUTE
from qrt.ir.core.attributes import IntegerAttr, instance_of
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import AttributeSpec, Definition, segments
from qrt.ir.core.folding import Fold, Folded, Folds
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import (
    LOOP_LIKE,
    MEM_READ,
    MEM_WRITE,
    NO_REGION_ARGUMENTS,
    PURE,
    RECURSIVE_MEMORY_EFFECTS,
    RECURSIVELY_SPECULATABLE,
    RETURN_LIKE,
    TERMINATOR,
    is_speculatable_inside,
)
from qrt.ir.dialects._regions.forms import (
    parse_assignments,
    parse_body,
    parse_branches,
    parse_optional_results,
    parse_values,
    print_branches,
    require_edge,
    spell_assignments,
    spell_results,
    spell_types,
    spell_values,
)
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.dialects.affine.dimensions import is_symbol, map_of, require_valid
from qrt.ir.dialects.affine.parallel import PARALLEL
from qrt.ir.text.affine_parser import parse_map_of_values

_YIELD = "affine.yield"

# -- maps and their operands: affine_map<...>(%dims)[%symbols] -------------------------------------------------------


def _parse_dimensions_and_symbols(parser: FormParser) -> tuple[list[OperandName], int]:
    """Parse `(%dims)[%symbols]`; return all operands, and the number of dimensions among them."""
    dimensions = parse_values(parser)
    symbols = parse_values(parser, "[]") if parser.scanner.at("[") else []
    return [*dimensions, *symbols], len(dimensions)


def _spell_dimensions_and_symbols(printer: FormPrinter, values: Sequence[Value], dimensions: int) -> str:
    symbols = spell_values(printer, values[dimensions:], "[]") if len(values) > dimensions else ""
    return spell_values(printer, values[:dimensions]) + symbols


def _parse_map(parser: FormParser, pending: PendingOperation) -> None:
    start = parser.scanner.skip()
    map = parser.attribute()
    if not isinstance(map, AffineMapAttr):
        raise parser.scanner.error("expected an affine map", start, parser.scanner.pos)
    pending.operands, dimensions = _parse_dimensions_and_symbols(parser)
    if (dimensions, len(pending.operands) - dimensions) != (map.dimensions, map.symbols):
        raise parser.scanner.error("dimension or symbol index mismatch", pending.start)
    pending.attributes["map"] = map
    pending.operand_types = [INDEX] * len(pending.operands)
    pending.result_types = [INDEX]
    pending.attributes.update(parser.optional_attributes())


def _print_map(printer: FormPrinter, operation: Operation) -> None:
    map = map_of(operation)
    printer.word(f"{map}{_spell_dimensions_and_symbols(printer, operation.operands, map.dimensions)}")
    printer.attributes(operation, ("map",))


def _verify_map(operation: Operation) -> None:
    map = map_of(operation)
    if len(operation.operands) != map.dimensions + map.symbols:
        raise operation.op_error("operand count and affine map dimension and symbol count must match")
    if operation.name == "affine.apply" and len(map.results) != 1:
        raise operation.op_error("mapping must produce one value")
    if not map.results:
        raise operation.op_error("affine map expect at least one result")
    if operation.name == "affine.apply":
        for value in operation.operands[map.dimensions :]:
            if not is_symbol(value):
                raise operation.op_error("symbol must be an affine symbol")


def _fold_map(choose: Callable[[Sequence[int]], int]) -> Fold:
    """Return a folder that evaluates an op's map on constant operands; `choose` selects one of the map's results."""

    def fold(operation: Operation, folds: Folds) -> Folded:
        map = map_of(operation)
        constants = [constant_of(value) for value in operation.operands]
        values = [constant.value for constant in constants if isinstance(constant, IntegerAttr)]
        if len(values) != len(constants):
            return None
        dimensions, symbols = values[: map.dimensions], values[map.dimensions :]
        try:
            chosen = choose([evaluate(result, dimensions, symbols) for result in map.results])
        except UndefinedError:
            return None
        return [IntegerAttr(chosen, INDEX)] if is_index(chosen) else None

    return fold


def _fold_apply(operation: Operation, folds: Folds) -> Folded:
    (result,) = map_of(operation).results
    if isinstance(result, tuple) and result[0] in ("d", "s"):
        return [operation.operands[result[1] + (map_of(operation).dimensions if result[0] == "s" else 0)]]
    return _fold_map(max)(operation, folds)


# -- affine.load, affine.store ---------------------------------------------------------------------------------------


def _parse_access(parser: FormParser, pending: PendingOperation, before: int) -> None:
    """Parse `%memref[indices] : type`, after `before` other operands: 0 for a load, 1 (the value) for a store."""
    pending.operands.append(parser.operand())
    map, indices = parse_map_of_values(parser, "[]")
    pending.operands += indices
    pending.attributes["map"] = map
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the memref's type")
    type = parser.type()
    element = getattr(type, "element", type)
    pending.operand_types = [element] * before + [type] + [INDEX] * len(indices)
    pending.result_types = [] if before else [element]


def _parse_load(parser: FormParser, pending: PendingOperation) -> None:
    _parse_access(parser, pending, 0)


def _parse_store(parser: FormParser, pending: PendingOperation) -> None:
    pending.operands = [parser.operand()]
    parser.scanner.expect(",", " after the value")
    _parse_access(parser, pending, 1)


def _print_access(printer: FormPrinter, operation: Operation) -> None:
    *values, memref = operation.operands[: 1 + (operation.name == "affine.store")]
    indices = operation.operands[len(values) + 1 :]
    access = map_of(operation)

    def name(kind: str, index: int) -> str:
        if kind == "d":
            return printer.name(indices[index])
        return f"symbol({printer.name(indices[access.dimensions + index])})"

    subscripts = ", ".join(spell_expression(result, name) for result in access.results)
    printer.word(", ".join([*map(printer.name, values), f"{printer.name(memref)}[{subscripts}]"]))
    printer.attributes(operation, ("map",))
    printer.word(f": {memref.type}")


def _verify_access(operation: Operation) -> None:
    at = int(operation.name == "affine.store")
    type, map, indices = memref_type(operation.operands[at]), map_of(operation), operation.operands[at + 1 :]
    if at and operation.operands[0].type is not type.element:
        raise operation.op_error("value to store must have the same type as memref element type")
    if not at and operation.results[0].type is not type.element:
        raise operation.op_error("result type must match element type of memref")
    if len(map.results) != type.rank:
        raise operation.op_error("affine map num results must equal memref rank")
    if len(indices) != map.dimensions + map.symbols:
        raise operation.op_error("expects as many subscripts as affine map inputs")
    if any(value.type is not INDEX for value in indices):
        raise operation.op_error(f"index to {'store' if at else 'load'} must have 'index' type")
    require_valid(operation, indices, map.dimensions)


# -- affine.for ------------------------------------------------------------------------------------------------------


def _parse_for(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    induction = parser.argument()
    scanner.expect("=", " after the induction variable")
    lower = _parse_bound(parser, pending, "lower", "max")
    scanner.expect_word("to", " between bounds")
    upper = _parse_bound(parser, pending, "upper", "min")
    step = 1
    if scanner.accept_word("step"):
        start = scanner.skip()
        step = scanner.integer(64, "a step")
        if step < 0:
            message = "expected step to be representable as a positive signed integer"
            raise scanner.error(message, start, scanner.pos)
    pending.attributes["step"] = IntegerAttr(step, INDEX)
    arguments, inits = parse_assignments(parser) if scanner.accept_word("iter_args") else ([], [])
    pending.result_types = parse_optional_results(parser)
    if len(pending.result_types) != len(inits):
        raise parser.error_at(pending, "mismatch between the number of loop-carried values and results")
    pending.operands = [*lower, *upper, *inits]
    pending.operand_types = [INDEX] * (len(lower) + len(upper)) + pending.result_types
    pending.attributes["operandSegmentSizes"] = segments(len(lower), len(upper), len(inits))
    parse_body(parser, pending, [induction, *arguments], [INDEX, *pending.result_types], _YIELD)
    pending.attributes.update(parser.optional_attributes())


def _parse_bound(parser: FormParser, pending: PendingOperation, which: str, prefix: str) -> list[OperandName]:
    """Parse the "lower" or "upper" bound (`which`) of an `affine.for`, and return its operands.

    A bound is a constant, a value, or an affine map with operands. A map with several results needs the `prefix`: `max`
    for a lower bound, `min` for an upper bound.
    """
    scanner = parser.scanner
    name = f"{which}BoundMap"
    if scanner.at("%"):
        pending.attributes[name] = AffineMapAttr(0, 1, (("s", 0),))
        return [parser.operand()]
    prefixed = scanner.accept_word(prefix)
    start = scanner.skip()
    if INDEX_ATTRIBUTE.begins(parser):
        try:
            pending.attributes[name] = AffineMapAttr(0, 0, (scanner.integer(64),))
        except ParseError:
            raise scanner.error("integer constant out of range for attribute", start, scanner.pos) from None
        return []
    bound = parser.attribute()
    if isinstance(bound, IntegerAttr):
        pending.attributes[name] = AffineMapAttr(0, 0, (bound.value,))
        return []
    if not isinstance(bound, AffineMapAttr):
        raise scanner.error(f"expected valid affine map representation for loop {which} bound", start, scanner.pos)
    if len(bound.results) > 1 and not prefixed:
        message = f"{which} loop bound affine map with multiple results requires '{prefix}' prefix"
        raise scanner.error(message, start, scanner.pos)
    operands, dimensions = _parse_dimensions_and_symbols(parser)
    if (dimensions, len(operands) - dimensions) != (bound.dimensions, bound.symbols):
        raise scanner.error("dim operand count and affine map dim count must match", start, scanner.pos)
    pending.attributes[name] = bound
    return operands


def _print_for(printer: FormPrinter, operation: Operation) -> None:
    region = operation.regions[0]
    with printer.numbered(region):
        induction, *arguments = region.blocks[0].arguments
        lower = _spell_bound(printer, operation, "lower", "max")
        printer.word(f"{printer.name(induction)} = {lower} to {_spell_bound(printer, operation, 'upper', 'min')}")
        if (step := step_of(operation)) != 1:
            printer.word(f"step {step}")
        if arguments:
            inits = operation.operand_group("inits")
            printer.word(f"iter_args{spell_assignments(printer, arguments, inits)}")
            printer.word(f"-> ({spell_types([value.type for value in arguments])})")
        printer.attach(" ")
        printer.region(region, entry_printed=True, terminator=None if operation.results else _YIELD)
    printer.attributes(operation, ("lowerBoundMap", "upperBoundMap", "step", "operandSegmentSizes"))


def _spell_bound(printer: FormPrinter, operation: Operation, which: str, prefix: str) -> str:
    map, values = map_of(operation, f"{which}BoundMap"), operation.operand_group(f"{which}BoundOperands")
    if len(map.results) == 1:
        if isinstance(map.results[0], int) and not values:
            return str(map.results[0])
        if map == AffineMapAttr(0, 1, (("s", 0),)):
            return printer.name(values[0])
        prefix = ""
    return f"{prefix} {map}{_spell_dimensions_and_symbols(printer, values, map.dimensions)}".lstrip()


def step_of(operation: Operation) -> int:
    """Return the step of an `affine.for`."""
    return operation.attribute("step", IntegerAttr).value


def _verify_for(operation: Operation) -> None:
    inits = operation.operand_group("inits")
    arguments = operation.regions[0].blocks[0].arguments
    if not arguments or arguments[0].type is not INDEX:
        raise operation.op_error("expected body to have a single index argument for the induction variable")
    if step_of(operation) < 0:
        raise operation.op_error("expected step to be a positive integer")
    for which in ("lower", "upper"):
        map, values = map_of(operation, f"{which}BoundMap"), operation.operand_group(f"{which}BoundOperands")
        if len(values) != map.dimensions + map.symbols:
            raise operation.op_error("operand count and affine map dimension and symbol count must match")
        if not map.results:
            raise operation.op_error(f"expected {which} bound map to have at least one result")
        require_valid(operation, values, map.dimensions)
    if not len(inits) == len(operation.results) == len(arguments) - 1:
        raise operation.op_error("mismatch between the number of loop-carried values and results")
    for values in (arguments[1:], operation.results):
        require_edge(operation, "parent", "Region #0", inits, values)


# -- affine.if, affine.yield -----------------------------------------------------------------------------------------


def set_of(operation: Operation) -> IntegerSetAttr:
    """Return the condition of an `affine.if`, an integer set."""
    return operation.attribute("condition", IntegerSetAttr)


def _parse_if(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    start = scanner.skip()
    condition = parser.attribute()
    if not isinstance(condition, IntegerSetAttr):
        raise scanner.error("expected an integer set", start, scanner.pos)
    pending.operands, dimensions = _parse_dimensions_and_symbols(parser)
    for what, given, wanted in (
        ("dim", dimensions, condition.dimensions),
        ("symbol", len(pending.operands) - dimensions, condition.symbols),
    ):
        if given != wanted:
            raise scanner.error(f"{what} operand count and integer set {what} count must match", pending.start)
    pending.attributes["condition"] = condition
    pending.operand_types = [INDEX] * len(pending.operands)
    pending.result_types = parse_optional_results(parser)
    parse_branches(parser, pending, _YIELD)


def _print_if(printer: FormPrinter, operation: Operation) -> None:
    condition = set_of(operation)
    values = _spell_dimensions_and_symbols(printer, operation.operands, condition.dimensions)
    printer.word(f"{condition}{values}")
    if operation.results:
        printer.word(f"-> {spell_results(operation.results)}")
    print_branches(printer, operation, _YIELD)
    printer.attributes(operation, ("condition",))


def _verify_if(operation: Operation) -> None:
    condition = set_of(operation)
    if len(operation.operands) != condition.dimensions + condition.symbols:
        raise operation.op_error("operand count and integer set dimension and symbol count must match")
    require_valid(operation, operation.operands, condition.dimensions)
    if operation.results and not operation.regions[1].blocks:
        require_edge(operation, "parent", "parent", [], operation.results)


def _verify_yield(operation: Operation) -> None:
    parent = operation.parent_operation
    if parent is None or parent.name not in ("affine.for", "affine.if", "affine.parallel"):
        raise operation.op_error("only terminates affine.if/for/parallel regions")
    if len(parent.results) != len(operation.operands):
        raise operation.op_error("parent of yield must have same number of results as the yield operands")
    if any(a.type is not b.type for a, b in zip(operation.operands, parent.results, strict=True)):
        raise operation.op_error("types mismatch between yield op and its parent")


# -- the ops ---------------------------------------------------------------------------------------------------------

_MAP = AttributeSpec(kind=AFFINE_MAP, required=True)

FOR = Definition(
    "affine.for",
    operands=("lowerBoundOperands*: index", "upperBoundOperands*: index", "inits*"),
    results=("results*",),
    attributes={
        "lowerBoundMap": _MAP,
        "upperBoundMap": _MAP,
        "step": AttributeSpec(kind=INDEX_ATTRIBUTE, required=True),
    },
    regions=("region: 1",),
    traits={RECURSIVE_MEMORY_EFFECTS, LOOP_LIKE},
    speculatable=lambda operation: step_of(operation) == 1 and is_speculatable_inside(operation),
    implicit_terminator=_YIELD,
    parse=_parse_for,
    print=_print_for,
    verify=_verify_for,
    canonicalize=("affine.canonicalize: bounds without_work",),
)


def _mapped(name: str, fold: Fold, *canonicalize: str) -> Definition:
    return Definition(
        name,
        operands=("operands*: index",),
        results=("result: index",),
        attributes={"map": _MAP},
        traits={PURE},
        parse=_parse_map,
        print=_print_map,
        verify=_verify_map,
        fold=fold,
        canonicalize=canonicalize,
    )


_EXTREMUM = "affine.canonicalize: only_result repeated_results results_of_the_same simplest_map order_of_results"
OPS = [
    FOR,
    Definition(
        "affine.if",
        operands=("operands*: index",),
        results=("results*",),
        attributes={"condition": AttributeSpec(instance_of(IntegerSetAttr, "an integer set"), required=True)},
        regions=("thenRegion: 1", "elseRegion: max 1"),
        traits={RECURSIVE_MEMORY_EFFECTS, RECURSIVELY_SPECULATABLE, NO_REGION_ARGUMENTS},
        implicit_terminator=_YIELD,
        parse=_parse_if,
        print=_print_if,
        verify=_verify_if,
        canonicalize=("affine.canonicalize: condition no_else decided",),
    ),
    Definition(
        _YIELD,
        operands=("operands*",),
        traits={TERMINATOR, PURE, RETURN_LIKE},
        format="attr-dict ($operands^ `:` type($operands))?",
        verify=_verify_yield,
    ),
    Definition(
        "affine.load",
        operands=("memref: memref", "indices*"),
        results=("result",),
        attributes={"map": _MAP},
        traits={MEM_READ},
        parse=_parse_load,
        print=_print_access,
        verify=_verify_access,
        canonicalize=("affine.canonicalize: simplest_load", "memref.canonicalize: from_ranked_casts"),
    ),
    Definition(
        "affine.store",
        operands=("value", "memref: memref", "indices*"),
        attributes={"map": _MAP},
        traits={MEM_WRITE},
        parse=_parse_store,
        print=_print_access,
        verify=_verify_access,
        canonicalize=("affine.canonicalize: simplest_store", "memref.canonicalize: store_to_cast"),
    ),
    PARALLEL,
    _mapped("affine.apply", _fold_apply, "affine.canonicalize: simplest_map"),
    _mapped("affine.min", _fold_map(min), _EXTREMUM),
    _mapped("affine.max", _fold_map(max), _EXTREMUM),
]
