"""Means, variances and norms: exact sums, which are rounded once at the end."""

from collections.abc import Callable
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Array
from qrt.ops.requant import max_magnitude
from qrt.tensor.functions import mean as qrt_mean
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.exact import (
    I32_END,
    add_up,
    axes_of,
    centred,
    is_kept,
    reduction,
    refuse_others,
    require_tensors,
    result_type,
    to_float64,
    write_floats,
)
from qrt.tensor.protocol.table import answer_in_floats, enter, implements, name_of
from qrt.tensor.protocol.written import asked_for, written_call
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType


@implements(np.mean, np.nanmean, kind="sums")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **others: Any) -> Any:
    """The mean as float64, rounded once; of a quantized type where ``dtype`` or ``out`` is one, as ``qrt.mean``."""
    require_tensors(a)
    refuse_others(others)
    wanted = result_type(dtype)
    if isinstance(wanted, UniformType) or isinstance(out, QuantTensor):
        quantized = wanted if isinstance(wanted, UniformType) else None
        return qrt_mean(a, axis, keepdims=is_kept(keepdims), out_type=quantized, out=out)
    axes, keepdims, units, count = reduction(a, axis, keepdims)
    if count == 0:
        raise QuantValueError(f"there is no element along axes {axes} of shape {a.shape}")
    total = np.asarray(add_up(centred(a), axes, keepdims=keepdims))
    values = to_float64(total, units, count)
    return write_floats(values, np.dtype(np.float64), out)


@implements(np.average, kind="sums")
def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """As ``np.mean``; with weights there is no exact result."""
    if weights is not None:
        more = asked_for(axis=axis, weights=weights, returned=bool(returned), keepdims=is_kept(keepdims))
        return answer_in_floats(np.average, (a,), more)
    require_tensors(a)
    refuse_others({"returned": returned or None})
    return mean(a, axis, keepdims=keepdims)


# ----------------------------------------------------------------------------------------------------------- variances


def _spread(function: Any, root: bool) -> Callable[..., Any]:
    """Return the rule of a function of the deviations from the mean."""

    def rule(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        **others: Any,
    ) -> Any:
        require_tensors(a)
        keepdims, correction = is_kept(keepdims), others.pop("correction", np._NoValue)
        ddof = ddof if correction is np._NoValue else correction
        refuse_others({**others, "out": out})
        if dtype is not None and not isinstance(result_type(dtype), np.dtype):
            call = written_call(
                name_of(function), (a,), asked_for(axis=axis, ddof=ddof or None, keepdims=keepdims), "{}"
            )
            raise QuantTypeError(f"the result is float64: write qrt.quantize({call}, t) for a type t")
        axes, keepdims, units, count = reduction(a, axis, keepdims, 2)
        freedom = _exact(ddof)
        if count == 0 or count <= freedom:
            raise QuantValueError(f"{count} elements less ddof leave no degree of freedom")
        total, squares = _power_sums(stored(a), axes, keepdims, count, max(-a.type.storage_min, a.type.storage_max))
        deviations = np.asarray(count * squares - total * total)
        return to_float64(deviations, units, count * (count - freedom), root)[()]

    return rule


_SPREADS = {
    (np.var, np.nanvar): (False, "The variance as float64, rounded once."),
    (np.std, np.nanstd): (True, "The standard deviation as float64, rounded once."),
}
enter("sums", _spread, _SPREADS)


def _exact(number: Any) -> Fraction:
    if isinstance(number, Rational):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Real) and np.isfinite(float(number)):
        return Fraction(float(number))
    raise QuantTypeError(f"ddof must be a finite number, got {shown(number)}")


def _power_sums(storage: Array, axes: tuple[int, ...], keepdims: bool, count: int, widest: int) -> tuple[Array, Array]:
    """Return (sum, sum of squares) of storage of this magnitude: of int64, or objects where that does not hold
    ``count`` times the sum of squares."""
    bound = count * widest**2
    if bound >= 1 << 63:
        storage, square, wide = storage.astype(object), object, object
    else:
        is_unsigned, wide = storage.dtype.kind == "u", np.int32 if bound < I32_END else np.int64
        narrow = {1: (np.int16, np.uint16), 2: (np.int32, np.uint32)}.get(storage.itemsize, (np.int64, np.int64))
        square = narrow[is_unsigned]
    kind = object if (count * widest) ** 2 >= 1 << 63 else np.int64
    squares = np.multiply(storage, storage, dtype=square)
    total, of_squares = (np.asarray(add_up(x, axes, wide, None, keepdims), kind) for x in (storage, squares))
    return total, of_squares


# --------------------------------------------------------------------------------------------------------------- norms


@implements(np.linalg.norm, kind="sums")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """The root of a sum of squares; other norms have no exact result."""
    require_tensors(x)
    rank = x.ndim if axis is None else len(axes_of(axis, x.ndim))
    if axis is not None and rank not in (1, 2):
        raise QuantValueError(f"a norm is along one axis or two, got axis {shown(axis)}")
    is_named = isinstance(ord, (int, float, str))
    is_root = ord is None or (is_named and ((rank == 2 and ord == "fro") or (rank == 1 and ord == 2)))
    return _norm(np.linalg.norm, x, is_root, axis, ord=ord, axis=axis, keepdims=keepdims)


@implements(np.linalg.vector_norm, kind="sums")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """The root of a sum of squares as float64, rounded once; other norms have no exact result."""
    is_root = isinstance(ord, (int, float)) and ord == 2
    return _norm(np.linalg.vector_norm, x, is_root, axis, ord=ord, axis=axis, keepdims=keepdims)


@implements(np.linalg.matrix_norm, kind="sums")
def _matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """The Frobenius norm of matrices as float64, rounded once; other norms have no exact result."""
    is_root = isinstance(ord, str) and ord == "fro"
    return _norm(np.linalg.matrix_norm, x, is_root, (-2, -1), ord=ord, keepdims=keepdims)


def _norm(function: Any, x: Any, is_root: bool, along: Any, **given: Any) -> Any:
    """Return the root of the sum of squares along axes, or what the function gives for floats."""
    require_tensors(x)
    if not is_root:
        return answer_in_floats(function, (x,), asked_for(**given))
    axes, keepdims, units, count = reduction(x, along, given["keepdims"], 2)
    square = max_magnitude(x.type) ** 2
    bound = max(count, 1) * square
    wide: Any = np.int32 if bound < I32_END else np.int64 if bound < 1 << 63 else object
    terms = centred(x, square)
    squares = np.square(terms if wide is not object else terms.astype(object))
    return to_float64(np.asarray(add_up(squares, axes, wide, None, keepdims)), units, root=True)[()]
