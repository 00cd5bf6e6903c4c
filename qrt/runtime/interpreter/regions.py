"""Helpers for loops and conditions whose regions have a single block, for the handlers of every dialect."""

from collections.abc import Callable, Sequence
from typing import Any

from qrt.errors import QuantError
from qrt.ir import Operation, Region, Value
from qrt.runtime.interpreter.core import BlockCode, Compiler, Frame, Step, raise_located

Bounds = Callable[[Frame], range]


def single_block(compiler: Compiler, region: Region) -> BlockCode:
    """Return the compiled block of a region that has only one block."""
    (block,) = compiler.region(region).blocks
    return block


def moves(compiler: Compiler, sources: Sequence[Value], targets: Sequence[Value]) -> Step:
    """Return a step that assigns each source to the target of the same index; all sources are read first."""
    slots = [compiler.slot(value) for value in sources]
    places = [compiler.slot(value) for value in targets]
    if len(slots) == 1:
        (source,), (target,) = slots, places

        def move(frame: Frame) -> None:
            frame[target] = frame[source]

    else:

        def move(frame: Frame) -> None:
            for place, value in zip(places, [frame[slot] for slot in slots], strict=True):
                frame[place] = value

    return move


def counted_loop(
    op: Operation, compiler: Compiler, bounds: Bounds, induction: Callable[[int], Any], inits: Sequence[Value]
) -> Step:
    """Return a step that runs a loop over a range of integers, with values carried from one iteration to the next.

    `bounds` returns the range, `induction` converts an integer to the value of the loop's variable, and `inits` are the
    initial carried values. The steps of all iterations are subtracted from the run's limit before the loop starts.
    """
    block = op.regions[0].blocks[0]
    body = single_block(compiler, op.regions[0])
    variable, steps, size = body.arguments[0], body.steps, body.size
    carried, yielded = block.arguments[1:], block.terminator.operands
    begin, carry = moves(compiler, inits, carried), moves(compiler, yielded, carried)
    finish = moves(compiler, carried, op.results)

    def enter(frame: Frame) -> range:
        try:
            numbers = bounds(frame)
        except QuantError as error:
            raise_located(op, error)
        frame[0].count(trips(numbers) * size, op)
        return numbers

    def loop(frame: Frame) -> None:
        for value in map(induction, enter(frame)):
            frame[variable] = value
            for step in steps:
                step(frame)

    def carrying_loop(frame: Frame) -> None:
        numbers = enter(frame)
        begin(frame)
        for value in map(induction, numbers):
            frame[variable] = value
            for step in steps:
                step(frame)
            carry(frame)
        finish(frame)

    return carrying_loop if carried else loop


def trips(numbers: range) -> int:
    """Return the length of a range, also if it is larger than `len` supports."""
    return max(0, -((numbers.start - numbers.stop) // numbers.step))


def choice(op: Operation, compiler: Compiler, choose: Callable[[Frame], int]) -> Step:
    """Return a step that runs one of the op's regions and sets the op's results to the values that the region yields.

    `choose` returns the number of the region. An empty region does nothing.
    """
    bodies: list[tuple[BlockCode, Step] | None] = []
    for region in op.regions:
        if not region.blocks:
            bodies.append(None)
            continue
        yielded = region.blocks[0].terminator.operands
        bodies.append((single_block(compiler, region), moves(compiler, yielded, op.results)))

    def run(frame: Frame) -> None:
        chosen = bodies[choose(frame)]
        if chosen is not None:
            body, finish = chosen
            body.enter(frame, ())
            finish(frame)

    return run
