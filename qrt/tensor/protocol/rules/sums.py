"""Sums, differences, products, means, variances and norms of one tensor's elements.

Sums, differences and products are exact, as i32. Means, variances and norms are computed from exact sums and rounded
once at the end.

Storage is summed first, and the zero points are subtracted from the sum. The sum may wrap in int32, but a result that
fits 32 bits is still exact.
"""

from collections.abc import Callable
from math import prod as product
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array, Shape, parameter_index, storage_dtype
from qrt.ops.requant import max_magnitude
from qrt.tensor.arrays import as_array
from qrt.tensor.functions import mean as qrt_mean
from qrt.tensor.protocol.elements import ALL, axes_of, axis_of, exact_number, stored, zero_points
from qrt.tensor.protocol.exact import (
    GIVE_VALUES,
    I32_END,
    Units,
    add_up,
    along_first,
    centred,
    dtype_for,
    finish,
    keeps_dimensions,
    reduced_units,
    reduction,
    refuse_others,
    require_tensors,
    result_type,
    to_float64,
    write_floats,
)
from qrt.tensor.protocol.table import answer_in_floats, enter, implements, name_of
from qrt.tensor.protocol.written import nondefault_options, written_call
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

_EXTREMES: tuple[Any, ...] = (np.maximum.reduce, np.minimum.reduce)
_multiply_all: Any = np.multiply.reduce
"""``np.multiply.reduce``, typed loosely because its annotations do not cover all its arguments."""


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
    """The sum, as an i32 tensor with the tensor's scale."""
    refuse_others({"initial": initial})
    axes, keepdims, units, count = reduction(a, axis, keepdims)
    bound = count * max_magnitude(a.type)
    if where is not True:
        total = add_up(centred(a), axes, keepdims=keepdims, where=_mask(where, a.shape))
    else:
        # Summed axes have one zero point, so the sum of zero points is one number per channel.
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
        raise QuantValueError(f"'where' must be bools that broadcast to shape {shape}, got {shown(where)}")
    return mask


@implements(np.cumsum, np.nancumsum, kind="sums")
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums, as an i32 tensor with the tensor's scale."""
    return _accumulated(a.reshape(-1) if axis is None else a, axis, dtype, out)


@implements("cumulative_sum", kind="sums")
def _cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    """Running sums, as ``np.cumsum``; 0 comes first with ``include_initial=True``."""
    return _accumulated(x, axis, dtype, out, bool(include_initial))


def _accumulated(a: QuantTensor, axis: Any, dtype: Any = None, out: Any = None, from_zero: bool = False) -> Any:
    require_tensors(a)
    if axis is None and a.ndim > 1:
        raise QuantValueError(f"'axis' must be given for a tensor of rank {a.ndim}, got None")
    d = axis_of(0 if axis is None else axis, a.ndim)
    bound, units = a.shape[d] * max_magnitude(a.type), _units_along(a, d)
    kind = np.int32 if bound < I32_END else np.int64
    terms = np.add.accumulate(centred(a, max(bound, I32_END >> 1)), d, kind)
    if from_zero:
        terms = np.concatenate([np.zeros((*a.shape[:d], 1, *a.shape[d + 1 :]), kind), terms], d)
    return finish(terms, bound, units, dtype, out)


def _units_along(a: QuantTensor, axis: int) -> Units:
    """Return the units of a result that keeps the tensor's rank and combines elements along ``axis``.

    Such results are differences and running sums.
    """
    return reduced_units(a.type, a.shape, (axis,), True)


@implements(np.diff, kind="sums")
def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """Differences of neighbours, as an i32 tensor with the tensor's scale."""
    parts = [x for x in (prepend, a, append) if x is a or (x is not np._NoValue and x is not None)]
    require_tensors(*parts)
    d = axis_of(axis, a.ndim)
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= 64:
        raise QuantTypeError(f"'n' must be an integer from 0 to 64, got {shown(n)}")
    q: Any = np.concatenate(parts, d) if len(parts) > 1 else a
    if n == 0:
        return q.copy()
    bound = (q.type.storage_max - q.type.storage_min) << (int(n) - 1)
    # Zero points cancel. Unsigned storage as wide as the dtype may wrap; the subtraction wraps back.
    terms = stored(q).astype(dtype_for(bound))
    for _ in range(int(n)):
        terms = np.subtract(terms[(ALL,) * d + (slice(1, None),)], terms[(ALL,) * d + (slice(None, -1),)])
    return finish(terms, bound, _units_along(q, d))


