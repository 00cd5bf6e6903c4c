"""Handlers of ``affine``. Affine maps are evaluated on Python integers, which do not overflow."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, is_defined
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.affine.ops import set_of, step_of
from qrt.ir.dialects.affine.parallel import bounds_of, reductions_of, steps_of
from qrt.ops.core import element_dtype
from qrt.ops.elementwise import bind
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step
from qrt.runtime.interpreter.memref import checked, loader, storer
from qrt.runtime.interpreter.regions import Bounds, choice, counted_loop
from qrt.runtime.interpreter.scf import nest
from qrt.runtime.values import as_index

Numbers = Sequence[int]
Evaluate = Callable[[Numbers], int]


def _compile(expression: Expression, dimensions: int) -> Evaluate:
    """Return a function that evaluates an affine expression.

    The function takes one sequence of integers: the values of the dimensions, then the values of the symbols.
    """
    if isinstance(expression, int):
        return lambda values: expression
    if expression[0] in ("d", "s"):
        index = expression[1] + (dimensions if expression[0] == "s" else 0)
        return lambda values: values[index]
    operator, first, second = expression
    left, right = _compile(first, dimensions), _compile(second, dimensions)
    if operator == "+":
        return lambda values: left(values) + right(values)
    if operator == "*":
        return lambda values: left(values) * right(values)

    def divisor(values: Numbers) -> int:
        number = right(values)
        if not is_defined(operator, number):
            wanted = "positive" if operator == "mod" else "other than 0"
            raise UndefinedError(f"the divisor of {operator} must be {wanted}, got {number}")
        return number

    if operator == "floordiv":
        return lambda values: left(values) // divisor(values)
    if operator == "ceildiv":
        return lambda values: -(-left(values) // divisor(values))
    return lambda values: left(values) % divisor(values)


def _compile_map(map: AffineMapAttr) -> Callable[[Numbers], list[int]]:
    results = [_compile(result, map.dimensions) for result in map.results]
    return lambda values: [result(values) for result in results]


def _is_identity(map: AffineMapAttr) -> bool:
    operands = [("d", i) for i in range(map.dimensions)] + [("s", i) for i in range(map.symbols)]
    return list(map.results) == operands


def _chosen(choose: Callable[[list[int]], int]) -> Handler:
    def bind(op: Operation, compiler: Compiler) -> Function:
        results = _compile_map(map_of(op))
        return lambda *operands: as_index(choose(results([int(operand) for operand in operands])))

    return bind


def _load(op: Operation, compiler: Compiler) -> Function:
    map, load = map_of(op), loader(len(map_of(op).results))
    if not _is_identity(map):
        results, plain = _compile_map(map), load
        load = lambda array, *operands: plain(array, *results([int(operand) for operand in operands]))  # noqa: E731
    return checked(op, 0, load, compiler)


def _store(op: Operation, compiler: Compiler) -> Function:
    map, store = map_of(op), storer(len(map_of(op).results))
    if not _is_identity(map):
        results, plain = _compile_map(map), store

        def store(value: Any, array: Any, *operands: Any) -> None:
            plain(value, array, *results([int(operand) for operand in operands]))

    return checked(op, 1, store, compiler)


def _bound(compiler: Compiler, map: AffineMapAttr, operands: Sequence[Value]) -> Callable[[Frame], list[int]]:
    results = _compile_map(map)
    slots = [compiler.slot(value) for value in operands]
    return lambda frame: results([int(frame[slot]) for slot in slots])


def _for(op: Operation, compiler: Compiler) -> Step:
    lower, upper = (
        _bound(compiler, map_of(op, f"{which}BoundMap"), op.operand_group(f"{which}BoundOperands"))
        for which in ("lower", "upper")
    )
    bounds = _range(lower, upper, step_of(op))
    return counted_loop(op, compiler, bounds, np.int64, op.operand_group("inits"))


_IDENTITIES = {
    "addf": 0.0,
    "addi": 0,
    "andi": -1,
    "maximumf": -np.inf,
    "minimumf": np.inf,
    "mulf": 1.0,
    "muli": 1,
    "ori": 0,
}
"""The initial value of a reduction, as in upstream's lowering: the result if no iteration runs."""


def _parallel(op: Operation, compiler: Compiler) -> Step:
    lower, upper = (_compiled_bounds(op, compiler, which) for which in ("lower", "upper"))
    ranges = [_range(*bounds) for bounds in zip(lower, upper, steps_of(op), strict=True)]
    combine = []
    for reduction, result in zip(reductions_of(op), op.results, strict=True):
        if reduction not in _IDENTITIES:
            raise QuantTypeError(f"the interpreter does not support the reduction '{reduction}'")
        function = bind(f"arith.{reduction}", [result.type] * 2, [result.type])
        start = np.array(_IDENTITIES[reduction]).astype(element_dtype(result.type))[()]
        combine.append((function, start, compiler.slot(result)))
    yielded = [compiler.slot(value) for value in op.regions[0].blocks[0].terminator.operands]

    def fold(frame: Frame) -> None:
        for (function, _, slot), value in zip(combine, yielded, strict=True):
            frame[slot] = function(frame[slot], frame[value])

    loops = nest(op, compiler, ranges, len(ranges), fold)

    def run(frame: Frame) -> None:
        for _, start, slot in combine:
            frame[slot] = start
        loops(frame)

    return run


def _compiled_bounds(op: Operation, compiler: Compiler, which: str) -> list[Callable[[Frame], list[int]]]:
    """Return, for each loop of an `affine.parallel`, a function that evaluates all results of its bound map.

    The lower bound of the loop is the greatest of these results, the upper bound the least. ``which`` is "lower" or
    "upper".
    """
    groups, operands = bounds_of(op, which)
    map = map_of(op, f"{which}BoundsMap")
    return [_bound(compiler, AffineMapAttr(map.dimensions, map.symbols, group), operands) for group in groups]


def _range(lower: Callable[[Frame], list[int]], upper: Callable[[Frame], list[int]], step: int) -> Bounds:
    def bounds(frame: Frame) -> range:
        if step <= 0:
            raise UndefinedError(f"the step must be positive, got {step}")
        return range(max(lower(frame)), min(upper(frame)), step)

    return bounds


def _if(op: Operation, compiler: Compiler) -> Step:
    condition = set_of(op)
    constraints = [
        (_compile(expression, condition.dimensions), is_equality) for expression, is_equality in condition.constraints
    ]
    slots = [compiler.slot(value) for value in op.operands]

    def choose(frame: Frame) -> int:
        values = [int(frame[slot]) for slot in slots]
        holds = all(e(values) == 0 if is_equality else e(values) >= 0 for e, is_equality in constraints)
        return 0 if holds else 1

    return choice(op, compiler, choose)


HANDLERS: dict[str, Handler] = {
    "affine.apply": _chosen(max),
    "affine.min": _chosen(min),
    "affine.max": _chosen(max),
    "affine.load": _load,
    "affine.store": _store,
}
STRUCTURED: dict[str, Builder] = {"affine.for": _for, "affine.if": _if, "affine.parallel": _parallel}
