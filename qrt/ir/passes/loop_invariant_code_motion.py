"""Loop-invariant code motion."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from qrt.ir import Block, Module, Operation, Region, Value
from qrt.ir.core.traits import LOOP_LIKE, TERMINATOR, has_no_memory_effect, is_speculatable, memory_effects
from qrt.ir.dialects._regions.trip_counts import runs
from qrt.ir.passes.definedness import is_defined
from qrt.ir.passes.options import option


@dataclass(frozen=True)
class LoopInvariantCodeMotion:
    """Moves operations with the same results in every iteration out of a loop, before it. Preserves every value.

    An operation moves if it uses nothing that the loop defines, has no effects, and may run although the loop runs no
    iteration: it is defined for all operands, or the loop is known to run it. Inner loops come first, so that
    operations moved out of them may also move out of the loops around them. With `strict_upstream` all that upstream
    calls speculatable moves, even if the loop may not run it and it may be undefined.
    """

    strict_upstream: bool = option(False, "move what upstream calls speculatable, though it may be undefined")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {"strict_upstream": True}

    def run(self, module: Module) -> None:
        loops = [operation for operation in module.operation.walk() if operation.has_trait(LOOP_LIKE)]
        for loop in reversed(loops):
            self._hoist(loop)

    def _hoist(self, loop: Operation) -> None:
        """Move operations in upstream's order.

        After a move, the operations that depend on the moved one are tried again.
        """
        assert loop.parent is not None  # loops stand in a block
        certain = set() if self.strict_upstream else set(_surely_run(loop))
        for region in loop.regions:
            pending = [operation for block in region.blocks for operation in block]
            for operation in pending:  # grows while it is walked
                if _region_of(operation) is not region or not _may_move(operation, region):
                    continue
                if self.strict_upstream or operation in certain or is_defined(operation):
                    loop.parent.insert_before(loop, operation.detach())
                    users = (user for value in operation.results for user in reversed(value.users))
                    pending.extend(user for user in users if _region_of(user) is region)


def _surely_run(loop: Operation) -> Iterator[Operation]:
    """Yield the operations that surely run when a loop is reached, unless an earlier one raises an error.

    They are all before the first operation that might not terminate or might leave the program.
    """
    if runs(loop):
        for operation in loop.regions[0].blocks[0]:
            yield operation
            if not all(map(_returns, operation.walk())):
                return


def _returns(operation: Operation) -> bool:
    if memory_effects(operation) is None or operation.name == "scf.while":
        return False
    return all(len(region.blocks) < 2 for region in operation.regions)


def _region_of(operation: Operation) -> Region | None:
    return operation.parent.parent if operation.parent is not None else None


def _may_move(operation: Operation, region: Region) -> bool:
    if operation.has_trait(TERMINATOR) or not has_no_memory_effect(operation) or not is_speculatable(operation):
        return False
    inner = set(operation.walk())
    return all(_is_outside(value, region, inner) for moving in inner for value in moving.operands)


def _is_outside(value: Value, region: Region, inner: set[Operation]) -> bool:
    """Return True if a value is defined outside of a region, or by one of the operations that move."""
    owner = value.owner
    block = owner if isinstance(owner, Block) or owner is None else owner.parent
    while block is not None and block.parent is not None and block.parent is not region:
        around = block.parent.parent
        if around in inner:
            return True
        block = around.parent if around is not None else None
    return block is None or block.parent is not region
