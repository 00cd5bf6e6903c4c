"""Inlining of calls, and the limits on it."""

from qrt.ir.builder import Builder
from qrt.ir.core.operations import Operation, Region
from qrt.ir.rewriting.rewrite import replace

MAX_CALL_DEPTH = 64
"""The maximum depth of nested calls at run time."""


def put_body(call: Operation, function: Operation) -> list[Operation]:
    """Replace a call by a copy of the function's body, and return the copied operations without the `func.return`."""
    (region,) = function.clone({}).take_regions()
    operations = [op for block in region.blocks for op in block if op.name != "func.return"]
    if len(region.blocks) > 1:
        _put_blocks(call, region)
    else:
        replace(call, Builder(call).inline(region.blocks[0], call.operands))
    return operations


def _put_blocks(call: Operation, region: Region) -> None:
    """Replace a call by the several blocks of `region`, which is a copy of the called function's body.

    The operations after the call become a block whose arguments replace the results of the call.
    """
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
    """Return the maximum number of operations that inlining may add to `root`.

    Without a limit, a chain of n functions, each of which calls the next one twice, would become 2^n operations.
    """
    return (1 << 14) + 16 * sum(1 for _ in root.walk())


class InliningBudget:
    """Number of operations that inlining may still add.

    The size of each function is cached: a function no longer changes once its body is copied.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self._sizes: dict[Operation, int] = {}

    def allows(self, function: Operation) -> bool:
        """Subtract a function's size from the budget; return False, without effect, if the size exceeds the budget."""
        if function not in self._sizes:
            self._sizes[function] = sum(1 for _ in function.walk())
        if self._sizes[function] > self.left:
            return False
        self.left -= self._sizes[function]
        return True