@implements(np.ediff1d, kind="sums")
def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the flattened tensor."""
    require_tensors(ary)
    refuse_others({"to_end": to_end, "to_begin": to_begin})
    return diff(ary.reshape(-1))


@implements(np.ptp, kind="sums")
def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The greatest value minus the least, as an i32 tensor with the tensor's scale."""
    if any(a.shape[d] == 0 for d in axes_of(axis, a.ndim)):
        raise QuantValueError(f"'a' must have elements along axis {shown(axis)}, got shape {a.shape}")
    axes, keepdims, units, _ = reduction(a, axis, keepdims)
    bound = a.type.storage_max - a.type.storage_min
    most, least = (np.asarray(reduce(stored(a), axes, None, None, keepdims)) for reduce in _EXTREMES)
    # The difference is not negative: where it wraps, it is right as an unsigned integer.
    width = np.asarray(np.subtract(most, least)).view(f"u{storage_dtype(a.type).itemsize}")
    return finish(width, bound, units, out=out)


@implements(np.trace, kind="sums")
def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum along a diagonal."""
    require_tensors(a)
    first, second = axis_of(axis1, a.ndim), axis_of(axis2, a.ndim)
    if first == second:
        raise QuantValueError(
            f"'axis1' and 'axis2' must be different axes, got {shown(axis1)} and "
            f"{shown(axis2)} for a tensor of rank {a.ndim}"
        )
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
    """The product of n elements, as an i32 tensor. Its scale is the tensor's scale to the power n."""
    require_tensors(a)
    refuse_others({"initial": None if type(initial) is int and initial == 1 else initial, "where": where})
    axes, keepdims = axes_of(axis, a.ndim), keeps_dimensions(keepdims)
    count = product(a.shape[d] for d in axes)
    bound = max_magnitude(a.type) ** min(count, 64)
    if count > 64 or bound >= 1 << 63:
        raise QuantTypeError(f"the product of {count} elements of {a.type.storage} may overflow 64 bits: {GIVE_VALUES}")
    units = reduced_units(a.type, a.shape, axes, keepdims, count)
    # Products are formed in the dtype of their factors, where NumPy would convert those of less than 64 bits.
    terms = centred(a, max(bound, I32_END >> 1))
    return finish(_multiply_all(terms, axes, terms.dtype, None, keepdims), bound, units, dtype, out)


def _by_numpy(function: Any, terms: Callable[[Shape, Shape], int]) -> Callable[..., Any]:
    """Return the implementation of a NumPy function of two per-layer tensors, whose results are sums of products.

    ``terms`` returns the largest number of products in a sum, given the two shapes.
    """

    def rule(a: Any, b: Any, *args: Any, **kwargs: Any) -> Any:
        require_tensors(a, b)
        for q in (a, b):
            if not q.type.is_per_layer:
                raise QuantTypeError(
                    f"the operands must have per-layer types, got {q.type}: requantize first, by qrt.requantize(q, t)"
                )
        t, u = a.type, b.type
        if t.expressed_type != u.expressed_type:
            raise QuantTypeError(
                f"the operands must have the same expressed type, got {t.expressed_type} and {u.expressed_type}"
            )
        bound = terms(a.shape, b.shape) * max_magnitude(t) * max_magnitude(u)
        if bound >= 1 << 63:
            raise QuantTypeError(f"the result may reach {bound}, which overflows 64 bits: {GIVE_VALUES}")
        integers = function(centred(a, bound), centred(b, bound), *args, **kwargs)
        return finish(integers, bound, Units(t.expressed_type, ((t.scale, u.scale),)))

    return rule


_OF_TWO: dict[Any, Any] = {
    np.convolve: (lambda a, b: min(product(a), product(b)), "The convolution of two vectors."),
    np.correlate: (lambda a, b: min(product(a), product(b)), "The correlation of two vectors."),
    np.kron: (lambda a, b: 1, "The Kronecker product: each element of the first tensor times the whole second tensor."),
    np.cross: (lambda a, b: 2, "The cross products of vectors."),
}
enter("sums", _by_numpy, _OF_TWO, operands=2)


_METHODS: dict[Any, tuple[Any, str]] = {
    (np.add, "reduce"): (sum_, "The sum along an axis, as ``np.sum``."),
    (np.add, "accumulate"): (_accumulated, "Running sums along an axis, as ``np.cumsum``."),
    (np.multiply, "reduce"): (prod, "The product along an axis, as ``np.prod``."),
}
enter("sums", along_first, _METHODS)


