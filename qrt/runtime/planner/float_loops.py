"""Binding of the kernel for loops of elementwise ops on f32 and i32.

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
from qrt.ir.constants import constant_array
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops.core import Array, row_major_strides, static_shape
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.runtime.planner.contraction import ContractionCall
from qrt.runtime.planner.loops import Constants, Loops, Strided, collapsed, loops_of
from qrt.runtime.planner.unquantized import promises
from qrt.runtime.values import as_tensor
from qrt.types import FloatType, IntegerType, TensorType, Type

_F32 = FloatType("f32")
_NAMES: dict[Type, str] = {_F32: "f32", **{IntegerType(width): f"i{width}" for width in (1, 8, 16, 32)}}
"""The element types that a register of the kernel supports."""
CODES = {name: code for code, name in enumerate((
    "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "math.fma", "math.sqrt", "arith.negf", "math.absf",
    "math.floor", "math.ceil", "math.trunc", "math.roundeven", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
    "arith.minnumf", "arith.select", "arith.andi", "arith.ori", "arith.xori", "less", "less_equal", "equal",
    "unordered", "to_f32", "to_i32", "saturate_i32", "to_i8", "to_i16", "arith.addi", "arith.subi", "arith.muli",
    "arith.maxsi", "arith.minsi", "math.exp", "math.expm1", "math.log", "math.log1p", "math.tanh", "math.erf",
    "math.erfc", "math.sin", "math.cos",
))}  # fmt: skip
"""The step codes, in the order of qrt_step_code in csrc/include/qrt/float_loops.h."""
_MOST_LOOPS, _MOST_REGISTERS, _MOST_OPERANDS = 16, 64, 32
_LANES = 256
_COMPARED = {
    "olt": ("less", False, False), "ole": ("less_equal", False, False), "oeq": ("equal", False, False),
    "uno": ("unordered", False, False), "ogt": ("less", True, False), "oge": ("less_equal", True, False),
    "ult": ("less_equal", True, True), "ule": ("less", True, True), "une": ("equal", False, True),
    "ord": ("unordered", False, True), "ugt": ("less_equal", False, True), "uge": ("less", False, True),
}  # fmt: skip
"""The comparison predicates, as (step, True if operands are swapped, True if the result is inverted)."""
_INTEGERS = ("arith.addi", "arith.subi", "arith.muli", "arith.maxsi", "arith.minsi")
_LOGIC = ("arith.andi", "arith.ori", "arith.xori")


def float_loops(
    op: Operation, types: Sequence[TensorType], constants: Constants, saturating: bool = False
) -> ContractionCall | None:
    """Bind the kernel for an op whose operands have these static types; return None if the kernel does not support it.

    ``constants`` has the arrays of constant operands by number.
    """
    if any(t.element not in _NAMES for t in types) or not types or not op.results:
        return None
    body = _body_of_loops(op) if isinstance(op, StructuredOp) else _body_of_tensors(op, types)
    if body is None:
        return None
    loops = loops_of(op, types) if isinstance(op, StructuredOp) else _whole(types)
    chain = _Chain.of(*body, saturating) if loops is not None else None
    return None if loops is None or chain is None else _bound(op, chain, loops, types, constants)


def is_chain(op: Operation) -> bool:
    """Return True if the kernel supports an elementwise op, or a structured op's body; sizes are not checked here."""
    elements = {as_tensor(value.type).element for value in (*op.operands, *op.results)}
    body = _body_of_loops(op) if isinstance(op, StructuredOp) else (op.operands, [op], op.results, len(op.operands))
    chain = _Chain.of(*body, saturating=False) if elements <= _NAMES.keys() else None
    return chain is not None and len(chain.used) + len(op.results) <= _MOST_OPERANDS


def _body_of_loops(op: StructuredOp) -> tuple[Sequence[Value], Sequence[Operation], Sequence[Value], int]:
    """Return (arguments of the body, its operations, the values that it yields, the number of inputs)."""
    block = op.regions[0].blocks[0]
    *operations, last = block.operations
    return block.arguments, operations, last.operands, op.input_count


def _body_of_tensors(
    op: Operation, types: Sequence[TensorType]
) -> tuple[Sequence[Value], Sequence[Operation], Sequence[Value], int] | None:
    """Return an elementwise op on tensors as a loop body with this one operation, in the format of `_body_of_loops`.

    Return None for an op on integers only, because integer ops have other kernels, and for shapes that differ or are
    empty.
    """
    are_tensors = all(isinstance(value.type, TensorType) for value in (*op.operands, *op.results))
    shape = static_shape(types[0], "plan")
    if not are_tensors or any(t.shape != shape for t in types) or prod(shape) == 0:
        return None
    elements = [as_tensor(value.type).element for value in (*op.operands, *op.results)]
    if _F32 not in elements and any(element != IntegerType(1) for element in elements):
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
class _Chain:
    """A loop body as steps for the kernel. The steps read and write numbered registers.

    The first registers have the body's arguments, the next ones the results of steps, the last ones constants.
    """

    steps: list[list[int]]
    values: list[Any]
    results: list[int]
    used: set[int]
    """The numbers of the arguments that are read."""
    count: int
    registers: int

    @classmethod
    def of(
        cls,
        arguments: Sequence[Value],
        operations: Sequence[Operation],
        yielded: Sequence[Value],
        inputs: int,
        saturating: bool,
    ) -> "_Chain | None":
        """Return the steps for a body; None if the kernel does not support an op or a value from outside the body."""
        builder = _LoopBodyBuilder(arguments, saturating)
        for op in operations:
            if op.name != "arith.constant" and not builder.add(op):
                return None
        results = [builder.register(value) for value in yielded]
        known = [number for number in results if number is not None]
        if len(known) < len(results):
            return None
        return builder.chain(known, inputs)


