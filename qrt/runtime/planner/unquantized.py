"""Binding of ops on unquantized values to kernels in C: elementwise ops on integers and bools, and copies.

`CALLS` maps an op's name to its bind function. The interpreter runs all other ops.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import KernelCall, bind_copy, bind_plain, bind_plain_cast, bind_plain_select, bind_slice
from qrt.ir import Operation, Value
from qrt.ir.core.attribute_kinds import ENUMERATIONS
from qrt.ir.dialects._shaped.lists import mixed_values, static_values
from qrt.ir.dialects._shaped.slices import PARTS, dropped_dimensions
from qrt.ir.rewriting.constant_folder import Known
from qrt.numerics.comparisons import INTEGER_PREDICATES
from qrt.ops.core import Shape, element_dtype, row_major_strides, static_shape
from qrt.runtime.values import as_tensor
from qrt.types import IndexType, IntegerType, TensorType, Type

Types = Sequence[TensorType]
Bind = Callable[[Operation, Types], KernelCall | None]
"""A function that returns the kernel call for operands of these static types, or None if there is no kernel.

A call of n inputs reads the first n operands of the op.
"""
_MOST_PARTS = 32


def plain_call(op: Operation, types: Types, known: Known) -> KernelCall | None:
    """Bind an op on unquantized values to its C kernel; return None if only the interpreter can run the op.

    ``known`` returns the array of a constant value, else None.
    """
    if op.name in _SLICES:
        return _slice(op, types, known)
    bind = CALLS.get(op.name)
    return None if bind is None else bind(op, types)


# -- elements --------------------------------------------------------------------------------------------------------


def _dtype(element: Type) -> np.dtype[Any] | None:
    """Return the dtype of an element type that is i1 (bool), i8, i16, i32, i64 or index; None for any other type."""
    is_whole = isinstance(element, IntegerType) and element.is_signless and element.width in (1, 8, 16, 32, 64)
    return element_dtype(element) if is_whole or isinstance(element, IndexType) else None


def _size(t: TensorType) -> int:
    return prod(static_shape(t, "plan"))


def promises(op: Operation) -> bool:
    """Return True if an op has a flag, such as nsw, that asserts a property of its result.

    Only the interpreter raises an error for a result without the property.
    """
    flags = op.attributes.get("overflowFlags")
    return "isExact" in op.attributes or (flags is not None and bool(ENUMERATIONS["arith.overflow"].flags(flags)))


def _pair(op: Operation, types: Types) -> KernelCall | None:
    dtype = _dtype(types[0].element)
    if dtype is None or promises(op):
        return None
    kind = op.name.removeprefix("arith.")
    if kind == "cmpi":
        kind = tuple(INTEGER_PREDICATES)[op.attributes["predicate"].python]
    if dtype == np.bool_ and kind in _QUOTIENTS:
        return None
    return bind_plain(isa=kernels.active(), kind=kind, dtype=dtype, size=_size(types[0]))


def _select(op: Operation, types: Types) -> KernelCall | None:
    condition, a, _ = types
    dtype, size = element_dtype(a.element), _size(a)
    if dtype.itemsize not in (1, 2, 4, 8):
        return None
    steps = (0 if condition.shape == () else 1, 1, 1)
    return bind_plain_select(isa=kernels.active(), dtype=dtype, size=size, steps=steps)


def _cast(op: Operation, types: Types) -> KernelCall | None:
    dtype, out = _dtype(types[0].element), _dtype(element_of(op))
    if dtype is None or out is None or promises(op):
        return None
    unsigned = op.name in ("arith.extui", "arith.index_castui")
    return bind_plain_cast(isa=kernels.active(), dtype=dtype, out=out, size=_size(types[0]), unsigned=unsigned)


def element_of(op: Operation) -> Type:
    """Return the element type of an op's result."""
    t = op.results[0].type
    return t.element if isinstance(t, TensorType) else t


# -- copies ----------------------------------------------------------------------------------------------------------


def _broadcast(op: Operation, types: Types) -> KernelCall | None:
    """Bind a `linalg.broadcast` as a copy with stride 0 along the added axes. The output operand is not read."""
    target = op.results[0].type
    if not isinstance(target, TensorType) or not target.has_static_shape:
        return None
    added = op.attributes["dimensions"].python
    strides, left = [], list(row_major_strides(static_shape(types[0], "plan")))
    for axis in range(len(target.shape or ())):
        strides.append(0 if axis in added else left.pop(0))
    return _repeated(types[0], static_shape(target, "plan"), strides)


def _splat(op: Operation, types: Types) -> KernelCall | None:
    target = op.results[0].type
    if not isinstance(target, TensorType) or not target.has_static_shape:
        return None
    shape = static_shape(target, "plan")
    return _repeated(types[0], shape, [0] * len(shape))


