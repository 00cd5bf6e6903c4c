"""Loop nests under construction: a body of scalar operations, and around it a `linalg.generic` on tensors or an
`affine.for` nest on memrefs."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Attribute, Block, Builder, IntegerAttr, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr, Expression
from qrt.ir.core.constraints import INDEX, element_of
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.lowering import I1, I64, Array, Extent, LoweringContext, stage_location
from qrt.ir.dialects.linalg.structure import generic
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import IntegerType, Type

_LESS = list(INTEGER_PREDICATES).index("slt")
Index = Expression | Value
"""An index: an expression of the loops, or a value of type index that the body computes."""


class LoopNest(Builder):
    """A loop nest under construction: a builder in its body. The loops it keeps come first and index its results; the
    others are reduced.

    Each scalar is read through index expressions of the loops. `finish` makes the operation around the body.
    """

    def __init__(
        self, context: LoweringContext, stage: str, kept: Sequence[Extent], reduced: Sequence[Extent] = ()
    ) -> None:
        super().__init__(Block(location=context.location))
        self.context = context
        self.kept, self.reduced = tuple(kept), tuple(reduced)
        self.loops: tuple[Expression, ...] = tuple(("d", i) for i in range(len(self.kept) + len(self.reduced)))
        self._inputs: list[tuple[Value, tuple[Expression, ...], Value]] = []
        self._outputs: list[tuple[Value, Any]] = []
        self._bytes: dict[Value, Value] = {}
        self._stage = stage
        self.stage(stage)

    def split(self, axes: Sequence[int], rank: int, keepdims: bool) -> list[Expression]:
        """The indices of an operand of which ``axes`` are reduced: reduced loops along these, kept loops along the
        others. With ``keepdims`` the result has a dimension of 1 for each of them.
        """
        kept, reduced = iter(self.loops), iter(self.loops[len(self.kept) :])
        at = []
        for axis in range(rank):
            if axis in axes and keepdims:
                next(kept)  # the result's dimension of 1
            at.append(next(reduced if axis in axes else kept))
        return at

    def stage(self, name: str) -> None:
        """Operations of the body from here on belong to a stage, which their location names."""
        self.loc = stage_location(name)

    def read(self, tensor: Value, indices: Sequence[Expression]) -> Value:
        """The element of a tensor."""
        held = self.context.in_bytes(tensor)
        argument = self.block.add_argument(element_of(held.type))
        self._inputs.append((held, tuple(indices), argument))
        return self._narrowed(argument, element_of(tensor.type))

    def _narrowed(self, held: Value, element: Type) -> Value:
        """An element that is held in a byte, in its own type; `extend` reads the byte."""
        if held.type is element:
            return held
        narrow = self.value("arith.trunci", (held,), element)
        self._bytes[narrow] = held
        return narrow

    def parameter(self, values: Array, element: Type, indices: Sequence[Index]) -> Value:
        """One of several constants: a scalar if they are equal, else an element of a constant tensor, which lacks the
        dimensions along which they are equal.
        """
        if values.size and (values == values.ravel()[0]).all():
            return self.constant(values.ravel()[0], element)
        kept = list(indices)
        for axis in reversed(range(values.ndim if values.size else 0)):
            first = values.take(0, axis)
            if (values == np.expand_dims(first, axis)).all():
                values = first
                del kept[axis]
        self.context.stage(self._stage)
        table = self.context.dense(values, element)
        expressions = [index for index in kept if not isinstance(index, Value)]
        return self.read(table, expressions) if len(expressions) == len(kept) else self.gather(table, kept)

    def gather(self, tensor: Value, indices: Sequence[Index]) -> Value:
        """The element of a tensor at indices that the body computes; a loop stands for its number."""
        places = [index if isinstance(index, Value) else self.position(index) for index in indices]
        held = self.context.in_bytes(tensor)
        name, source = ("memref.load", self.context.buffer(held)) if self.context.loops else ("tensor.extract", held)
        return self._narrowed(self.value(name, (source, *places), element_of(held.type)), element_of(tensor.type))

    def position(self, loop: Expression) -> Value:
        return self.value("linalg.index", (), INDEX, {"dim": IntegerAttr(self.loops.index(loop), I64)})

    def is_before(self, end: Extent) -> Value:
        """Whether the element of a result stands before a number, in row-major order: of a nest whose loops are all
        kept."""
        limit = self.constant(end, INDEX) if isinstance(end, int) else end
        return self.compare(_LESS, self._number(), limit)

    def _number(self) -> Value:
        number = self.constant(0, INDEX)
        for loop, extent in zip(self.loops, self.kept, strict=True):
            size = self.constant(extent, INDEX) if isinstance(extent, int) else extent
            number = self.value("arith.muli", (number, size), INDEX)
            number = self.value("arith.addi", (number, self.position(loop)), INDEX)
        return number

    def compare(self, predicate: int, left: Value, right: Value) -> Value:
        return self.value("arith.cmpi", (left, right), I1, {"predicate": IntegerAttr(predicate, I64)})

    def compare_floats(self, predicate: int, left: Value, right: Value) -> Value:
        return self.value("arith.cmpf", (left, right), I1, {"predicate": IntegerAttr(predicate, I64)})

    def extend(self, value: Value, element: IntegerType, signed: bool = True) -> Value:
        """An integer in a type at least as wide."""
        if value.type is element:
            return value
        value = self._bytes.get(value, value)
        return self.value("arith.extsi" if signed else "arith.extui", (value,), element)

    def running(self, element: Type, start: Any = None) -> Value:
        """A reduced result as the earlier iterations left it, at first `start`: a number, or a tensor over the kept
        loops; None if it is not read.
        """
        argument = self.block.add_argument(element)
        self._outputs.append((argument, start))
        return argument

    def finish(self, *values: Value) -> list[Value]:
        """The results, tensors over the kept loops: what the body yields, one for each `running` in order."""
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
        maps = [self._map(indices) for _, indices, _ in self._inputs] + [self._map(self._kept_loops)] * len(starts)
        kinds = ["parallel"] * len(self.kept) + ["reduction"] * len(self.reduced)
        inputs, types = [tensor for tensor, *_ in self._inputs], [start.type for start in starts]
        return generic(self.context, inputs, starts, types, maps, kinds, Region([block]))

    @property
    def _kept_loops(self) -> tuple[Expression, ...]:
        return self.loops[: len(self.kept)]

    def _map(self, indices: Sequence[Expression]) -> AffineMapAttr:
        return AffineMapAttr(len(self.loops), 0, tuple(indices))

    def _start(self, element: Type, start: Any) -> Value:
        if start is None:
            return self.context.empty(self.kept, element)
        if isinstance(start, Value):
            return start
        return self.context.filled(self.kept, self.context.constant(start, element))

    def _read_extents(self) -> None:
        """Adds an operand whose values are not read for each reduced loop that no operand is indexed by alone: the loop
        gets its extent from it.
        """
        alone = {index for _, indices, _ in self._inputs for index in indices}
        reduced = self.loops[len(self.kept) :]
        if not alone.issuperset(reduced):
            self.read(self.context.empty(self.reduced, I1), reduced)

    # -- on buffers

    def _affine(self, values: Sequence[Value]) -> list[Value]:
        """Makes loops on buffers: the body begins with loads and ends with stores. The start of a reduction is stored
        before its loops.
        """
        context = self.context
        buffers = [context.buffer(tensor) for tensor, *_ in self._inputs]
        results = [context.allocate(self.kept, argument.type) for argument, _ in self._outputs]
        loops = _Loops(context)
        starts = [context.buffer(start) if isinstance(start, Value) else start for _, start in self._outputs]
        loops.enter(self.kept)
        for (argument, _), start, result in zip(self._outputs, starts, results, strict=True):
            if isinstance(start, Value):
                loops.store(loops.load(start, self._kept_loops), result, self._kept_loops)
            elif start is not None:
                loops.store(loops.at.constant(start, argument.type), result, self._kept_loops)
        loops.enter(self.reduced)
        loaded = {
            argument: loops.load(buffer, indices)
            for buffer, (_, indices, argument) in zip(buffers, self._inputs, strict=True)
        }
        for (argument, start), result in zip(self._outputs, results, strict=True):
            if start is not None:
                loaded[argument] = loops.load(result, self._kept_loops)
        for argument, value in loaded.items():
            argument.replace_all_uses(value)
        for operation in self.block:
            loops.take(operation)
        for value, result in zip(values, results, strict=True):
            loops.store(loaded.get(value, value), result, self._kept_loops)
        return [context.as_tensor(result) for result in results]


class _Loops:
    """`affine.for` loops being entered, and the place inside the innermost, `at`."""

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
        """Move an operation to here; the number of an iteration is that of its loop."""
        if operation.name == "linalg.index":
            operation.results[0].replace_all_uses(self._induction[operation.attributes["dim"].python])
            operation.erase()
            return
        self.at.insert(operation.detach())

    def load(self, buffer: Value, indices: Sequence[Expression]) -> Value:
        operands = (buffer, *self._induction)
        return self.at.value("affine.load", operands, element_of(buffer.type), {"map": self._map(indices)})

    def store(self, value: Value, buffer: Value, indices: Sequence[Expression]) -> None:
        self.at.emit("affine.store", (value, buffer, *self._induction), (), {"map": self._map(indices)})

    def _map(self, indices: Sequence[Expression]) -> AffineMapAttr:
        return AffineMapAttr(len(self._induction), 0, tuple(indices))
