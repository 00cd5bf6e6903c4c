"""Common subexpression elimination."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import islice

from qrt.ir import Block, Module, Operation, Region, Value
from qrt.ir.core.traits import COMMUTATIVE, ISOLATED_FROM_ABOVE, TERMINATOR, has_no_memory_effect
from qrt.ir.core.verifier import dominator_tree
from qrt.ir.rewriting.rewrite import is_dead

Known = dict[Hashable, Operation]


@dataclass(frozen=True)
class CommonSubexpressionElimination:
    """Merges pure operations that compute the same, and removes dead ones. Preserves every value.

    Visits each operation once, as upstream does: an operation whose only users are removed by this pass remains.
    """

    def run(self, module: Module) -> None:
        unused: list[Operation] = []
        _regions(module.operation, {}, unused)
        for operation in reversed(unused):
            operation.erase()


def _regions(operation: Operation, known: Known, unused: list[Operation]) -> None:
    seen: Known = {} if operation.has_trait(ISOLATED_FROM_ABOVE) else known
    for region in operation.regions:
        children = dominator_tree(region)[0] if len(region.blocks) > 1 else {}
        pending: list[Block | list[Hashable]] = [*region.blocks[:1]]
        while pending:
            block = pending.pop()
            if isinstance(block, list):
                for key in block:
                    del seen[key]
                continue
            pending.append(_block(block, seen, unused))
            pending.extend(children.get(block, []))


def _block(block: Block, known: Known, unused: list[Operation]) -> list[Hashable]:
    """Merge the operations of a block with equal operations in `known`, which maps keys to operations.

    Operations without an equal one are added to `known`, and their keys are returned. Dead and merged operations are
    appended to `unused`; the caller erases them.
    """
    before = len(known)
    for operation in block:
        if not _simplify(operation, known, unused):
            _regions(operation, known, unused)
    return list(islice(reversed(known), len(known) - before))


def _simplify(operation: Operation, known: Known, unused: list[Operation]) -> bool:
    if is_dead(operation):
        unused.append(operation)
        return True
    if not _may_merge(operation) or any(len(region.blocks) > 1 for region in operation.regions):
        return False
    key = _key(operation, {})
    existing = known.setdefault(key, operation)
    if existing is operation:
        return False
    for result, value in zip(operation.results, existing.results, strict=True):
        result.replace_all_uses(value)
    unused.append(operation)
    return True


def _may_merge(operation: Operation) -> bool:
    return not operation.has_trait(TERMINATOR) and has_no_memory_effect(operation)


def _key(operation: Operation, inside: dict[Value, int]) -> Hashable:
    """Return a key that is equal for two operations that compute the same.

    `inside` numbers the values that the operation's regions define, so that equal regions have equal keys.
    """
    operands: tuple[Hashable, ...] = tuple(inside.get(value, value) for value in operation.operands)
    if operation.has_trait(COMMUTATIVE):
        operands = (frozenset(operands), len(operands))
    key = (
        operation.name,
        operands,
        tuple(value.type for value in operation.results),
        frozenset(operation.attributes.items()),
    )
    return key if not operation.regions else (key, tuple(_region_key(region, inside) for region in operation.regions))


def _region_key(region: Region, inside: dict[Value, int]) -> Hashable:
    parts: list[Hashable] = []
    for block in region.blocks:
        for argument in block.arguments:
            inside[argument] = len(inside)
        parts.append(tuple(argument.type for argument in block.arguments))
        for operation in block:
            parts.append(_key(operation, inside))
            for value in operation.results:
                inside.setdefault(value, len(inside))
    return tuple(parts)
