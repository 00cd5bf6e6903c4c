"""Builder of loop nests: a `linalg.generic` on tensors, or `affine.for` loops on memrefs, around scalar operations."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Attribute, Block, Builder, IntegerAttr, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr, Expression
from qrt.ir.core.constraints import INDEX, element_of
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.lowering import I1, I64, Array, Extent, LoweringContext, stage_location
from qrt.ir.dialects.linalg.structure import generic
from qrt.numerics.comparisons import INTEGER_PREDICATES
from qrt.types import IntegerType, Type, VectorType

_LESS = list(INTEGER_PREDICATES).index("slt")
Index = Expression | Value
"""An index: an expression of the loops, or a value of type index that the body computes."""


class LoopNest(Builder):
    """Builder of the body of a loop nest: parallel loops, which index the results, around reduced loops.

    The body reads scalars from tensors, at indices that are affine expressions over the loops. `finish` builds the
    loops around the body.
    """

    def __init__(
        self, context: LoweringContext, stage: str, parallel: Sequence[Extent], reduced: Sequence[Extent] = ()
    ) -> None:
        super().__init__(Block(location=context.location))
        self.context = context
        self.parallel, self.reduced = tuple(parallel), tuple(reduced)
        self.loops: tuple[Expression, ...] = tuple(("d", i) for i in range(len(self.parallel) + len(self.reduced)))
        self._inputs: list[tuple[Value, tuple[Expression, ...], Value]] = []
        self._outputs: list[tuple[Value, Any]] = []
        self._bytes: dict[Value, Value] = {}
        self._stage = stage
        self.stage(stage)

    def split(self, axes: Sequence[int], rank: int, keepdims: bool) -> list[Expression]:
        """Return the loop that runs along each of an operand's `rank` dimensions, as an affine expression.

        It is a reduced loop for the dimensions in `axes`, else a parallel loop. With `keepdims`, the result has a
        dimension of size 1 for each reduced axis.
        """
        parallel, reduced = iter(self.loops), iter(self.loops[len(self.parallel) :])
        at = []
        for axis in range(rank):
            if axis in axes and keepdims:
                next(parallel)  # the result's dimension of 1
            at.append(next(reduced if axis in axes else parallel))
        return at

    def stage(self, name: str) -> None:
        """Set the location of the operations that follow to a stage of the lowering, such as "requantize"."""
        self.loc = stage_location(name)

    def read(self, tensor: Value, indices: Sequence[Expression]) -> Value:
        """Return the element of a tensor at indices that are affine expressions over the loops."""
        source = self.context.in_bytes(tensor)
        argument = self.block.add_argument(element_of(source.type))
        self._inputs.append((source, tuple(indices), argument))
        return self._narrowed(argument, element_of(tensor.type))

    def read_vector(self, tensor: Value, indices: Sequence[Expression], length: int) -> Value:
        """Return a vector of `length` elements along the last dimension of a tensor, beginning at `indices`.

        This is for loops on buffers: a `linalg.generic` cannot load vectors.
        """
        argument = self.block.add_argument(VectorType((length,), element_of(tensor.type)))
        self._inputs.append((tensor, tuple(indices), argument))
        return argument

    def _narrowed(self, element_in_byte: Value, element: Type) -> Value:
        """Truncate an element that was loaded as a byte to the narrower type `element`, and return the result.

        The method `extend` extends the byte instead of this result, so the truncation may remain unused; `finish` then
        erases it.
        """
        if element_in_byte.type is element:
            return element_in_byte
        narrow = self.value("arith.trunci", (element_in_byte,), element)
        self._bytes[narrow] = element_in_byte
        return narrow

    def parameter(self, values: Array, element: Type, indices: Sequence[Index]) -> Value:
        """Return the element of the array `values` at the indices, in the body of the nest.

        This is a constant if all values are equal. Otherwise a constant tensor is read, without the axes along which
        the values are equal.
        """
        if values.size and (values == values.ravel()[0]).all():
            return self.constant(values.ravel()[0], element)
        table_indices = list(indices)
        for axis in reversed(range(values.ndim if values.size else 0)):
            first = values.take(0, axis)
            if (values == np.expand_dims(first, axis)).all():
                values = first
                del table_indices[axis]
        self.context.stage(self._stage)
        table = self.context.dense(values, element)
        expressions = [index for index in table_indices if not isinstance(index, Value)]
        return (
            self.read(table, expressions)
            if len(expressions) == len(table_indices)
            else self.gather(table, table_indices)
        )

    def gather(self, tensor: Value, indices: Sequence[Index]) -> Value:
        """Return the element of a tensor at indices that are loop positions, or values that the body computes."""
        places = [index if isinstance(index, Value) else self.position(index) for index in indices]
        stored = self.context.in_bytes(tensor)
        is_affine = self.context.loops
        name, source = ("memref.load", self.context.buffer(stored)) if is_affine else ("tensor.extract", stored)
        return self._narrowed(self.value(name, (source, *places), element_of(stored.type)), element_of(tensor.type))

    def position(self, loop: Expression) -> Value:
        """Return the current iteration number of a loop, a value of type index."""
        return self.value("linalg.index", (), INDEX, {"dim": IntegerAttr(self.loops.index(loop), I64)})

    def is_before(self, end: Extent) -> Value:
        """Return an i1 value: true if the row-major position of the current result element is less than `end`.

        The nest must have no reduced loops.
        """
        limit = self.constant(end, INDEX) if isinstance(end, int) else end
        return self.compare(_LESS, self._number(), limit)

    def _number(self) -> Value:
        number = self.constant(0, INDEX)
        for loop, extent in zip(self.loops, self.parallel, strict=True):
            size = self.constant(extent, INDEX) if isinstance(extent, int) else extent
            number = self.value("arith.muli", (number, size), INDEX)
            number = self.value("arith.addi", (number, self.position(loop)), INDEX)
        return number

    def compare(self, predicate: int, left: Value, right: Value) -> Value:
        return self.value("arith.cmpi", (left, right), I1, {"predicate": IntegerAttr(predicate, I64)})

    def compare_floats(self, predicate: int, left: Value, right: Value) -> Value:
        return self.value("arith.cmpf", (left, right), I1, {"predicate": IntegerAttr(predicate, I64)})

    def extend(self, value: Value, element: IntegerType, signed: bool = True) -> Value:
        """Extend an integer, by its sign if `signed` and else by zeros, to a type that is at least as wide."""
        if value.type is element:
            return value
        value = self._bytes.get(value, value)
        return self.value("arith.extsi" if signed else "arith.extui", (value,), element)

    def extend_vector(self, value: Value, element: IntegerType, signed: bool) -> Value:
        """Extend a vector of integers, by their sign or by zeros, to a wider type."""
        type = value.type
        assert isinstance(type, VectorType)
        return self.value("arith.extsi" if signed else "arith.extui", (value,), VectorType(type.shape, element))

    def running(self, element: Type, start: Any = None) -> Value:
        """Add a result to the nest, and return its accumulator: the value after the earlier reduced iterations.

        `start` is the initial value: a number, a tensor over the parallel loops, or None if the body does not read it.
        """
        argument = self.block.add_argument(element)
        self._outputs.append((argument, start))
        return argument

    def finish(self, *values: Value) -> list[Value]:
        """Finish the nest and return its results, tensors over the parallel loops.

        `values` are what the body yields: the new value of each `running` accumulator, in order, then results that are
        not reduced.
        """
        for value in values[len(self._outputs) :]:
            self.running(value.type)
        for narrow in self._bytes:
            if not narrow.uses and narrow not in values and narrow.operation is not None:
                narrow.operation.erase()
        self.context.stage(self._stage)
        return self._affine(values) if self.context.loops else self._generic(values)

    # -- on tensors

    def _generic(self, values: Sequence[Value]) -> list[Value]:
        self._read_extents()
        starts = [self._start(argument.type, start) for argument, start in self._outputs]
        block = self.block
        block.set_arguments([argument for *_, argument in self._inputs] + [argument for argument, _ in self._outputs])
        self.emit("linalg.yield", values)
        maps = [self._map(indices) for _, indices, _ in self._inputs] + [self._map(self._parallel_loops)] * len(starts)
        kinds = ["parallel"] * len(self.parallel) + ["reduction"] * len(self.reduced)
        inputs, types = [tensor for tensor, *_ in self._inputs], [start.type for start in starts]
        return generic(self.context, inputs, starts, types, maps, kinds, Region([block]))

    @property
    def _parallel_loops(self) -> tuple[Expression, ...]:
        return self.loops[: len(self.parallel)]

    def _map(self, indices: Sequence[Expression]) -> AffineMapAttr:
        return AffineMapAttr(len(self.loops), 0, tuple(indices))

    def _start(self, element: Type, start: Any) -> Value:
        if start is None:
            return self.context.empty(self.parallel, element)
        if isinstance(start, Value):
            return start
        return self.context.filled(self.parallel, self.context.constant(start, element))

    def _read_extents(self) -> None:
        """Add an input whose shape gives the numbers of iterations of the reduced loops; its elements are not used.

        A `linalg.generic` needs this input only if no other input has a dimension that is indexed by such a loop alone.
        """
        alone = {index for _, indices, _ in self._inputs for index in indices}
        reduced = self.loops[len(self.parallel) :]
        if not alone.issuperset(reduced):
            self.read(self.context.empty(self.reduced, I1), reduced)

    # -- on buffers

    def _affine(self, values: Sequence[Value]) -> list[Value]:
        """Build `affine.for` loops on buffers, with loads at the beginning of their body and stores at its end.

        The initial value of an accumulator is stored before the reduced loops.
        """
        context = self.context
        buffers = [context.buffer(tensor) for tensor, *_ in self._inputs]
        results = [context.allocate(self.parallel, argument.type) for argument, _ in self._outputs]
        loops = _Loops(context)
        starts = [context.buffer(start) if isinstance(start, Value) else start for _, start in self._outputs]
        loops.enter(self.parallel)
        for (argument, _), start, result in zip(self._outputs, starts, results, strict=True):
            if isinstance(start, Value):
                loops.store(loops.load(start, self._parallel_loops, argument.type), result, self._parallel_loops)
            elif start is not None:
                loops.store(loops.at.constant(start, argument.type), result, self._parallel_loops)
        loops.enter(self.reduced)
        loaded = {
            argument: loops.load(buffer, indices, argument.type)
            for buffer, (_, indices, argument) in zip(buffers, self._inputs, strict=True)
        }
        for (argument, start), result in zip(self._outputs, results, strict=True):
            if start is not None:
                loaded[argument] = loops.load(result, self._parallel_loops, argument.type)
        for argument, value in loaded.items():
            argument.replace_all_uses(value)
        for operation in self.block:
            loops.take(operation)
        for value, result in zip(values, results, strict=True):
            loops.store(loaded.get(value, value), result, self._parallel_loops)
        return [context.as_tensor(result) for result in results]


class _Loops:
    """A nest of `affine.for` loops, built from the outermost inwards; `at` is the builder in the innermost body."""

    def __init__(self, builder: Builder) -> None:
        self.at = builder
        self._induction: list[Value] = []

    def enter(self, extents: Sequence[Extent]) -> None:
        for extent in extents:
            bounds = [extent] if isinstance(extent, Value) else []
            body = Block([INDEX], self.at.location)
            attributes: dict[str, Attribute] = {
                "lowerBoundMap": AffineMapAttr(0, 0, (0,)),
                "upperBoundMap": AffineMapAttr(0, 1, (("s", 0),))
                if isinstance(extent, Value)
                else AffineMapAttr(0, 0, (extent,)),
                "step": IntegerAttr(1, INDEX),
                OPERAND_SEGMENTS: segments(0, len(bounds), 0),
            }
            self.at.emit("affine.for", bounds, (), attributes, [Region([body])])
            inside = Builder(body)
            inside.before = inside.emit("affine.yield")
            inside.loc = self.at.loc
            self.at = inside
            self._induction.append(body.arguments[0])

    def take(self, operation: Operation) -> None:
        """Move an operation into the innermost loop; replace a `linalg.index` by the induction variable of its loop."""
        if operation.name == "linalg.index":
            operation.results[0].replace_all_uses(self._induction[operation.attributes["dim"].python])
            operation.erase()
            return
        self.at.insert(operation.detach())

    def load(self, buffer: Value, indices: Sequence[Expression], type: Type) -> Value:
        if isinstance(type, VectorType):
            return self.at.value("vector.load", (buffer, *map(self._position, indices)), type)
        operands = (buffer, *self._induction)
        return self.at.value("affine.load", operands, type, {"map": self._map(indices)})

    def _position(self, index: Expression) -> Value:
        if isinstance(index, int):
            return self.at.constant(index, INDEX)
        if index[0] == "d":
            return self._induction[index[1]]
        return self.at.value("affine.apply", self._induction, INDEX, {"map": self._map([index])})

    def store(self, value: Value, buffer: Value, indices: Sequence[Expression]) -> None:
        self.at.emit("affine.store", (value, buffer, *self._induction), (), {"map": self._map(indices)})

    def _map(self, indices: Sequence[Expression]) -> AffineMapAttr:
        return AffineMapAttr(len(self._induction), 0, tuple(indices))
