"""Minima and maxima, sorting, and selection by rank, all by value.

NumPy runs on storage if there is one scale and zero point along the axis. Otherwise the functions that return indices
run on values, and the others raise an error.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.errors import QuantTypeError, shown
from qrt.ops.clamp import stored_bounds
from qrt.ops.core import Array, parameter_index
from qrt.ops.indexing import indexed_element
from qrt.tensor.float_results import in_floats
from qrt.tensor.protocol.elements import (
    ALL,
    clipped,
    first_element,
    in_order,
    numbers,
    per_layer,
    reduced,
    require_one_scale,
    stored,
)
from qrt.tensor.protocol.exact import along_first, keeps_dimensions, refuse_others
from qrt.tensor.protocol.results import into, tensor
from qrt.tensor.protocol.table import Function, enter, has_no_exact_result, implements, name_of
from qrt.tensor.protocol.written import nondefault_options, written_call
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import UniformType

_UFUNCS: dict[np.ufunc, tuple[np.ufunc, ...]] = {np.maximum: (np.maximum, np.fmax), np.minimum: (np.minimum, np.fmin)}
"""NumPy's ufuncs for the greater and for the less of two values, which differ only for NaNs; no value is a NaN."""


def _extreme(function: Any, ufunc: Any) -> Callable[..., Any]:
    """Return the implementation, for tensors, of a reduction by ``np.maximum`` or ``np.minimum``."""

    def rule(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        t, options = reduced(tensor(a, "a"), axis, keeps_dimensions(keepdims)), {}
        if initial is not None:
            if not np.all(np.any(np.broadcast_to(where, a.shape), axis)):
                for either in _UFUNCS:  # the number itself may be the result
                    _bounds(either, t, initial)
            options = {"initial": t.storage_min if ufunc is np.maximum else t.storage_max}
        result = ufunc.reduce(stored(a), axis, None, None, keepdims, where=where, **options)
        if initial is not None:
            result = _with_bound(ufunc, np.asarray(result), t, initial)
        return into(out, wrap_storage(result, t))

    return rule


def _running(function: Any, ufunc: Any) -> Callable[..., Any]:
    def rule(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> QuantTensor:
        refuse_others({"dtype": dtype})
        require_one_scale(tensor(array, "array"), axis)
        return into(out, wrap_storage(ufunc.accumulate(stored(array), axis), array.type))

    return rule


def _place_of_extreme(find: Any) -> Callable[..., Any]:
    def rule(a: Any, axis: Any = None, out: Array | None = None, *, keepdims: Any = False) -> Any:
        return find(in_order(tensor(a, "a"), axis), axis, out, keepdims=keepdims)

    return rule


_PLACES = {
    (np.argmax, np.nanargmax): "The index of the greatest value, the first of equals.",
    (np.argmin, np.nanargmin): "The index of the least value, the first of equals.",
}
enter("order", _place_of_extreme, _PLACES)


def _sorted(q: QuantTensor, axis: Any, kind: Any = None, stable: Any = None) -> QuantTensor:
    """Return the elements sorted along an axis; None sorts the flattened tensor.

    Raise QuantTypeError if scales or zero points differ among elements that would be compared.
    """
    require_one_scale(q, axis)
    storage = stored(q).copy() if axis is not None else stored(q).flatten()
    # NumPy's stable sort of bytes counts them, 15 times faster than its default sort.
    kind = "stable" if kind is stable is None and storage.itemsize == 1 else kind
    storage.sort(-1 if axis is None else axis, kind, stable=stable)
    return wrap_storage(storage, q.type if axis is not None else per_layer(q.type))


@implements(np.sort, kind="order")
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> QuantTensor:
    """The elements in ascending order along an axis."""
    refuse_others({"order": order})
    return _sorted(tensor(a, "a"), axis, kind, stable)


@implements(np.partition, kind="order")
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> QuantTensor:
    """The elements sorted along an axis. Sorted elements are a valid partition, and the same on every CPU."""
    refuse_others({"order": order})
    _check_partition(tensor(a, "a"), kth, axis, kind)
    return _sorted(a, axis)


@implements(np.argsort, kind="order")
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """The indices that sort the values. The sort is stable, so that the indices are the same on every CPU."""
    refuse_others({"order": order})
    np.argsort(np.empty(0), kind=kind, stable=stable)  # raises for an invalid kind
    return np.argsort(in_order(tensor(a, "a"), axis), axis, kind="stable")


@implements(np.argpartition, kind="order")
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """The indices that sort the values, as ``np.argsort``. They are a valid partition, and the same on every CPU."""
    refuse_others({"order": order})
    _check_partition(tensor(a, "a"), kth, axis, kind)
    return np.argsort(in_order(a, axis), axis, kind="stable")


def _check_partition(q: QuantTensor, kth: Any, axis: Any, kind: Any) -> None:
    """Raise NumPy's error for an invalid axis, position or algorithm."""
    count = q.size if axis is None else q.shape[normalize_axis_index(axis, q.ndim)]
    np.partition(np.zeros(count, np.int8), kth, kind=kind)


@implements(np.lexsort, kind="order")
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, the last of which is the primary key."""
    if isinstance(keys, QuantTensor):
        return np.lexsort(in_order(keys, None), axis)
    return np.lexsort(tuple(in_order(key, None) if isinstance(key, QuantTensor) else key for key in keys), axis)


_CHOOSING = frozenset({"inverted_cdf", "closest_observation", "lower", "higher", "nearest"})
"""The methods of ``np.quantile`` whose results are elements of the tensor, not interpolated values."""


def _quantile(function: Any, plain: Any) -> Callable[..., Any]:
    """Return the implementation of ``function``, a NumPy quantile or percentile, for tensors.

    ``plain`` is the NumPy function that is called on storage. Because no value is NaN, it is ``np.quantile`` also for
    ``np.nanquantile``.
    """
    name = name_of(function)

    def rule(
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: bool = False,
        method: str = "linear",
        keepdims: Any = False,
        *,
        weights: Any = None,
    ) -> Any:
        options = {"method": method, "keepdims": keeps_dimensions(keepdims), "weights": weights}
        if method not in _CHOOSING:
            given = nondefault_options(
                axis=axis, out=out, **options | {"method": None if method == "linear" else method}
            )
            others = "or give method='lower', 'higher', 'nearest' or 'inverted_cdf'"
            return in_floats(name, function, (a, q), given, lambda: f"{written_call(name, (a, q), given)}, {others}")
        t, source = reduced(tensor(a, "a"), axis, keeps_dimensions(keepdims)), stored(a)
        storage = np.asarray(plain(source, q, axis, **options), source.dtype)
        new = np.ndim(q)
        element = (
            t
            if t.is_per_layer
            else indexed_element(t, storage.shape[new:], (None,) * new + (ALL,) * (storage.ndim - new))
        )
        return into(out, wrap_storage(storage, element))

    return rule


_QUANTILE = (
    "An element of the tensor, by the methods ``lower``, ``higher``, ``nearest``, ``inverted_cdf`` and "
    "``closest_observation``. Other methods have no exact result, also the default ``linear``."
)
_QUANTILES: dict[Any, Any] = {np.quantile: np.quantile, np.nanquantile: np.quantile}
_QUANTILES |= {np.percentile: np.percentile, np.nanpercentile: np.percentile}
enter("order", _quantile, {function: (plain, _QUANTILE) for function, plain in _QUANTILES.items()})
has_no_exact_result({name: f"np.{name}(np.asarray(q))" for name in ("median", "nanmedian")})


def _bounds(ufunc: Any, t: UniformType, number: Any) -> Array:
    """Return a bound (a real number) as storage, quantized for each scale of the type by the default cast rule.

    Raise QuantTypeError if the result could not hold the bound: for ``np.maximum`` if the bound is above the type's
    range, for ``np.minimum`` if it is below.
    """
    if not isinstance(number, Real):
        raise QuantTypeError(f"a bound must be a real number, got {shown(number)}")
    x = float(number)
    places = [x / scale + zero for scale, zero in zip(t.scales, t.zero_points, strict=True)]
    beyond = max(places) > t.storage_max + 0.5 if ufunc is np.maximum else min(places) < t.storage_min - 0.5
    if x != x or beyond:
        raise QuantTypeError(f"the bound {shown(number)} is out of the range of {t}: requantize to a wider type first")
    return numbers(x, t, ()) if t.is_per_layer else stored_bounds(t, {"min": x, "max": None})[0]


def _with_bound(ufunc: Any, storage: Array, t: UniformType, number: Any) -> Any:
    """Return ``np.maximum`` or ``np.minimum`` of storage and a real number."""
    bound = _bounds(ufunc, t, number[()] if isinstance(number, np.ndarray) else number).astype(storage.dtype)
    if not t.is_per_layer:
        bound = bound[parameter_index(t, storage.shape)]
    return clipped(storage, bound) if ufunc is np.maximum else clipped(storage, high=bound)


def _refuse_array(function: Function, args: tuple[Any, ...], *bounds: Any) -> None:
    """Raise QuantTypeError for an array among the bounds: arrays are not quantized implicitly."""
    if any(not isinstance(x, (int, float, QuantTensor, type(None))) and np.ndim(x) for x in bounds):
        floats = written_call(name_of(function), args, {})
        raise QuantTypeError(
            f"expected QuantTensors and numbers, got an array: write {floats}, or qrt.quantize the array, which "
            "rounds and clamps it"
        )


def _choice(function: Any, ufunc: Any) -> Callable[..., Any]:
    """Return the implementation of ``function``, such as np.fmax, which equals ``ufunc`` if no value is NaN."""

    def rule(a: Any, b: Any, /, *, out: Any = None, **others: Any) -> Any:
        refuse_others(others)
        if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
            return into(out, _of_two(ufunc, a, b))
        q, number = (a, b) if isinstance(a, QuantTensor) else (b, a)
        _refuse_array(function, (a, b), number)  # which may hold NaN
        return into(out, wrap_storage(_with_bound(ufunc, stored(tensor(q, "an operand")), q.type, number), q.type))

    return rule


def _of_two(ufunc: Any, a: QuantTensor, b: QuantTensor) -> QuantTensor:
    storage = np.asarray(ufunc(stored(a), stored(b)))
    t, u = (_broadcast(q, storage.shape) for q in (a, b))
    if t is not u:
        raise QuantTypeError(
            f"the operands must have the same type, got {t} and {u}: requantize one, qrt.requantize(q, r.type)"
        )
    return wrap_storage(storage, t)


def _broadcast(q: QuantTensor, shape: Any) -> UniformType:
    """Return the type of a tensor that is broadcast to ``shape``.

    If the channel axis is broadcast, the tensor has only one channel, and the result is the per-layer type of this
    channel.
    """
    if q.type.is_per_layer or q.shape == shape:
        return q.type
    before = len(shape) - q.ndim
    repeated = [d for d in range(q.ndim) if q.shape[d] != shape[before + d]]
    if any(d in repeated for d, _ in q.type.block_sizes or ()):
        raise QuantTypeError(
            f"an axis with blocks cannot be broadcast, got a tensor of type {q.type}: give tensors of the same shape"
        )
    t = first_element(q.type, q.shape, repeated, keepdims=True)
    return indexed_element(t, q.shape, (None,) * before)


@implements(np.clip, kind="order")
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """The elements clipped to two bounds, which are quantized by the default cast rule."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = tensor(a, "a")
    _refuse_array(np.clip, (a, low, high), low, high)
    for ufunc, bound in ((np.maximum, low), (np.minimum, high)):
        if isinstance(bound, QuantTensor):
            result = _of_two(ufunc, result, bound)
        elif bound is not None:
            result = wrap_storage(_with_bound(ufunc, stored(result), result.type, bound), result.type)
    return into(out, result.copy() if result is a else result)


for _ufunc, _most, _more, _extremes in (
    (np.maximum, "greatest", "greater", (np.max, np.amax, np.nanmax)),
    (np.minimum, "least", "lesser", (np.min, np.amin, np.nanmin)),
):
    enter("order", _extreme, {tuple(dict.fromkeys(_extremes)): (_ufunc, f"The {_most} value.")})
    for _either in _UFUNCS[_ufunc]:
        enter(
            "order",
            _choice,
            {
                _either: (
                    _ufunc,
                    f"The {_more} of two values. Tensors must have the same type, to which a real number is quantized.",
                )
            },
        )
        _whole = _extreme(_either, _ufunc)
        enter("order", along_first, {(_either, "reduce"): (_whole, f"The {_most} value along an axis.")})
        enter("order", _running, {(_either, "accumulate"): (_ufunc, f"The {_most} value so far along an axis.")})
