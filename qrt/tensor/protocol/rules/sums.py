"""Exact sums, differences and products of the elements of one tensor, as i32 of the tensor's scale.

Zero points are subtracted from sums of storage. These may wrap in int32: a result that fits 32 bits is exact all the
same.
"""

from collections.abc import Callable
from math import prod as product
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Shape, parameter_index, storage_dtype
from qrt.ops.requant import max_magnitude
from qrt.tensor.arrays import as_array
from qrt.tensor.protocol.elements import ALL, stored, zero_points
from qrt.tensor.protocol.exact import (
    GIVE_VALUES,
    I32_END,
    Units,
    add_up,
    along_first,
    axes_of,
    axis_of,
    centred,
    dtype_for,
    finish,
    is_kept,
    reduced_units,
    reduction,
    refuse_others,
    require_tensors,
)
from qrt.tensor.protocol.table import enter, implements
from qrt.tensor.quant_tensor import QuantTensor

_EXTREMES: tuple[Any, ...] = (np.maximum.reduce, np.minimum.reduce)
_multiply_all: Any = np.multiply.reduce
"""Without the overloads of their annotations, which are fewer than what they take."""

# ---------------------------------------------------------------------------------------------------------------- sums


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
    require_tensors(a)
    refuse_others({"initial": initial})
    axes, keepdims, units, count = reduction(a, axis, keepdims)
    bound = count * max_magnitude(a.type)
    if where is not True:
        total = add_up(centred(a), axes, keepdims=keepdims, where=_mask(where, a.shape))
    else:
        # Axes that are summed have one zero point, so what zero points add has the size of the channels.
        kind = np.int32 if bound < I32_END else np.int64
        zeros = np.array(a.type.zero_points, np.int64)[parameter_index(a.type, a.shape)] * count
        offset = zeros.reshape([n for d, n in enumerate(zeros.shape) if keepdims or d not in axes])
        total = np.subtract(add_up(stored(a), axes, kind, None, keepdims), offset.astype(kind))
    return finish(total, bound, units, dtype, out)


def _mask(where: Any, shape: Shape) -> Any:
    mask = as_array(where)
    try:
        is_mask = mask.dtype == bool and broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        is_mask = False
    if not is_mask:
        raise QuantValueError(f"where must be bools that broadcast to {shape}")
    return mask


# ------------------------------------------------------------------------------------------------------ running sums


@implements(np.cumsum, np.nancumsum, kind="sums")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums, as i32 of the tensor's scale."""
    require_tensors(a)
    return _accumulated(a.reshape(-1) if axis is None else a, axis, dtype, out)


@implements("cumulative_sum", kind="sums")
def _cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums, as ``np.cumsum``; 0 comes first with ``include_initial=True``."""
    require_tensors(x)
    if axis is None and x.ndim > 1:
        raise QuantValueError(f"axis is needed for a tensor of rank {x.ndim}")
    return _accumulated(x, axis, dtype, out, bool(include_initial))


def _accumulated(a: QuantTensor, axis: Any, dtype: Any, out: Any, from_zero: bool = False) -> Any:
    d = axis_of(0 if axis is None else axis, a.ndim)
    bound, units = a.shape[d] * max_magnitude(a.type), _units_along(a, d)
    kind = np.int32 if bound < I32_END else np.int64
    terms = np.add.accumulate(centred(a, max(bound, I32_END >> 1)), d, kind)
    if from_zero:
        terms = np.concatenate([np.zeros((*a.shape[:d], 1, *a.shape[d + 1 :]), kind), terms], d)
    return finish(terms, bound, units, dtype, out)


def _units_along(a: QuantTensor, axis: int) -> Units:
    """Return the units of a result of the tensor's rank, each of whose elements is made of some along ``axis``."""
    return reduced_units(a.type, a.shape, (axis,), True)


# -------------------------------------------------------------------------------------------------------- differences


@implements(np.diff, kind="sums")
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Differences of neighbours, as i32 of the tensor's scale."""
    parts = [x for x in (prepend, a, append) if x is a or (x is not np._NoValue and x is not None)]
    require_tensors(*parts)
    d = axis_of(axis, a.ndim)
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= 64:
        raise QuantTypeError(f"n must be an integer from 0 to 64, got {shown(n)}")
    q: Any = np.concatenate(parts, d) if len(parts) > 1 else a
    if n == 0:
        return q.copy()
    bound = (q.type.storage_max - q.type.storage_min) << (int(n) - 1)
    # Zero points are no part of it. Storage as wide as the dtype may wrap, which the difference takes back.
    terms = stored(q).astype(dtype_for(bound))
    for _ in range(int(n)):
        terms = np.subtract(terms[(ALL,) * d + (slice(1, None),)], terms[(ALL,) * d + (slice(None, -1),)])
    return finish(terms, bound, _units_along(q, d))


