"""Inlining of calls: a function's body in place of a call, and the bounds of it."""

from qrt.ir.builder import Builder
from qrt.ir.core.operations import Operation, Region
from qrt.ir.rewriting.rewrite import replace

MAX_CALL_DEPTH = 64
"""How deep calls may be nested that run."""


def put_body(call: Operation, function: Operation) -> list[Operation]:
    """Puts a copy of a function's body in place of a call. Returns the operations that stand there now, without those
    that returned."""
    (region,) = function.clone({}).take_regions()
    operations = [op for block in region.blocks for op in block if op.name != "func.return"]
    if len(region.blocks) > 1:
        _put_blocks(call, region)
    else:
        replace(call, Builder(call).inline(region.blocks[0], call.operands))
    return operations


def _put_blocks(call: Operation, region: Region) -> None:
    """Puts several blocks in place of a call: what follows it becomes a block, with the results as arguments."""
    here, entry, operands = call.parent, region.blocks[0], list(call.operands)
    assert here is not None
    following = here.split(call)
    for end in [block.last for block in region.blocks]:
        if end is not None and end.name == "func.return":
            Builder(end).emit("cf.br", end.operands, successors=[following])
            end.erase()
    replace(call, [following.add_argument(result.type) for result in call.results])
    following.take_before(region)
    Builder(here, call.location).absorb(entry, operands)


def inlined_at_most(root: Operation) -> int:
    """How many operations calls may be replaced by: functions that call the next one twice would have 2^n."""
    return (1 << 14) + 16 * sum(1 for _ in root.walk())


class InliningBudget:
    """How many operations inlining may still add. A function is counted once, because it no longer changes when its
    body is copied.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self._sizes: dict[Operation, int] = {}

    def allows(self, function: Operation) -> bool:
        """Take what a function needs; whether there was as much."""
        if function not in self._sizes:
            self._sizes[function] = sum(1 for _ in function.walk())
        if self._sizes[function] > self.left:
            return False
        self.left -= self._sizes[function]
        return True