def _repeated(source: TensorType, shape: Shape, strides: Sequence[int]) -> KernelCall | None:
    dtype = element_dtype(source.element)
    if dtype.itemsize not in (1, 2, 4, 8) or (0 in shape):
        return None
    return bind_copy(
        dtype=dtype,
        shapes=[shape],
        source_strides=[tuple(strides)],
        target_strides=[row_major_strides(shape)],
        source_sizes=[_size(source)],
        target_size=prod(shape),
    )


def _elements(op: Operation, types: Types) -> KernelCall | None:
    """Bind a `tensor.from_elements` as one copy for each scalar."""
    count = len(types)
    if not 1 < count <= _MOST_PARTS:
        return None
    dtype = element_dtype(types[0].element)
    if dtype.itemsize not in (1, 2, 4, 8):
        return None
    return bind_copy(
        dtype=dtype,
        shapes=[(1,)] * count,
        source_strides=[(1,)] * count,
        target_strides=[(1,)] * count,
        source_sizes=[1] * count,
        target_size=count,
        target_offsets=list(range(count)),
    )


_QUOTIENTS = ("divsi", "floordivsi", "remsi")
_PAIRS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", *_QUOTIENTS, "cmpi")
_CASTS = ("extsi", "extui", "trunci", "index_cast", "index_castui")

CALLS: Mapping[str, Bind] = {
    **{f"arith.{name}": _pair for name in _PAIRS},
    **{f"arith.{name}": _cast for name in _CASTS},
    "arith.select": _select,
    "linalg.broadcast": _broadcast,
    "tensor.splat": _splat,
    "tensor.from_elements": _elements,
}


# -- slices ----------------------------------------------------------------------------------------------------------

_SLICES = ("tensor.extract_slice", "tensor.insert_slice")


def _slice(op: Operation, types: Types, known: Known) -> KernelCall | None:
    """Bind an op that extracts or inserts a slice. Return None unless sizes and strides are known and at least 1."""
    inserts = op.name == "tensor.insert_slice"
    offsets, sizes, strides = (mixed_values(op, name) for name in PARTS)
    x, part = types[inserts], op.operands[0] if inserts else op.result
    dtype, shape = element_dtype(x.element), static_shape(x, "plan")
    lengths, steps = ([n for n in _numbers(entries, known) if n is not None and n > 0] for entries in (sizes, strides))
    if dtype.itemsize not in (1, 2, 4, 8) or not len(lengths) == len(steps) == len(shape):
        return None
    dropped = dropped_dimensions(static_values(op, "sizes"), as_tensor(part.type).shape or ())
    wanted = tuple(n for axis, n in enumerate(lengths) if axis not in (dropped or ()))
    if inserts and types[0].shape != wanted:
        return None  # the interpreter raises the error
    for offset, length, step, extent in zip(_numbers(offsets, known), lengths, steps, shape, strict=True):
        if not 0 <= (offset or 0) < extent - (length - 1) * step:
            return None  # as above
    return bind_slice(
        dtype=dtype,
        x_shape=shape,
        offsets=[entry if isinstance(entry, int) else 0 for entry in offsets],
        sizes=lengths,
        strides=steps,
        axes=[axis for axis, entry in enumerate(offsets) if not isinstance(entry, int)],
        inserts=inserts,
    )


def _numbers(entries: Sequence[int | Value], known: Known) -> list[int | None]:
    """Return the numbers of static entries and operands; None for an operand that is known only at run time."""
    arrays = [entry if isinstance(entry, int) else known(entry) for entry in entries]
    return [None if array is None else int(array) for array in arrays]


# -- views -----------------------------------------------------------------------------------------------------------


def view_offset(op: Operation, types: Types, known: Known) -> int | None:
    """Return the offset in elements of an op's result in the memory of its first operand; None if it is not a view.

    ``known`` returns the array of a constant value, else None.
    """
    if op.name == "tensor.from_elements" and len(types) == 1:
        return 0
    if op.name == "tensor.bitcast":
        widths = [element_dtype(e).itemsize for e in (types[0].element, element_of(op))]
        return 0 if widths[0] == widths[1] and not _is_narrow(element_of(op)) else None
    if op.name == "tensor.extract":
        return _extracted(op, static_shape(types[0], "plan"), known)
    return None


def _is_narrow(element: Type) -> bool:
    """Return True for an integer type narrower than its array's dtype, such as i4 in int8 (stored sign-extended)."""
    return isinstance(element, IntegerType) and element.width not in (8, 16, 32, 64)


def _extracted(op: Operation, shape: Shape, known: Known) -> int | None:
    """Return the row-major index of the element at constant indices; None if an index is not constant or out of bounds.

    ``known`` returns the array of a constant value, else None.
    """
    indices = [known(value) for value in op.operands[1:]]
    place = 0
    for size, index in zip(shape, indices, strict=True):
        if index is None or not 0 <= int(index) < size:
            return None
        place = place * size + int(index)
    return place


def is_written_over(value: Any) -> bool:
    """Return True if all users of ``value``, a result of `tensor.empty`, overwrite all its elements and read none."""
    return all(user.name == "linalg.broadcast" and user.operands[0] is not value for user in value.users)
