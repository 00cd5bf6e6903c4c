"""Handlers of ``tensor`` on arrays. Tensors are not written in place: ops return new arrays."""

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from qrt.errors import QuantError, UndefinedError, slice_out_of_bounds
from qrt.ir import Operation, Value
from qrt.ir.dialects._shaped.lists import mixed_values, reassociation_of, static_values
from qrt.ir.dialects._shaped.slices import PARTS, dropped_dimensions
from qrt.ops.core import Array, element_dtype
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step, identity, raise_located
from qrt.runtime.interpreter.linalg import is_elementwise
from qrt.runtime.loops import Shape, grid
from qrt.runtime.operations import failure
from qrt.runtime.values import as_tensor, concrete, require_addresses, sizes_of
from qrt.types import IntegerType

Mixed = list[int | Value]


def _dtype(value: Value) -> np.dtype[Any]:
    return element_dtype(as_tensor(value.type).element)


# -- making tensors --------------------------------------------------------------------------------------------------


def _empty(op: Operation, compiler: Compiler) -> Function:
    type, dtype = as_tensor(op.results[0].type), _dtype(op.results[0])
    return lambda *sizes: np.zeros(sizes_of(type, sizes), dtype)


def _splat(op: Operation, compiler: Compiler) -> Function:
    type, dtype = as_tensor(op.results[0].type), _dtype(op.results[0])
    return lambda value, *sizes: np.full(sizes_of(type, sizes), value, dtype)


def _from_elements(op: Operation, compiler: Compiler) -> Function:
    type, dtype = as_tensor(op.results[0].type), _dtype(op.results[0])
    return lambda *elements: np.array(elements, dtype).reshape(sizes_of(type, ()))


class _GeneratedTensor:
    """A compiled op, such as `tensor.generate`, whose body computes the elements of a tensor from their indices."""

    def __init__(self, op: Operation, compiler: Compiler) -> None:
        self.op = op
        self.body = compiler.region(op.regions[0])
        self.at_once = is_elementwise(op.regions[0].blocks[0].operations[:-1])
        self.type, self.dtype = as_tensor(op.results[0].type), _dtype(op.results[0])
        self.result = compiler.slot(op.results[0])

    def fill(self, frame: Frame, shape: Shape) -> Array:
        """Run the body for every index of this shape, and return an array of its results."""
        filled = np.empty(shape, self.dtype)
        if filled.size and self.at_once:
            filled[...] = self.body.run(frame, grid(shape))[0]
        elif filled.size:
            for index in product(*map(range, shape)):
                filled[index] = self.body.run(frame, map(np.int64, index))[0]
        return filled


def _generate(op: Operation, compiler: Compiler) -> Step:
    filled = _GeneratedTensor(op, compiler)
    sizes = [compiler.slot(value) for value in op.operands]

    def step(frame: Frame) -> None:
        try:
            shape = sizes_of(filled.type, [frame[slot] for slot in sizes])
        except QuantError as error:
            raise_located(op, error)
        frame[filled.result] = filled.fill(frame, shape)

    return step


def _pad(op: Operation, compiler: Compiler) -> Step:
    filled = _GeneratedTensor(op, compiler)
    source = compiler.slot(op.operands[0])
    slots = [compiler.slot(value) for value in op.operands]
    bind = {name: integers_of(op, name) for name in ("low", "high")}

    def step(frame: Frame) -> None:
        array, operands = frame[source], [frame[slot] for slot in slots]
        low, high = (bind[name](operands) for name in ("low", "high"))
        if any(amount < 0 for amount in (*low, *high)):
            raise failure(
                op, f"padding must be at least 0, got low {[int(n) for n in low]} and high {[int(n) for n in high]}"
            )
        widths = zip(array.shape, low, high, strict=True)
        shape = tuple(size + int(before) + int(after) for size, before, after in widths)
        try:
            require_addresses(shape, filled.type.element)
            concrete(filled.type, shape, f"the result of {op.name}")
        except QuantError as error:
            raise_located(op, error)
        padded = filled.fill(frame, shape)
        padded[tuple(slice(before, before + size) for before, size in zip(low, array.shape, strict=True))] = array
        frame[filled.result] = padded

    return step


# -- extents and elements --------------------------------------------------------------------------------------------


