"""Upstream's canonicalization patterns of `affine`: merge `affine.apply` into the maps that use it, and simplify."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from qrt.ir import Attribute, Builder, Operation, Value
from qrt.ir.core.affine import MAX_OPERATORS, AffineMapAttr, Expression, IntegerSetAttr, linear_terms, substitute
from qrt.ir.core.define import segments
from qrt.ir.core.matching import defining_op
from qrt.ir.dialects._regions.trip_counts import trips_of_affine_for
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.affine.maps import Inputs, simplest
from qrt.ir.dialects.affine.ops import set_of
from qrt.ir.dialects.affine.ranges import Ranges
from qrt.ir.rewriting.rewrite import Pattern, PatternResult


def _with_map(first: int) -> Pattern:
    """Return the pattern that simplifies an op's attribute `map`; the map's operands begin at operand `first`."""

    def rewrite(op: Operation, builder: Builder) -> PatternResult:
        map, operands = simplest(map_of(op), op.operands[first:])
        ranges = Ranges(map, operands)
        map = replace(map, results=tuple(ranges.simplify(result) for result in map.results))
        if map == map_of(op) and operands == op.operands[first:]:
            return None
        types = [result.type for result in op.results]
        return builder.emit(op.name, [*op.operands[:first], *operands], types, {**op.attributes, "map": map}).results

    return rewrite


simplest_map = _with_map(0)
simplest_load = _with_map(1)
simplest_store = _with_map(2)


# -- affine.min, affine.max --------------------------------------------------------------------------------------------


def _with_results(op: Operation, builder: Builder, results: Sequence[Expression]) -> list[Value]:
    map = replace(map_of(op), results=tuple(results))
    return builder.emit(op.name, op.operands, [op.results[0].type], {**op.attributes, "map": map}).results


def only_result(op: Operation, builder: Builder) -> PatternResult:
    if len(map_of(op).results) != 1:
        return None
    return builder.emit("affine.apply", op.operands, [op.results[0].type], {"map": map_of(op)}).results


def repeated_results(op: Operation, builder: Builder) -> PatternResult:
    results = tuple(dict.fromkeys(map_of(op).results))
    return _with_results(op, builder, results) if len(results) < len(map_of(op).results) else None


def results_of_the_same(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``min(a, min(b, c))`` by ``min(a, b, c)``, and likewise for ``max``.

    The results of the inner op come last. An op that would get more than MAX_OPERATORS results stays unchanged.
    """
    map = map_of(op)
    dimensions, symbols = op.operands[: map.dimensions], op.operands[map.dimensions :]
    results: list[Expression] = []
    inner: list[Operation] = []
    for result in map.results:
        kind, index = result[:2] if isinstance(result, tuple) else ("", 0)
        value = {"d": dimensions, "s": symbols}[kind][index] if kind in ("d", "s") else None
        source = None if value is None else defining_op(value, op.name)
        if source is None:
            results.append(result)
        else:
            inner.append(source)
    if not inner or len(results) + sum(len(map_of(source).results) for source in inner) > MAX_OPERATORS:
        return None
    for source in inner:
        own = map_of(source)
        named = [
            [(kind, begin + index) for index in range(count)]
            for kind, begin, count in (("d", len(dimensions), own.dimensions), ("s", len(symbols), own.symbols))
        ]
        results += (substitute(result, *named) for result in own.results)
        dimensions = dimensions + source.operands[: own.dimensions]
        symbols = symbols + source.operands[own.dimensions :]
    merged = AffineMapAttr(len(dimensions), len(symbols), tuple(results))
    return builder.emit(op.name, dimensions + symbols, [op.results[0].type], {**op.attributes, "map": merged}).results


def order_of_results(op: Operation, builder: Builder) -> PatternResult:
    """Sort the results of the map of an `affine.min` or `affine.max` by their coefficients, if all are linear."""
    map = map_of(op)
    terms = [linear_terms(result) for result in map.results]
    known = [coefficients for coefficients in terms if coefficients is not None]
    if len(known) < len(terms):
        return None
    names: list[Expression] = [*(("d", i) for i in range(map.dimensions)), *(("s", i) for i in range(map.symbols)), 1]
    keys = [[coefficients.get(name, 0) for name in names] for coefficients in known]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if order == list(range(len(keys))):
        return None
    return _with_results(op, builder, [map.results[index] for index in order])


