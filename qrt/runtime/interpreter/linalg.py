"""Handlers of ``linalg``: loop nests that run on whole arrays. Results have the bits of a loop over single elements.

The body runs on arrays instead of scalars: one array per operand, viewed through its indexing map. All iterations of
the parallel loops (those that index every output) are computed at once. Reduction loops run one iteration at a time in
the order of the nest, unless a faster algorithm gives the same bits: integers are summed in any order, and floats by a
running sum. A body that is not elementwise runs iteration by iteration.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantError, UndefinedError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import plain_loops
from qrt.ir.dialects.linalg.ops import STRUCTURED_OPS, StructuredOp
from qrt.ops.core import Array, element_dtype
from qrt.runtime.interpreter.buffers import require_unfreed, require_writeable
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Step, raise_located
from qrt.runtime.loops import Shape, element, extents, grid, sums_of_products, view
from qrt.runtime.operations import failure
from qrt.types import FloatType, IntegerType, MemRefType, TensorType, VectorType

_ELEMENTWISE = ("arith", "math")
_ASSOCIATIVE = frozenset(
    f"arith.{name}"
    for name in ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "maximumf", "minimumf")
)
"""The ops that may combine values in any order."""
_RUNNING = {"arith.addf": np.add, "arith.mulf": np.multiply}
"""The ops that NumPy accumulates in order, rounding after each step."""
_RUNNING_TYPES = (FloatType("f32"), FloatType("f64"))

_LARGE = 4096
"""The output size from which computing one reduced iteration at a time is as fast as computing all at once."""
_BLOCK = 1 << 15
"""The number of independent iterations that are computed at once."""
_PART = 1 << 22
"""The number of iterations of a reduction that are computed at once."""


def is_elementwise(operations: Sequence[Operation]) -> bool:
    """Return True if all operations give the same results on arrays as on scalars."""
    return all(
        (op.name.partition(".")[0] in _ELEMENTWISE or op.name in ("linalg.index", "tensor.extract"))
        and not any(isinstance(value.type, TensorType | VectorType | MemRefType) for value in op.results)
        for op in operations
    )


class Combiner:
    """The reduction at the end of a loop body, such as `yield out + value`, applied to many values at once."""

    def __init__(self, op: Operation, out: Value, rest: Sequence[Operation], compiler: Compiler) -> None:
        self.name = op.name
        self.type = op.results[0].type
        (value,) = (operand for operand in op.operands if operand is not out)
        self.steps = compiler.steps(rest)
        self.factors: list[int] | None = None
        self.factor_steps: list[Step] = []
        source = value.operation
        is_product = op.name == "arith.addi" and source is not None and source.name == "arith.muli" and source in rest
        if source is not None and is_product and not _is_bool(self.type) and len(value.uses) == 1:
            self.factors = [compiler.slot(factor) for factor in source.operands]
            self.factor_steps = compiler.steps(other for other in rest if other is not source)
        (self._step,) = compiler.steps([op])
        self.value = compiler.slot(value)
        self._out, self._result = compiler.slot(out), compiler.slot(op.results[0])

    @classmethod
    def of(cls, op: Operation, compiler: Compiler) -> "Combiner | None":
        """Return the combiner of an elementwise body.

        Return None if no combiner is known to give the same bits as running one iteration after the other.
        """
        *operations, last = op.regions[0].blocks[0].operations
        if len(last.operands) != 1:
            return None
        out = op.regions[0].blocks[0].arguments[-1]
        combine = last.operands[0].operation
        if combine is None or combine not in operations or len(out.uses) != 1 or next(iter(out.uses))[0] is not combine:
            return None
        running = combine.name in _RUNNING and combine.results[0].type in _RUNNING_TYPES
        if combine.name not in _ASSOCIATIVE and not running:
            return None
        return cls(combine, out, [other for other in operations if other is not combine], compiler)

    def combine(self, frame: Frame, left: Any, right: Any) -> Any:
        given = frame[self.value]  # restored below: the slot may be that of a constant or of a value outside the body
        frame[self._out], frame[self.value] = left, right
        self._step(frame)
        frame[self.value] = given
        return frame[self._result]

    def fold(self, frame: Frame, out: Any, values: Array) -> Any:
        """Combine `out` with all values along their first axis."""
        if self.name in _RUNNING:
            start = np.broadcast_to(out, values.shape[1:])[np.newaxis]
            sums = _RUNNING[self.name].accumulate(np.concatenate([start, values]), axis=0)[-1]
            return np.where(np.isnan(sums), sums.dtype.type(np.nan), sums)  # a positive NaN, as when each op runs
        while len(values) > 1:
            half = len(values) // 2
            if len(values) % 2:
                out = self.combine(frame, out, values[-1])
            values = self.combine(frame, values[:half], values[half : 2 * half])
        return self.combine(frame, out, values[0])

    def wrapped(self, sums: Array) -> Array:
        """Wrap 64-bit sums to the width of the result's integer type."""
        width = self.type.width if isinstance(self.type, IntegerType) else 64
        if width < 64:
            half = 1 << (width - 1)
            sums = ((sums + half) & ((1 << width) - 1)) - half
        return sums.astype(element_dtype(self.type))