def _dim(op: Operation, compiler: Compiler) -> Function:
    def dim(array: Array, axis: Any) -> Any:
        if not 0 <= axis < array.ndim:
            raise UndefinedError(f"dimension {axis} is out of range for rank {array.ndim}")
        return np.int64(array.shape[axis])

    return dim


def _rank(op: Operation, compiler: Compiler) -> Function:
    return lambda array: np.int64(array.ndim)


def check_bounds(index: Sequence[Any], shape: Shape) -> None:
    """Raise UndefinedError if an index is out of bounds; an entry of ``index`` may be an array of indices."""
    for axis, (at, size) in enumerate(zip(index, shape, strict=True)):
        if np.any((at < 0) | (at >= size)):
            wrong = at if np.ndim(at) == 0 else at[(at < 0) | (at >= size)].flat[0]
            raise UndefinedError(f"index {wrong} is out of bounds: dimension {axis} is {size}")


def _extract(op: Operation, compiler: Compiler) -> Function:
    def extract(array: Array, *index: Any) -> Any:
        check_bounds(index, array.shape)
        return array[index]

    return extract


def _insert(op: Operation, compiler: Compiler) -> Function:
    def insert(scalar: Any, array: Array, *index: Any) -> Array:
        check_bounds(index, array.shape)
        inserted = array.copy()
        inserted[index] = scalar
        return inserted

    return insert


# -- slices ----------------------------------------------------------------------------------------------------------


def integers_of(op: Operation, name: str) -> Function:
    """Return a function from an op's operand values to the integers of a list such as `offsets`.

    An entry of the list is static, or the value of an operand.
    """
    positions = {value: index for index, value in enumerate(op.operands)}
    entries = [(entry, -1) if isinstance(entry, int) else (0, positions[entry]) for entry in mixed_values(op, name)]
    return lambda operands: [value if at < 0 else int(operands[at]) for value, at in entries]


def slicer(op: Operation) -> Function:
    """Return `index(operands, shape)`, which evaluates the offsets, sizes and strides of an op on slices.

    `index` returns (NumPy index of the slice, sizes of the slice), and raises UndefinedError if the slice is out of
    bounds.
    """
    lists = [integers_of(op, name) for name in PARTS]

    def index(operands: Sequence[Any], shape: Shape) -> tuple[tuple[Any, ...], Shape]:
        indices: list[Any] = []
        sizes = lists[1](operands)
        for axis, (offset, size, stride, extent) in enumerate(
            zip(lists[0](operands), sizes, lists[2](operands), shape, strict=True)
        ):
            last = offset + (size - 1) * stride
            if size < 0 or (size and not (0 <= offset < extent and 0 <= last < extent)):
                raise UndefinedError(slice_out_of_bounds(offset, size, stride, axis, extent))
            indices.append(slice(offset, offset + size) if stride == 1 else offset + stride * np.arange(size))
        plain = all(isinstance(part, slice) for part in indices)
        ranges = [np.arange(part.start, part.stop) if isinstance(part, slice) else part for part in indices]
        return tuple(indices) if plain else np.ix_(*ranges), tuple(sizes)

    return index


def _dropped(op: Operation, reduced: Value) -> Shape:
    dropped = dropped_dimensions(static_values(op, "sizes"), as_tensor(reduced.type).shape or ())
    assert dropped is not None  # checked by the verifier
    return dropped


def _extract_slice(op: Operation, compiler: Compiler) -> Function:
    index, dropped = slicer(op), _dropped(op, op.results[0])

    def extract_slice(*operands: Any) -> Array:
        where, _ = index(operands, operands[0].shape)
        part: Array = operands[0][where]
        return part.squeeze(dropped)

    return extract_slice


def _insert_slice(op: Operation, compiler: Compiler) -> Function:
    index, dropped = slicer(op), _dropped(op, op.operands[0])

    def insert_slice(*operands: Any) -> Array:
        source, target = operands[0], operands[1]
        where, sizes = index(operands, target.shape)
        check_part(source.shape, sizes, dropped)
        inserted: Array = target.copy()
        inserted[where] = source.reshape(sizes)
        return inserted

    return insert_slice


def check_part(shape: Shape, sizes: Shape, dropped: Shape) -> None:
    """Raise UndefinedError unless a tensor fits a slice: its shape must be ``sizes`` without the ``dropped`` axes."""
    wanted = tuple(size for axis, size in enumerate(sizes) if axis not in dropped)
    if shape != wanted:
        raise UndefinedError(f"the inserted tensor must have the shape {list(wanted)} of the slice, got {list(shape)}")


