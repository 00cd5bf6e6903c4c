"""The greatest and the least, sorting, and choosing by rank. Values decide; NumPy runs on storage where one scale and
zero point are along the axis, and else on ranks."""

from collections.abc import Callable
from functools import lru_cache
from inspect import unwrap
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.eager.calls import Planned
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.clamp import stored_bounds
from qrt.ops.core import Array, parameter_index, real_number, storage_dtype
from qrt.tensor.float_results import in_floats
from qrt.tensor.protocol.elements import NUMBERS, made, stored
from qrt.tensor.protocol.exact import is_kept
from qrt.tensor.protocol.keys import in_order
from qrt.tensor.protocol.results import broadcast, delivered, one_tensor, per_layer, reduced, require_one_scale
from qrt.tensor.protocol.rules.comparisons import refuse
from qrt.tensor.protocol.table import Function, has_no_exact_result, implements
from qrt.tensor.protocol.written import asked_for, written_call
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

# ----------------------------------------------------------------------------------------------------------- reductions


_UFUNCS: dict[np.ufunc, tuple[np.ufunc, ...]] = {np.maximum: (np.maximum, np.fmax), np.minimum: (np.minimum, np.fmin)}
"""What chooses the greater or the less: no value is NaN, so that two names mean one thing."""
_WORDS: dict[Any, str] = {np.maximum: "greatest", np.minimum: "least"}


