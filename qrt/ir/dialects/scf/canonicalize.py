"""Upstream's canonicalization patterns of `scf` ops whose regions run a known number of times or yield known values."""

from collections.abc import Sequence

from qrt.ir import Attribute, Block, Builder, Operation, Region, Value
from qrt.ir.core.constraints import I1
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, defining_op
from qrt.ir.dialects._regions.trip_counts import trips_of_for
from qrt.ir.dialects.arith.scalars import filled, splat_is
from qrt.ir.dialects.scf.canonicalize_branches import keep_arguments, region_of
from qrt.ir.rewriting.rewrite import IN_PLACE, PatternResult


def _body(operation: Operation, number: int = 0) -> Block | None:
    """Return the entry block of region `number` of an operation; None if the region is empty."""
    blocks = operation.regions[number].blocks
    return blocks[0] if blocks else None


def _yielded(block: Block | None) -> list[Value]:
    return [] if block is None or block.last is None else block.last.operands


def is_inside(operation: Operation, region: Region) -> bool:
    """Return True if an operation is in a region or in a region nested in it."""
    at: Operation | None = operation
    while at is not None and at.parent is not None:
        if at.parent.parent is region:
            return True
        at = at.parent_operation
    return False


def boolean(builder: Builder, value: bool) -> Value:
    """Build an i1 constant."""
    constant = filled(int(value), I1)
    assert constant is not None
    return builder.constant(constant, I1)


def _only_yields(block: Block | None) -> bool:
    return block is not None and block.first is block.last


# -- scf.if ------------------------------------------------------------------------------------------------------------


def _sides(condition: Value, other: Value) -> tuple[int, int] | None:
    """Match the regions of an `scf.if` on `condition` with the regions of an `scf.if` on `other`.

    Return (0, 1) if the conditions are equal: the same regions run. Return (1, 0) if one condition is the negation of
    the other: opposite regions run. Return None for unrelated conditions.
    """
    if condition is other:
        return 0, 1
    for negation, plain in ((condition, other), (other, condition)):
        source = defining_op(negation, "arith.xori")
        if source is not None and source.operands[0] is plain and splat_is(source.operands[1], 1):
            return 1, 0
    return None


def adjacent_ifs(op: Operation, builder: Builder) -> PatternResult:
    """Merge two adjacent `scf.if` on the same condition, or on a condition and its negation."""
    before = op.previous
    sides = _sides(op.operands[0], before.operands[0]) if before is not None and before.name == "scf.if" else None
    if before is None or sides is None:
        return None
    bodies = [_body(op, side) for side in sides]
    for number, body in enumerate(bodies):
        for result, value in zip(before.results, _yielded(_body(before, number)), strict=False):
            for user, index in list(result.uses):
                if body is not None and body.parent is not None and is_inside(user, body.parent):
                    builder.set_operand(user, index, value)
    op.take_regions()
    regions = before.take_regions()
    for region, body in zip(regions, bodies, strict=True):
        if body is not None:
            _append(region, body, builder)
    types = [result.type for result in (*before.results, *op.results)]
    results = builder.emit("scf.if", before.operands, types, {}, regions).results
    count = len(before.results)
    builder.replace(before, results[:count])
    return results[count:]


def _append(region: Region, block: Block, builder: Builder) -> None:
    """Move the operations of `block` to the end of `region`, and add its yielded values to the yield of `region`."""
    if not region.blocks:
        region.append(block)
        return
    into = region.blocks[0]
    last = into.terminator
    builder.set_operands(last, [*last.operands, *builder.at(last).inline(block, ())])


def nested_ifs(op: Operation, builder: Builder) -> PatternResult:
    """Merge an `scf.if` that contains only another `scf.if` into a single one on both conditions.

    A result of the outer op that the inner op does not compute becomes an `arith.select`. Both ops must yield the same
    values when their condition is false.
    """
    then, otherwise = _body(op), _body(op, 1)
    inner = then.first if then is not None else None
    if inner is None or inner.name != "scf.if" or then is None or inner.next is not then.last:
        return None
    if any(block is not None and not _only_yields(block) for block in (otherwise, _body(inner, 1))):
        return None
    yielded, last = list(_yielded(then)), _yielded(otherwise)
    for index, value in enumerate(yielded):
        if value.owner is inner:
            if _yielded(_body(inner, 1))[value.index] is not last[index]:
                return None
            yielded[index] = _yielded(_body(inner))[value.index]
        elif region_of(value) is op.regions[0]:
            return None
    both = builder.value("arith.andi", (op.operands[0], inner.operands[0]), I1)
    selected = {
        index: builder.value("arith.select", (op.operands[0], value, last[index]), value.type)
        for index, value in enumerate(_yielded(then))
        if value.owner is not inner
    }
    region, unread = inner.take_regions()
    body = region.blocks[0]
    body.terminator.set_operands(yielded)
    for block in unread.blocks:
        for inner_op in block:
            inner_op.erase()
    regions = [region, op.regions[1] if op.results else Region()]
    if op.results:
        op.regions = op.regions[:1]
    results = builder.emit("scf.if", [both], [result.type for result in op.results], {}, regions).results
    return [selected.get(index, value) for index, value in enumerate(results)]


def condition_inside(op: Operation, builder: Builder) -> PatternResult:
    """Replace the condition of an `scf.if` by a constant inside its branches."""
    condition = op.operands[0]
    if constant_number(condition) is not None:
        return None
    known: dict[int, Value] = {}
    for user, index in reversed(list(condition.uses)):
        for number, region in enumerate(op.regions):
            if is_inside(user, region):
                if number not in known:
                    known[number] = boolean(builder, number == 0)
                builder.set_operand(user, index, known[number])
    return IN_PLACE if known else None


