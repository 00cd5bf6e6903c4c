"""Handlers of ``vector`` on arrays.

A reduction combines elements one after another in the order of their indices. A contraction multiplies and adds in the
order of its dimensions, and rounds each product and each sum.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir import Operation
from qrt.ir.dialects.vector.contract import iterators_of, maps_of
from qrt.ir.dialects.vector.elements import slice_of
from qrt.ir.dialects.vector.reductions import combination, kind_of
from qrt.ir.dialects.vector.transfers import is_in_bounds, is_plain, permutation_of
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.ops.core import Array, element_dtype
from qrt.ops.elementwise import bind
from qrt.runtime.interpreter.buffers import require_writeable
from qrt.runtime.interpreter.core import Compiler, Function, Handler
from qrt.runtime.interpreter.memref import checked
from qrt.runtime.values import as_tensor, of_rank, spelled
from qrt.types import FloatType, IndexType, TensorType, Type

# -- reductions --------------------------------------------------------------------------------------------------------


def _combine(op: Operation) -> Function:
    """Return the function that combines the running value of an op's reduction with one more element."""
    element = as_tensor(op.results[0].type).element
    return bind(combination(op), [element, element], [element])


def _fold(combine: Function, values: Array, axes: Sequence[int], start: Any) -> Any:
    """Combine values along ``axes`` one after another, beginning with ``start``.

    If ``start`` is None, the first value takes its place.
    """
    parallel = [axis for axis in range(values.ndim) if axis not in axes]
    shape = tuple(values.shape[axis] for axis in parallel)
    total = start
    for row in values.transpose((*sorted(axes), *parallel)).reshape((-1, *shape)):
        total = row if total is None else combine(total, row)
    return total


def _reduction(op: Operation, compiler: Compiler) -> Function:
    vector = vector_of(op.operands[0])
    combine, axes = _combine(op), range(len(vector.shape))
    # A float sum begins with 0.0, as upstream's lowering does: a sum of negative zeros is positive.
    is_sum = kind_of(op) == "add" and isinstance(vector.element, FloatType)
    zero = element_dtype(vector.element).type(0) if is_sum else None
    return lambda values, start=zero: _fold(combine, values, axes, start)[()]


def _multi_reduction(op: Operation, compiler: Compiler) -> Function:
    axes, combine = integers(op, "reduction_dims"), _combine(op)
    return lambda values, start: of_rank(np.asarray(_fold(combine, values, axes, start)), op.results[0].type)


def _contract(op: Operation, compiler: Compiler) -> Function:
    elements = {as_tensor(value.type).element for value in op.operands}
    if len(elements) > 1:
        raise QuantTypeError(
            f"the interpreter requires operands of one element type, got {', '.join(sorted(map(str, elements)))}"
        )
    (element,) = elements
    multiply = bind(f"arith.mul{'f' if isinstance(element, FloatType) else 'i'}", [element, element], [element])
    combine = _combine(op)
    rank = len(iterators_of(op))
    axes = [tuple(result[1] for result in map.results if isinstance(result, tuple)) for map in maps_of(op)]
    reduced = [axis for axis, kind in enumerate(iterators_of(op)) if kind == "reduction"]
    parallel = [axis for axis in range(rank) if axis not in reduced]
    order = [parallel.index(axis) for axis in axes[2]]

    def spread(array: Array, along: tuple[int, ...]) -> Array:
        missing = [axis for axis in range(rank) if axis not in along]
        return np.expand_dims(array.transpose(np.argsort(along)), missing)

    def contract(left: Array, right: Array, start: Any) -> Any:
        products = np.asarray(multiply(spread(left, axes[0]), spread(right, axes[1])))
        total = _fold(combine, products, reduced, np.asarray(start).transpose(np.argsort(order)))
        return of_rank(np.asarray(total).transpose(order), op.results[0].type)

    return contract


# -- shapes ------------------------------------------------------------------------------------------------------------


def _broadcast(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.results[0]).shape
    return lambda source: np.broadcast_to(source, shape)


def _transpose(op: Operation, compiler: Compiler) -> Function:
    order = integers(op, "permutation")
    return lambda array: array.transpose(order)


def _shape_cast(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.results[0]).shape
    return lambda array: array.reshape(shape)


