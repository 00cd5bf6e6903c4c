"""Means, variances and norms: exact sums, which are rounded once at the end."""

from fractions import Fraction
from functools import lru_cache
from math import prod
from numbers import Rational, Real
from typing import Any, NamedTuple

import numpy as np

from qrt.eager.calls import Planned
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.sums import rounded_quotient, rounded_root
from qrt.ops.core import Shape, storage_dtype
from qrt.ops.requant import max_magnitude
from qrt.tensor.float_results import in_floats
from qrt.tensor.functions import mean as qrt_mean
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.exact import (
    I32_END,
    Units,
    add_up,
    axes_of,
    axis_of,
    centre_of,
    centred,
    hashable_axis,
    is_kept,
    reduced_units,
    refuse_others,
    require_tensors,
    result_type,
    to_float64,
    write_floats,
)
from qrt.tensor.protocol.table import implements
from qrt.tensor.protocol.written import asked_for, written_call
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType


@implements(np.mean, np.nanmean, kind="sums")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """The mean as float64, rounded once; of a quantized type where ``dtype`` or ``out`` is one, as ``qrt.mean``."""
    name = "np.mean"
    require_tensors(name, a)
    refuse_others(name, others)
    wanted, keepdims = result_type(name, dtype), is_kept(keepdims)
    if isinstance(wanted, UniformType) or isinstance(out, QuantTensor):
        quantized = wanted if isinstance(wanted, UniformType) else None
        return qrt_mean(a, axis, keepdims=keepdims, out_type=quantized, out=out)
    axes, units, count = _reduction_of(name, a.type, a.shape, axis, keepdims, 1)
    if count == 0:
        raise QuantValueError(f"{name}: there is no element along axes {axes} of shape {a.shape}")
    total = np.asarray(add_up(centred(a), axes, keepdims=keepdims))
    values = to_float64(total, units, [unit / count for unit in units.products()])
    return write_floats(name, values, np.dtype(np.float64), out)


@implements(np.average, kind="sums")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """As ``np.mean``; with weights there is no exact result."""
    if weights is not None:
        more = asked_for(axis=axis, weights=weights, returned=bool(returned), keepdims=is_kept(keepdims))
        return in_floats("np.average", np.average, (a,), more, lambda: written_call("np.average", (a,), more))
    require_tensors("np.average", a)
    refuse_others("np.average", {"returned": returned or None})
    return mean(a, axis, keepdims=keepdims)


def _reduction_of(
    name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool, power: int
) -> tuple[Shape, Units, int]:
    """(axes, units of products of ``power`` elements, number of elements) of a sum."""
    axes = axes_of(name, axis, len(shape))
    return axes, reduced_units(name, t, shape, axes, keepdims, power), prod(shape[d] for d in axes)


# ----------------------------------------------------------------------------------------------------------- variances


@implements(np.var, np.nanvar, kind="sums")
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, *rest: Any, **others: Any) -> Any:
    """The variance as float64, rounded once."""
    return _spread("np.var", False, a, axis, dtype, out, ddof, _named(rest, others))


@implements(np.std, np.nanstd, kind="sums")
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, *rest: Any, **others: Any) -> Any:
    """The standard deviation as float64, rounded once."""
    return _spread("np.std", True, a, axis, dtype, out, ddof, _named(rest, others))


def _named(rest: tuple[Any, ...], others: dict[str, Any]) -> dict[str, Any]:
    """NumPy takes ``keepdims`` by position too."""
    return {"keepdims": rest[0], **others} if rest else others


def _spread(name: str, root: bool, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, others: dict[str, Any]) -> Any:
    require_tensors(name, a)
    keepdims = False
    if others or out is not None:
        keepdims = is_kept(others.pop("keepdims", False))
        correction = others.pop("correction", np._NoValue)
        ddof = ddof if correction is np._NoValue else correction
        refuse_others(name, {**others, "out": out})
    if dtype is not None and not isinstance(result_type(name, dtype), np.dtype):
        call = written_call(name, (a,), asked_for(axis=axis, ddof=ddof or None, keepdims=keepdims), "{}")
        raise QuantTypeError(f"{name}: the result is float64: write qrt.quantize({call}, t) for a type t")
    ddof = ddof if type(ddof) is int else _exact(name, ddof)
    how = _spread_of(name, a.type, a.shape, hashable_axis(axis), keepdims, ddof)
    rounded = rounded_root if root else rounded_quotient
    numerator, denominator = how.ratios[0].numerator, how.ratios[0].denominator

    def run(operands: Any) -> Any:
        total, squares = _power_sums(operands[0], how.sums, keepdims)
        if how.is_wide:
            total, squares = total.astype(object), squares.astype(object)
        deviations = np.asarray(how.sums.elements * squares - total * total)
        if deviations.ndim:
            return to_float64(deviations, how.units, how.ratios, root)
        return np.float64(rounded(int(deviations) * numerator, denominator))

    return Planned((a,), run)


class _Sums(NamedTuple):
    """How sums and sums of squares of storage are formed, in integers that hold them."""

    axes: Shape
    elements: int
    squares: Any
    """The dtype of squares."""
    sums: Any
    """The dtype of sums."""


class _Spread(NamedTuple):
    """How variances of tensors of one type and shape are formed: found once for them."""

    sums: _Sums
    units: Units
    ratios: list[Fraction]
    """What one of the exact integers is worth, for each channel."""
    is_wide: bool
    """Whether the integers pass 64 bits."""


