"""What operations hand on: the operands of loops, branches and yields, and the values that they become."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qrt.ir import Operation, Value


@dataclass(frozen=True, eq=False)
class Forwarded:
    """An operand that is another value from there on."""

    operation: Operation
    index: int
    target: Value

    @property
    def value(self) -> Value:
        """The operand."""
        return self.operation.operands[self.index]


def forwarded(operation: Operation) -> Iterator[Forwarded]:
    """What an operation of `scf` hands on: initial values to arguments, yielded ones to arguments and results."""
    if operation.name == "scf.for":
        arguments = operation.regions[0].blocks[0].arguments[1:]
        yield from _each(operation, 3, arguments)
        yield from _each(operation.regions[0].blocks[0].terminator, 0, arguments)
        yield from _each(operation.regions[0].blocks[0].terminator, 0, operation.results)
    elif operation.name == "scf.while":
        before, after = (region.blocks[0] for region in operation.regions)
        yield from _each(operation, 0, before.arguments)
        yield from _each(before.terminator, 1, after.arguments)
        yield from _each(before.terminator, 1, operation.results)
        yield from _each(after.terminator, 0, before.arguments)
    elif operation.name in ("scf.if", "scf.index_switch", "scf.execute_region"):
        for region in operation.regions:
            for block in region.blocks:
                if block.terminator.name == "scf.yield":
                    yield from _each(block.terminator, 0, operation.results)


def _each(operation: Operation, first: int, targets: Sequence[Value]) -> Iterator[Forwarded]:
    return (Forwarded(operation, first + i, target) for i, target in enumerate(targets))
