"""The operations of a function that its plan executes; passes that run before planning change only these operations.

A plan is the executable form of a function, made by `qrt.compile`. A function without a plan runs in the interpreter.
"""

from collections.abc import Iterator

from qrt.ir.core.operations import Block, Operation

CONTROL = ("scf.while", "scf.for", "scf.if")
"""Loops and branches whose regions a plan executes."""
OBSERVED = "quant.stats_ref"
"""The op that names a value that a run may report."""
REPLACED = "quant.replaced"
"""An attribute of `quant.stats_ref`: the run may continue with another value."""


def body(function: Operation) -> Block | None:
    """Return the block of a function with a single block that ends in `func.return`; None for any other function.

    The interpreter runs the functions for which None is returned.
    """
    blocks = function.regions[0].blocks
    returns = len(blocks) == 1 and blocks[0].last is not None and blocks[0].last.name == "func.return"
    return blocks[0] if returns else None


def planned_operations(function: Operation) -> Iterator[Operation]:
    """Yield the operations of a function that its plan may execute, also those in regions of loops and branches.

    Yields nothing for a function that the interpreter runs as a whole.
    """
    for op in body(function) or ():
        yield from with_regions(op)


def with_regions(op: Operation) -> Iterator[Operation]:
    """Yield an operation and, if it is in `CONTROL`, all operations in its regions, recursively."""
    stack = [op]
    while stack:
        op = stack.pop()
        yield op
        if op.name in CONTROL and op.parent is not None:  # it may be erased meanwhile
            stack.extend(reversed([child for region in op.regions for block in region.blocks for child in block]))
