"""Numbers in the order of values: exact, as ``(storage - zero_point) * scale`` with the scale a rational.

Where one scale and zero point hold, storage is in the order of values, for scales are positive. Elsewhere a value is
two float64: the product of ``storage - zero_point`` and the scale, rounded, and what the rounding took away, which
Dekker's product gives exactly. Rounding is monotonic, so pairs that are compared first by the one, then by the other,
are in the order of the products. All scales of a comparison are divided by one power of two, so that nothing leaves
float64's range; scales more than 2**900 apart, and integers or floats that float64 does not hold, are compared as
Python's rationals, one by one.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor
from qrt.errors import QuantTypeError
from qrt.ops.core import Array, parameter_index
from qrt.tensor.arrays import as_array
from qrt.tensor.protocol.elements import stored
from qrt.types import UniformType

Key = tuple[Array, Array | float]
"""The rounded values, and what the rounding took away; or rationals, and 0."""
_WIDEST = 900
"""Exponents of scales that lie further apart leave float64's range."""
_SPLITTER = float((1 << 27) + 1)


def have_one_scale(tensors: Sequence[Tensor]) -> bool:
    """Whether one scale and one zero point are those of all elements of all the tensors."""
    first = tensors[0].type if tensors else None
    if first is not None and first.is_per_layer and all(q.type is first for q in tensors):
        return True
    scales: set[float] = set().union(*(q.type.scales for q in tensors))
    return len(scales) == 1 and len(set().union(*(q.type.zero_points for q in tensors))) == 1


def axes_of(axis: Any, rank: int) -> tuple[int, ...] | None:
    """Axes counted from 0; None are all axes, and NumPy raises for those that are wrong."""
    return None if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, rank)


def varies_along(t: UniformType, axes: Collection[int] | None) -> bool:
    """Whether scales or zero points differ along one of the axes, which count from 0. None are all axes."""
    if t.is_per_layer or (t.is_per_axis and axes is not None and t.axis not in axes):
        return False
    if t.is_per_axis or axes is None:
        return len(set(t.scales)) > 1 or len(set(t.zero_points)) > 1
    for values in (t.scales, t.zero_points):
        blocks = np.array(values).reshape(t.scales_shape)
        if any((blocks != blocks.take([0], axis)).any() for axis in axes):
            return True
    return False


# ----------------------------------------------------------------------------------------------------------------- keys


def keys_of(operands: Sequence[Any]) -> list[Key]:
    """What compares as the values of tensors and of arrays of numbers do, tensors among them. Arrays keep their order
    where they lie beyond every value of the tensors, but may become equal there."""
    scales = np.concatenate([np.array(x.type.scales, np.float64) for x in operands if isinstance(x, Tensor)])
    units = units_of(scales)
    doubles: list[Any] = [x if isinstance(x, Tensor) else _as_doubles(as_array(x)) for x in operands]
    if units is None or any(x is None for x in doubles):
        return [(_rationals(x), 0.0) for x in operands]
    top = units[1]
    return [_products(x, top) if isinstance(x, Tensor) else (shifted(x, top), 0.0) for x in doubles]


def ranks_of(operands: Sequence[Any]) -> list[Array]:
    """Arrays of one dtype, in the order of the values of tensors and arrays, equal where these are."""
    if all(isinstance(x, Tensor) for x in operands) and have_one_scale(operands):
        return [stored(x) for x in operands]
    keys = keys_of(operands)
    if any(high.dtype == object and not _are_numbers(high) for high, _ in keys):
        raise QuantTypeError("a tensor is compared with real numbers alone")
    if all(isinstance(low, float) for _, low in keys):
        return [high for high, _ in keys]
    high = np.concatenate([high.ravel() for high, _ in keys])
    low = np.concatenate([np.broadcast_to(low, high.shape).ravel() for high, low in keys])
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    # NaNs are last, and equal to no number.
    steps = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.concatenate([np.zeros(min(order.size, 1), np.int64), np.cumsum(steps)])
    ends = np.cumsum([high.size for high, _ in keys])[:-1]
    return [part.reshape(high.shape) for part, (high, _) in zip(np.split(ranks, ends), keys, strict=True)]


def _are_numbers(items: Array) -> bool:
    return all(isinstance(item, Fraction | float) for item in items.ravel())


def in_order(q: Tensor, axis: Any) -> Array:
    """An array that along the axis, None for all, is in the order of the values: the storage, where the parameters do
    not differ there."""
    t: UniformType = q.type
    if t.is_per_layer or not varies_along(t, axes_of(axis, len(q._shape))):
        return stored(q)
    return ranks_of([q])[0]


