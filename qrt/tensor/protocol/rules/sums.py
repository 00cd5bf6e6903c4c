"""Exact sums, differences and products of the elements of one tensor, as i32 of the tensor's scale.

Zero points are subtracted from sums of storage. These may wrap in int32: a result that fits 32 bits is exact all the
same.
"""

from collections.abc import Callable
from functools import lru_cache
from inspect import unwrap
from math import prod as product
from typing import Any, NamedTuple

import numpy as np

from qrt.eager.calls import Planned
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.core import Array, Shape, storage_dtype
from qrt.ops.requant import max_magnitude
from qrt.tensor.arrays import as_array
from qrt.tensor.protocol.elements import ALL, storage_of, stored, zero_points
from qrt.tensor.protocol.exact import (
    GIVE_VALUES,
    I32_END,
    Units,
    add_up,
    axes_of,
    axis_of,
    centre_of,
    centred,
    dtype_for,
    finish,
    hashable_axis,
    i32_type,
    is_kept,
    of_tensors,
    planned,
    reduced_units,
    refuse_others,
    require_tensors,
    zero_points_of,
)
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

# ---------------------------------------------------------------------------------------------------------------- sums


class _Sum(NamedTuple):
    """How the elements of tensors of one type and shape are summed: found once for them."""

    axes: Shape
    result: UniformType
    initial: Any
    """Where one zero point is that of all, what the sum of storage begins with, modulo 2**32; else 0."""
    offset: Array | None
    """What the zero points of channels add to the sums of storage, modulo 2**32; None where that is nothing."""


@lru_cache(maxsize=512)
def _sum_of(name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool) -> _Sum:
    axes = axes_of(name, axis, len(shape))
    count = product(shape[d] for d in axes)
    result = i32_type(name, reduced_units(name, t, shape, axes, keepdims), count * max_magnitude(t))
    # It is kept, so it has the size of the channels, not of the tensor. Axes that are summed have one zero point.
    offset = np.multiply(zero_points_of(t, shape), count)
    if not offset.ndim:
        return _Sum(axes, result, np.negative(offset).astype(np.int32), None)
    wrapped = (offset if keepdims else offset.squeeze(axes)).astype(np.int32)
    return _Sum(axes, result, 0, wrapped if wrapped.any() else None)


