"""Structural comparison of two operations."""

from qrt.ir.core.operations import Block, Operation, Region, Value


def equal(left: Operation, right: Operation) -> bool:
    """Return True if two operations are equal, apart from SSA names and locations.

    Names, attributes, types, regions and the use of values are compared.

    Parameters
    ----------
    left, right : Operation
        The operations to compare, with all operations inside them.

    Returns
    -------
    bool

    Examples
    --------
    >>> from qrt.ir import parse
    >>> named, other = "func.func @f(%x: i32) { return }", "func.func @f(%y: i32) { return }"
    >>> equal(parse(named).operation, parse(other).operation)
    True
    """
    return _Comparison().operations(left, right)


class _Comparison:
    def __init__(self) -> None:
        self.values: dict[Value, Value] = {}
        self.blocks: dict[Block, Block] = {}

    def operations(self, left: Operation, right: Operation) -> bool:
        pairs = [(left, right)]
        while pairs:
            left, right = pairs.pop()
            if (left.name, left.attributes) != (right.name, right.attributes) or len(left.regions) != len(
                right.regions
            ):
                return False
            if not self._values(left.results, right.results):
                return False
            if not self._values(left.operands, right.operands):
                return False
            if len(left.successors) != len(right.successors) or any(
                self.blocks.setdefault(a, b) is not b for a, b in zip(left.successors, right.successors, strict=True)
            ):
                return False
            for region, other in zip(left.regions, right.regions, strict=True):
                inner = self._region(region, other)
                if inner is None:
                    return False
                pairs.extend(inner)
        return True

    def _region(self, left: Region, right: Region) -> list[tuple[Operation, Operation]] | None:
        inner: list[tuple[Operation, Operation]] = []
        if len(left.blocks) != len(right.blocks):
            return None
        for block, other in zip(left.blocks, right.blocks, strict=True):
            if self.blocks.setdefault(block, other) is not other:
                return None
            if not self._values(block.arguments, other.arguments):
                return None
            ours, theirs = block.operations, other.operations
            if len(ours) != len(theirs):
                return None
            inner.extend(zip(ours, theirs, strict=True))
        return inner

    def _values(self, left: list[Value], right: list[Value]) -> bool:
        """Match each left value with the right value at its position.

        Return False if the two lists differ in length or types, or if a left value was matched with another right value
        before.
        """
        if len(left) != len(right):
            return False
        return all(a.type is b.type and self.values.setdefault(a, b) is b for a, b in zip(left, right, strict=True))
