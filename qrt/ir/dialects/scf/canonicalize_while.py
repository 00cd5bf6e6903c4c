"""Upstream's canonicalization patterns of `scf.while`.

The first region computes the condition. Its arguments are the carried values. Its terminator forwards other values: to
the second region if the condition is true, to the results if it is false.
"""

from collections.abc import Sequence

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.matching import defining_op
from qrt.ir.dialects.arith.canonicalize import inverse
from qrt.ir.dialects.arith.fold import predicate_of
from qrt.ir.dialects.scf.canonicalize import boolean, is_inside
from qrt.ir.dialects.scf.canonicalize_branches import keep_arguments, region_of
from qrt.ir.rewriting.rewrite import IN_PLACE, PatternResult


class _WhileParts:
    """Parts of an `scf.while`: the blocks of its two regions, and their terminators."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.before, self.after = (region.blocks[0] for region in op.regions)
        self.condition, self.last = self.before.terminator, self.after.terminator

    @property
    def forwarded(self) -> list[Value]:
        return self.condition.operands[1:]

    def keeping(self, builder: Builder, carried: Sequence[int], forwarded: Sequence[int]) -> list[Value]:
        """Rebuild the loop with a part of its values, and return its results; all other values must be unused.

        `carried` are the indices of the carried values that remain, `forwarded` those of the forwarded values.
        """
        op = self.op
        self.condition.set_operands([self.condition.operands[0], *(self.forwarded[i] for i in forwarded)])
        self.last.set_operands([self.last.operands[i] for i in carried])
        keep_arguments(self.before, carried)
        keep_arguments(self.after, forwarded)
        inits, types = [op.operands[i] for i in carried], [op.results[i].type for i in forwarded]
        return builder.emit("scf.while", inits, types, dict(op.attributes), op.take_regions()).results


def true_after(op: Operation, builder: Builder) -> PatternResult:
    """Replace an argument of the second region by true, if the loop's condition is forwarded to it."""
    parts = _WhileParts(op)
    arguments = [
        argument
        for argument, value in zip(parts.after.arguments, parts.forwarded, strict=True)
        if value is parts.condition.operands[0] and argument.uses
    ]
    if not arguments:
        return None
    true = boolean(builder, True)
    for argument in arguments:
        builder.replace_uses(argument, true)
    return IN_PLACE


def compared_after(op: Operation, builder: Builder) -> PatternResult:
    """Replace by constants the comparisons in the second region that repeat or negate the loop's condition."""
    parts = _WhileParts(op)
    decided = defining_op(parts.condition.operands[0], "arith.cmpi")
    if decided is None:
        return None
    known: list[tuple[Operation, bool]] = []
    predicate = predicate_of(decided)
    for argument, value in zip(parts.after.arguments, parts.forwarded, strict=True):
        for side in (0, 1):
            if value is not decided.operands[side]:
                continue
            for user, _ in list(argument.uses):
                if user.name != "arith.cmpi" or user.operands[1 - side] is not decided.operands[1 - side]:
                    continue
                if predicate_of(user) in (predicate, inverse(predicate)):
                    known.append((user, predicate_of(user) == predicate))
    if not known:
        return None
    for user, is_true in known:
        builder.replace(user, [boolean(builder, is_true)])
    return IN_PLACE


def in_order_of_carried(op: Operation, builder: Builder) -> PatternResult:
    """Forward values in the order in which the loop carries them, if exactly the carried values are forwarded."""
    parts = _WhileParts(op)
    arguments, forwarded = parts.before.arguments, parts.forwarded
    if arguments == forwarded or len(arguments) != len(forwarded) or set(arguments) != set(forwarded):
        return None
    order = [forwarded.index(argument) for argument in arguments]
    results = parts.keeping(builder, range(len(arguments)), order)
    return [results[order.index(index)] for index in range(len(order))]


def if_moved_down(op: Operation, builder: Builder) -> PatternResult:
    """Move an `scf.if` on the loop's condition from the end of the first region to the start of the second region."""
    parts = _WhileParts(op)
    inner = parts.condition.previous
    if inner is None or inner.name != "scf.if" or inner.operands[0] is not parts.condition.operands[0]:
        return None
    then, otherwise = (region.blocks[0] if region.blocks else None for region in inner.regions)
    if then is None or then.last is None or (otherwise is not None and otherwise.first is not otherwise.last):
        return None
    for value, argument in zip(parts.forwarded, parts.after.arguments, strict=True):
        if value.owner is inner:
            builder.replace_uses(argument, then.last.operands[value.index])
    if otherwise is not None and otherwise.last is not None:
        for result, value in zip(inner.results, list(otherwise.last.operands), strict=True):
            builder.replace_uses(result, value)
    region, _ = inner.regions
    above = dict.fromkeys(
        value
        for user in inner.walk()
        for value in user.operands
        if user is not inner and is_inside(user, region) and not _is_within(value, inner) and _is_within(value, op)
    )
    types = [result.type for result in op.results] + [value.type for value in above]
    builder.set_operands(parts.condition, [*parts.condition.operands, *above])
    for value in above:
        argument = parts.after.add_argument(value.type)
        for user, index in list(value.uses):
            if is_inside(user, region) or is_inside(user, op.regions[1]):
                builder.set_operand(user, index, argument)
    assert parts.after.first is not None
    builder.at(parts.after.first).inline(then, ())
    builder.erase(inner)
    results = builder.emit("scf.while", op.operands, types, dict(op.attributes), op.take_regions()).results
    return results[: len(op.results)]


def _is_within(value: Value, operation: Operation) -> bool:
    """Return True if a value is defined in the first region of an operation, at any depth."""
    region = region_of(value)
    while region is not None and region is not operation.regions[0]:
        block = region.parent.parent if region.parent is not None else None
        region = block.parent if block is not None else None
    return region is not None