def units_of(scales: Array) -> tuple[Array, int] | None:
    """(scales in units of a power of two, its exponent); None where they are too far apart. Not by ldexp at once: the
    power of two may be beyond float64's range."""
    mantissas, exponents = np.frexp(scales)
    top = int(exponents.max())
    return None if top - int(exponents.min()) > _WIDEST else (np.ldexp(mantissas, exponents - top), top)


def product(n: Array, units: Array) -> tuple[Array, Array]:
    """The pairs of integers of at most 53 bits times units."""
    high = n * units
    n_high, n_low = _split(n)
    u_high, u_low = _split(units)
    return high, ((n_high * u_high - high) + n_high * u_low + n_low * u_high) + n_low * u_low


def _products(q: Tensor, top: int) -> Key:
    """The pairs of a tensor, in units of ``2**top``."""
    t: UniformType = q.type
    index = parameter_index(t, q._shape)
    mantissas, exponents = np.frexp(np.array(t.scales, np.float64))
    units = np.ldexp(mantissas, exponents - top)[index]
    n = stored(q).astype(np.float64) - np.array(t.zero_points, np.float64)[index]
    return (n * units, 0.0) if _is_product_exact(t, mantissas) else product(n, units)


def _is_product_exact(t: UniformType, mantissas: Array) -> bool:
    """Whether float64 holds every ``(storage - zero_point) * scale``: by the trailing zeros of the scales."""
    digits = np.ldexp(mantissas, 53).astype(np.int64)
    zeros = int(np.min(digits & -digits)).bit_length() - 1
    largest = max(t.storage_max - min(t.zero_points), max(t.zero_points) - t.storage_min)
    return largest.bit_length() <= zeros


def _split(x: Array) -> tuple[Array, Array]:
    """Halves of 26 bits, by Veltkamp."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high


def _as_doubles(x: Array) -> Array | None:
    """The array as float64, if that holds all of its numbers."""
    if (x.dtype.kind == "f" and x.dtype.itemsize <= 8) or x.dtype.type.__module__ == "ml_dtypes":
        return x.astype(np.float64)
    if x.dtype.kind in "iub":
        fits = x.dtype.itemsize < 8 or not x.size or max(-int(x.min()), int(x.max())) <= 1 << 53
        return x.astype(np.float64) if fits else None
    return None


def shifted(x: Array, top: int) -> Array:
    """Doubles in units of ``2**top``. What is greater or less than every value in units of scales at most ``_WIDEST``
    apart, or nearer to 0, is one number that is so too."""
    x = np.where(np.isnan(x), np.nan, x)  # quiet NaNs
    mantissas, exponents = np.frexp(x)
    exponents = exponents.astype(np.int64) - top
    held = np.clip(exponents, -_WIDEST - 60, 60)
    is_number = np.isfinite(x) & (x != 0)
    mantissas = np.where(is_number & (held != exponents), np.copysign(0.5, mantissas), mantissas)
    return np.ldexp(mantissas, np.where(is_number, held, 0).astype(np.int32))


# ------------------------------------------------------------------------------------------------------------ rationals


def rational(x: Any) -> Any:
    """A real number as an exact Python number; NaN and infinities stay floats, and what is no number stays."""
    if isinstance(x, np.generic) and x.dtype.kind in "iub":
        return Fraction(int(x))
    if isinstance(x, Rational) and not isinstance(x, np.generic):
        return Fraction(x)
    if (isinstance(x, Real) and not isinstance(x, np.timedelta64)) or type(x).__module__ == "ml_dtypes":
        x = x if isinstance(x, np.floating) else float(x)
        return Fraction(*x.as_integer_ratio()) if np.isfinite(x) else float(x)
    return x


def _rationals(x: Any) -> Array:
    """The values, or the numbers of an array, one by one."""
    shape = np.shape(x)
    items = rationals_where(x, np.ones(shape, bool))
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def rationals_where(x: Any, mask: Array) -> list[Any]:
    """The values of a tensor or the numbers of an array, broadcast to the mask, where that is True."""
    if not isinstance(x, Tensor):
        return [rational(item) for item in np.broadcast_to(as_array(x), mask.shape)[mask]]
    t: UniformType = x.type
    indices, integers = (
        np.broadcast_to(each, mask.shape)[mask].tolist() for each in (parameter_index(t, x._shape), stored(x))
    )
    scales = [Fraction(scale) for scale in t.scales]
    return [(n - t.zero_points[i]) * scales[i] for n, i in zip(integers, indices, strict=True)]
