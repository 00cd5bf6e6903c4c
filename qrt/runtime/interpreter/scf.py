"""Handlers of ``scf``. All loops, parallel ones too, run one iteration after another in the order of their variables.

The reductions of `scf.parallel` combine in this order.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir import Operation, Value
from qrt.ir.dialects.scf.parallel import mixed_bounds
from qrt.ops.core import element_dtype
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Step, raise_located
from qrt.runtime.interpreter.regions import Bounds, choice, counted_loop, moves, single_block, trips
from qrt.types import IntegerType


def _range(lower: int, upper: int, step: int) -> range:
    if step <= 0:
        raise UndefinedError(f"the step must be positive, got {step}")
    return range(lower, upper, step)


def _for(op: Operation, compiler: Compiler) -> Step:
    lower, upper, step = (compiler.slot(value) for value in op.operands[:3])
    type = op.operands[0].type
    unsigned = "unsignedCmp" in op.attributes
    width = type.width if isinstance(type, IntegerType) else 64
    wrap = 1 << width
    dtype: Any = element_dtype(type).type

    def bounds(frame: Frame) -> range:
        return _range(int(frame[lower]), int(frame[upper]), int(frame[step]))

    def unsigned_bounds(frame: Frame) -> range:
        return _range(*(int(frame[slot]) % wrap for slot in (lower, upper, step)))

    def unsigned_value(number: int) -> Any:
        return dtype(number - wrap if number >= wrap >> 1 and width > 1 else number)

    if unsigned:
        return counted_loop(op, compiler, unsigned_bounds, unsigned_value, op.operands[3:])
    return counted_loop(op, compiler, bounds, dtype, op.operands[3:])


def _if(op: Operation, compiler: Compiler) -> Step:
    condition = compiler.slot(op.operands[0])
    return choice(op, compiler, lambda frame: 0 if frame[condition] else 1)


def _index_switch(op: Operation, compiler: Compiler) -> Step:
    slot = compiler.slot(op.operands[0])
    cases = {case: number for number, case in enumerate(op.attributes["cases"].python, 1)}
    return choice(op, compiler, lambda frame: cases.get(int(frame[slot]), 0))


def _execute_region(op: Operation, compiler: Compiler) -> Step:
    code = compiler.region(op.regions[0])
    results = [compiler.slot(value) for value in op.results]

    def run(frame: Frame) -> None:
        for slot, value in zip(results, code.run(frame), strict=True):
            frame[slot] = value

    return run


def _while(op: Operation, compiler: Compiler) -> Step:
    before, after = (single_block(compiler, region) for region in op.regions)
    condition = before.results[0]
    first, second = (region.blocks[0] for region in op.regions)
    begin = moves(compiler, op.operands, first.arguments)
    again = moves(compiler, second.terminator.operands, first.arguments)
    forwarded = first.terminator.operands[1:]
    go_on, finish = moves(compiler, forwarded, second.arguments), moves(compiler, forwarded, op.results)

    def run(frame: Frame) -> None:
        begin(frame)
        for number in count():
            frame[0].check_round(number, op)
            frame[0].count(before.size, op)
            for step in before.steps:
                step(frame)
            if not frame[condition]:
                break
            go_on(frame)
            frame[0].count(after.size, op)
            for step in after.steps:
                step(frame)
            again(frame)
        finish(frame)

    return run


# -- nests ---------------------------------------------------------------------------------------------------------


_MANY = 1 << 64
"""A bound on steps that no run can reach, and that a float represents exactly."""


def _points(numbers: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """Yield the points of the Cartesian product of ranges; the last coordinate varies fastest.

    `itertools.product` would store each range as a tuple, which may be too long.
    """
    if not numbers:
        yield ()
        return
    for first in numbers[0]:
        for rest in _points(numbers[1:]):
            yield first, *rest


def nest(op: Operation, compiler: Compiler, ranges: Sequence[Bounds], rank: int, after: Step) -> Step:
    """Return a step that runs the op's body, then ``after``, for every point of a nest of loops.

    ``ranges`` has a function of the frame for each loop, which returns its range; the first ``rank`` arguments of the
    body are the loop variables.
    """
    body = single_block(compiler, op.regions[0])
    variables = body.arguments[:rank]

    def run(frame: Frame) -> None:
        numbers = []
        for bounds in ranges:
            try:
                numbers.append(bounds(frame))
            except UndefinedError as error:
                raise_located(op, error)
        count = body.size
        for loop in numbers:
            count *= trips(loop)
        frame[0].count(min(count, _MANY), op)
        for point in _points(numbers):
            for slot, number in zip(variables, point, strict=True):
                frame[slot] = np.int64(number)
            for step in body.steps:
                step(frame)
            after(frame)

    return run


def _bounds(compiler: Compiler, lower: int | Value, upper: int | Value, step: int | Value) -> Bounds:
    """Return a function of the frame that gives a loop's range; each of its bounds is a static integer or a value."""
    parts = [part if isinstance(part, int) else compiler.slot(part) for part in (lower, upper, step)]
    known = [isinstance(part, int) for part in (lower, upper, step)]

    def bounds(frame: Frame) -> range:
        return _range(*(part if is_known else int(frame[part]) for part, is_known in zip(parts, known, strict=True)))

    return bounds


