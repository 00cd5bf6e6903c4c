"""Upstream's canonicalization patterns of `memref.alloca_scope`, an op that frees stack memory at its end."""

from qrt.ir import Builder, Operation
from qrt.ir.core.traits import RECURSIVE_MEMORY_EFFECTS, TERMINATOR, memory_effects
from qrt.ir.rewriting.rewrite import PatternResult

_SCOPES = {
    "affine.for",
    "affine.parallel",
    "func.func",
    "memref.alloca_scope",
    "scf.for",
    "scf.forall",
    "scf.parallel",
}
"""Ops that free stack memory at the end of their regions."""
_ONCE = {"affine.if", "memref.alloca_scope", "scf.execute_region", "scf.if", "scf.index_switch"}
"""Ops whose regions run at most once."""


def _may_allocate(op: Operation) -> bool:
    """Return True if the body of `op` may allocate stack memory, not counting scopes in the body."""
    for child in (child for region in op.regions for block in region.blocks for child in block):
        if child.name == "memref.alloca":
            return True
        recursive = child.has_trait(RECURSIVE_MEMORY_EFFECTS)
        if not recursive and not child.has_trait(TERMINATOR) and memory_effects(child) is None:
            return True
        if child.name not in _SCOPES and _may_allocate(child):
            return True
    return False


def _is_last(op: Operation) -> bool:
    """Return True if only the terminator follows `op`, in a region of one block."""
    block = op.parent
    assert block is not None
    assert block.parent is not None
    return op.next is not None and op.next is block.last and len(block.parent.blocks) == 1


def inline_scope(op: Operation, builder: Builder) -> PatternResult:
    """Replace a scope by its body, if the body allocates no stack memory or the enclosing scope ends with this one."""
    parent = op.parent_operation
    assert parent is not None
    if _may_allocate(op) and (parent.name not in _SCOPES or not _is_last(op)):
        return None
    return builder.inline(op.regions[0].blocks[0], ())


def hoist_allocations(op: Operation, builder: Builder) -> PatternResult:
    """Move stack allocations of a scope out of the branches around it, if the scope is the last op in each branch.

    An allocation of dynamic size stays, because its size may be negative if the branch is not taken. An allocation in a
    loop stays, because each iteration has its own memory.
    """
    outermost = op.parent_operation
    assert outermost is not None
    if outermost.name in _SCOPES or not _is_last(op) or not _is_last(outermost):
        return None
    while (around := outermost.parent_operation) is not None and around.name not in _SCOPES:
        outermost = around
        if outermost.parent is None or not _is_last(outermost):
            return None
    if around is None:
        return None
    allocations = [
        inner
        for inner in op.walk()
        if inner.name == "memref.alloca" and not inner.operands and _runs_once(inner, outermost)
    ]
    if not allocations:
        return None
    for inner in allocations:
        builder.replace(inner, builder.at(outermost).insert(inner.clone({})).results)
    return builder.emit(op.name, (), [result.type for result in op.results], {}, op.take_regions()).results


def _runs_once(inner: Operation, outermost: Operation) -> bool:
    """Return True if `inner` runs at most once each time that `outermost`, which contains it, runs."""
    block = inner.parent
    while block is not None and block.parent is not None:
        around = block.parent.parent
        if around is None or around.name not in _ONCE or len(block.parent.blocks) > 1:
            return False
        if around is outermost:
            return True
        block = around.parent
    return False
