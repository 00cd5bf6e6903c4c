"""Binding of the kernel for loops of elementwise ops on floats and integers.

The kernel runs structured ops whose body is a chain of elementwise ops, and single elementwise ops on tensors. It runs
reduced loops in the same order as the interpreter.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_float_loops
from qrt.ir import Operation, Value
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops.core import Array, row_major_strides, static_shape
from qrt.runtime.planner.contraction import ContractionCall
from qrt.runtime.planner.loop_steps import F32, F64, NAMES, Chain
from qrt.runtime.planner.loops import Constants, Loops, Strided, collapsed, loops_of
from qrt.runtime.planner.unquantized import CALLS
from qrt.runtime.values import as_tensor
from qrt.types import IntegerType, TensorType

_MOST_LOOPS, _MOST_OPERANDS = 16, 32
_LANES = 256


def float_loops(
    op: Operation, types: Sequence[TensorType], constants: Constants, saturating: bool = False
) -> ContractionCall | None:
    """Bind the kernel for an op whose operands have these static types; return None if the kernel does not support it.

    ``constants`` has the arrays of constant operands by number.
    """
    if any(t.element not in NAMES for t in types) or not types or not op.results:
        return None
    body = _body_of_loops(op) if isinstance(op, StructuredOp) else _body_of_tensors(op, types)
    if body is None:
        return None
    loops = loops_of(op, types) if isinstance(op, StructuredOp) else _whole(types)
    chain = Chain.of(*body, saturating) if loops is not None else None
    return None if loops is None or chain is None else _bound(op, chain, loops, types, constants)


def is_chain(op: Operation) -> bool:
    """Return True if the kernel supports an elementwise op, or a structured op's body; sizes are not checked here."""
    elements = {as_tensor(value.type).element for value in (*op.operands, *op.results)}
    body = _body_of_loops(op) if isinstance(op, StructuredOp) else (op.operands, [op], op.results, len(op.operands))
    chain = Chain.of(*body, saturating=False) if elements <= NAMES.keys() else None
    return chain is not None and chain.reads + len(op.results) <= _MOST_OPERANDS


def _body_of_loops(op: StructuredOp) -> tuple[Sequence[Value], Sequence[Operation], Sequence[Value], int]:
    """Return (arguments of the body, its operations, the values that it yields, the number of inputs)."""
    block = op.regions[0].blocks[0]
    *operations, last = block.operations
    return block.arguments, operations, last.operands, op.input_count


def _body_of_tensors(
    op: Operation, types: Sequence[TensorType]
) -> tuple[Sequence[Value], Sequence[Operation], Sequence[Value], int] | None:
    """Return an elementwise op on tensors as a loop body with this one operation, in the format of `_body_of_loops`.

    Return None for an op on integers that has its own kernel, and for shapes that differ or are empty.
    """
    are_tensors = all(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))
    shape = static_shape(types[0], "plan")
    if not are_tensors or any(t.shape != shape for t in types) or prod(shape) == 0:
        return None
    elements = [as_tensor(value.type).element for value in (*op.operands, *op.results)]
    if op.name in CALLS and not {F32, F64} & {*elements} and {*elements} != {IntegerType(1)}:
        return None
    return op.operands, [op], op.results, len(op.operands)


def _whole(types: Sequence[TensorType]) -> Loops:
    """Return the loops of an elementwise op on tensors that all have the same shape."""
    shape = static_shape(types[0], "plan")
    operand = Strided(
        tuple(step if n > 1 else 0 for step, n in zip(row_major_strides(shape), shape, strict=True)), 0, prod(shape)
    )
    return Loops(shape, (operand,) * (len(types) + 1), tuple(range(len(shape))))


@dataclass
class _Operand:
    """An operand of a kernel call: its register and the layout of its elements.

    ``own`` has the operand's strides over the merged parallel loops; `_merged` sets it.
    """

    element: str
    register: int
    at: Strided
    once: bool = False
    array: Array | None = None
    own: Sequence[int] = ()

    def kernel_argument(self, reduced: Sequence[int]) -> tuple[Any, ...]:
        """Return the tuple that describes the operand to `bind_float_loops`."""
        strides = [*self.own, *(self.at.strides[loop] for loop in reduced)]
        return self.element, self.register, strides, self.at.offset, self.at.size, self.once, self.array


def _bound(
    op: Operation, chain: Chain, loops: Loops, types: Sequence[TensorType], constants: Constants
) -> ContractionCall | None:
    reduced = [loop for loop in loops.reduced if loops.extents[loop] != 1]
    accumulated = _accumulated(chain, bool(reduced))
    if accumulated is None:
        return None
    reads = []
    for number in sorted(chain.used):
        operand, array = loops.operands[number], constants.get(number)
        if array is not None:
            array, operand = _collapsed(op, number, array, operand, loops)
        reads.append(_Operand(NAMES[types[number].element], number, operand, number >= chain.count, array))
    reads += [_array_operand(chain, register, loops, reduced) for register in (*chain.numbers, *chain.indices)]
    writes = [
        _Operand(NAMES[result.element], register, loops.operands[chain.count + i])
        for i, (result, register) in enumerate(zip(_results(op, types), accumulated, strict=True))
    ]
    if len(reads) + len(writes) > _MOST_OPERANDS:
        return None
    extents = _merged(loops, [*reads, *writes])
    if len(extents) + len(reduced) > _MOST_LOOPS:
        return None
    _repeat(extents, reads, writes, reduced)
    call = bind_float_loops(
        isa=kernels.active(),
        loops=[len(extents), len(reduced)],
        extents=[*extents, *(loops.extents[loop] for loop in reduced)],
        reads=[operand.kernel_argument(reduced) for operand in reads],
        writes=[operand.kernel_argument(reduced) for operand in writes],
        steps=chain.steps,
        registers=chain.registers,
        values=np.array(chain.values, np.uint32),
        in_place=_overwritable(reads, writes) if not reduced else 0,
    )
    return ContractionCall(call, tuple(operand.register for operand in reads if operand.array is None))


