"""Handlers of ``memref``. A buffer is an array that is written in place; its views are arrays on the same memory.

Unwritten memory is zero. Accesses out of bounds or to freed memory, and writes to constants, are undefined.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.ir.core.attributes import UnitAttr
from qrt.ir.dialects._shaped.lists import reassociation_of
from qrt.ir.dialects._shaped.slices import PARTS
from qrt.ir.dialects._shaped.strides import strides_of as layout_of
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.dialects.memref.ops import global_of, global_type
from qrt.ir.dialects.memref.views import dropped_axes, permutation_of
from qrt.ops.core import Array, element_dtype
from qrt.runtime.interpreter.buffers import (
    BaseWithoutElements,
    allocate,
    buffer_of,
    laid_out,
    require_unfreed,
    require_writeable,
    span_below,
    span_of,
    strides_of,
    view_of_bytes,
)
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step, identity
from qrt.runtime.interpreter.regions import choice
from qrt.runtime.interpreter.tensor import check_expansion, integers_of
from qrt.runtime.values import sizes_of
from qrt.types import MemRefType

# -- allocation --------------------------------------------------------------------------------------------------------


def _alloc(op: Operation, compiler: Compiler) -> Function:
    type = memref_type(op.results[0])
    dynamic = (type.shape or ()).count(None)
    stated = None if type.layout is None else layout_of(type)

    def alloc(*operands: Any) -> Array:
        shape = sizes_of(type, operands[:dynamic])
        layout = stated
        if isinstance(type.layout, str) and len(operands) > dynamic:
            layout = layout_of(type, [int(symbol) for symbol in operands[dynamic:]])
        if layout is None:
            return allocate(shape, type.element)
        symbols = iter(operands[dynamic:])  # in upstream's layout map the offset is the first symbol
        offset, *strides = (int(next(symbols)) if n is None else n for n in (layout.offset, *layout.strides))
        return allocate(shape, type.element, strides, offset)

    return alloc


def _dealloc(op: Operation, compiler: Compiler) -> Function:
    def dealloc(array: Array) -> None:
        buffer = buffer_of(array)
        if buffer is None:
            return  # memory of the caller is not freed
        if buffer.freed:
            raise UndefinedError("frees memory that is freed already")
        buffer.freed = True

    return dealloc


def checked(op: Operation, index: int, function: Function, compiler: Compiler) -> Function:
    """Return ``function`` with a check that the memory of operand `index` has not been freed.

    Return ``function`` itself if the module never frees memory.
    """
    if not compiler.code.frees:
        return function

    def check(*operands: Any) -> Any:
        require_unfreed(operands[index])
        return function(*operands)

    return check


# -- elements ----------------------------------------------------------------------------------------------------------


def _out_of_bounds(array: Array, indices: Sequence[Any]) -> UndefinedError:
    return UndefinedError(f"index {[int(i) for i in indices]} is out of bounds of shape {list(array.shape)}")


def loader(rank: int) -> Function:
    """Return `f(array, *indices)`, which loads an element and raises UndefinedError out of bounds.

    NumPy would accept negative indices. Loops spend most time here, so low ranks have their own functions, which need
    no tuple of indices.
    """

    def load0(array: Array) -> Any:
        return array[()]

    def load1(array: Array, i: Any) -> Any:
        if i < 0:
            raise _out_of_bounds(array, (i,))
        try:
            return array[i]
        except IndexError:
            raise _out_of_bounds(array, (i,)) from None

    def load2(array: Array, i: Any, j: Any) -> Any:
        if i < 0 or j < 0:
            raise _out_of_bounds(array, (i, j))
        try:
            return array[i, j]
        except IndexError:
            raise _out_of_bounds(array, (i, j)) from None

    def load(array: Array, *indices: Any) -> Any:
        if min(indices) < 0:
            raise _out_of_bounds(array, indices)
        try:
            return array[indices]
        except IndexError:
            raise _out_of_bounds(array, indices) from None

    by_rank: dict[int, Function] = {0: load0, 1: load1, 2: load2}
    return by_rank.get(rank, load)


def storer(rank: int) -> Function:
    """Return `f(value, array, *indices)`, which stores an element and raises UndefinedError out of bounds."""

    def store(value: Any, array: Array, *indices: Any) -> None:
        if indices and min(indices) < 0:
            raise _out_of_bounds(array, indices)
        try:
            array[indices] = value
        except IndexError:
            raise _out_of_bounds(array, indices) from None
        except ValueError:
            raise UndefinedError("writes to constant memory") from None

    def store1(value: Any, array: Array, i: Any) -> None:
        if i < 0:
            raise _out_of_bounds(array, (i,))
        try:
            array[i] = value
        except IndexError:
            raise _out_of_bounds(array, (i,)) from None
        except ValueError:
            raise UndefinedError("writes to constant memory") from None

    def store2(value: Any, array: Array, i: Any, j: Any) -> None:
        if i < 0 or j < 0:
            raise _out_of_bounds(array, (i, j))
        try:
            array[i, j] = value
        except IndexError:
            raise _out_of_bounds(array, (i, j)) from None
        except ValueError:
            raise UndefinedError("writes to constant memory") from None

    by_rank: dict[int, Function] = {1: store1, 2: store2}
    return by_rank.get(rank, store)


def _load(op: Operation, compiler: Compiler) -> Function:
    return checked(op, 0, loader(len(op.operands) - 1), compiler)


def _store(op: Operation, compiler: Compiler) -> Function:
    return checked(op, 1, storer(len(op.operands) - 2), compiler)


def _copy(op: Operation, compiler: Compiler) -> Function:
    def copy(source: Array, target: Array) -> None:
        if source.shape != target.shape:
            raise UndefinedError(
                f"source and target must have the same shape, got {list(source.shape)} and {list(target.shape)}"
            )
        np.copyto(require_writeable(target), source)

    return checked(op, 1, checked(op, 0, copy, compiler), compiler)


def _dim(op: Operation, compiler: Compiler) -> Function:
    def dim(array: Array, index: Any) -> Any:
        if not 0 <= index < array.ndim:
            raise UndefinedError(f"dimension {int(index)} is out of range for rank {array.ndim}")
        return np.int64(array.shape[index])

    return dim


# -- globals -----------------------------------------------------------------------------------------------------------


def _get_global(op: Operation, compiler: Compiler) -> Step:
    global_op = global_of(op)
    assert global_op is not None  # checked by the verifier
    type, value, slot = global_type(global_op), global_op.attributes.get("initial_value"), compiler.slot(op.results[0])
    if value is None:
        raise UndefinedError("the global has no value, because this module only declares it")
    initial = None if isinstance(value, UnitAttr) else np.asarray(value.python)
    constant = "constant" in global_op.attributes

    def step(frame: Frame) -> None:
        memory = frame[0].globals
        if global_op not in memory:
            array = np.zeros(sizes_of(type, ()), element_dtype(type.element))
            if initial is not None:
                array[...] = initial
            memory[global_op] = laid_out(array, type, is_constant=constant)
        frame[slot] = memory[global_op]

    return step


# -- views -------------------------------------------------------------------------------------------------------------


def _cast(op: Operation, compiler: Compiler) -> Function:
    given, result = layout_of(memref_type(op.operands[0])), memref_type(op.results[0])
    is_offset_open = given is None or given.offset is None

    def cast(array: Array) -> Array:
        shape = result.shape
        if shape is not None:
            fits = len(shape) == array.ndim and all(a in (None, b) for a, b in zip(shape, array.shape, strict=True))
            if not fits:
                raise UndefinedError(
                    f"the operand has shape {list(array.shape)}, which does not match the result type {result}"
                )
            _require_strides(array, result)
            if is_offset_open:
                _require_offset(array, result)
        return array

    return cast


def _require_strides(array: Array, result: MemRefType) -> None:
    layout = layout_of(result)
    for size, stride, array_stride in zip(array.shape, layout.strides if layout else (), array.strides, strict=False):
        if size > 1 and stride not in (None, array_stride // array.itemsize) and array.size:
            raise UndefinedError(
                f"the operand has strides {list(strides_of(array))}, which do not match the result type {result}"
            )


def _require_offset(array: Array, result: MemRefType) -> None:
    layout, (_, at) = layout_of(result), span_below(array)
    if layout is not None and layout.offset not in (None, at):
        raise UndefinedError(f"the operand has offset {at}, which does not match the result type {result}")


def _subview(op: Operation, compiler: Compiler) -> Function:
    lists = [integers_of(op, name) for name in PARTS]
    dropped = dropped_axes(op)

    def subview(*operands: Any) -> Array:
        array = operands[0]
        offsets, sizes, steps = (integers(operands) for integers in lists)
        for axis, (extent, offset, size, step) in enumerate(zip(array.shape, offsets, sizes, steps, strict=True)):
            last = offset + (size - 1) * step
            if size < 0 or not 0 <= offset <= extent or (size and not (offset < extent and 0 <= last < extent)):
                raise UndefinedError(
                    f"elements {offset} to {last} are out of bounds: dimension {axis} has size {extent}"
                )
        span, at = span_below(array)
        start = at + sum(offset * stride for offset, stride in zip(offsets, strides_of(array), strict=True))
        strides = [stride * step for stride, step in zip(strides_of(array), steps, strict=True)]
        axes = [axis for axis in range(array.ndim) if axis not in dropped]
        return span.view(start, [sizes[axis] for axis in axes], [strides[axis] for axis in axes])

    return subview


def _reinterpret_cast(op: Operation, compiler: Compiler) -> Function:
    given = memref_type(op.operands[0])
    lists = [integers_of(op, name) for name in PARTS]

    def reinterpret_cast(*operands: Any) -> Array:
        (offset,), sizes, strides = (integers(operands) for integers in lists)
        span, _ = span_of(operands[0], given)
        return span.view(offset, sizes, strides)

    return reinterpret_cast


def _extract_strided_metadata(op: Operation, compiler: Compiler) -> Function:
    given = memref_type(op.operands[0])

    def extract(array: Array) -> tuple[Any, ...]:
        span, offset = span_of(array, given)
        base = span.view(0, (), ()) if span.size else BaseWithoutElements(span)
        return (base, *map(np.int64, (offset, *array.shape, *strides_of(array))))

    return extract


def _expand_shape(op: Operation, compiler: Compiler) -> Function:
    groups, integers = reassociation_of(op), integers_of(op, "output_shape")

    def expand_shape(*operands: Any) -> Array:
        array, sizes = operands[0], integers(operands)
        check_expansion(array.shape, groups, sizes)
        span, at = span_below(array)
        strides: list[int] = []
        for stride, group in zip(strides_of(array), groups, strict=True):
            strides += [stride * prod(sizes[inner] for inner in group if inner > axis) for axis in group]
        strides += [1] * (len(sizes) - len(strides))
        return span.view(at, sizes, strides)

    return expand_shape


def _collapse_shape(op: Operation, compiler: Compiler) -> Function:
    groups = reassociation_of(op)

    def collapse_shape(array: Array) -> Array:
        sizes = [prod(array.shape[axis] for axis in group) for group in groups]
        strides = []
        for group in groups:
            large_axes = [axis for axis in group if array.shape[axis] != 1] or list(group[-1:])
            for outer, inner in pairwise(large_axes):
                if array.strides[outer] != array.strides[inner] * array.shape[inner] and array.size:
                    raise UndefinedError(
                        f"dimensions {list(group)} cannot be collapsed: they are not contiguous in memory"
                    )
            strides.append(array.strides[large_axes[-1]] // array.itemsize)
        span, at = span_below(array)
        return span.view(at, sizes, strides)

    return collapse_shape


def _transpose(op: Operation, compiler: Compiler) -> Function:
    order = permutation_of(op)
    return lambda array: array.transpose(order)


def _reshape(op: Operation, compiler: Compiler) -> Function:
    def reshape(array: Array, lengths: Array) -> Array:
        shape = [int(length) for length in lengths]
        if prod(shape) != array.size or min(shape, default=0) < 0:
            raise UndefinedError(f"a memref of {array.size} elements cannot be reshaped to {shape}")
        if not array.flags.c_contiguous:  # only the run knows the strides of an unranked memref
            raise UndefinedError(
                f"the memref must be contiguous, got shape {list(array.shape)} with strides {list(strides_of(array))}"
            )
        reshaped: Array = array.reshape(shape)
        return reshaped

    return reshape


def _view(op: Operation, compiler: Compiler) -> Function:
    type = memref_type(op.results[0])
    dtype = element_dtype(type.element)

    def view(array: Array, shift: Any, *dynamic: Any) -> Array:
        shape = sizes_of(type, dynamic)
        start, count = int(shift), prod(shape) * dtype.itemsize
        if start < 0 or start + count > array.size:
            raise UndefinedError(
                f"bytes {start} to {start + count} are out of bounds of the buffer of {array.size} bytes"
            )
        return view_of_bytes(array, start, shape, dtype)

    return view


def _alloca_scope(op: Operation, compiler: Compiler) -> Step:
    return choice(op, compiler, lambda frame: 0)


HANDLERS: dict[str, Handler] = {
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.assume_alignment": identity,
    "memref.cast": _cast,
    "memref.collapse_shape": _collapse_shape,
    "memref.copy": _copy,
    "memref.dealloc": _dealloc,
    "memref.dim": _dim,
    "memref.expand_shape": _expand_shape,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.load": _load,
    "memref.memory_space_cast": identity,
    "memref.rank": lambda op, compiler: lambda array: np.int64(array.ndim),
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.reshape": _reshape,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
    "memref.view": _view,
}
STRUCTURED: dict[str, Builder] = {"memref.alloca_scope": _alloca_scope, "memref.get_global": _get_global}