def _extreme(
    name: str, ufunc: Any, q: QuantTensor, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    """The reduction by ``np.maximum`` or ``np.minimum``."""
    t = reduced(name, q, axis, is_kept(keepdims))
    if initial is None and where is True:
        return delivered(name, ufunc.reduce(stored(q), axis, None, None, keepdims), t, out)
    if initial is not None and not np.all(np.any(np.broadcast_to(where, q.shape), axis)):
        for each in _UFUNCS:  # the number itself is a result
            _bounds(name, each, t, initial)
    least = t.storage_min if ufunc is np.maximum else t.storage_max
    given = {} if initial is None else {"initial": least}
    found = np.asarray(ufunc.reduce(stored(q), axis, None, None, keepdims, where=where, **given))
    if initial is not None:
        found = _with_bound(name, ufunc, found, t, initial)
    return delivered(name, found, t, out)


def _reductions(ufunc: np.ufunc, *functions: Function) -> None:
    name = f"np.{'max' if ufunc is np.maximum else 'min'}"

    def rule(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        return _extreme(name, ufunc, one_tensor(name, a), axis, out, keepdims, initial, where)

    def reduce(
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        refuse(name, {"dtype": dtype})
        return _extreme(name, ufunc, one_tensor(name, array), axis, out, keepdims, initial, where)

    rule.__doc__ = f"The {_WORDS[ufunc]} value."
    reduce.__doc__ = f"The {_WORDS[ufunc]} value along an axis."
    implements(*functions, kind="order")(rule)
    implements(*((each, "reduce") for each in _UFUNCS[ufunc]), kind="order")(reduce)


_reductions(np.maximum, np.max, np.amax, np.nanmax)
_reductions(np.minimum, np.min, np.amin, np.nanmin)


def _accumulations(ufunc: np.ufunc) -> None:
    name = f"np.{ufunc.__name__}.accumulate"

    def rule(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> QuantTensor:
        q = one_tensor(name, array)
        refuse(name, {"dtype": dtype})
        require_one_scale(name, q, axis)
        return delivered(name, ufunc.accumulate(stored(q), axis), q.type, out)

    rule.__doc__ = f"The {_WORDS[ufunc]} value so far along an axis."
    implements(*((each, "accumulate") for each in _UFUNCS[ufunc]), kind="order")(rule)


_accumulations(np.maximum)
_accumulations(np.minimum)


def _place_of_extreme(find: Callable[..., Any], *functions: Function) -> None:
    def rule(a: Any, axis: Any = None, out: Array | None = None, *, keepdims: Any = False) -> Any:
        q = one_tensor(f"np.{find.__name__}", a)
        return find(in_order(q, axis), axis, out, keepdims=keepdims)

    rule.__doc__ = f"The index of the {'greatest' if find is np.argmax else 'least'} value, the first of equals."
    implements(*functions, kind="order")(rule)


_place_of_extreme(np.argmax, np.argmax, np.nanargmax)
_place_of_extreme(np.argmin, np.argmin, np.nanargmin)


# -------------------------------------------------------------------------------------------------------------- sorting


def _sorted(name: str, q: QuantTensor, axis: Any, sort: Callable[[Array, Any], None]) -> QuantTensor:
    """What ``sort`` makes in place of the storage. Along the axis, None for all, one scale is needed."""
    require_one_scale(name, q, axis)
    storage = stored(q).copy() if axis is not None else stored(q).flatten()
    sort(storage, -1 if axis is None else axis)
    return delivered(name, storage, q.type if axis is not None else per_layer(q.type))


def _sort(storage: Array, axis: Any, kind: Any = None, stable: Any = None) -> None:
    """In place. NumPy counts bytes where a stable sort is asked for, 15 times faster than it sorts them by default."""
    storage.sort(axis, "stable" if kind is stable is None and storage.itemsize == 1 else kind, stable=stable)


@implements(np.sort, kind="order")
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> QuantTensor:
    """The elements in ascending order along an axis."""
    if order is not None:
        refuse("np.sort", {"order": order})
    return _sorted("np.sort", one_tensor("np.sort", a), axis, lambda s, axis: _sort(s, axis, kind, stable))


@implements(np.partition, kind="order")
def partition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> QuantTensor:
    """The elements in ascending order along an axis: the one partition that is the same on every CPU."""
    refuse("np.partition", {"order": order})
    q = one_tensor("np.partition", a)
    _check_partition(q, kth, axis, kind)
    return _sorted("np.partition", q, axis, _sort)


@implements(np.argsort, kind="order")
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """The indices that sort the values; the first of equals comes first, so that they are the same on every CPU."""
    q = one_tensor("np.argsort", a)
    if order is not None:
        refuse("np.argsort", {"order": order})
    if not (kind is stable is None):
        np.argsort(np.empty(0), kind=kind, stable=stable)  # raises for what is no kind
    return np.argsort(in_order(q, axis), axis, kind="stable")


@implements(np.argpartition, kind="order")
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """The indices that sort the values, as ``np.argsort``: the one partition that is the same on every CPU."""
    q = one_tensor("np.argpartition", a)
    refuse("np.argpartition", {"order": order})
    _check_partition(q, kth, axis, kind)
    return np.argsort(in_order(q, axis), axis, kind="stable")


def _check_partition(q: QuantTensor, kth: Any, axis: Any, kind: Any) -> None:
    """Raises what NumPy raises for an axis, a place or an algorithm that is none."""
    is_usual = type(axis) is int and type(kth) is int and kind == "introselect"
    if is_usual and -q.ndim <= axis < q.ndim and -q.shape[axis] <= kth < q.shape[axis]:
        return
    count = q.size if axis is None else q.shape[normalize_axis_index(axis, q.ndim)]
    np.partition(np.zeros(count, np.int8), kth, kind=kind)


@implements(np.lexsort, kind="order")
def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, of which the last counts most."""
    rows = keys if isinstance(keys, QuantTensor) else tuple(keys)
    if isinstance(rows, QuantTensor):
        return np.lexsort(in_order(rows, None), axis)
    return np.lexsort(tuple(in_order(row, None) if isinstance(row, QuantTensor) else row for row in rows), axis)


# ------------------------------------------------------------------------------------------------------------ quantiles

_CHOOSING = frozenset({"inverted_cdf", "closest_observation", "lower", "higher", "nearest"})
"""The methods whose results are elements."""


def _quantile(function: Callable[..., Any], plain: Callable[..., Any]) -> None:
    """Registers a function which ``plain`` computes on storage: no value of a tensor is NaN."""
    name, own = f"np.{function.__name__}", unwrap(plain)

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
        options = {"method": method, "keepdims": is_kept(keepdims), "weights": weights}
        if method not in _CHOOSING:
            given = asked_for(axis=axis, out=out, **options | {"method": None if method == "linear" else method})
            others = "or give method='lower', 'higher', 'nearest' or 'inverted_cdf'"
            return in_floats(name, function, (a, q), given, lambda: f"{written_call(name, (a, q), given)}, {others}")
        x = one_tensor(name, a)
        t = reduced(name, x, axis, is_kept(keepdims))
        if out is None and t.is_per_layer:
            dtype = storage_dtype(t)
            kept = options["keepdims"]

            def run(operands: Any) -> QuantTensor:
                found = own(stored(operands[0]), q, axis, None, False, method, kept, weights=weights)
                return made(np.asarray(found, dtype), t)

            return Planned((x,), run)
        source = stored(x)
        storage = np.asarray(own(source, q, axis, **options))
        element = broadcast(name, t, storage.shape[np.ndim(q) :], storage.shape)
        return delivered(name, storage.astype(source.dtype, copy=False), element, out)

    rule.__doc__ = "An element, by a ``method`` that chooses one; those between elements have no exact result."
    implements(function, kind="order")(rule)


_quantile(np.quantile, np.quantile)
_quantile(np.nanquantile, np.quantile)
_quantile(np.percentile, np.percentile)
_quantile(np.nanpercentile, np.percentile)
has_no_exact_result(np.median, hint="np.median(np.asarray(q))")
has_no_exact_result(np.nanmedian, hint="np.nanmedian(np.asarray(q))")


# --------------------------------------------------------------------------------------------------------- two operands


def _bounds(name: str, ufunc: Any, t: UniformType, number: Any) -> Array:
    """A real number as storage of each parameter of the type, by the default cast rule, as ``qrt.clamp`` stores its
    bounds. One that no value reaches changes nothing; one that no value of the type is near would be the result."""
    x = real_number(name, "a bound", number)
    scales, zero_points = np.array(t.scales), np.array(t.zero_points, np.int64)
    with np.errstate(over="ignore"):
        place = x / scales + zero_points
    beyond = place > t.storage_max + 0.5 if ufunc is np.maximum else place < t.storage_min - 0.5
    if np.isnan(x) or beyond.any():
        raise QuantTypeError(f"{name}: no value of the type is near {shown(number)}: requantize to a wider type first")
    return stored_bounds(t, {"min": x, "max": None})[0]


@lru_cache(maxsize=256)
def _bound_of_layer(name: str, ufunc: Any, t: UniformType, number: Any) -> Array:
    """Of the dtype of the storage and no axis: Python's integers cost NumPy more."""
    return _bounds(name, ufunc, t, number)[:1].astype(storage_dtype(t)).reshape(())


def _with_bound(name: str, ufunc: Any, storage: Array, t: UniformType, number: Any) -> Any:
    """``ufunc`` of storage of the type and of a real number."""
    if t.is_per_layer and isinstance(number, (int, float, np.generic)):
        return ufunc(storage, _bound_of_layer(name, ufunc, t, number))
    return ufunc(storage, _bounds(name, ufunc, t, number).astype(storage.dtype)[parameter_index(t, storage.shape)])


def _refuse_array(name: str, args: tuple[Any, ...], *bounds: Any) -> None:
    """Raises for an array among the bounds: it is not quantized unasked."""
    if any(not isinstance(x, (int, float, QuantTensor, type(None))) and np.ndim(x) for x in bounds):
        floats = written_call(name, args, {})
        raise QuantTypeError(
            f"{name}: an array is no QuantTensor: write {floats}, or qrt.quantize the array, which rounds and clamps it"
        )


def _choices(ufunc: np.ufunc) -> None:
    """The rule of a ufunc that chooses one of two values."""
    name = f"np.{ufunc.__name__}"

    def rule(a: Any, b: Any, /, *, out: Any = None, **others: Any) -> Any:
        if others:
            refuse(name, others)
        if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
            return _of_two(name, ufunc, a, b, out)
        q, number = (a, b) if isinstance(a, QuantTensor) else (b, a)
        number = number[()] if isinstance(number, np.ndarray) else number
        _refuse_array(name, (a, b), number)
        q = one_tensor(name, q)
        if out is None and q.type.is_per_layer and type(number) in NUMBERS:
            bound = _bound_of_layer(name, ufunc, q.type, float(number) if type(number) is float else int(number))
            return Planned((q,), lambda operands: made(ufunc(stored(operands[0]), bound), operands[0].type))
        return delivered(name, _with_bound(name, ufunc, stored(q), q.type, number), q.type, out)

    rule.__doc__ = f"The {'greater' if ufunc is np.maximum else 'lesser'} of two values; a real number is quantized."
    implements(*_UFUNCS[ufunc], kind="order")(rule)


def _of_two(name: str, ufunc: Any, a: QuantTensor, b: QuantTensor, out: Any) -> QuantTensor:
    try:
        storage = np.asarray(ufunc(stored(a), stored(b)))
    except ValueError:
        raise QuantValueError(f"{name}: shapes {a.shape} and {b.shape} do not broadcast") from None
    if a.type is b.type and (a.type.is_per_layer or a.shape == b.shape):
        return delivered(name, storage, a.type, out)
    t, u = (broadcast(name, each.type, each.shape, storage.shape) for each in (a, b))
    if t is not u:
        raise QuantTypeError(f"{name}: the operands have different types: requantize one, qrt.requantize(q, r.type)")
    return delivered(name, storage, t, out)


_choices(np.maximum)
_choices(np.minimum)


_NUMBERS = (int, float, type(None))
_FEW = 1024


@implements(np.clip, kind="order")
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """The elements within two bounds, which are stored by the default cast rule."""
    q = one_tensor("np.clip", a)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if q.type.is_per_layer and isinstance(low, _NUMBERS) and isinstance(high, _NUMBERS):
        least = None if low is None else _bound_of_layer("np.clip", np.maximum, q.type, low)
        most = None if high is None else _bound_of_layer("np.clip", np.minimum, q.type, high)
        if out is not None:
            return delivered("np.clip", _within(stored(q), least, most), q.type, out)
        return Planned((q,), lambda operands: made(_within(stored(operands[0]), least, most), operands[0].type))
    _refuse_array("np.clip", (a, low, high), low, high)
    found = q.copy() if low is None else np.maximum(q, low)
    found = found if high is None else np.minimum(found, high)
    return delivered("np.clip", stored(found), found.type, out)


def _within(storage: Array, least: Any, most: Any) -> Any:
    """As NumPy's ``clip``, which costs more than two ufuncs where elements are few, and less where they are many."""
    if storage.size > _FEW or (least is None and most is None):
        return storage.clip(least, most)
    if least is None or most is None:
        return np.minimum(storage, most) if least is None else np.maximum(storage, least)
    found = np.maximum(storage, least)
    return np.minimum(found, most, out=found) if found.ndim else np.minimum(found, most)
