"""How far calls are inlined, by the pass and by the planner, which loads no passes."""

from qrt.ir.core.operations import Operation


def inlined_at_most(root: Operation) -> int:
    """How many operations calls may be replaced by: functions that call the next one twice would have 2^n."""
    return (1 << 14) + 16 * sum(1 for _ in root.walk())


class Budget:
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
