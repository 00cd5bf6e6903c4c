"""Canonicalization patterns of `scf.while`: upstream's.

Its first region, which decides, gets what the loop carries and forwards other values: to the second region, and, when
the condition is false, to the results.
"""

from collections.abc import Sequence

from qrt.ir import Block, Operation, Value
from qrt.ir.attributes import IntegerAttr
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.rewrite import Builder, Pattern, replace
from qrt.passes.region_patterns import boolean, is_inside, keep_arguments, region_of, unchanged

Made = list[Value] | None


class _Parts:
    """The parts of an `scf.while`."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.before, self.after = (region.blocks[0] for region in op.regions)
        condition, last = self.before.last, self.after.last
        assert condition is not None  # the verifier holds both
        assert last is not None
        self.condition, self.last = condition, last

    @property
    def forwarded(self) -> list[Value]:
        return self.condition.operands[1:]

    def keeping(self, builder: Builder, carried: Sequence[int], forwarded: Sequence[int]) -> list[Value]:
        """The loop with some of what it carries and forwards; nothing reads the rest. Its results."""
        op = self.op
        self.condition.set_operands([self.condition.operands[0], *(self.forwarded[i] for i in forwarded)])
        self.last.set_operands([self.last.operands[i] for i in carried])
        keep_arguments(self.before, carried)
        keep_arguments(self.after, forwarded)
        inits, types = [op.operands[i] for i in carried], [op.results[i].type for i in forwarded]
        return builder.create("scf.while", inits, types, dict(op.attributes), op.take_regions()).results


def _unchanged_carried(op: Operation, builder: Builder) -> Made:
    """What each iteration carries on as it was is what the loop was given."""
    parts = _Parts(op)
    forwarded = dict(zip(parts.after.arguments, parts.forwarded, strict=True))
    carried = [forwarded.get(value, value) for value in parts.last.operands]
    gone = unchanged(op.operands, parts.before.arguments, carried)
    if not gone:
        return None
    kept = [index for index in range(len(carried)) if index not in gone]
    for index, init in gone.items():
        parts.before.arguments[index].replace_all_uses(init)
    return parts.keeping(builder, kept, range(len(op.results)))


def _forwarded_from_outside(op: Operation, builder: Builder) -> Made:
    """What is forwarded and not computed in the loop is that value."""
    parts = _Parts(op)
    forwarded = parts.forwarded
    kept = [index for index, value in enumerate(forwarded) if _block_of(value) is parts.before]
    if len(kept) == len(forwarded):
        return None
    for argument, value in zip(parts.after.arguments, forwarded, strict=True):
        if argument.index not in kept:
            argument.replace_all_uses(value)
    made = dict(zip(kept, parts.keeping(builder, range(len(op.operands)), kept), strict=True))
    return [made.get(index, value) for index, value in enumerate(forwarded)]


def _block_of(value: Value) -> Block | None:
    owner = value.owner
    return owner if isinstance(owner, Block) or owner is None else owner.parent


def _true_after(op: Operation, builder: Builder) -> Made:
    """A condition that is forwarded is true in the second region."""
    parts = _Parts(op)
    arguments = [
        argument
        for argument, value in zip(parts.after.arguments, parts.forwarded, strict=True)
        if value is parts.condition.operands[0] and argument.uses
    ]
    if not arguments:
        return None
    true = boolean(builder, True)
    for argument in arguments:
        argument.replace_all_uses(true)
    return parts.keeping(builder, range(len(op.operands)), range(len(op.results)))


_INVERSE = {0: 1, 1: 0, 2: 5, 5: 2, 3: 4, 4: 3, 6: 9, 9: 6, 7: 8, 8: 7}
"""The predicates of `arith.cmpi`, eq ne slt sle sgt sge ult ule ugt uge, and what is true where they are not."""


def _compared_after(op: Operation, builder: Builder) -> Made:
    """A comparison that decided, and its inverse, are known in the second region."""
    parts = _Parts(op)
    decided = made_by(parts.condition.operands[0], "arith.cmpi")
    if decided is None:
        return None
    known: list[tuple[Operation, bool]] = []
    predicate = _predicate(decided)
    for argument, value in zip(parts.after.arguments, parts.forwarded, strict=True):
        for side in (0, 1):
            if value is not decided.operands[side]:
                continue
            for user, _ in list(argument.uses):
                if user.name != "arith.cmpi" or user.operands[1 - side] is not decided.operands[1 - side]:
                    continue
                if _predicate(user) in (predicate, _INVERSE[predicate]):
                    known.append((user, _predicate(user) == predicate))
    if not known:
        return None
    for user, is_true in known:
        replace(user, [boolean(builder, is_true)])
    return parts.keeping(builder, range(len(op.operands)), range(len(op.results)))


def _predicate(comparison: Operation) -> int:
    predicate = comparison.attributes["predicate"]
    assert isinstance(predicate, IntegerAttr)  # the attribute's kind
    return predicate.value


def _unused_forwarded(op: Operation, builder: Builder) -> Made:
    parts = _Parts(op)
    pairs = zip(op.results, parts.after.arguments, strict=True)
    kept = [index for index, (result, argument) in enumerate(pairs) if result.uses or argument.uses]
    if len(kept) == len(op.results):
        return None
    made = dict(zip(kept, parts.keeping(builder, range(len(op.operands)), kept), strict=True))
    return [made.get(index, result) for index, result in enumerate(op.results)]


def _repeated_forwarded(op: Operation, builder: Builder) -> Made:
    parts = _Parts(op)
    forwarded = parts.forwarded
    first = {value: index for index, value in reversed(list(enumerate(forwarded)))}
    kept = [index for index, value in enumerate(forwarded) if first[value] == index]
    if len(kept) == len(forwarded):
        return None
    for argument, value in zip(parts.after.arguments, forwarded, strict=True):
        if first[value] != argument.index:
            argument.replace_all_uses(parts.after.arguments[first[value]])
    made = dict(zip(kept, parts.keeping(builder, range(len(op.operands)), kept), strict=True))
    return [made[first[value]] for value in forwarded]


def _unused_carried(op: Operation, builder: Builder) -> Made:
    parts = _Parts(op)
    kept = [argument.index for argument in parts.before.arguments if argument.uses]
    if len(kept) == len(op.operands):
        return None
    return parts.keeping(builder, kept, range(len(op.results)))


def _in_order_of_carried(op: Operation, builder: Builder) -> Made:
    """Where all that is carried is forwarded, in another order, it is forwarded in that order."""
    parts = _Parts(op)
    arguments, forwarded = parts.before.arguments, parts.forwarded
    if arguments == forwarded or len(arguments) != len(forwarded) or set(arguments) != set(forwarded):
        return None
    order = [forwarded.index(argument) for argument in arguments]
    made = parts.keeping(builder, range(len(arguments)), order)
    return [made[order.index(index)] for index in range(len(order))]


def _if_moved_down(op: Operation, builder: Builder) -> Made:
    """What stands before the condition, and runs only if it is true, begins the second region."""
    parts = _Parts(op)
    inner = parts.condition.previous
    if inner is None or inner.name != "scf.if" or inner.operands[0] is not parts.condition.operands[0]:
        return None
    then, otherwise = (region.blocks[0] if region.blocks else None for region in inner.regions)
    if then is None or then.last is None or (otherwise is not None and otherwise.first is not otherwise.last):
        return None
    for value, argument in zip(parts.forwarded, parts.after.arguments, strict=True):
        if value.owner is inner:
            argument.replace_all_uses(then.last.operands[value.index])
    if otherwise is not None and otherwise.last is not None:
        for result, value in zip(inner.results, list(otherwise.last.operands), strict=True):
            result.replace_all_uses(value)
    region, _ = inner.regions
    above = dict.fromkeys(
        value
        for each in inner.walk()
        for value in each.operands
        if each is not inner and is_inside(each, region) and not _is_within(value, inner) and _is_within(value, op)
    )
    types = [result.type for result in op.results] + [value.type for value in above]
    parts.condition.set_operands([*parts.condition.operands, *above])
    for value in above:
        argument = parts.after.add_argument(value.type)
        for user, index in list(value.uses):
            if is_inside(user, region) or is_inside(user, op.regions[1]):
                user.set_operand(index, argument)
    first = parts.after.first
    Builder(parts.after, first, op.location).inline(then, ())
    inner.erase()
    made = builder.create("scf.while", op.operands, types, dict(op.attributes), op.take_regions()).results
    return made[: len(op.results)]


def _is_within(value: Value, operation: Operation) -> bool:
    """Whether a value is defined in the first region of an operation, at any depth."""
    region = region_of(value)
    while region is not None and region is not operation.regions[0]:
        block = region.parent.parent if region.parent is not None else None
        region = block.parent if block is not None else None
    return region is not None


WHILE_PATTERNS: dict[str, Sequence[Pattern]] = {
    "scf.while": (
        _unchanged_carried,
        _forwarded_from_outside,
        _true_after,
        _compared_after,
        _repeated_forwarded,
        _unused_forwarded,
        _unused_carried,
        _if_moved_down,
        _in_order_of_carried,
    )
}
