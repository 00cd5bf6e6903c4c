"""Conversion of a tensor's elements to polynomials, by following the program backwards to the elements it reads.

The program may use `linalg` on tensors, and nests of `affine.for` that fill a buffer to which nothing else writes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from qrt.ir import DenseArrayAttr, DenseElementsAttr, Operation, Value
from qrt.ir.core.affine import Expression, multiply, substitute
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_number, constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp, shape_of
from qrt.ir.dialects.vector.reductions import kind_of
from qrt.ir.passes.raise_to_qrt.loops import READERS, StoredNest, extent_of, induction_variable, positions
from qrt.ir.passes.raise_to_qrt.scalars import computed
from qrt.ir.passes.raise_to_qrt.sums import Summation, constant_values, evaluated_read, loops_of
from qrt.ir.passes.raise_to_qrt.terms import (
    Accumulator,
    Indicator,
    Monomial,
    NotRaisedError,
    Polynomial,
    Read,
    Scalar,
    dimensions,
)
from qrt.types import IntegerType, MemRefType, TensorType, VectorType

_MOST_STEPS = 100
"""The longest chain of operations; those of kernels have about 20."""
_MOST_PARAMETERS = 1 << 16
"""The largest number of constants of the channels of a result."""
_TENSORS = ("bufferization.to_tensor", "bufferization.to_buffer", "tensor.cast")


class Elements:
    """Converter of tensor elements to polynomials, for a result of the shape `shape` with one loop per dimension.

    `outer` are the extents of these loops; a dynamic extent counts as 1, because no constant depends on such a loop.
    A tensor or buffer that is a key of `leaves` is not followed further: its elements are read from the tensor
    `leaves[key]`.
    """

    def __init__(self, shape: Sequence[int | None], leaves: Mapping[Value, Value]) -> None:
        self.outer = tuple(1 if size is None else size for size in shape)
        self.static = {loop for loop, size in enumerate(shape) if size is not None}
        self.leaves = leaves
        self._loops = len(self.outer)
        self._steps = 0
        self._known: dict[tuple[Value, tuple[Expression, ...]], Scalar] = {}

    def fresh(self, count: int) -> list[int]:
        """Return numbers for `count` new loops."""
        self._loops += count
        return list(range(self._loops - count, self._loops))

    def at(self, tensor: Value, indices: Sequence[Expression]) -> Scalar:
        """Return the element of a tensor or buffer at `indices`, expressions of the loops.

        Raises NotRaisedError if anything other than integer arithmetic on elements computes the element.
        """
        key = tensor, tuple(indices)
        if key not in self._known:
            with self.step():
                self._known[key] = self._computed(tensor, tuple(indices))
        return self._known[key]

    @contextmanager
    def step(self) -> Iterator[None]:
        """Count one level of a recursion within the `with` block; raise NotRaisedError beyond `_MOST_STEPS` levels."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise NotRaisedError(f"it is computed by more than {_MOST_STEPS} operations in a row")
        yield
        self._steps -= 1

    def _computed(self, tensor: Value, indices: tuple[Expression, ...]) -> Scalar:
        operation, name = tensor.operation, "" if tensor.operation is None else tensor.operation.name
        if tensor in self.leaves:
            return self._read(self.leaves[tensor], indices)
        if isinstance(tensor.type, MemRefType) and name not in ("memref.alloc", "bufferization.to_buffer"):
            raise NotRaisedError(f"it reads a buffer of {name or 'the caller'}, which others may write to")
        if operation is None:
            return self._read(tensor, indices)
        if isinstance(operation, StructuredOp):
            return _of_structured(self, operation, tensor.index, indices).element()
        if name == "bufferization.to_buffer" and any(user.name not in READERS for user in tensor.users):
            raise NotRaisedError("the buffer of a tensor is not only read")
        if name in _TENSORS:
            return self.at(operation.operands[0], indices)
        if name == "memref.alloc":
            return _of_stored(self, StoredNest.of(tensor), indices).element()
        if name == "tensor.pad":
            return self._padded(operation, indices)
        return self._read(tensor, indices)

    def _read(self, tensor: Value, indices: tuple[Expression, ...]) -> Scalar:
        element = element_of(tensor.type)
        if not isinstance(element, IntegerType):
            raise NotRaisedError(f"it reads values of type {element}, not integers")
        read = Read(tensor, indices, element.width, True)
        used = {loop for index in indices for loop in dimensions(index)}
        if constant_values(tensor) is not None and used <= self.static:
            if prod(self.outer[loop] for loop in used) > _MOST_PARAMETERS:
                raise NotRaisedError("constants differ between many elements of the result")
            values = evaluated_read(read, dict(enumerate(self.outer)))
            return Scalar(Polynomial.constant(values), element.width)
        return Scalar(Polynomial.variable(read), element.width)

    def _padded(self, pad: Operation, indices: tuple[Expression, ...]) -> Scalar:
        """Return an element of a `tensor.pad` that appends zeros along the last dimension.

        For any other padding, return a read of the padded tensor's element.
        """
        low, high = (pad.attribute(f"static_{side}", DenseArrayAttr).values for side in ("low", "high"))
        value = constant_number(pad.regions[0].blocks[0].last.operands[0]) if pad.regions[0].blocks[0].last else None
        size = (shape_of(pad.operands[0].type) or (None,))[-1]
        if any(low) or any(high[:-1]) or value != 0 or size is None:
            return self._read(pad.results[0], indices)
        inner = self.at(pad.operands[0], indices)
        inside = Polynomial.variable(Indicator(indices[-1], size))
        return Scalar(inner.value * inside, inner.width)