def _position(op: Operation, shape: Sequence[int], first: int) -> Callable[[Sequence[Any]], tuple[int, ...]]:
    """Return a function from an op's operand values to the position of a vector element, checked against ``shape``.

    The dynamic indices of the position are the operands from number ``first`` on.
    """
    static = integers(op, "static_position")

    def position(operands: Sequence[Any]) -> tuple[int, ...]:
        following = iter(operands[first:])
        indices = tuple(int(next(following)) if index == DYNAMIC else index for index in static)
        for index, size in zip(indices, shape, strict=False):
            if not 0 <= index < size:
                raise UndefinedError(f"position {list(indices)} is out of bounds of shape {list(shape)}")
        return indices

    return position


def _extract(op: Operation, compiler: Compiler) -> Function:
    position = _position(op, vector_of(op.operands[0]).shape, 1)
    return lambda *operands: operands[0][position(operands)]


def _insert(op: Operation, compiler: Compiler) -> Function:
    position = _position(op, vector_of(op.operands[1]).shape, 2)

    def insert(*operands: Any) -> Array:
        inserted: Array = np.array(operands[1])
        inserted[position(operands)] = operands[0]
        return inserted

    return insert


def _extract_strided_slice(op: Operation, compiler: Compiler) -> Function:
    where = slice_of(op)
    return lambda array: array[where]


def _insert_strided_slice(op: Operation, compiler: Compiler) -> Function:
    where = slice_of(op)

    def insert(part: Array, array: Array) -> Array:
        inserted: Array = np.array(array)
        inserted[where] = part
        return inserted

    return insert


def _from_elements(op: Operation, compiler: Compiler) -> Function:
    type = vector_of(op.results[0])
    dtype = element_dtype(type.element)
    return lambda *elements: np.array(elements, dtype).reshape(type.shape)


def _to_elements(op: Operation, compiler: Compiler) -> Function:
    several = len(op.results) > 1
    return lambda array: tuple(array.reshape(-1)) if several else array.reshape(-1)[0]


def _interleave(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.results[0]).shape
    return lambda left, right: np.stack([left, right], axis=-1).reshape(shape)


def _shuffle(op: Operation, compiler: Compiler) -> Function:
    mask = integers(op, "mask")
    if -1 in mask:
        raise UndefinedError("'mask' has -1, a poison lane, which has no value")
    return lambda left, right: np.concatenate([np.atleast_1d(left), np.atleast_1d(right)])[list(mask)]


def _fma(op: Operation, compiler: Compiler) -> Function:
    element = vector_of(op.operands[0]).element
    return bind("math.fma", [element] * 3, [element])


# -- masks -------------------------------------------------------------------------------------------------------------


def _mask(shape: Sequence[int], sizes: Sequence[int]) -> Array:
    mask = np.zeros(shape, np.bool_)
    mask[tuple(slice(0, max(0, size)) for size in sizes[: len(shape)])] = all(size > 0 for size in sizes)
    return mask


def _create_mask(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.results[0]).shape
    return lambda *sizes: _mask(shape, [int(size) for size in sizes])


def _constant_mask(op: Operation, compiler: Compiler) -> Function:
    mask = _mask(vector_of(op.results[0]).shape, integers(op, "mask_dim_sizes"))
    return lambda: mask


def _step(op: Operation, compiler: Compiler) -> Function:
    numbers = np.arange(vector_of(op.results[0]).shape[0], dtype=np.int64)
    return lambda: numbers


# -- memory ------------------------------------------------------------------------------------------------------------


class _Transfer:
    """The mapping from the elements (lanes) of a vector to elements of memory, in a transfer read or write."""

    def __init__(self, op: Operation, vector: Type) -> None:
        if not is_plain(op):
            raise QuantTypeError(
                "the interpreter does not support a vector whose element type differs from that of the memory, got "
                f"{vector}"
            )
        self.shape = shape_of(vector)
        self.permutation = permutation_of(op)
        self.in_bounds = is_in_bounds(op)
        used = [axis for axis in self.permutation if axis is not None]
        self._masked = [used.index(axis) for axis in sorted(used)]

    def lanes(self, memory: Array, start: Sequence[Any], mask: Array | None) -> tuple[list[Any], Array]:
        """Return (for each dimension of memory, the index of every lane; a mask of the lanes to transfer).

        ``start`` is the index of the first lane. A lane out of bounds is masked, or raises UndefinedError in a
        dimension that the op declares as in bounds.
        """
        indices: list[Any] = [np.int64(index) for index in start]
        there = np.broadcast_to(np.True_ if mask is None else self._spread(mask), self.shape)
        for axis, place in enumerate(self.permutation):
            if place is not None:
                steps = np.arange(self.shape[axis]).reshape([-1] + [1] * (len(self.shape) - 1 - axis))
                indices[place] = indices[place] + steps
        for place, size in enumerate(memory.shape):
            within = (indices[place] >= 0) & (indices[place] < size)
            may_leave = place in self.permutation and not self.in_bounds[self.permutation.index(place)]
            if not may_leave and np.any(there & ~within):
                raise UndefinedError(f"accesses lanes beyond the memory, whose dimension {place} has size {size}")
            there = there & within
        return indices, there

    def _spread(self, mask: Array) -> Array:
        """Permute the axes of the op's mask from the order of memory to the order of the vector.

        Broadcast dimensions of the vector get size 1.
        """
        ordered = mask.transpose(np.argsort(self._masked)) if self._masked else mask.reshape(())  # a single lane
        return np.expand_dims(ordered, [axis for axis, place in enumerate(self.permutation) if place is None])


