"""Means, variances and norms: exact sums, which are rounded once at the end."""

from fractions import Fraction
from math import prod
from numbers import Rational, Real
from typing import Any

import numpy as np

from qrt.errors import QuantShapeError, QuantTypeError, shown
from qrt.ops.core import Array, Shape
from qrt.ops.requant import max_magnitude
from qrt.tensor.float_results import in_floats
from qrt.tensor.functions import mean as qrt_mean
from qrt.tensor.protocol.exact import (
    Units,
    add_up,
    axes_of,
    axis_of,
    centred,
    integers_of,
    reduced_units,
    refuse_others,
    require_tensors,
    result_type,
    spelled,
    to_float64,
    zero_points_of,
)
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor

_EXACT_FLOATS = 1 << 53
"""Integers below it, and sums of them below it in any order, are exact in float64."""


@implements(np.mean, np.nanmean, kind="sums")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **others: Any) -> Any:
    name = "np.mean"
    require_tensors(name, a)
    refuse_others(name, others)
    wanted, keepdims = result_type(name, dtype), keepdims is True
    if not isinstance(wanted, np.dtype):
        return qrt_mean(a, axis, keepdims=keepdims, out_type=wanted, out=out)
    axes, units, count = _reduction(name, a, axis, keepdims)
    refuse_others(name, {"out": out})
    if count == 0:
        raise QuantShapeError(f"{name}: there is no element along axes {axes} of shape {a.shape}")
    total = np.asarray(add_up(centred(a), axes, keepdims=keepdims))
    return to_float64(total, units, Fraction(count))[()]


@implements(np.average, kind="sums")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    if weights is not None:
        more = {"axis": axis, "weights": weights, "returned": bool(returned), "keepdims": keepdims is True}
        return in_floats("np.average", np.average, (a,), more, spelled("np.average", (a,), more))
    require_tensors("np.average", a)
    refuse_others("np.average", {"returned": returned or None})
    return mean(a, axis, keepdims=keepdims)


def _reduction(name: str, a: QuantTensor, axis: Any, keepdims: bool, power: int = 1) -> tuple[Shape, Units, int]:
    axes = axes_of(name, axis, a.ndim)
    return axes, reduced_units(name, a.type, a.shape, axes, keepdims, power), prod(a.shape[d] for d in axes)


# ----------------------------------------------------------------------------------------------------------- variances


@implements(np.var, np.nanvar, kind="sums")
def var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, **others: Any) -> Any:
    return _spread("np.var", False, a, axis, dtype, out, ddof, others)


@implements(np.std, np.nanstd, kind="sums")
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, **others: Any) -> Any:
    return _spread("np.std", True, a, axis, dtype, out, ddof, others)


def _spread(name: str, root: bool, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, others: dict[str, Any]) -> Any:
    require_tensors(name, a)
    keepdims = others.pop("keepdims", False) is True
    correction = others.pop("correction", np._NoValue)
    refuse_others(name, {**others, "out": out})
    if dtype is not None and not isinstance(result_type(name, dtype), np.dtype):
        raise QuantTypeError(f"{name}: the result is float64: write qrt.quantize({name}(q), t)")
    axes, units, count = _reduction(name, a, axis, keepdims, 2)
    freedom = count - _exact(name, ddof if correction is np._NoValue else correction)
    if count == 0 or freedom <= 0:
        raise QuantShapeError(f"{name}: {count} elements less ddof leave no degree of freedom")
    return to_float64(_deviations(a, axes, count, keepdims), units, count * freedom, root)[()]


def _exact(name: str, number: Any) -> Fraction:
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Real) and np.isfinite(float(number)):
        return Fraction(float(number))
    raise QuantTypeError(f"{name}: ddof must be a finite number, got {shown(number)}")


def _deviations(a: QuantTensor, axes: Shape, count: int, keepdims: bool) -> Array:
    """``count * sum of squares - (sum)**2`` of the storage less its zero points: exact integers."""
    total, squares, largest = _power_sums(a, axes, count, keepdims)
    if count * count * largest * largest >= 1 << 63:
        total, squares = total.astype(object), squares.astype(object)
    return np.asarray(count * squares - total * total)


def _power_sums(a: QuantTensor, axes: Shape, count: int, keepdims: bool) -> tuple[Array, Array, int]:
    """(sum, sum of squares, largest magnitude of a term) of the storage less its zero points."""
    largest = max_magnitude(a.type)
    bound = max(count, 1) * largest * largest
    if bound < _EXACT_FLOATS:
        terms = np.asarray(np.subtract(integers_of(a), zero_points_of(a), dtype=np.float64))
    else:
        terms = centred(a)
        terms = terms.astype(object) if bound >= 1 << 63 else terms
    total = add_up(terms, axes, keepdims=keepdims)
    squares = add_up(np.multiply(terms, terms, terms), axes, keepdims=keepdims)
    kind = object if terms.dtype == object else np.int64
    return np.asarray(total, kind), np.asarray(squares, kind), largest


# --------------------------------------------------------------------------------------------------------------- norms


@implements(np.linalg.norm, kind="sums")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """The root of a sum of squares; other norms have no exact result."""
    name = "np.linalg.norm"
    require_tensors(name, x)
    rank = x.ndim if axis is None else len(axes_of(name, axis, x.ndim))
    is_root = ord is None or (rank == 2 and ord == "fro") or (rank == 1 and ord == 2)
    if not is_root:
        more = {"ord": ord, "axis": axis, "keepdims": keepdims}
        return in_floats(name, np.linalg.norm, (x,), more, spelled(name, (x,), more))
    return _root_of_squares(name, x, axis, keepdims is True)


@implements(np.linalg.vector_norm, kind="sums")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    name = "np.linalg.vector_norm"
    require_tensors(name, x)
    if ord != 2:
        more = {"axis": axis, "keepdims": keepdims, "ord": ord}
        return in_floats(name, np.linalg.vector_norm, (x,), more, spelled(name, (x,), more))
    return _root_of_squares(name, x, axis, keepdims is True)


@implements(np.linalg.matrix_norm, kind="sums")
def _matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    name = "np.linalg.matrix_norm"
    require_tensors(name, x)
    if ord != "fro":
        more = {"keepdims": keepdims, "ord": ord}
        return in_floats(name, np.linalg.matrix_norm, (x,), more, spelled(name, (x,), more))
    return _root_of_squares(name, x, (axis_of(name, -2, x.ndim), axis_of(name, -1, x.ndim)), keepdims is True)


def _root_of_squares(name: str, x: QuantTensor, axis: Any, keepdims: bool) -> Any:
    axes, units, count = _reduction(name, x, axis, keepdims, 2)
    return to_float64(_power_sums(x, axes, count, keepdims)[1], units, root=True)[()]