class _Nest:
    """Converter of the element that a loop nest computes at one iteration of its parallel loops.

    `inputs` has a function that computes each argument of the body, `names` the index expression of each induction
    variable, and `reduced` the extent of each reduced loop by its number.
    """

    def __init__(
        self,
        elements: Elements,
        inputs: dict[Value, Callable[[], Scalar]],
        names: dict[Value, Expression],
        reduced: dict[int, int],
    ) -> None:
        self.elements = elements
        self.inputs = inputs
        self.names = names
        self.reduced = reduced
        self.is_running: Callable[[Operation], bool] = lambda load: False
        self.start: Callable[[], Scalar] | None = None
        self.result: Value | None = None
        self.running = Accumulator()
        self._lanes: dict[tuple[int | None, int], int] = {}
        self._known: dict[Value, Scalar] = {}

    def element(self) -> Scalar:
        """Return the element that the nest computes."""
        assert self.result is not None
        if self.start is None:
            return self.value(self.result)
        loops, value = dict(self.reduced), self.value(self.result, is_last=True)
        used = {loop for monomial in value.value.terms for variable, _ in monomial for loop in loops_of(variable)}
        for (chunk, lanes), loop in self._lanes.items():
            loops[loop] = lanes * (1 if chunk is None else loops.pop(chunk))
            if chunk in used:
                raise NotRaisedError("a loop over chunks of vectors reads something else, too")
        accumulator: Monomial = frozenset(((self.running, 1),))
        terms = dict(value.value.terms)
        factor = terms.pop(accumulator, np.asarray(0, object))
        if np.any(factor != 1) or any(self.running is variable for monomial in terms for variable, _ in monomial):
            raise NotRaisedError("a loop does something else with its accumulator than adding to it")
        start = self.start()
        total = start.value + Summation(self.elements.outer, self.elements.static, loops).of(Polynomial(terms))
        return Scalar(total.modulo(value.width), value.width)

    def value(self, value: Value, is_last: bool = False) -> Scalar:
        """Return a scalar of the body as a polynomial, or a lane of a vector.

        `is_last` is True for the next value of the accumulator: only there may a `vector.reduction` add lanes.
        """
        if value not in self._known:
            with self.elements.step():
                self._known[value] = self._computed(value, is_last)
        return self._known[value]

    def _computed(self, value: Value, is_last: bool) -> Scalar:
        if value in self.inputs:
            return self.inputs[value]()
        operation, constant = value.operation, constant_of(value)
        if operation is None:
            raise NotRaisedError("it reads a scalar of the caller")
        if constant is not None:
            return _constant(value, constant)
        if operation.name == "affine.load":
            if self.is_running(operation):
                return Scalar(Polynomial.variable(self.running), _width(value))
            return self.elements.at(operation.operands[0], positions(operation, self.names))
        if operation.name == "vector.load":
            return self._lane(operation)
        if operation.name == "vector.reduction":
            return self._sum_of_lanes(operation, is_last)
        return computed(operation, [self.value(operand) for operand in operation.operands])

    def _lane(self, load: Operation) -> Scalar:
        vector = load.results[0].type
        assert isinstance(vector, VectorType)
        if len(vector.shape) != 1 or any(vector.scalable):
            raise NotRaisedError(f"it loads vectors of type {vector}")
        (lanes,) = vector.shape
        *before, last = positions(load, self.names)
        chunks = [loop for loop in self.reduced if last == multiply(("d", loop), lanes)]
        if not chunks and last != 0:
            raise NotRaisedError("a vector.load does not read one chunk after another")
        key = chunks[0] if chunks else None, lanes
        if key not in self._lanes:
            (self._lanes[key],) = self.elements.fresh(1)
        return self.elements.at(load.operands[0], (*before, ("d", self._lanes[key])))

    def _sum_of_lanes(self, reduction: Operation, is_last: bool) -> Scalar:
        if kind_of(reduction) != "add" or len(reduction.operands) != 2 or not is_last or len(self._lanes) > 1:
            raise NotRaisedError("a vector.reduction is not a sum that is added to the accumulator")
        lane, accumulator = map(self.value, reduction.operands)
        if accumulator.value.terms.keys() != {frozenset(((self.running, 1),))}:
            raise NotRaisedError("a vector.reduction is not a sum that is added to the accumulator")
        return Scalar(lane.value + accumulator.value, lane.width)