@implements(np.mean, np.nanmean, kind="sums")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """The mean as float64, rounded once; quantized as by ``qrt.mean`` if ``dtype`` or ``out`` is a quantized type."""
    require_tensors(a)
    refuse_others(others)
    wanted = result_type(dtype)
    if isinstance(wanted, UniformType) or isinstance(out, QuantTensor):
        quantized = wanted if isinstance(wanted, UniformType) else None
        return qrt_mean(a, axis, keepdims=keeps_dimensions(keepdims), out_type=quantized, out=out)
    axes, keepdims, units, count = reduction(a, axis, keepdims)
    if count == 0:
        raise QuantValueError(f"'a' must have elements along the axes {list(axes)}, got shape {a.shape}")
    total = np.asarray(add_up(centred(a), axes, keepdims=keepdims))
    values = to_float64(total, units, count)
    return write_floats(values, np.dtype(np.float64), out)


@implements(np.average, kind="sums")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """The mean, as ``np.mean``; with weights there is no exact result."""
    if weights is not None:
        more = nondefault_options(
            axis=axis, weights=weights, returned=bool(returned), keepdims=keeps_dimensions(keepdims)
        )
        return answer_in_floats(np.average, (a,), more)
    refuse_others({"returned": returned or None})
    return mean(a, axis, keepdims=keepdims)


def _spread(function: Any, root: bool) -> Callable[..., Any]:
    """Return the implementation of a NumPy variance or, with ``root``, of a standard deviation."""

    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        **others: Any,
    ) -> Any:
        keepdims, correction = keeps_dimensions(keepdims), others.pop("correction", np._NoValue)
        ddof = ddof if correction is np._NoValue else correction
        refuse_others({**others, "out": out})
        if dtype is not None and not isinstance(result_type(dtype), np.dtype):
            call = written_call(
                name_of(function), (a,), nondefault_options(axis=axis, ddof=ddof or None, keepdims=keepdims), "{}"
            )
            raise QuantTypeError(
                f"'dtype' must be float64, the dtype of the result: write qrt.quantize({call}, "
                "t) for a quantized type t"
            )
        axes, keepdims, units, count = reduction(a, axis, keepdims, 2)
        freedom = exact_number(int(ddof) if isinstance(ddof, (bool, np.bool_)) else ddof)
        if freedom is None:
            raise QuantTypeError(f"'ddof' must be a finite number, got {shown(ddof)}")
        if count == 0 or count <= freedom:
            raise QuantValueError(f"'ddof' must be less than the number of elements, {count}, got {shown(ddof)}")
        terms, squares = _squares(a, axes, keepdims, count)
        total = add_up(terms, axes, squares.dtype, None, keepdims)
        is_narrow = (count * max_magnitude(a.type)) ** 2 < 1 << 63
        kind: Any = np.int64 if is_narrow else object  # the dtype of count times the squares, and of the squared sum
        deviations = count * squares.astype(kind) - np.asarray(total, kind) ** 2
        return to_float64(np.asarray(deviations, kind), units, count * (count - freedom), root)[()]

    return rule


_SPREADS = {
    (np.var, np.nanvar): (False, "The variance as float64, rounded once."),
    (np.std, np.nanstd): (True, "The standard deviation as float64, rounded once."),
}
enter("sums", _spread, _SPREADS)


def _squares(q: QuantTensor, axes: tuple[int, ...], keepdims: bool, count: int) -> tuple[Array, Array]:
    """Return (storage minus zero points, sums of its squares along ``axes``), exactly.

    ``count`` is the number of squares in a sum. Both arrays have Python integers if 64 bits may not hold a sum.
    """
    square = max_magnitude(q.type) ** 2
    bound = max(count, 1) * square
    wide: Any = np.int32 if bound < I32_END else np.int64 if bound < 1 << 63 else object
    terms = centred(q, square)
    terms = terms.astype(object) if wide is object else terms
    return terms, np.asarray(add_up(np.square(terms), axes, wide, None, keepdims), wide)


@implements(np.linalg.norm, kind="sums")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """The root of a sum of squares as float64, rounded once; other norms have no exact result."""
    rank = x.ndim if axis is None else len(axes_of(axis, x.ndim))
    if axis is not None and rank not in (1, 2):
        raise QuantValueError(f"'axis' must be one axis or a pair of axes, got {shown(axis)}")
    is_named = isinstance(ord, (int, float, str))
    is_root = ord is None or (is_named and ((rank == 2 and ord == "fro") or (rank == 1 and ord == 2)))
    if not is_root:
        return answer_in_floats(np.linalg.norm, (x,), nondefault_options(ord=ord, axis=axis, keepdims=keepdims))
    axes, keepdims, units, count = reduction(x, axis, keepdims, 2)
    return to_float64(_squares(x, axes, keepdims, count)[1], units, root=True)[()]
