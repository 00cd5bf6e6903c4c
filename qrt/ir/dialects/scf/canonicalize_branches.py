"""Upstream's canonicalization patterns of the values that `scf` ops pass into and out of their regions.

The patterns apply to all `scf` ops. Each control flow edge passes one value to each region argument or result at its
end: an operand of a region's terminator, or of the op itself.
"""

from collections.abc import Sequence

from qrt.ir import Block, Builder, Operation, Region, Value
from qrt.ir.rewriting.rewrite import IN_PLACE, PatternResult

_Operand = tuple[Operation, int]
_IncomingValues = dict[Value, tuple[_Operand, ...]]
"""The operands that an argument or a result may receive, one for each control flow edge."""


def region_of(value: Value) -> Region | None:
    """Return the region in which a value is defined; None if it is defined outside of all regions."""
    block = value.block
    return None if block is None else block.parent


def keep_arguments(block: Block, indices: Sequence[int]) -> None:
    """Keep only the arguments of a block with these indices; the removed arguments must be unused."""
    block.set_arguments(block.arguments[index] for index in indices)


def _incoming_values(op: Operation) -> _IncomingValues:
    ends = [
        block.last
        for region in op.regions
        for block in region.blocks
        if block.last is not None and block.last.name in ("scf.condition", "scf.yield")
    ]
    given: _IncomingValues = {}
    if op.name == "scf.while":
        before, after = (region.blocks[0] for region in op.regions)
        condition, last = ends
        given = {value: ((condition, 1 + value.index),) for value in (*op.results, *after.arguments)}
        given |= {argument: ((op, argument.index), (last, argument.index)) for argument in before.arguments}
    elif op.name == "scf.for":
        for result, argument in zip(op.results, op.regions[0].blocks[0].arguments[1:], strict=True):
            given[result] = given[argument] = (op, 3 + result.index), (ends[0], result.index)
    else:
        given = {result: tuple((end, result.index) for end in ends) for result in op.results}
    return given


def _values(operands: Sequence[_Operand]) -> tuple[Value, ...]:
    return tuple(operation.operands[index] for operation, index in operands)


def _reaching(value: Value, given: _IncomingValues) -> set[Value]:
    """Return the values that an argument or result may receive, directly or through other arguments and results.

    `given` maps each argument and result to the operands that it receives along all control flow edges. The returned
    values are not keys of `given`.
    """
    seen, pending = {value}, [value]
    while pending:
        for other in _values(given.get(pending.pop(), ())):
            if other not in seen:
                seen.add(other)
                pending.append(other)
    return seen - given.keys()


def only_value(op: Operation, builder: Builder) -> PatternResult:
    """Replace an argument or result by the value that it receives, if that is the same along all control flow edges."""
    given, changed = _incoming_values(op), False
    for value in given:
        reaching = _reaching(value, given) if value.uses else set()
        if len(reaching) != 1:
            continue
        (only,) = reaching
        region = region_of(only)
        if region is None or region.parent is not op or (only.owner is value.owner and only.operation is None):
            builder.replace_uses(value, only)
            changed = True
    return IN_PLACE if changed else None


def equal_inputs(op: Operation, builder: Builder) -> PatternResult:
    """Merge two arguments of a block, or two results, that receive the same values along every control flow edge."""
    given, changed = _incoming_values(op), False
    for owner in dict.fromkeys(value.owner for value in given):
        values = [value for value in given if value.owner is owner]
        for index, first in enumerate(values):
            for other in values[index + 1 :]:
                if other.uses and _values(given[first]) == _values(given[other]):
                    builder.replace_uses(other, first)
                    changed = True
    return IN_PLACE if changed else None


def unread_results(op: Operation, builder: Builder) -> PatternResult:
    """Remove unused arguments and results, with the operands that they receive.

    An operand may be passed to both an argument and a result. Then both remain if one of them is used.
    """
    given = _incoming_values(op)
    read = {operands for value, operands in given.items() if value.uses}
    unread = {value for value, operands in given.items() if operands not in read}
    if not unread:
        return None
    gone = {operand for value in unread for operand in given[value]}
    for operation in dict.fromkeys(operation for operation, _ in gone):
        operands = [value for index, value in enumerate(operation.operands) if (operation, index) not in gone]
        builder.set_operands(operation, operands)
    for block in dict.fromkeys(value.owner for value in unread if isinstance(value.owner, Block)):
        keep_arguments(block, [argument.index for argument in block.arguments if argument not in unread])
    results = [result for result in op.results if result not in unread]
    if len(results) == len(op.results):
        builder.observer.changed(op)
        return IN_PLACE
    types = [result.type for result in results]
    new_results = builder.emit(op.name, op.operands, types, dict(op.attributes), op.take_regions()).results
    replacements = dict(zip(results, new_results, strict=True))
    return [replacements.get(result, result) for result in op.results]
