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
        terms, squares = _squares(a, axes, keepdims, count)
        is_narrow = (count * max_magnitude(a.type)) ** 2 < 1 << 63
        kind: Any = np.int64 if is_narrow else object  # of count times the squares, and of the squared sum
        total = add_up(terms, axes, object if terms.dtype == object else np.int64, None, keepdims)
        deviations = count * np.asarray(squares, kind) - np.asarray(total, kind) ** 2
        return to_float64(np.asarray(deviations, kind), units, count * (count - freedom), root)[()]

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


def _squares(q: QuantTensor, axes: tuple[int, ...], keepdims: bool, count: int) -> tuple[Array, Array]:
    """Return (values as integers, sums of ``count`` of their squares), as objects where 64 bits do not hold a sum."""
    square = max_magnitude(q.type) ** 2
    bound = max(count, 1) * square
    wide: Any = np.int32 if bound < I32_END else np.int64 if bound < 1 << 63 else object
    terms = centred(q, square)
    terms = terms.astype(object) if wide is object else terms
    return terms, np.asarray(add_up(np.square(terms), axes, wide, None, keepdims))


# --------------------------------------------------------------------------------------------------------------- norms


@implements(np.linalg.norm, kind="sums")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """The root of a sum of squares as float64, rounded once; other norms have no exact result."""
    require_tensors(x)
    rank = x.ndim if axis is None else len(axes_of(axis, x.ndim))
    if axis is not None and rank not in (1, 2):
        raise QuantValueError(f"a norm is along one axis or two, got axis {shown(axis)}")
    is_named = isinstance(ord, (int, float, str))
    is_root = ord is None or (is_named and ((rank == 2 and ord == "fro") or (rank == 1 and ord == 2)))
    if not is_root:
        return answer_in_floats(np.linalg.norm, (x,), asked_for(ord=ord, axis=axis, keepdims=keepdims))
    axes, keepdims, units, count = reduction(x, axis, keepdims, 2)
    return to_float64(_squares(x, axes, keepdims, count)[1], units, root=True)[()]