class _LoopBodyBuilder:
    def __init__(self, arguments: Sequence[Value], saturating: bool) -> None:
        self.count = len(arguments)
        self.saturating = saturating
        self.numbers: dict[Value, int] = {}
        for number, value in enumerate(arguments):
            self.numbers.setdefault(value, number)
        self.next = self.count
        self.values: dict[int, int] = {}  # negative register of each constant, by its bits
        self.steps: list[list[int]] = []

    def constant(self, bits: int) -> int:
        """Return a negative number for the register of a constant.

        `chain` replaces it by the register's number when the number of other registers is known.
        """
        return self.values.setdefault(bits, -1 - len(self.values))

    def register(self, value: Value) -> int | None:
        if value in self.numbers:
            return self.numbers[value]
        source = value.operation
        if source is None or source.name != "arith.constant" or value.type not in _NAMES:
            return None
        array = constant_array(source)
        if value.type == _F32:
            return self.constant(int(array.view(np.uint32)))
        return self.constant((-int(array) if value.type == IntegerType(1) else int(array)) & 0xFFFFFFFF)

    def add(self, op: Operation) -> bool:
        registers = [self.register(value) for value in op.operands]
        known = [number for number in registers if number is not None]
        if len(known) < len(registers) or len(op.results) != 1 or promises(op):
            return False
        types = [_NAMES.get(as_tensor(value.type).element, "") for value in op.operands]
        out = _NAMES.get(as_tensor(op.results[0].type).element, "")
        if op.name == "arith.extsi" and out and "" not in types:
            self.numbers[op.results[0]] = known[0]  # integers are sign-extended in registers
            return True
        if op.name == "arith.cmpf":
            return self.add_comparison(op, known, types)
        if op.name == "math.rsqrt" and types == ["f32"]:  # 1 / sqrt(x), both rounded
            self.step("math.sqrt", known)
            self.step("arith.divf", [self.constant(int(np.float32(1).view(np.uint32))), self.next - 1])
            self.numbers[op.results[0]] = self.next - 1
            return True
        code = self.code_of(op, types, out)
        if code is None:
            return False
        self.step(code, known)
        self.numbers[op.results[0]] = self.next - 1
        return True

    def add_comparison(self, op: Operation, operands: list[int], types: Sequence[str]) -> bool:
        form = _COMPARED.get(tuple(FLOAT_PREDICATES)[op.attributes["predicate"].python])
        if form is None or types != ["f32", "f32"]:
            return False
        code, exchanged, inverted = form
        self.step(code, operands[::-1] if exchanged else operands)
        if inverted:
            self.step("arith.xori", [self.next - 1, self.constant(0xFFFFFFFF)])
        self.numbers[op.results[0]] = self.next - 1
        return True

    def code_of(self, op: Operation, types: Sequence[str], out: str) -> str | None:
        """Return the key in `CODES` of the float-loop kernel's instruction for an op, or None if it has none.

        ``types`` and ``out`` are the names of the element types of the operands and the result.
        """
        if op.name == "arith.select":
            return op.name if types[0] == "i1" and types[1] else None
        if op.name in _LOGIC:
            return op.name if types == ["i1", "i1"] else None
        if op.name in _INTEGERS:
            return op.name if types == ["i32", "i32"] else None
        if op.name == "arith.trunci":
            return f"to_{out}" if out in ("i8", "i16") and types[0] else None
        if op.name == "arith.sitofp":
            return "to_f32" if out == "f32" and types[0] else None
        if op.name == "arith.fptosi":
            is_known = (types, out) == (["f32"], "i32")
            return None if not is_known else "saturate_i32" if self.saturating else "to_i32"
        return op.name if op.name in CODES and all(t == "f32" for t in (*types, out)) else None

    def step(self, code: str, operands: list[int]) -> None:
        a, b, c = [*operands, *operands[:1] * 2][:3]
        self.steps.append([CODES[code], self.next, a, b, c])
        self.next += 1

    def chain(self, results: list[int], inputs: int) -> _Chain | None:
        """Return the steps with their final register numbers; None if there are more registers than the kernel has."""
        total = self.next + len(self.values)
        if total > _MOST_REGISTERS:
            return None
        steps = [[step[0], *(n if n >= 0 else total + n for n in step[1:])] for step in self.steps]
        results = [n if n >= 0 else total + n for n in results]
        used = {n for step in steps for n in step[2:] if n < self.count} | {n for n in results if n < self.count}
        values = [bits for bits, _ in sorted(self.values.items(), key=lambda item: -item[1])][::-1]
        return _Chain(steps, values, results, used, inputs, total)


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
    op: Operation, chain: _Chain, loops: Loops, types: Sequence[TensorType], constants: Constants
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
        reads.append(_Operand(_NAMES[types[number].element], number, operand, number >= chain.count, array))
    writes = [
        _Operand(_NAMES[result.element], register, loops.operands[chain.count + i])
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


def _accumulated(chain: _Chain, has_reduced: bool) -> list[int] | None:
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
    return collapsed(array, operand, axes) if axes is not None else (np.asarray(array, order="C"), operand)
