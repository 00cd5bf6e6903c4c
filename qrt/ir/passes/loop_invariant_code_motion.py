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
    """Moves loop-invariant operations out of a loop, to the place before it. Preserves every value.

    An operation moves if it uses no value that the loop defines, has no effects, and cannot raise an error that the
    original program would not raise. The last condition holds if the operation is defined for all operands, or if every
    run of the loop is known to reach it. Inner loops come first, so that operations moved out of them may also move out
    of outer loops.

    With `strict_upstream` every operation moves that upstream calls speculatable, although the loop may have no
    iterations and the operation may be undefined.
    """

    strict_upstream: bool = option(False, "move what upstream calls speculatable, though it may be undefined")

    UPSTREAM: ClassVar[Mapping[str, Any]] = {"strict_upstream": True}

    def run(self, module: Module) -> None:
        loops = [operation for operation in module.operation.walk() if operation.has_trait(LOOP_LIKE)]
        for loop in reversed(loops):
            self._hoist(loop)

    def _hoist(self, loop: Operation) -> None:
        """Move loop-invariant operations of one loop in upstream's order.

        After a move, the users of the moved operation are tried again.
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
    """Yield operations of a loop's body that run whenever the loop is reached, unless an earlier one raises an error.

    These are the operations up to the first one that might not terminate or might leave the program.
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
    """Return True if a value is defined outside `region`, or in one of the operations `inner`, which move with it."""
    owner = value.owner
    block = owner if isinstance(owner, Block) or owner is None else owner.parent
    while block is not None and block.parent is not None and block.parent is not region:
        around = block.parent.parent
        if around in inner:
            return True
        block = around.parent if around is not None else None
    return block is None or block.parent is not region
