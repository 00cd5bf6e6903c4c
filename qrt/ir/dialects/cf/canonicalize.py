"""Upstream's canonicalization patterns of `cf`."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Attribute, Block, Builder, DenseArrayAttr, DenseElementsAttr, Operation, Value
from qrt.ir.core.constraints import I1
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number
from qrt.ir.dialects.arith.scalars import filled
from qrt.ir.dialects.cf.ops import passed_values, switch_cases
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import storage_dtype
from qrt.types import IntegerType, VectorType

Target = tuple[Block, list[Value]]
"""A successor and the values passed to it."""


def _targets(branch: Operation) -> list[Target]:
    return list(zip(branch.successors, passed_values(branch), strict=True))


def _jump(builder: Builder, target: Target) -> list[Value]:
    builder.emit("cf.br", target[1], successors=[target[0]])
    return []


def _branch(builder: Builder, condition: Value, targets: Sequence[Target], like: Operation) -> list[Value]:
    (_, true), (_, false) = targets
    attributes = {**like.attributes, "operandSegmentSizes": segments(1, len(true), len(false))}
    builder.emit("cf.cond_br", [condition, *true, *false], (), attributes, (), [block for block, _ in targets])
    return []


def _single_predecessor(block: Block) -> Operation | None:
    """Return the branch to a block; None if the block has no incoming edge, or more than one."""
    if len(block.branches) != 1:
        return None
    (branch,) = block.branches
    return branch if branch.successors.count(block) == 1 else None


def _past(target: Target) -> Target | None:
    """Return the target of the `cf.br` in a target's block; None if a branch cannot skip the block.

    A target is (block, values passed to the block). A branch can skip a block that contains only a `cf.br` and is not
    part of a cycle, and whose arguments no other operation uses.
    """
    block, values = target
    only = block.first
    if only is None or only.name != "cf.br" or only is not block.last:
        return None
    if any(user is not only for argument in block.arguments for user in argument.users):
        return None
    (following,) = only.successors
    seen = {block, following}
    last = following.last
    if following is block:
        return None
    while last is not None and last.name == "cf.br":
        if last.successors[0] in seen:
            return None
        seen.add(last.successors[0])
        last = last.successors[0].last
    known = dict(zip(block.arguments, values, strict=True))
    return following, [known.get(value, value) for value in only.operands]


def jump_on(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `cf.br` by its successor's operations, if it is the only branch to the successor.

    If the successor contains only another `cf.br`, branch directly to the target of that `cf.br`.
    """
    (target,) = _targets(op)
    if target[0] is not op.parent and _single_predecessor(target[0]) is op:
        builder.absorb(*target)
        return []
    past = _past(target)
    return None if past is None else _jump(builder, past)


def known_condition(op: Operation, builder: Builder) -> PatternResult:
    known = constant_number(op.operands[0])
    return None if known is None else _jump(builder, _targets(op)[0 if known else 1])


def branch_past(op: Operation, builder: Builder) -> PatternResult:
    targets = _targets(op)
    past = [_past(target) for target in targets]
    if past == [None, None]:
        return None
    chosen = [on if on is not None else target for on, target in zip(past, targets, strict=True)]
    return _branch(builder, op.operands[0], chosen, op)


