"""`affine.parallel`: a nest of loops whose iterations may run in any order, and reductions over them."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from qrt.ir.core.affine import AffineMapAttr, Expression, spell_expression, substitute
from qrt.ir.core.attribute_kinds import AFFINE_MAP, ARRAY, AttributeKind
from qrt.ir.core.attributes import ArrayAttr, Attribute, IntegerAttr, StringAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.forms import FormParser, FormPrinter, OperandName, PendingOperation
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import LOOP_LIKE, RECURSIVE_MEMORY_EFFECTS
from qrt.ir.dialects._regions.forms import parse_body, parse_optional_results, parse_values, spell_types
from qrt.ir.dialects.affine.dimensions import map_of, require_valid
from qrt.ir.text.affine_parser import ValueNames, parse_expression, parse_expressions
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import FloatType, IntegerType, TensorType, Type

_YIELD = "affine.yield"
_I32, _I64 = IntegerType(32), IntegerType(64)
_REDUCTIONS = "addf addi andi assign maximumf maxnumf maxs maxu minimumf minnumf mins minu mulf muli ori xori"
REDUCTIONS = tuple(_REDUCTIONS.split())
"""The reductions; the index of each is its number in upstream's enumeration."""
_OF_INTEGERS = ("addi", "andi", "muli", "ori")
_OF_FLOATS = ("addf", "maximumf", "minimumf", "mulf")
_OF_SIGN = {"maxs": "signed", "mins": "signed", "maxu": "unsigned", "minu": "unsigned"}


def _fits(reduction: str, type: Type) -> bool:
    """Return True if upstream's verifier accepts this reduction (such as "addf") of values of this type."""
    if reduction in _OF_FLOATS:
        return isinstance(type, FloatType)
    if reduction in _OF_INTEGERS:
        return isinstance(type, IntegerType)
    signedness = _OF_SIGN.get(reduction)
    return reduction == "assign" or (isinstance(type, IntegerType) and type.signedness == signedness)


def steps_of(operation: Operation) -> tuple[int, ...]:
    """Return the step of an `affine.parallel` along each dimension."""
    return tuple(operation.attributes["steps"].python)


def reductions_of(operation: Operation) -> list[str]:
    """Return the reduction of each result of an `affine.parallel`, such as "addf"."""
    return [REDUCTIONS[number] for number in operation.attributes["reductions"].python]


def bounds_of(operation: Operation, which: str) -> tuple[list[tuple[Expression, ...]], list[Value]]:
    """Return the "lower" or "upper" bounds (`which`) of an `affine.parallel`, as a tuple of expressions for each loop.

    Also return the operands of the expressions: those for dimensions, then those for symbols. A loop's lower bound is
    the greatest of its "lower" expressions, its upper bound the least of its "upper" expressions.
    """
    map, sizes = map_of(operation, f"{which}BoundsMap"), _group_sizes(operation, which)
    ends = np.cumsum([0, *sizes]).tolist()
    groups = [map.results[start:end] for start, end in pairwise(ends)]
    lower = map_of(operation, "lowerBoundsMap")
    count = lower.dimensions + lower.symbols
    return groups, operation.operands[:count] if which == "lower" else operation.operands[count:]


def _group_sizes(operation: Operation, which: str) -> list[int]:
    return operation.attribute(f"{which}BoundsGroups", DenseElementsAttr).array.tolist()  # type: ignore[no-any-return]


# -- custom form: `(%i) = (0) to (min(%n, 4)) step (2) reduce ("addf") -> (f32)` ---------------------------------------