# -- shapes ----------------------------------------------------------------------------------------------------------


def _bitcast(op: Operation, compiler: Compiler) -> Function:
    source, target = (as_tensor(value.type).element for value in (op.operands[0], op.results[0]))
    dtype = _dtype(op.results[0])
    given = getattr(source, "width", 0)
    if isinstance(source, IntegerType) and isinstance(target, IntegerType) and 1 < given < 8:
        return _signed_bits(given) if dtype.kind == "i" else lambda array: array.view(dtype) & dtype.type(2**given - 1)
    if given not in (8, 16, 32, 64):
        raise UndefinedError(f"cannot bitcast {source} to {target}: their layouts in memory differ")
    return lambda array: array.view(dtype)


def _signed_bits(width: int) -> Function:
    """Return a function that sign-extends ``width``-bit integers, each stored in the low bits of a byte."""
    sign = np.int8(1 << (width - 1))

    def signed(array: Array) -> Array:
        return (((array.view(np.int8) & np.int8(2 * int(sign) - 1)) ^ sign) - sign).astype(np.int8)

    return signed


def _reshape(op: Operation, compiler: Compiler) -> Function:
    def reshape(array: Array, shape: Array) -> Array:
        sizes = [int(size) for size in shape]
        if any(size < 0 for size in sizes) or prod(sizes) != array.size:
            raise UndefinedError(f"a tensor of {array.size} elements cannot be reshaped to {sizes}")
        return array.reshape(sizes)

    return reshape


def _collapse_shape(op: Operation, compiler: Compiler) -> Function:
    groups = reassociation_of(op)

    def collapse_shape(array: Array) -> Array:
        if not groups and array.size != 1:
            raise UndefinedError(f"an operand that is collapsed to rank 0 must have one element, got {array.size}")
        collapsed: Array = array.reshape([prod(array.shape[axis] for axis in group) for group in groups])
        return collapsed

    return collapse_shape


def _expand_shape(op: Operation, compiler: Compiler) -> Function:
    groups, sizes = reassociation_of(op), integers_of(op, "output_shape")

    def expand_shape(*operands: Any) -> Array:
        array, shape = operands[0], sizes(operands)
        check_expansion(array.shape, groups, shape)
        expanded: Array = array.reshape(shape)
        return expanded

    return expand_shape


def check_expansion(given: Shape, groups: Sequence[Sequence[int]], expanded: Sequence[int]) -> None:
    """Raise UndefinedError unless the sizes in each group of result axes multiply to the size of their operand axis.

    ``given`` is the operand's shape, ``expanded`` the result's, and ``groups`` has the result axes of each operand
    axis.
    """
    for axis, group in enumerate(groups):
        parts = [expanded[inner] for inner in group]
        if any(part < 0 for part in parts) or prod(parts) != given[axis]:
            raise UndefinedError(f"dimension {axis} of size {given[axis]} cannot be expanded to {parts}")
    if not groups and set(expanded) - {1}:
        raise UndefinedError(f"a tensor of rank 0 can only be expanded to sizes of 1, got {list(expanded)}")


def _concat(op: Operation, compiler: Compiler) -> Function:
    axis = op.attributes["dim"].python

    def concat(*arrays: Array) -> Array:
        shapes = {array.shape[:axis] + array.shape[axis + 1 :] for array in arrays}
        if len(shapes) > 1:
            raise UndefinedError(
                f"the shapes must be equal except for dimension {axis}, got "
                f"{', '.join(str(list(array.shape)) for array in arrays)}"
            )
        return np.concatenate(arrays, axis)

    return concat


HANDLERS: dict[str, Handler] = {
    "tensor.bitcast": _bitcast,
    "tensor.cast": identity,
    "tensor.collapse_shape": _collapse_shape,
    "tensor.concat": _concat,
    "tensor.dim": _dim,
    "tensor.empty": _empty,
    "tensor.expand_shape": _expand_shape,
    "tensor.extract": _extract,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert_slice,
    "tensor.rank": _rank,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}

STRUCTURED: dict[str, Builder] = {"tensor.generate": _generate, "tensor.pad": _pad}