def _array_operand(chain: Chain, register: int, loops: Loops, reduced: Sequence[int]) -> _Operand:
    """Return an operand that the op does not have, with its array: a constant of 64 bits, or the indices of a loop."""
    strides = [0] * len(loops.extents)
    array = chain.numbers.get(register)
    if array is None:
        loop = chain.indices[register]
        inner = loops.inner.get(loop, loop)
        step = loops.extents[inner] if inner != loop else 1
        array = np.arange(max(loops.extents[loop] * step, 1), dtype=np.int64)
        strides[loop] = step if loops.extents[loop] > 1 else 0
        strides[inner] = int(loops.extents[inner] > 1)
    name = "f64" if array.dtype == np.float64 else "i64"
    is_once = not any(strides[loop] for loop in reduced)
    return _Operand(name, register, Strided(tuple(strides), 0, array.size), is_once, array)


def _overwritable(reads: Sequence[_Operand], writes: Sequence[_Operand]) -> int:
    """Return the number of leading operands that the result may overwrite.

    These are the first operands with the result's element type and layout. Return 0 if there are several results.
    """
    alike = [
        (operand.element, operand.own, operand.at.offset) == (writes[0].element, writes[0].own, writes[0].at.offset)
        for operand in reads
        if operand.array is None
    ]
    return [*alike, False].index(False) if len(writes) == 1 else 0


def _merged(loops: Loops, operands: Sequence[_Operand]) -> list[int]:
    """Merge adjacent parallel loops over which every operand is contiguous, and return the extents of the merged loops.

    Loops of one iteration are dropped; at least one loop remains. The operands' ``own`` strides are set.
    """
    inner: list[int] = []
    extents: list[int] = []
    for loop in reversed([loop for loop in loops.parallel if loops.extents[loop] > 1]):
        if inner and all(x.at.strides[loop] == x.at.strides[inner[-1]] * extents[-1] for x in operands):
            extents[-1] *= loops.extents[loop]
        else:
            inner.append(loop)
            extents.append(loops.extents[loop])
    for operand in operands:
        operand.own = [operand.at.strides[loop] for loop in reversed(inner)] or [0]
    return extents[::-1] or [1]


def _repeat(extents: list[int], reads: Sequence[_Operand], writes: Sequence[_Operand], reduced: Sequence[int]) -> None:
    """Repeat short constant vectors (such as a bias) so that a short innermost loop can be merged with the next loop.

    Nothing changes if other operands prevent the merge. ``extents`` and the operands' ``own`` strides are updated.
    """
    short = extents[-1]
    if len(extents) < 2 or 2 * short > _LANES:
        return
    apart = [operand for operand in (*reads, *writes) if operand.own[-2] != short * operand.own[-1]]
    for operand in apart:
        is_vector = list(operand.own) == [*[0] * (len(extents) - 1), 1] and operand.at.size == short
        if operand.array is None or not is_vector or any(operand.at.strides[loop] for loop in reduced):
            return
    count = max(count for count in range(1, _LANES // short + 1) if extents[-2] % count == 0)
    extents[-2:] = extents[-2] // count, short * count
    for operand in (*reads, *writes):
        if operand in apart and operand.array is not None:
            operand.array = np.tile(operand.array.reshape(-1), count)
            operand.at = Strided(operand.at.strides, operand.at.offset, operand.array.size)
        else:
            operand.own = [*operand.own[:-2], operand.own[-2] * count, operand.own[-1]]


def _accumulated(chain: Chain, has_reduced: bool) -> list[int] | None:
    """Return the registers that have the results after the last iteration.

    With reduced loops, these are the accumulators: each step that computes a result is changed to write to the result's
    accumulator. Return None if a later step still reads the accumulator's old value.
    """
    if not has_reduced:
        return chain.results
    registers: list[int] = []
    for number, register in enumerate(chain.results):
        own = chain.count + number
        makers = [i for i, step in enumerate(chain.steps) if step[1] == register]
        readers = [i for i, step in enumerate(chain.steps) if own in step[2:]]
        if register == own:
            registers.append(own)
            continue
        if not makers or chain.results.count(register) > 1 or any(i > makers[0] for i in readers):
            return None
        if own in chain.results:
            return None
        for step in chain.steps:
            step[1:] = [own if n == register else n for n in step[1:]]
        chain.used.add(own)
        registers.append(own)
    return registers


def _results(op: Operation, types: Sequence[TensorType]) -> Sequence[TensorType]:
    if isinstance(op, StructuredOp):
        return types[op.input_count :]
    return [types[0].with_(element=as_tensor(op.results[0].type).element)]


def _collapsed(op: Operation, number: int, array: Array, operand: Strided, loops: Loops) -> tuple[Array, Strided]:
    """Return a constant operand and its layout, with axes of equal elements reduced to size 1 (see `collapsed`).

    The operand is returned unchanged if an index of it is not a single loop.
    """
    axes = plain_loops(op.indexing_maps[number]) if isinstance(op, StructuredOp) else loops.parallel
    return collapsed(array, operand, loops, axes) if axes is not None else (np.asarray(array, order="C"), operand)