def _parallel(op: Operation, compiler: Compiler) -> Step:
    lower, upper, steps, inits = (op.operand_group(group) for group in ("lowerBound", "upperBound", "step", "initVals"))
    ranges = [_bounds(compiler, *bounds) for bounds in zip(lower, upper, steps, strict=True)]
    reduce = op.regions[0].blocks[0].terminator
    combine = [single_block(compiler, region) for region in reduce.regions]
    values = [compiler.slot(value) for value in reduce.operands]
    results = [compiler.slot(value) for value in op.results]
    begin = moves(compiler, inits, op.results)

    def fold(frame: Frame) -> None:
        for body, slot, result in zip(combine, values, results, strict=True):
            body.enter(frame, (frame[result], frame[slot]))
            frame[result] = frame[body.results[0]]

    loops = nest(op, compiler, ranges, len(lower), fold)

    def run(frame: Frame) -> None:
        begin(frame)
        loops(frame)

    return run


def _forall(op: Operation, compiler: Compiler) -> Step:
    ranges = [_bounds(compiler, *bounds) for bounds in zip(*mixed_bounds(op), strict=True)]
    outputs, block = op.operand_group("outputs"), op.regions[0].blocks[0]
    shared = block.arguments[len(ranges) :]
    insertions = compiler.steps(block.terminator.regions[0].blocks[0].operations)
    begin, finish = moves(compiler, outputs, shared), moves(compiler, shared, op.results)

    def insert(frame: Frame) -> None:
        for step in insertions:
            step(frame)

    loops = nest(op, compiler, ranges, len(ranges), insert)

    def run(frame: Frame) -> None:
        begin(frame)
        loops(frame)
        finish(frame)

    return run


def _parallel_insert_slice(op: Operation, compiler: Compiler) -> Step:
    """Return a step that inserts a slice into a copy of the shared output, which the next iterations then read."""
    insert = compiler.code.tables.handlers["tensor.insert_slice"](op, compiler)
    slots = [compiler.slot(value) for value in op.operands]
    target = slots[1]

    def step(frame: Frame) -> None:
        try:
            frame[target] = insert(*[frame[slot] for slot in slots])
        except UndefinedError as error:
            raise_located(op, error)

    return step


STRUCTURED: dict[str, Builder] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.execute_region": _execute_region,
    "scf.while": _while,
    "scf.parallel": _parallel,
    "scf.forall": _forall,
    "tensor.parallel_insert_slice": _parallel_insert_slice,
}