def _parse(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    variables = parse_values(parser)
    scanner.expect("=", " after the induction variables")
    lower = _parse_bounds(parser, pending, "lower", "max")
    scanner.expect_word("to", " between bounds")
    upper = _parse_bounds(parser, pending, "upper", "min")
    pending.operands = [*lower, *upper]
    pending.operand_types = [INDEX] * len(pending.operands)
    pending.attributes["steps"] = _parse_steps(parser, len(variables))
    pending.attributes["reductions"] = _parse_reductions(parser)
    pending.result_types = parse_optional_results(parser)
    parse_body(parser, pending, variables, [INDEX] * len(variables), _YIELD)
    pending.attributes.update(parser.optional_attributes())


def _parse_bounds(parser: FormParser, pending: PendingOperation, which: str, keyword: str) -> list[OperandName]:
    """Parse `(bound, ...)` of all loops into one map; return its operands, dimensions before symbols.

    `which` is "lower" or "upper". A loop with several bounds lists them in parentheses after the `keyword`, `max` or
    `min`.
    """
    scanner = parser.scanner
    scanner.expect("(", " before bounds")
    results: list[Expression] = []
    sizes: list[int] = []
    dimensions: list[OperandName] = []
    symbols: list[OperandName] = []
    while not scanner.at(")") and (not sizes or scanner.accept(",")):
        names = ValueNames()
        if scanner.accept_word(keyword):
            group = parse_expressions(parser, names, before=f" after '{keyword}'")
        else:
            group = [parse_expression(parser, names)]
        places = [("d", _place(dimensions, name)) for name in names.dimensions]
        others = [("s", _place(symbols, name)) for name in names.symbols]
        results += [substitute(expression, places, others) for expression in group]
        sizes.append(len(group))
    scanner.expect(")", " after bounds")
    pending.attributes[f"{which}BoundsMap"] = AffineMapAttr(len(dimensions), len(symbols), tuple(results))
    numbers = np.array(sizes, np.int32)
    pending.attributes[f"{which}BoundsGroups"] = DenseElementsAttr(numbers, TensorType((len(sizes),), _I32))
    return [*dimensions, *symbols]


def _place(known: list[OperandName], name: OperandName) -> int:
    """Return the index of a name in `known`; append the name first if it is not in the list."""
    for place, (text, number, _) in enumerate(known):
        if (text, number) == name[:2]:
            return place
    known.append(name)
    return len(known) - 1


def _parse_steps(parser: FormParser, count: int) -> ArrayAttr:
    steps: Sequence[Expression] = [1] * count
    start = parser.scanner.skip()
    if parser.scanner.accept_word("step"):
        steps = parse_expressions(parser, ValueNames(), before=" before steps")
    if any(not isinstance(step, int) for step in steps):
        raise parser.scanner.error("steps must be constant integers", start, parser.scanner.pos)
    return ArrayAttr(tuple(IntegerAttr(step, _I64) for step in steps if isinstance(step, int)))


def _parse_reductions(parser: FormParser) -> ArrayAttr:
    scanner = parser.scanner

    def reduction() -> Attribute:
        start = scanner.skip()
        name = parser.attribute()
        if not isinstance(name, StringAttr) or name.value not in REDUCTIONS:
            raise scanner.error(f"invalid reduction value: {name}", start, scanner.pos)
        return IntegerAttr(REDUCTIONS.index(name.value), _I64)

    if not scanner.accept_word("reduce"):
        return ArrayAttr(())
    scanner.expect("(", " after 'reduce'")
    numbers = scanner.separated(reduction)
    scanner.expect(")", " after reductions")
    return ArrayAttr(tuple(numbers))


def _print(printer: FormPrinter, operation: Operation) -> None:
    region = operation.regions[0]
    with printer.numbered(region):
        variables = ", ".join(map(printer.name, region.blocks[0].arguments))
        lower, upper = (_spell_bounds(printer, operation, *bound) for bound in (("lower", "max"), ("upper", "min")))
        printer.word(f"({variables}) = ({lower}) to ({upper})")
        if any(step != 1 for step in steps_of(operation)):
            printer.word(f"step ({', '.join(map(str, steps_of(operation)))})")
        if operation.results:
            reductions = ", ".join(f'"{name}"' for name in reductions_of(operation))
            printer.word(f"reduce ({reductions}) -> ({spell_types([value.type for value in operation.results])})")
        printer.attach(" ")
        printer.region(region, entry_printed=True, terminator=None if operation.results else _YIELD)
    printer.attributes(operation, tuple(_ATTRIBUTES))


def _spell_bounds(printer: FormPrinter, operation: Operation, which: str, keyword: str) -> str:
    groups, values = bounds_of(operation, which)
    dimensions = map_of(operation, f"{which}BoundsMap").dimensions

    def name(kind: str, index: int) -> str:
        if kind == "d":
            return printer.name(values[index])
        return f"symbol({printer.name(values[dimensions + index])})"

    spelled = [[spell_expression(expression, name) for expression in group] for group in groups]
    return ", ".join(group[0] if len(group) == 1 else f"{keyword}({', '.join(group)})" for group in spelled)


# -- verification ------------------------------------------------------------------------------------------------------


def _verify(operation: Operation) -> None:
    arguments, steps = operation.regions[0].blocks[0].arguments, steps_of(operation)
    lower, upper = (_group_sizes(operation, which) for which in ("lower", "upper"))
    if {len(lower), len(upper), len(arguments)} != {len(steps)}:
        raise operation.op_error(
            f"the number of region arguments ({len(arguments)}) and the number of map groups for lower ({len(lower)}) "
            f"and upper bound ({len(upper)}), and the number of steps ({len(steps)}) must all match"
        )
    for which, sizes in (("lower", lower), ("upper", upper)):
        map = map_of(operation, f"{which}BoundsMap")
        if any(size <= 0 for size in sizes):
            raise operation.op_error(f"expected {which} bound map to have at least one result")
        if sum(sizes) != len(map.results):
            raise operation.op_error(f"expected {which} bounds map to have {sum(sizes)} results")
    _verify_reductions(operation)
    counts = [map_of(operation, f"{which}BoundsMap") for which in ("lower", "upper")]
    if len(operation.operands) != sum(map.dimensions + map.symbols for map in counts):
        raise operation.op_error("operand count and affine map dimension and symbol count must match")
    for which, map in zip(("lower", "upper"), counts, strict=True):
        require_valid(operation, bounds_of(operation, which)[1], map.dimensions)


def _verify_reductions(operation: Operation) -> None:
    numbers = operation.attributes["reductions"].python
    if len(numbers) != len(operation.results):
        raise operation.op_error("a reduction must be specified for each output")
    for number, result in zip(numbers, operation.results, strict=True):
        if not 0 <= number < len(REDUCTIONS):
            raise operation.op_error("invalid reduction attribute")
        if not _fits(REDUCTIONS[number], result.type):
            raise operation.op_error("result type cannot match reduction attribute")


_INTEGERS = AttributeKind(
    "64-bit integer array attribute",
    lambda value: (
        isinstance(value, ArrayAttr)
        and all(isinstance(element, IntegerAttr) and element.type is _I64 for element in value.elements)
    ),
    ARRAY.parse,
)
_SIZES = AttributeKind(
    "32-bit signless integer elements attribute",
    lambda value: isinstance(value, DenseElementsAttr) and value.type.element is _I32 and value.array.ndim == 1,
    lambda parser: parser.attribute(),
)
_ATTRIBUTES = {
    "reductions": AttributeSpec(kind=_INTEGERS, required=True),
    "lowerBoundsMap": AttributeSpec(kind=AFFINE_MAP, required=True),
    "lowerBoundsGroups": AttributeSpec(kind=_SIZES, required=True),
    "upperBoundsMap": AttributeSpec(kind=AFFINE_MAP, required=True),
    "upperBoundsGroups": AttributeSpec(kind=_SIZES, required=True),
    "steps": AttributeSpec(kind=_INTEGERS, required=True),
}

PARALLEL = Definition(
    "affine.parallel",
    operands=("mapOperands*: index",),
    results=("results*",),
    attributes=_ATTRIBUTES,
    regions=("region: 1",),
    traits={RECURSIVE_MEMORY_EFFECTS, LOOP_LIKE},
    implicit_terminator=_YIELD,
    parse=_parse,
    print=_print,
    verify=_verify,
)
