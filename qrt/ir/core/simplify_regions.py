"""Simplification of multi-block regions: erasing unreachable blocks and dead block arguments."""

from collections.abc import Iterator

from qrt.ir.core.operations import Block, Operation, Region, Value
from qrt.ir.core.traits import would_be_dead


def _passed(operation: Operation) -> list[list[Value]] | None:
    """Return the operands that a branch passes to each successor; None if the operation is not a branch."""
    definition = operation.definition
    return definition.passed_values(operation) if definition is not None and definition.passed_values else None


def simplify_regions(root: Operation) -> bool:
    """Erase unreachable blocks and dead block arguments below `root`. Return True if anything was erased."""
    changed = erase_unreachable(root)
    for region in _regions(root):
        changed = _erase_dead_arguments(region) or changed
    return changed


def erase_unreachable(root: Operation) -> bool:
    """Erase unreachable blocks below `root`. Return True if anything was erased."""
    changed = False
    for region in _regions(root):
        changed = _erase_unreachable(region) or changed
    return changed


def _regions(root: Operation) -> list[Region]:
    """Return the regions below `root` that have more than one block."""
    return [region for operation in root.walk() for region in operation.regions if len(region.blocks) > 1]


def _erase_unreachable(region: Region) -> bool:
    reached = {region.blocks[0]}
    pending = [region.blocks[0]]
    while pending:
        for block in pending.pop().successors:
            if block not in reached:
                reached.add(block)
                pending.append(block)
    gone = [block for block in region.blocks if block not in reached]
    region.blocks = [block for block in region.blocks if block in reached]
    _erase([operation for block in gone for operation in block])
    return bool(gone)


def _erase(operations: list[Operation]) -> None:
    """Erase operations whose results have no uses outside this list; they may be in any order and form cycles."""
    for operation in operations:
        for inner in operation.walk():
            inner.drop_operands()
            inner.set_successors(())
    for operation in operations:
        operation.erase()


def _erase_dead_arguments(region: Region) -> bool:
    """Erase block arguments that no side effect or result depends on, and the dead operations that use them."""
    live = _live(region)
    dead = {argument for block in region.blocks[1:] for argument in block.arguments} - live
    if not dead:
        return False
    for block in region.blocks:
        last = block.last
        if last is not None and last.definition is not None and last.definition.pass_values is not None:
            lists = zip(last.successors, _passed(last) or (), strict=True)
            last.definition.pass_values(last, [_read_values(values, to.arguments, dead) for to, values in lists])
    _erase([op for block in region.blocks for op in block if would_be_dead(op) and live.isdisjoint(op.results)])
    for block in region.blocks[1:]:
        block.set_arguments(_read_values(block.arguments, block.arguments, dead))
    return True


def _read_values(values: list[Value], arguments: list[Value], dead: set[Value]) -> list[Value]:
    return [value for value, argument in zip(values, arguments, strict=True) if argument not in dead]


def _live(region: Region) -> set[Value]:
    """Return the values that may influence a side effect, or a value that leaves the region."""
    live: set[Value] = set()
    pending = [
        value
        for block in region.blocks
        for operation in block
        if not would_be_dead(operation)
        for value in _read(operation)
    ]
    while pending:
        value = pending.pop()
        if value in live:
            continue
        live.add(value)
        if isinstance(value.owner, Operation):
            pending.extend(_read(value.owner))
        elif isinstance(value.owner, Block):
            pending.extend(_incoming(value.owner, value.index))
    return live


def _read(operation: Operation) -> Iterator[Value]:
    """Yield the operands of an operation and of all operations inside it.

    Operands that a branch only passes to successors are left out.
    """
    passed = _passed(operation)
    if passed is not None:
        yield from operation.operands[: len(operation.operands) - sum(map(len, passed))]
    else:
        for inner in operation.walk():
            yield from inner.operands


def _incoming(block: Block, index: int) -> Iterator[Value]:
    """Yield the values that branches pass for argument number `index` of a block."""
    for branch in block.branches:
        passed = _passed(branch)
        if passed is not None:
            for to, values in zip(branch.successors, passed, strict=True):
                if to is block:
                    yield values[index]
