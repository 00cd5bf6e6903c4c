"""The data flow of loops, branches, selects and calls: operands that become block arguments or results unchanged."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qrt.ir import Operation, Value
from qrt.ir.core.symbols import symbol_of

_ARMS = ("scf.if", "scf.index_switch", "scf.execute_region", "affine.if")


@dataclass(frozen=True, eq=False)
class ForwardedOperand:
    """An operand that control flow passes on unchanged to the value ``target``, a block argument or a result."""

    operation: Operation
    index: int
    target: Value

    @property
    def value(self) -> Value:
        return self.operation.operands[self.index]


def forwarded(operation: Operation) -> Iterator[ForwardedOperand]:
    """Yield each operand that an operation, or a terminator of its blocks, passes on, with the value that receives it.

    - Loops: initial values to block arguments; yielded values to block arguments and results.
    - Branches with a region for each case: yielded values to results.
    - Selects: both choices to the result.
    - Calls: operands to the callee's arguments; operands of its returns to the call's results.
    - Branches between blocks: operands to block arguments.
    """
    if operation.name in ("scf.for", "affine.for"):
        arguments, last = operation.regions[0].blocks[0].arguments[1:], operation.regions[0].blocks[0].terminator
        yield from _each(operation, len(operation.operands) - len(arguments), arguments)
        yield from _each(last, 0, arguments)
        yield from _each(last, 0, operation.results)
    elif operation.name == "scf.while":
        before, after = (region.blocks[0] for region in operation.regions)
        yield from _each(operation, 0, before.arguments)
        yield from _each(before.terminator, 1, after.arguments)
        yield from _each(before.terminator, 1, operation.results)
        yield from _each(after.terminator, 0, before.arguments)
    elif operation.name in _ARMS:
        for region in operation.regions:
            for block in region.blocks:
                if block.terminator.name.endswith(".yield"):
                    yield from _each(block.terminator, 0, operation.results)
    elif operation.name == "arith.select":
        yield from _each(operation, 1, operation.results)
        yield from _each(operation, 2, operation.results)
    elif operation.name == "func.call":
        yield from _called(operation)
    elif operation.successors and operation.definition is not None and operation.definition.passed_values is not None:
        arguments = [argument for block in operation.successors for argument in block.arguments]
        yield from _each(operation, len(operation.operands) - len(arguments), arguments)


def _called(call: Operation) -> Iterator[ForwardedOperand]:
    callee = symbol_of(call)
    if callee is None or not callee.regions or not callee.regions[0].blocks:
        return
    blocks = callee.regions[0].blocks
    yield from _each(call, 0, blocks[0].arguments)
    for block in blocks:
        if block.last is not None and block.last.name == "func.return":
            yield from _each(block.last, 0, call.results)


def _each(operation: Operation, first: int, targets: Sequence[Value]) -> Iterator[ForwardedOperand]:
    return (ForwardedOperand(operation, first + i, target) for i, target in enumerate(targets))