def _width(value: Value) -> int:
    element = element_of(value.type)
    if not isinstance(element, IntegerType):
        raise NotRaisedError(f"it computes values of type {element}, not integers")
    return element.width


def _constant(value: Value, constant: Any) -> Scalar:
    width = _width(value)
    if isinstance(constant, DenseElementsAttr):
        if not constant.is_splat:
            raise NotRaisedError("a vector constant has different lanes")
        return Scalar(Polynomial.constant(int(constant.first)), width)
    return Scalar(Polynomial.constant(int(constant.python)).modulo(width), width)


def _of_structured(elements: Elements, operation: StructuredOp, number: int, indices: Sequence[Expression]) -> _Nest:
    """Return the nest of a `linalg` op on tensors that computes the element of result `number` at `indices`."""
    maps, count = operation.indexing_maps, operation.input_count
    extents: dict[int, int] = {}
    for value, map in zip(operation.operands, maps, strict=True):
        for index, size in zip(map.results, shape_of(value.type) or (), strict=True):
            if isinstance(index, tuple) and index[0] == "d" and size is not None:
                extents[index[1]] = size
    loops: list[Expression | None] = [None] * maps[0].dimensions
    for index, place in zip(maps[count + number].results, indices, strict=True):
        if not isinstance(index, tuple) or index[0] != "d" or loops[index[1]] is not None:
            raise NotRaisedError(f"{operation.name} indexes its result by more than a loop for each dimension")
        loops[index[1]] = place
    missing = [loop for loop, place in enumerate(loops) if place is None]
    if not all(loop in extents for loop in missing):
        raise NotRaisedError(f"{operation.name} sums over a dimension of dynamic size")
    reduced = {}
    for loop, fresh in zip(missing, elements.fresh(len(missing)), strict=True):
        loops[loop], reduced[fresh] = ("d", fresh), extents[loop]
    places: list[Expression] = [place for place in loops if place is not None]
    (block,) = operation.regions[0].blocks
    inputs: dict[Value, Callable[[], Scalar]] = {}
    for value, map, argument in zip(operation.operands, maps, block.arguments, strict=True):
        inputs[argument] = _reader(elements, value, [substitute(result, places, ()) for result in map.results])
    nest = _Nest(elements, inputs, {}, reduced)
    assert block.last is not None
    nest.result = block.last.operands[number]
    if missing:
        argument = block.arguments[count + number]
        nest.start = inputs[argument]
        inputs[argument] = lambda: Scalar(Polynomial.variable(nest.running), _width(argument))
    return nest


def _reader(elements: Elements, value: Value, indices: Sequence[Expression]) -> Callable[[], Scalar]:
    if isinstance(value.type, TensorType | MemRefType):
        return lambda: elements.at(value, indices)
    return lambda: _Nest(elements, {}, {}, {}).value(value)


def _of_stored(elements: Elements, stored: StoredNest, indices: Sequence[Expression]) -> _Nest:
    names: dict[Value, Expression] = {
        induction_variable(loop): index for loop, index in zip(stored.parallel, indices, strict=True)
    }
    fresh = elements.fresh(len(stored.reduced))
    inner: dict[Value, Expression] = {
        induction_variable(loop): ("d", number) for loop, number in zip(stored.reduced, fresh, strict=True)
    }
    reduced = {number: extent_of(loop) for loop, number in zip(stored.reduced, fresh, strict=True)}
    nest = _Nest(elements, {}, names | inner, reduced)
    nest.result, nest.is_running = stored.update.operands[0], stored.is_running
    start = stored.start
    if start is not None:
        nest.start = lambda: _Nest(elements, {}, dict(names), {}).value(start.operands[0])
    return nest
