"""Recognition of averages over windows, so that loop nests that compute them are exported as average pools.

The sum is a chain of loop nests, each of which adds some elements of every window to the result of the nest before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Operation, Value
from qrt.ir.core.affine import linear
from qrt.ir.core.attributes import FloatAttr
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.quantization.forms.elements import elements_of, shape_of
from qrt.quantization.forms.reductions import QUOTIENTS, quotient_of

Tap = tuple[int, int]
"""The row and the column of an element in a window."""


@dataclass(frozen=True)
class Average:
    """The average of every window of NHWC images, as ``operations`` of the program compute it from ``source``.

    No other operation uses an intermediate result.
    """

    source: Value
    kernel: tuple[int, int]
    strides: tuple[int, int]
    operations: tuple[Operation, ...]


@dataclass(frozen=True)
class _Sum:
    source: Value
    taps: tuple[Tap, ...]
    strides: tuple[int, int]
    operations: tuple[Operation, ...]


def average_of(value: Value) -> Average | None:
    """Recognize ``value`` as the averages of windows. Return None if the program computes it in another way.

    The sum of a window must contain each of the window's elements exactly once.
    """
    elements = elements_of(value)
    if elements is None or elements.computed[0] not in QUOTIENTS:
        return None
    for given in elements.simplified().inputs:
        sums = _sum_of(given)
        if sums is None:
            continue
        height, width = (max(tap[axis] for tap in sums.taps) + 1 for axis in (0, 1))
        is_whole = sorted(sums.taps) == [(row, column) for row in range(height) for column in range(width)]
        if is_whole and quotient_of(value, height * width) is not None:
            operations = (*sums.operations, elements.operation)
            if _is_alone(operations):
                return Average(sums.source, (height, width), sums.strides, operations)
    return None


def _is_alone(operations: Sequence[Operation]) -> bool:
    inside, values = set(operations), [op.results[0] for op in operations[:-1]]
    return all(user in inside for value in values for user in value.users)


def _sum_of(value: Value) -> _Sum | None:
    """Recognize ``value`` as the sums of windows of one tensor. Return None if the program computes it in another way.

    The sums may lack some elements of the windows, because a loop nest that reads ``value`` may add these elements.
    """
    operation = value.operation
    if not isinstance(operation, StructuredOp) or len(operation.results) != 1 or operation.name != "linalg.generic":
        return None
    terms = _terms(operation, operation.regions[0].blocks[0].terminator.operands[0])
    if terms is None or len(shape_of(value)) != 4:
        return None
    before: _Sum | None = None
    source: Value | None = None
    taps: list[Tap] = []
    strides: tuple[int, int] | None = None
    for number in terms:
        given = operation.operands[number]
        chained = _sum_of(given) if source is not given else None
        if chained is not None and before is None and _is_identity(operation, number):
            before = chained
            continue
        place = _place(operation, number)
        if place is None or (source is not None and source is not given) or strides not in (None, place[1]):
            return None
        source, strides = given, place[1]
        taps.append(place[0])
    if source is None or strides is None:
        return None
    if before is None:
        return _Sum(source, tuple(taps), strides, (operation,))
    if before.source is not source or before.strides != strides:
        return None
    return _Sum(source, (*before.taps, *taps), strides, (*before.operations, operation))


def _terms(operation: StructuredOp, scalar: Value) -> list[int] | None:
    """Return the indices of the operands whose elements a loop body adds to compute ``scalar``.

    Constants 0 are ignored. Return None if ``scalar`` is not a sum of elements of operands.
    """
    block = operation.regions[0].blocks[0]
    if scalar.owner is block:
        return [scalar.index] if scalar.index < operation.input_count else None
    constant = constant_of(scalar)
    if isinstance(constant, FloatAttr):
        return [] if constant.value == 0 else None
    inner = scalar.operation
    if inner is None or inner.name != "arith.addf":
        return None
    parts = [_terms(operation, operand) for operand in inner.operands]
    known = [part for part in parts if part is not None]
    return [number for part in known for number in part] if len(known) == len(parts) else None


def _is_identity(operation: StructuredOp, number: int) -> bool:
    return operation.indexing_maps[number].results == operation.indexing_maps[-1].results


def _place(operation: StructuredOp, number: int) -> tuple[Tap, tuple[int, int]] | None:
    """Return the row and column in a window at which operand ``number`` is read, and the strides of the windows.

    Loops with a single iteration are ignored. Return None if the operand is not read along the axes of NHWC images.
    """
    still = {
        result[1]
        for value, map_ in zip(operation.operands, operation.indexing_maps, strict=True)
        for size, result in zip(shape_of(value), map_.results, strict=True)
        if size == 1 and isinstance(result, tuple) and result[0] == "d"
    }
    still -= {result[1] for result in operation.indexing_maps[-1].results if isinstance(result, tuple)}
    loops = len(operation.iterators)
    indices = [linear(result, loops) for result in operation.indexing_maps[number].results]
    out = operation.indexing_maps[-1].results
    if len(indices) != 4 or len(out) != 4:
        return None
    offsets, factors = [], []
    for axis, (index, result) in enumerate(zip(indices, out, strict=True)):
        if index is None or not isinstance(result, tuple) or result[0] != "d":
            return None
        own = {loop: factor for loop, factor in enumerate(index[1:]) if factor and loop not in still}
        if set(own) != {result[1]} or own[result[1]] < 1 or index[0] < 0:
            return None
        if axis in (0, 3) and (index[0], own[result[1]]) != (0, 1):
            return None
        offsets.append(index[0])
        factors.append(own[result[1]])
    return (offsets[1], offsets[2]), (factors[1], factors[2])