@lru_cache(maxsize=256)
def _spread_of(name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool, ddof: Any) -> _Spread:
    axes, units, count = _reduction_of(name, t, shape, axis, keepdims, 2)
    if count == 0 or count <= ddof:
        raise QuantValueError(f"{name}: {count} elements less ddof leave no degree of freedom")
    ratios = [unit / (count * (count - Fraction(ddof))) for unit in units.products()]
    return _Spread(_sums_of(t, axes, count), units, ratios, (count * _widest(t)) ** 2 >= 1 << 63)


def _sums_of(t: UniformType, axes: Shape, count: int) -> _Sums:
    bound = max(count, 1) * _widest(t) ** 2
    if bound >= 1 << 63:
        return _Sums(axes, count, object, object)
    stored = storage_dtype(t)
    kinds = {1: (np.int16, np.uint16), 2: (np.int32, np.uint32)}.get(stored.itemsize, (np.int64, np.int64))
    return _Sums(axes, count, kinds[stored.kind == "u"], np.int32 if bound < I32_END else np.int64)


def _exact(name: str, number: Any) -> Fraction:
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Real) and np.isfinite(float(number)):
        return Fraction(float(number))
    raise QuantTypeError(f"{name}: ddof must be a finite number, got {shown(number)}")


def _power_sums(a: QuantTensor, how: _Sums, keepdims: bool) -> tuple[Any, Any]:
    """(sum, sum of squares) of the storage: int64, or objects where that does not hold them."""
    data = stored(a)
    if how.squares is object:
        data = data.astype(object)
    squares = np.multiply(data, data, dtype=how.squares)
    kept = object if how.squares is object else np.int64
    total, of_squares = (add_up(x, how.axes, how.sums, None, keepdims) for x in (data, squares))
    return np.asarray(total, kept), np.asarray(of_squares, kept)


def _widest(t: UniformType) -> int:
    """The largest magnitude of storage."""
    return max(-t.storage_min, t.storage_max)


# --------------------------------------------------------------------------------------------------------------- norms


@implements(np.linalg.norm, kind="sums")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """The root of a sum of squares; other norms have no exact result."""
    name = "np.linalg.norm"
    require_tensors(name, x)
    rank = x.ndim if axis is None else len(axes_of(name, axis, x.ndim))
    if axis is not None and rank not in (1, 2):
        raise QuantValueError(f"{name}: a norm is along one axis or two, got axis {shown(axis)}")
    ord = ord if isinstance(ord, (int, float, str, type(None))) else shown(ord)
    is_root = ord is None or (rank == 2 and ord == "fro") or (rank == 1 and ord == 2)
    if not is_root:
        more = asked_for(ord=ord, axis=axis, keepdims=keepdims)
        return in_floats(name, np.linalg.norm, (x,), more, lambda: written_call(name, (x,), more))
    return _root_of_squares(name, x, axis, is_kept(keepdims))


@implements(np.linalg.vector_norm, kind="sums")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """The root of a sum of squares as float64, rounded once; other norms have no exact result."""
    name = "np.linalg.vector_norm"
    require_tensors(name, x)
    if not (isinstance(ord, (int, float)) and ord == 2):
        more = asked_for(ord=ord, axis=axis, keepdims=keepdims)
        return in_floats(name, np.linalg.vector_norm, (x,), more, lambda: written_call(name, (x,), more))
    return _root_of_squares(name, x, axis, is_kept(keepdims))


@implements(np.linalg.matrix_norm, kind="sums")
def _matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """The Frobenius norm of matrices as float64, rounded once; other norms have no exact result."""
    name = "np.linalg.matrix_norm"
    require_tensors(name, x)
    if not (isinstance(ord, str) and ord == "fro"):
        more = asked_for(ord=ord, keepdims=keepdims)
        return in_floats(name, np.linalg.matrix_norm, (x,), more, lambda: written_call(name, (x,), more))
    return _root_of_squares(name, x, (axis_of(name, -2, x.ndim), axis_of(name, -1, x.ndim)), is_kept(keepdims))


def _root_of_squares(name: str, x: QuantTensor, axis: Any, keepdims: bool) -> Any:
    axes, units, ratios, square, sums = _norm_of(name, x.type, x.shape, hashable_axis(axis), keepdims)
    centre, numerator, denominator = centre_of(x.type, x.shape, square), ratios[0].numerator, ratios[0].denominator

    def run(operands: Any) -> Any:
        terms = centre(operands[0])
        squares = np.square(terms if sums is not object else terms.astype(object))
        total = add_up(squares, axes, sums, None, keepdims)
        if np.ndim(total):
            return to_float64(total, units, ratios, root=True)
        return np.float64(rounded_root(int(total) * numerator, denominator))

    return Planned((x,), run)


class _Norm(NamedTuple):
    """How norms of tensors of one type and shape are formed: found once for them."""

    axes: Shape
    units: Units
    ratios: list[Fraction]
    square: int
    """The largest square."""
    sums: Any
    """The dtype of sums."""


@lru_cache(maxsize=256)
def _norm_of(name: str, t: UniformType, shape: Shape, axis: Any, keepdims: bool) -> _Norm:
    axes, units, count = _reduction_of(name, t, shape, axis, keepdims, 2)
    square = max_magnitude(t) ** 2
    bound = max(count, 1) * square
    sums = np.int32 if bound < I32_END else np.int64 if bound < 1 << 63 else object
    return _Norm(axes, units, units.products(), square, sums)