@implements((np.add, "reduce"), kind="sums")
def _reduce(a: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> Any:
    """The sum along an axis, as ``np.sum``."""
    return sum_(a, axis, *args, **kwargs)


@implements(np.sum, np.nansum, kind="sums")
def sum_(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The sum, as i32 of the tensor's scale."""
    require_tensors("np.sum", a)
    keepdims = keepdims if type(keepdims) is bool else is_kept(keepdims)
    if dtype is not None or out is not None or initial is not None or where is not True:
        refuse_others("np.sum", {"initial": initial})
        return _sum_as(a, axis, dtype, out, keepdims, where)
    axes, result, initial, offset = _sum_of("np.sum", a.type, a.shape, hashable_axis(axis), keepdims)

    storage = storage_of(a.type)

    def run(operands: Any) -> Any:
        total = add_up(storage(operands[0]), axes, np.int32, None, keepdims, initial)
        # Of NumPy's scalars `-` would warn that it wraps.
        return total if offset is None else np.subtract(total, offset)

    return Planned((a,), run, False, result)


def _sum_as(a: QuantTensor, axis: Any, dtype: Any, out: Any, keepdims: bool, where: Any) -> Any:
    axes = axes_of("np.sum", axis, a.ndim)
    units = reduced_units("np.sum", a.type, a.shape, axes, keepdims)
    bound = product(a.shape[d] for d in axes) * max_magnitude(a.type)
    acc = add_up(centred(a), axes, keepdims=keepdims, where=_mask("np.sum", where, a.shape))
    return finish("np.sum", np.asarray(acc), bound, units, dtype, out)


def _mask(name: str, where: Any, shape: Shape) -> Any:
    mask = as_array(where)
    try:
        is_mask = mask.dtype == bool and broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        is_mask = False
    if not is_mask:
        raise QuantValueError(f"{name}: where must be bools that broadcast to {shape}")
    return mask


# ------------------------------------------------------------------------------------------------------ running sums


@implements(np.cumsum, np.nancumsum, kind="sums")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums, as i32 of the tensor's scale."""
    require_tensors("np.cumsum", a)
    if axis is None and dtype is None and out is None and a.type.is_per_layer:
        return _running("np.cumsum", a, 0, (product(a.shape),))
    return _accumulated("np.cumsum", a.reshape(-1) if axis is None else a, axis, dtype, out)


@implements((np.add, "accumulate"), kind="sums")
def _accumulate(a: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Running sums along an axis, as ``np.cumsum``."""
    require_tensors("np.add.accumulate", a)
    return _accumulated("np.add.accumulate", a, axis, dtype, out)


@implements(np.cumulative_sum, kind="sums")
def _cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums, as ``np.cumsum``; 0 comes first with ``include_initial=True``."""
    name = "np.cumulative_sum"
    require_tensors(name, x)
    if axis is None and x.ndim > 1:
        raise QuantValueError(f"{name}: axis is needed for a tensor of rank {x.ndim}")
    return _accumulated(name, x, axis, dtype, out, bool(include_initial))


class _Running(NamedTuple):
    """How running sums of tensors of one type and shape are formed: found once for them."""

    axis: int
    result: UniformType
    zeros: Array | None
    """Zero points modulo 2**32; None where all are 0."""


@lru_cache(maxsize=512)
def _running_of(name: str, t: UniformType, shape: Shape, axis: Any) -> _Running:
    d = axis_of(name, axis, len(shape))
    units = reduced_units(name, t, shape, (d,), True)
    zeros = np.asarray(zero_points_of(t, shape)).astype(np.int32)
    return _Running(d, i32_type(name, units, shape[d] * max_magnitude(t)), zeros if zeros.any() else None)


def _running(name: str, a: QuantTensor, axis: Any, shape: Shape) -> Any:
    """Of the elements in another shape, if that is one line."""
    along, result, zeros = _running_of(name, a.type, shape, hashable_axis(axis))

    storage, is_whole = storage_of(a.type), shape == a.shape

    def run(operands: Any) -> Any:
        terms = storage(operands[0])
        if not is_whole:
            terms = terms.reshape(shape)
        if zeros is not None:
            terms = terms.astype(np.int32)
            np.subtract(terms, zeros, terms)
        return np.add.accumulate(terms, along, np.int32)

    return Planned((a,), run, False, result)


def _accumulated(name: str, a: QuantTensor, axis: Any, dtype: Any, out: Any, from_zero: bool = False) -> Any:
    axis = 0 if axis is None else axis
    if dtype is None and out is None and not from_zero:
        return _running(name, a, axis, a.shape)
    d = axis_of(name, axis, a.ndim)
    terms = np.add.accumulate(centred(a), d)
    if from_zero:
        terms = np.concatenate([np.zeros((*a.shape[:d], 1, *a.shape[d + 1 :]), np.int64), terms], d)
    return finish(name, terms, a.shape[d] * max_magnitude(a.type), _units_along(name, a, d), dtype, out)


@implements((np.add, "reduceat"), kind="sums")
def _reduceat(a: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """Sums of the parts that begin at indices."""
    name = "np.add.reduceat"
    require_tensors(name, a)
    d = axis_of(name, axis, a.ndim)
    units, bound = _units_along(name, a, d), a.shape[d] * max_magnitude(a.type)
    dtype_of_sums = np.dtype(dtype_for(max(bound, I32_END >> 1)))
    centre = centre_of(a.type, a.shape, max(bound, I32_END >> 1))
    is_flat = isinstance(indices, list) and all(type(i) is int for i in indices)
    places = tuple(indices) if is_flat else indices

    def compute(operands: Any) -> Any:
        try:
            return np.add.reduceat(centre(operands[0]), places, d, dtype_of_sums)
        except (TypeError, ValueError, IndexError) as error:
            raise QuantValueError(f"{name}: {error}") from error

    if not is_flat:  # an array, by whose values no plan is kept, or what is wrong
        return finish(name, compute((a,)), bound, units, dtype, out)
    return planned(name, (a,), compute, bound, units, dtype, out)


def _units_along(name: str, a: QuantTensor, axis: int) -> Units:
    """The units of a result of the tensor's rank, each of whose elements is made of some along ``axis``."""
    return reduced_units(name, a.type, a.shape, (axis,), True)


# -------------------------------------------------------------------------------------------------------- differences


@implements(np.diff, kind="sums")
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Differences of neighbours, as i32 of the tensor's scale."""
    name = "np.diff"
    ends = [x for x in (prepend, append) if x is not np._NoValue and x is not None]
    require_tensors(name, a, *ends)
    d = axis_of(name, axis, a.ndim)
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= 64:
        raise QuantTypeError(f"{name}: n must be an integer from 0 to 64, got {shown(n)}")
    whole: Any = a
    if ends:
        whole = np.concatenate([x for x in (prepend, a, append) if isinstance(x, QuantTensor)], d)
    return whole.copy() if n == 0 else _differences(name, whole, whole.shape, d, int(n))


def _differences(name: str, a: QuantTensor, shape: Shape, d: int, n: int) -> Any:
    """Those of the elements in another shape, if that is one line."""
    bound = (a.type.storage_max - a.type.storage_min) << (int(n) - 1)
    dtype = np.dtype(dtype_for(bound))
    before, after = (ALL,) * d + (slice(None, -1),), (ALL,) * d + (slice(1, None),)

    def compute(operands: Any) -> Array:
        # Zero points are no part of it. Storage as wide as the dtype may wrap, which the difference takes back.
        terms = stored(operands[0]).reshape(shape).astype(dtype)
        for _ in range(n):
            terms = np.subtract(terms[after], terms[before])
        return terms

    return planned(name, (a,), compute, bound, reduced_units(name, a.type, shape, (d,), True))


@implements(np.ediff1d, kind="sums")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in one line."""
    require_tensors("np.ediff1d", ary)
    refuse_others("np.ediff1d", {"to_end": to_end, "to_begin": to_begin})
    if not ary.type.is_per_layer:
        return diff(ary.reshape(-1))
    return _differences("np.diff", ary, (ary.size,), 0, 1)


@implements(np.ptp, kind="sums")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The greatest value less the least, as i32 of the tensor's scale."""
    name = "np.ptp"
    require_tensors(name, a)
    axes, units, bound = _range_of(name, a.type, a.shape, hashable_axis(axis), is_kept(keepdims))
    is_whole = is_kept(keepdims)
    storage, unsigned = storage_of(a.type), np.dtype(f"u{storage_dtype(a.type).itemsize}")

    def compute(operands: Any) -> Any:
        whole = storage(operands[0])
        most, least = _most(whole, axes, None, None, is_whole), _least(whole, axes, None, None, is_whole)
        if type(most) is not np.ndarray:
            return int(most) - int(least)
        # The difference is not negative: where it wraps, it is right as an unsigned integer.
        return np.subtract(most, least, most).view(unsigned)

    return planned(name, (a,), compute, bound, units, None, out)


_most: Callable[..., Any] = np.maximum.reduce
_least: Callable[..., Any] = np.minimum.reduce


@lru_cache(maxsize=512)
def _range_of(name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool) -> tuple[Shape, Units, int]:
    """(axes, units, the largest result)."""
    axes = axes_of(name, axis, len(shape))
    if any(shape[d] == 0 for d in axes):
        raise QuantValueError(f"{name}: there is no element along axes {axes} of shape {shape}")
    return axes, reduced_units(name, t, shape, axes, keepdims), t.storage_max - t.storage_min


# ---------------------------------------------------------------------------------------------------- trace, products


@implements(np.trace, kind="sums")
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum along a diagonal."""
    name = "np.trace"
    require_tensors(name, a)
    first, second, units, bound = _trace_of(name, a.type, a.shape, hashable_axis(axis1), hashable_axis(axis2))
    zeros = zero_points(a)
    try:
        whole = np.broadcast_to(zeros, a.shape)
        line = np.diagonal(whole, offset, first, second)
    except (TypeError, OverflowError):
        raise QuantTypeError(f"{name}: offset must be a small integer, got {shown(offset)}") from None
    excess, storage = np.asarray(add_up(line, -1, np.int64)), storage_of(a.type)
    # Sums that 32 bits hold may wrap on the way, and begin at what is taken off where that is one number.
    kind = np.dtype(np.int32 if bound < I32_END else np.int64)
    start = int(-excess) if not excess.ndim and bound < I32_END and abs(int(excess)) < I32_END else None

    def compute(operands: Any) -> Any:
        terms = storage(operands[0]).diagonal(offset, first, second)
        if start is not None:
            return add_up(terms, -1, kind, None, False, start)
        return np.subtract(add_up(terms, -1, np.int64), excess)

    return planned(name, (a,), compute, bound, units, dtype, out)


@lru_cache(maxsize=512)
def _trace_of(name: str, t: UniformType, shape: Shape, axis1: Any, axis2: Any) -> tuple[int, int, Units, int]:
    """(the axes, units, the largest result)."""
    first, second = axis_of(name, axis1, len(shape)), axis_of(name, axis2, len(shape))
    if first == second:
        raise QuantValueError(f"{name}: axis1 and axis2 must be two axes of a tensor of rank {len(shape)}")
    units = reduced_units(name, t, shape, tuple(sorted((first, second))), False)
    return first, second, units, min(shape[first], shape[second]) * max_magnitude(t)


@implements(np.linalg.trace, kind="sums")
def _linalg_trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of matrices."""
    return trace(x, offset, -2, -1, dtype)


@implements((np.multiply, "reduce"), kind="sums")
def _multiply_reduce(a: Any, axis: Any = 0, *args: Any, **kwargs: Any) -> Any:
    """The product along an axis, as ``np.prod``."""
    return prod(a, axis, *args, **kwargs)


@implements(np.prod, np.nanprod, kind="sums")
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Any:
    """The product of n elements, as i32 of the scale to the power n."""
    name = "np.prod"
    require_tensors(name, a)
    if where is not True or (initial is not None and not (type(initial) is int and initial == 1)):
        refuse_others(name, {"initial": initial, "where": where})
    keepdims = is_kept(keepdims)
    axes, units, bound = _product_of(name, a.type, a.shape, hashable_axis(axis), keepdims)
    # Products are formed in the dtype of their factors, where NumPy would convert those of less than 64 bits.
    centre = centre_of(a.type, a.shape, max(bound, I32_END >> 1))

    def compute(operands: Any) -> Any:
        return _multiply_all(terms := centre(operands[0]), axes, terms.dtype, None, keepdims)

    return planned(name, (a,), compute, bound, units, dtype, out)


_multiply_all: Callable[..., Any] = np.multiply.reduce


@lru_cache(maxsize=512)
def _product_of(name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool) -> tuple[Shape, Units, int]:
    """(axes, units, the largest result)."""
    axes = axes_of(name, axis, len(shape))
    count = product(shape[d] for d in axes)
    bound = max_magnitude(t) ** min(count, 64)
    if count > 64 or bound >= 1 << 63:
        raise QuantTypeError(
            f"{name}: the product of {count} elements of {t.storage} has no exact result: {GIVE_VALUES}"
        )
    return axes, reduced_units(name, t, shape, axes, keepdims, count), bound


# ------------------------------------------------------------------------------------ NumPy's routines on the integers


def _by_numpy(routine: Callable[..., Any], terms: Callable[[Shape, Shape], int], said: str) -> None:
    """Registers a function of two tensors per layer that adds ``terms`` products at most."""
    name, own = f"np.{routine.__name__}", unwrap(routine)

    @lru_cache(maxsize=256)
    def plan(t: UniformType, shape: Shape, u: UniformType, other: Shape) -> tuple[int, Units]:
        """(the largest result, units)."""
        for each in (t, u):
            if not each.is_per_layer:
                raise QuantTypeError(f"{name}: {each} must be per layer: requantize first, by qrt.requantize(q, t)")
        if t.expressed_type != u.expressed_type:
            raise QuantTypeError(f"{name}: the operands express {t.expressed_type} and {u.expressed_type}")
        bound = terms(shape, other) * max_magnitude(t) * max_magnitude(u)
        if bound >= 1 << 63:
            raise QuantTypeError(f"{name}: the result may reach {bound}, which 64 bits do not hold: {GIVE_VALUES}")
        return bound, Units(t.expressed_type, ((t.scale, u.scale),))

    def rule(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        require_tensors(name, a, b)
        bound, units = plan(a.type, a._shape, b.type, b._shape)
        first, second = centre_of(a.type, a._shape, bound), centre_of(b.type, b._shape, bound)

        def compute(operands: Any) -> Any:
            try:
                return own(first(operands[0]), second(operands[1]), *args, **kwargs)
            except ValueError as error:
                raise QuantValueError(f"{name}: {error}") from error

        return planned(name, (a, b), compute, bound, units)

    rule.__doc__ = said
    of_tensors(routine)(rule)


_by_numpy(np.convolve, lambda a, b: min(product(a), product(b)), "The convolution of two vectors.")
_by_numpy(np.correlate, lambda a, b: min(product(a), product(b)), "The correlation of two vectors.")
_by_numpy(np.kron, lambda a, b: 1, "All products of the elements of two tensors, as blocks.")
_by_numpy(np.cross, lambda a, b: 2, "The cross products of vectors.")