def one_target(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `cf.cond_br` whose successors are the same block by a `cf.br`.

    Where the two edges pass different values, the `cf.br` passes an `arith.select`. The block must then have no other
    predecessor.
    """
    (block, true), (other, false) = _targets(op)
    if block is not other:
        return None
    if true != false and any(branch.parent is not op.parent for branch in block.branches):
        return None
    values = [
        a if a is b else builder.value("arith.select", (op.operands[0], a, b), a.type)
        for a, b in zip(true, false, strict=True)
    ]
    return _jump(builder, (block, values))


def decided_before(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `cf.cond_br` by a `cf.br`, if a `cf.cond_br` on the same condition is the only branch to its block."""
    assert op.parent is not None
    before = _single_predecessor(op.parent)
    if before is None or before.name != "cf.cond_br" or before.operands[0] is not op.operands[0]:
        return None
    return _jump(builder, _targets(op)[before.successors.index(op.parent)])


def condition_is_known_there(op: Operation, builder: Builder) -> PatternResult:
    """Replace uses of the condition of a `cf.cond_br` by a constant in each successor that only this branch reaches."""
    condition, changed = op.operands[0], False
    for block, value in zip(op.successors, (1, 0), strict=True):
        if _single_predecessor(block) is not op:
            continue
        users = [
            user for user in block if condition in user.operands
        ]  # not condition.users: it may have very many in other blocks
        uses = [(user, index) for user in users for index, used in enumerate(user.operands) if used is condition]
        if not uses:
            continue
        constant = filled(value, I1)
        assert constant is not None
        known = builder.constant(constant, I1)
        for user, index in uses:
            builder.set_operand(user, index, known)
        changed = True
    return _branch(builder, condition, _targets(op), op) if changed else None


Case = tuple[int, Target]


def _cases(op: Operation) -> list[Case]:
    return list(zip([value for value, _ in switch_cases(op)], _targets(op)[1:], strict=True))


def only_default(op: Operation, builder: Builder) -> PatternResult:
    return None if len(op.successors) > 1 else _jump(builder, _targets(op)[0])


def cases_like_default(op: Operation, builder: Builder) -> PatternResult:
    default, cases = _targets(op)[0], _cases(op)
    others = [case for case in cases if case[1] != default]
    return None if len(others) == len(cases) else _switch_to(builder, op.operands[0], default, others)


def known_flag(op: Operation, builder: Builder) -> PatternResult:
    flag = constant_number(op.operands[0])
    return None if flag is None else _jump(builder, dict(_cases(op)).get(flag, _targets(op)[0]))


def switch_past(op: Operation, builder: Builder) -> PatternResult:
    targets = _targets(op)
    past = [_past(target) for target in targets]
    if not any(past):
        return None
    default, *others = [on if on is not None else target for on, target in zip(past, targets, strict=True)]
    return _switch_to(builder, op.operands[0], default, _cases_to(op, others))


def _cases_to(op: Operation, targets: Sequence[Target]) -> list[Case]:
    return [(value, target) for (value, _), target in zip(switch_cases(op), targets, strict=True)]


def switched_before(op: Operation, builder: Builder) -> PatternResult:
    """Simplify a `cf.switch` if another `cf.switch` on the same flag is the only branch to its block.

    If the block is the target of a case of the earlier switch, the flag has that case's value. If the block is the
    default target, the flag differs from all case values of the earlier switch.
    """
    assert op.parent is not None
    before = _single_predecessor(op.parent)
    if before is None or before.name != "cf.switch" or before.operands[0] is not op.operands[0]:
        return None
    taken = [value for value, (block, _) in _cases(before) if block is op.parent]
    default, cases = _targets(op)[0], _cases(op)
    if taken:
        return _jump(builder, dict(cases).get(taken[0], default))
    excluded = {value for value, _ in switch_cases(before)}
    remaining = [case for case in cases if case[0] not in excluded]
    return None if len(remaining) == len(cases) else _switch_to(builder, op.operands[0], default, remaining)


def _switch_to(builder: Builder, flag: Value, default: Target, cases: Sequence[Case]) -> list[Value]:
    assert isinstance(flag.type, IntegerType)  # the constraint
    lists = [values for _, (_, values) in cases]
    sizes = [len(values) for values in lists]
    attributes: dict[str, Attribute] = {
        "case_operand_segments": DenseArrayAttr(IntegerType(32), tuple(sizes)),
        "operandSegmentSizes": segments(1, len(default[1]), sum(sizes)),
    }
    if cases:
        numbers = np.array([value for value, _ in cases], storage_dtype(flag.type))
        attributes["case_values"] = DenseElementsAttr(numbers, VectorType((len(cases),), flag.type))
    operands = [flag, *default[1], *(value for values in lists for value in values)]
    builder.emit("cf.switch", operands, (), attributes, (), [default[0], *(block for _, (block, _) in cases)])
    return []


def true_assertion(op: Operation, builder: Builder) -> PatternResult:
    return [] if constant_number(op.operands[0]) else None