def _is_bool(type: object) -> bool:
    return isinstance(type, IntegerType) and type.width == 1


class LoopNest:
    """A compiled structured op: its body as a function of arrays, and methods that run its loops."""

    def __init__(self, op: Operation, compiler: Compiler) -> None:
        assert isinstance(op, StructuredOp)  # other ops have other builders
        self.op = op
        self.maps, self.inputs = op.indexing_maps, op.input_count
        self.loops = len(op.iterators)
        self.operands = [compiler.slot(value) for value in op.operands]
        self.results = [compiler.slot(value) for value in op.results]
        is_memref = [isinstance(value.type, MemRefType) for value in op.operands]
        self.may_be_freed = [number for number, it_is in enumerate(is_memref) if it_is and compiler.code.frees]
        (block,) = op.regions[0].blocks
        self.arguments = [compiler.slot(value) for value in block.arguments]
        self.indices = [
            (compiler.slot(inner.results[0]), inner.attributes["dim"].python)
            for inner in block
            if inner.name == "linalg.index"
        ]
        self.body = compiler.region(op.regions[0])
        plain = [plain_loops(map) for map in self.maps[self.inputs :]]
        self.outputs = [loops for loops in plain if loops is not None]
        alike = len(self.outputs) == len(plain) and len({frozenset(loops) for loops in self.outputs}) == 1
        self.at_once = alike and is_elementwise(block.operations[:-1])
        self.parallel = sorted(self.outputs[0]) if alike else []
        self.reduced = [loop for loop in range(self.loops) if loop not in self.parallel]
        self.combiner = Combiner.of(op, compiler) if self.at_once and self.reduced else None
        self._known: tuple[list[Shape], Shape] | None = None

    def step(self, frame: Frame) -> None:
        values = [frame[slot] for slot in self.operands]
        try:
            loops = self._extents([np.shape(value) for value in values])
        except UndefinedError as error:
            raise_located(self.op, error)
        except QuantError as error:
            raise failure(self.op, str(error)) from None
        try:
            results = self._run(frame, values, loops)
        except UndefinedError as error:  # of the operands' memory; errors in the body already name their op
            raise_located(self.op, error)
        for slot, result in zip(self.results, results if self.results else (), strict=True):
            frame[slot] = result

    def _extents(self, shapes: list[Shape]) -> Shape:
        known = self._known
        if known is None or known[0] != shapes:
            known = self._known = shapes, extents(self.maps, shapes)
        return known[1]

    def _run(self, frame: Frame, values: list[Any], loops: Shape) -> list[Any]:
        if 0 in loops:
            return values[self.inputs :]
        for number in self.may_be_freed:
            require_unfreed(values[number])
        if not self.results:
            for value in values[self.inputs :]:
                require_writeable(value)
        if not self.at_once or self._interferes(values):
            return self._iterate(frame, values, loops)
        views = [view(value, map, loops) for value, map in zip(values, self.maps, strict=True)]
        if not self.reduced:
            return self._map(frame, values, views, loops)
        results = self._combine(frame, views, loops) or self._reduce(frame, views, loops)
        targets = self._targets(values)
        for (_, target), array in zip(targets, results, strict=True):
            target[...] = array
        return [output for output, _ in targets]

    def _place(self, frame: Frame, positions: Sequence[Any]) -> None:
        """Set the results of the body's `linalg.index` ops to the indices of their loops."""
        for slot, loop in self.indices:
            frame[slot] = positions[loop]

    def _interferes(self, values: list[Any]) -> bool:
        """Return True if an iteration may read an element that another iteration writes, because buffers overlap.

        An operand may be the output's own buffer with the same indexing map. It does not interfere if there are no
        reduced loops, because each iteration then reads only the element that it writes.
        """
        if self.results:
            return False
        for number in range(self.inputs, len(values)):
            for other, value in enumerate(values):
                if other == number or not np.may_share_memory(value, values[number]):
                    continue
                if self.reduced or self.maps[other] != self.maps[number] or not _is_same(value, values[number]):
                    return True
        return False

    def _iterate(self, frame: Frame, values: list[Any], loops: Shape) -> list[Any]:
        """Run one iteration after another on scalars, and return the outputs."""
        if self.results:
            values = [*values[: self.inputs], *(value.copy() for value in values[self.inputs :])]
        pairs = list(zip(values, self.maps, strict=True))
        for index in product(*map(range, loops)):
            self._place(frame, [np.int64(position) for position in index])
            scalars = [value[element(of, index)] if isinstance(value, np.ndarray) else value for value, of in pairs]
            for (output, of), result in zip(pairs[self.inputs :], self.body.run(frame, scalars), strict=True):
                output[element(of, index)] = result
        return values[self.inputs :]

    def _map(self, frame: Frame, values: list[Any], views: list[Any], loops: Shape) -> list[Any]:
        """Run independent iterations on arrays, in parts that fit the CPU's cache, and return the outputs."""
        targets = self._targets(values)
        longest = max(range(self.loops), key=loops.__getitem__, default=0)
        for where, _, pieces, positions in self._parts(views, loops, longest, _BLOCK):
            self._place(frame, positions)
            for (_, target), result in zip(targets, self.body.run(frame, pieces), strict=True):
                target[where] = result
        return [output for output, _ in targets]

    def _reduce(self, frame: Frame, views: list[Any], loops: Shape) -> list[Any]:
        """Run the reduced loops one iteration at a time, on arrays over the parallel loops, and return the outputs."""
        arrays = [self._reduced_first(array, loops) for array in views]
        totals = [array[(0,) * len(self.reduced)] for array in arrays[self.inputs :]]
        positions: list[Any] = [None] * self.loops
        for loop, position in zip(self.parallel, grid(tuple(loops[loop] for loop in self.parallel)), strict=True):
            positions[loop] = position
        for index in product(*(range(loops[loop]) for loop in self.reduced)):
            for loop, at in zip(self.reduced, index, strict=True):
                positions[loop] = np.int64(at)
            self._place(frame, positions)
            totals = self.body.run(frame, [*(array[index] for array in arrays[: self.inputs]), *totals])
        return totals

    def _reduced_first(self, array: Any, loops: Shape) -> Array:
        array = _of_rank(array, self.loops).transpose(*self.reduced, *self.parallel)
        return np.broadcast_to(array, [loops[loop] for loop in self.reduced] + list(array.shape[len(self.reduced) :]))

    def _combine(self, frame: Frame, views: list[Any], loops: Shape) -> list[Any] | None:
        """Compute the values to be combined for all iterations at once, then combine them with the output.

        Return None if the body has no combiner, or the parallel loops are so long that `_reduce` is as fast.
        """
        combiner = self.combiner
        if combiner is None:
            return None
        out = self._reduced_first(views[-1], loops)[(0,) * len(self.reduced)]
        if combiner.factors is not None:
            self._evaluate(combiner.factor_steps, frame, views, grid(loops))
            x, y = (_of_rank(frame[slot], self.loops) for slot in combiner.factors)
            sums = sums_of_products(x, y, self.reduced, loops)
            if sums is not None:
                return [combiner.combine(frame, out, combiner.wrapped(sums))]
        if prod(loops[loop] for loop in self.parallel) >= _LARGE:
            return None
        for _, sizes, pieces, positions in self._parts(views, loops, self.reduced[0], _PART):
            self._evaluate(combiner.steps, frame, pieces, positions)
            terms = np.broadcast_to(frame[combiner.value], sizes).transpose(*self.reduced, *self.parallel)
            out = combiner.fold(frame, out, terms.reshape(-1, *terms.shape[len(self.reduced) :]))
        return [out]

    def _evaluate(self, steps: Sequence[Step], frame: Frame, views: list[Any], positions: Sequence[Any]) -> None:
        for slot, value in zip(self.arguments, views, strict=True):
            frame[slot] = value
        self._place(frame, positions)
        for step in steps:
            step(frame)

    def _parts(
        self, views: list[Any], loops: Shape, axis: int, limit: int
    ) -> Iterator[tuple[tuple[slice, ...], Shape, list[Any], list[Array]]]:
        """Yield parts of the iteration space, cut along loop ``axis``, of about `limit` iterations each.

        A part is (index of its elements, extents of its loops, operands in the part, indices of each loop in the part).
        """
        positions = grid(loops)
        length = max(1, limit * loops[axis] // prod(loops)) if loops else 1
        if not loops or length >= loops[axis]:
            yield (), loops, views, positions
            return
        for start in range(0, loops[axis], length):
            stop = min(start + length, loops[axis])
            where = (slice(None),) * axis + (slice(start, stop),)
            yield (
                where,
                (*loops[:axis], stop - start, *loops[axis + 1 :]),
                [array[where] if np.ndim(array) and array.shape[axis] > 1 else array for array in views],
                [array[where] if array.shape[axis] > 1 else array for array in positions],
            )

    def _targets(self, values: list[Any]) -> list[tuple[Array, Array]]:
        """Return, for each output, the array to return (a new tensor or the caller's buffer) and a view to write into.

        The view has the parallel loops as axes, in order.
        """
        outputs = values[self.inputs :]
        if self.results:
            outputs = [np.empty(value.shape, value.dtype) for value in outputs]
        return [
            (output, output.transpose([plain.index(loop) for loop in self.parallel]))
            for output, plain in zip(outputs, self.outputs, strict=True)
        ]


def _is_same(left: Array, right: Array) -> bool:
    return left.__array_interface__["data"] == right.__array_interface__["data"] and left.strides == right.strides


def _of_rank(array: Any, rank: int) -> Array:
    """Return an array over the loops unchanged, and a scalar as an array of size 1 in each of ``rank`` axes."""
    return array if np.ndim(array) == rank else np.reshape(array, (1,) * rank)


def _loop_nest(op: Operation, compiler: Compiler) -> Step:
    return LoopNest(op, compiler).step


def _index(op: Operation, compiler: Compiler) -> Step:
    """Return a step that does nothing: the surrounding loop nest sets the result of `linalg.index`."""
    return lambda frame: None


STRUCTURED: dict[str, Builder] = dict.fromkeys(STRUCTURED_OPS, _loop_nest)
STRUCTURED["linalg.index"] = _index