def _groups(op: Operation) -> tuple[int, bool]:
    return len(op.operand_group("indices")), bool(op.operand_group("mask"))


def _transfer_read(op: Operation, compiler: Compiler) -> Function:
    transfer = _Transfer(op, op.results[0].type)
    count, is_masked = _groups(op)

    def read(memory: Array, *operands: Any) -> Array:
        padding, mask = operands[count], operands[-1] if is_masked else None
        indices, there = transfer.lanes(memory, operands[:count], mask)
        vector = np.full(transfer.shape, padding, memory.dtype)
        where = tuple(np.broadcast_to(index, transfer.shape)[there] for index in indices)
        vector[there] = memory[where]
        return vector

    return checked(op, 0, read, compiler)


def _transfer_write(op: Operation, compiler: Compiler) -> Function:
    transfer = _Transfer(op, op.operands[0].type)
    count, is_masked = _groups(op)
    returns = isinstance(op.operands[1].type, TensorType)

    def write(vector: Array, memory: Array, *operands: Any) -> Any:
        indices, there = transfer.lanes(memory, operands[:count], operands[-1] if is_masked else None)
        target = memory.copy() if returns else require_writeable(memory)
        if transfer.shape:
            target[tuple(np.broadcast_to(index, transfer.shape)[there] for index in indices)] = vector[there]
        elif there:  # a single lane: indexing by the mask would add a dimension
            target[tuple(indices)] = vector
        return target if returns else None

    return checked(op, 1, write, compiler)


def _window(memory: Array, start: Sequence[Any], shape: Sequence[int]) -> Array:
    """Return a view of ``shape`` elements from index ``start`` on, along the last dimensions of memory."""
    begin = [int(index) for index in start]
    sizes = [1] * (memory.ndim - len(shape)) + list(shape)
    if any(index < 0 or index + n > size for index, n, size in zip(begin, sizes, memory.shape, strict=True)):
        raise UndefinedError(f"a vector at {begin} is out of bounds of shape {list(memory.shape)}")
    window: Array = memory[tuple(slice(index, index + n) for index, n in zip(begin, sizes, strict=True))]
    return window


def _load(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.results[0]).shape
    return checked(op, 0, lambda memory, *start: _window(memory, start, shape).reshape(shape).copy(), compiler)


def _store(op: Operation, compiler: Compiler) -> Function:
    shape = vector_of(op.operands[0]).shape

    def store(vector: Array, memory: Array, *start: Any) -> None:
        window = _window(require_writeable(memory), start, shape)
        window[...] = vector.reshape(window.shape)

    return checked(op, 1, store, compiler)


def _print(op: Operation, compiler: Compiler) -> Function:
    ends = {"newline": "\n", "comma": ", ", "open": "( ", "close": " )", "no_punctuation": ""}
    punctuation = op.attributes.get("punctuation")
    end = "\n" if punctuation is None else ends[str(punctuation).partition("<")[2].removesuffix(">")]
    is_index = isinstance(as_tensor(op.operands[0].type).element, IndexType)
    # Upstream prints an index as unsigned.
    return lambda value: print(_spelled(np.asarray(value).view(np.uint64) if is_index else value), end=end)


def _spelled(value: Any) -> str:
    return f"( {', '.join(map(_spelled, value))} )" if np.ndim(value) else spelled(value)


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _constant_mask,
    "vector.contract": _contract,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.fma": _fma,
    "vector.from_elements": _from_elements,
    "vector.insert": _insert,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.interleave": _interleave,
    "vector.load": _load,
    "vector.multi_reduction": _multi_reduction,
    "vector.print": _print,
    "vector.reduction": _reduction,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.step": _step,
    "vector.store": _store,
    "vector.to_elements": _to_elements,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
    "vector.transpose": _transpose,
}