def to_select(op: Operation, builder: Builder) -> PatternResult:
    """Replace a result of an `scf.if` by an `arith.select`, if both yielded values are defined outside the op."""
    true, false = _yielded(_body(op)), _yielded(_body(op, 1))
    inside = [
        index
        for index, (a, b) in enumerate(zip(true, false, strict=False))
        if region_of(a) is op.regions[0] or region_of(b) is op.regions[1]
    ]
    if len(inside) == len(op.results):
        return None
    ends = [block.last for region in op.regions for block in region.blocks]
    types = [op.results[index].type for index in inside]
    smaller = builder.emit(op.name, op.operands, types, dict(op.attributes), op.take_regions())
    before, remaining = builder.at(smaller), iter(smaller.results)
    values = [
        next(remaining)
        if index in inside
        else a
        if a is b
        else before.value("arith.select", (*op.operands, a, b), a.type)
        for index, (a, b) in enumerate(zip(true, false, strict=True))
    ]
    for end in ends:
        if end is not None:
            builder.at(end).emit("scf.yield", [end.operands[index] for index in inside])
            builder.erase(end)
    return values


def no_else(op: Operation, builder: Builder) -> PatternResult:
    if op.results or not _only_yields(_body(op, 1)):
        return None
    then, _ = op.take_regions()
    builder.emit("scf.if", op.operands, (), dict(op.attributes), [then, Region()])
    return []


def known_if(op: Operation, builder: Builder) -> PatternResult:
    condition = constant_number(op.operands[0])
    if condition is None:
        return None
    block = _body(op, 0 if condition else 1)
    return [] if block is None else builder.inline(block, ())


# -- loops -------------------------------------------------------------------------------------------------------------


def trivial_for(op: Operation, builder: Builder) -> PatternResult:
    """Remove an `scf.for` whose results are known without a loop.

    A loop without iterations returns its initial values. A loop of one iteration is replaced by its body. A loop with
    more iterations returns the values it yields, if its body does nothing else and the values are defined outside it.
    """
    trips, body = trips_of_for(op), _body(op)
    assert body is not None
    if trips == 0:
        return op.operands[3:]
    if trips == 1:
        return builder.inline(body, [op.operands[0], *op.operands[3:]])
    if trips is None or not _only_yields(body) or any(region_of(v) is op.regions[0] for v in _yielded(body)):
        return None
    return _yielded(body)[:]


def parallel(op: Operation, builder: Builder) -> PatternResult:
    """Remove dimensions of an `scf.parallel` that run one iteration, and the whole op if a dimension runs none."""
    bounds = [op.operand_group(name) for name in ("lowerBound", "upperBound", "step")]
    body = _body(op)
    ranges = [tuple(map(constant_number, bound)) for bound in zip(*bounds, strict=True)]
    inits = op.operand_group("initVals")
    if body is None:
        return None
    if any(low is not None and high is not None and high <= low for low, high, _ in ranges):
        return inits
    once = [None not in r and r[0] + r[2] >= r[1] for r in ranges]  # type: ignore[operator]  # no None
    if not any(once):
        return None
    remaining = [index for index, single in enumerate(once) if not single]
    if not remaining:
        return _reduced_once(body, bounds[0], inits, builder)
    for argument, low, single in zip(body.arguments, bounds[0], once, strict=True):
        if single:
            builder.replace_uses(argument, low)
    keep_arguments(body, remaining)
    attributes: dict[str, Attribute] = {
        **op.attributes,
        "operandSegmentSizes": segments(*(len(remaining),) * 3, len(inits)),
    }
    operands = [*(group[index] for group in bounds for index in remaining), *inits]
    smaller = builder.emit("scf.parallel", operands, [v.type for v in inits], attributes, op.take_regions())
    builder.observer.copied(body)
    return smaller.results


def _reduced_once(body: Block, indices: Sequence[Value], inits: Sequence[Value], builder: Builder) -> list[Value]:
    """Replace an `scf.parallel` of one iteration by its body, with `indices` as the induction variables.

    Each result combines its initial value with the value that the body reduces.
    """
    reduce = body.terminator
    builder.absorb(body, indices)
    results = []
    for region, init, value in zip(reduce.regions, inits, list(reduce.operands), strict=True):
        results += builder.inline(region.blocks[0], (init, value))
    builder.erase(reduce)
    return results


# -- others ------------------------------------------------------------------------------------------------------------


def execute_region(op: Operation, builder: Builder) -> PatternResult:
    """Replace an `scf.execute_region` by the blocks of its region.

    If there are several blocks, the op must be in a `func.func` or another `scf.execute_region`, because only their
    regions may have several blocks.
    """
    blocks = op.regions[0].blocks
    if "no_inline" in op.attributes:
        return None
    if len(blocks) == 1 and blocks[0].last is not None and blocks[0].last.name == "scf.yield":
        return builder.inline(blocks[0], ())
    around = op.parent_operation
    if around is None or around.name not in ("func.func", "scf.execute_region"):
        return None
    following = builder.block.split(op)
    builder.moved(following, from_end=True)
    Builder(builder.block, op.location, builder.observer).emit("cf.br", successors=[blocks[0]])
    results = [following.add_argument(result.type) for result in op.results]
    for end in [block.last for block in blocks]:
        if end is not None and end.name == "scf.yield":
            builder.at(end).emit("cf.br", end.operands, successors=[following])
            builder.erase(end)
    following.take_before(op.regions[0])
    return results


def known_case(op: Operation, builder: Builder) -> PatternResult:
    chosen = constant_number(op.operands[0])
    if chosen is None:
        return None
    cases = list(op.attributes["cases"].python)
    block = _body(op, 1 + cases.index(chosen) if chosen in cases else 0)
    assert block is not None
    return builder.inline(block, ())