# -- affine.for --------------------------------------------------------------------------------------------------------


def _needed(map: AffineMapAttr, operands: Sequence[Value], greatest: bool) -> AffineMapAttr:
    return replace(map, results=Ranges(map, operands).needed(map.results, greatest))


def bounds(op: Operation, builder: Builder) -> PatternResult:
    """Simplify the bound maps of an `affine.for`: drop repeated results, and results that never determine the bound."""
    attributes, operands, sizes = dict(op.attributes), [], []
    for name in ("lowerBound", "upperBound"):
        given, values = map_of(op, f"{name}Map"), op.operand_group(f"{name}Operands")
        if name == "upperBound":  # as upstream: simplest() turns `mod` into sums of unknown range
            map, used = simplest(_needed(given, values, False), values)
        else:
            map, used = simplest(given, values)
            map = _needed(map, used, True)
        map = replace(map, results=tuple(result for result, _ in groupby(map.results)))
        if map != given:
            attributes[f"{name}Map"], values = map, used
        operands += values
        sizes.append(len(values))
    if attributes == op.attributes:
        return None
    inits = op.operand_group("inits")
    attributes["operandSegmentSizes"] = segments(*sizes, len(inits))
    types = [result.type for result in op.results]
    return builder.emit(op.name, operands + inits, types, attributes, op.take_regions()).results


def without_work(op: Operation, builder: Builder) -> PatternResult:
    """Remove an `affine.for` with no iterations or an empty body, and return the values that replace its results."""
    inits, trips = op.operand_group("inits"), trips_of_affine_for(op)
    if not op.results:
        return None
    if trips == 0:
        return inits
    (block,) = op.regions[0].blocks
    yielded = block.terminator.operands
    if block.first is not block.last or block.arguments[0] in yielded:
        return None
    places = {argument: index for index, argument in enumerate(block.arguments[1:])}
    in_order = all(places.get(value, index) == index for index, value in enumerate(yielded))
    if trips is None and not (in_order and all(value in places for value in yielded)):
        return None
    if trips is not None and trips > 1 and not in_order:
        return None
    return [inits[places[value]] if value in places else value for value in yielded]


# -- affine.if ---------------------------------------------------------------------------------------------------------


def condition(op: Operation, builder: Builder) -> PatternResult:
    stated = set_of(op)
    inputs = Inputs([expression for expression, _ in stated.constraints], op.operands, stated.dimensions)
    if inputs.compose():  # upstream simplifies sums only then
        inputs.canonicalize()
        inputs.simplify()
    inputs.canonicalize()
    constraints = tuple(zip(inputs.results, (equal for _, equal in stated.constraints), strict=True))
    simplified = IntegerSetAttr(len(inputs.dimensions), len(inputs.symbols), constraints)
    values = inputs.dimensions + inputs.symbols
    if simplified == stated and values == op.operands:
        return None
    types = [result.type for result in op.results]
    attributes: dict[str, Attribute] = {**op.attributes, "condition": simplified}
    return builder.emit(op.name, values, types, attributes, op.take_regions()).results


def decided(op: Operation, builder: Builder) -> PatternResult:
    """Replace an `affine.if` with the condition `0 == 0` or `1 == 0` by one of its branches.

    Other conditions stay, as in upstream.
    """
    constraints = set_of(op).constraints
    if constraints not in (((0, True),), ((1, True),)):
        return None
    blocks = op.regions[constraints[0][0] != 0].blocks
    return builder.inline(blocks[0], ()) if blocks else []


def no_else(op: Operation, builder: Builder) -> PatternResult:
    blocks = op.regions[1].blocks
    if op.results or not blocks or blocks[0].first is not blocks[0].last:
        return None
    then, otherwise = op.take_regions()
    otherwise.blocks[0].first.erase()  # type: ignore[union-attr]  # its terminator
    otherwise.blocks.clear()
    builder.emit(op.name, op.operands, (), dict(op.attributes), [then, otherwise])
    return []