@implements(np.ediff1d, kind="sums")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in one line."""
    require_tensors(ary)
    refuse_others({"to_end": to_end, "to_begin": to_begin})
    return diff(ary.reshape(-1))


@implements(np.ptp, kind="sums")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The greatest value less the least, as i32 of the tensor's scale."""
    require_tensors(a)
    if any(a.shape[d] == 0 for d in axes_of(axis, a.ndim)):
        raise QuantValueError(f"there is no element along axis {shown(axis)} of shape {a.shape}")
    axes, keepdims, units, _ = reduction(a, axis, keepdims)
    bound = a.type.storage_max - a.type.storage_min
    most, least = (np.asarray(reduce(stored(a), axes, None, None, keepdims)) for reduce in _EXTREMES)
    # The difference is not negative: where it wraps, it is right as an unsigned integer.
    width = np.asarray(np.subtract(most, least)).view(f"u{storage_dtype(a.type).itemsize}")
    return finish(width, bound, units, out=out)


# ---------------------------------------------------------------------------------------------------- trace, products


@implements(np.trace, kind="sums")
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum along a diagonal."""
    require_tensors(a)
    first, second = axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    if first == second:
        raise QuantValueError(f"axis1 and axis2 must be two axes of a tensor of rank {a.ndim}")
    units = reduced_units(a.type, a.shape, tuple(sorted((first, second))), False)
    terms, zeros = (
        np.diagonal(x, offset, first, second) for x in (stored(a), np.broadcast_to(zero_points(a), a.shape))
    )
    bound = min(a.shape[first], a.shape[second]) * max_magnitude(a.type)
    return finish(np.subtract(add_up(terms, -1, np.int64), add_up(zeros, -1, np.int64)), bound, units, dtype, out)


@implements(np.linalg.trace, kind="sums")
def _linalg_trace(x: Any, /, *, offset: Any = 0, dtype: Any = None) -> Any:
    """The sums of the diagonals of matrices."""
    return trace(x, offset, -2, -1, dtype)


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
    require_tensors(a)
    refuse_others({"initial": None if type(initial) is int and initial == 1 else initial, "where": where})
    axes, keepdims = axes_of(axis, a.ndim), is_kept(keepdims)
    count = product(a.shape[d] for d in axes)
    bound = max_magnitude(a.type) ** min(count, 64)
    if count > 64 or bound >= 1 << 63:
        raise QuantTypeError(f"the product of {count} elements of {a.type.storage} has no exact result: {GIVE_VALUES}")
    units = reduced_units(a.type, a.shape, axes, keepdims, count)
    # Products are formed in the dtype of their factors, where NumPy would convert those of less than 64 bits.
    terms = centred(a, max(bound, I32_END >> 1))
    return finish(_multiply_all(terms, axes, terms.dtype, None, keepdims), bound, units, dtype, out)


# ------------------------------------------------------------------------------------ NumPy's functions on the integers


def _by_numpy(function: Any, terms: Callable[[Shape, Shape], int]) -> Callable[..., Any]:
    """Return the rule of a function of two tensors per layer that adds ``terms`` products at most."""

    def rule(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        require_tensors(a, b)
        for q in (a, b):
            if not q.type.is_per_layer:
                raise QuantTypeError(f"{q.type} must be per layer: requantize first, by qrt.requantize(q, t)")
        t, u = a.type, b.type
        if t.expressed_type != u.expressed_type:
            raise QuantTypeError(f"the operands express {t.expressed_type} and {u.expressed_type}")
        bound = terms(a.shape, b.shape) * max_magnitude(t) * max_magnitude(u)
        if bound >= 1 << 63:
            raise QuantTypeError(f"the result may reach {bound}, which 64 bits do not hold: {GIVE_VALUES}")
        integers = function(centred(a, bound), centred(b, bound), *args, **kwargs)
        return finish(integers, bound, Units(t.expressed_type, ((t.scale, u.scale),)))

    return rule


def _least_size(a: Shape, b: Shape) -> int:
    return min(product(a), product(b))


_OF_TWO = {
    np.convolve: (_least_size, "The convolution of two vectors."),
    np.correlate: (_least_size, "The correlation of two vectors."),
    np.kron: (lambda a, b: 1, "All products of the elements of two tensors, as blocks."),
    np.cross: (lambda a, b: 2, "The cross products of vectors."),
}
enter("sums", _by_numpy, _OF_TWO, operands=2)


# ---------------------------------------------------------------------------------------------------- methods of ufuncs

_METHODS: dict[Any, tuple[Any, str]] = {
    (np.add, "reduce"): (sum_, "The sum along an axis, as ``np.sum``."),
    (np.add, "accumulate"): (cumsum, "Running sums along an axis, as ``np.cumsum``."),
    (np.multiply, "reduce"): (prod, "The product along an axis, as ``np.prod``."),
}
enter("sums", along_first, _METHODS)
