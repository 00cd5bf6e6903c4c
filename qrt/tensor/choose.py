"""Types chosen from data (docs/numerics.md has the formulas).

A method chooses the range of the values that share a scale, and the type covers the range. No choice depends on the
order of values or on the machine: ranges are values of the data, or fractions of these, and sums are integers.
"""

from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from operator import index
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, require, shown
from qrt.numerics.ranges import range_parameters
from qrt.numerics.sums import require_finite
from qrt.types import FloatType, UniformType, storage_range
from qrt.types.storage import MAX_STORAGE_WIDTH

Array = npt.NDArray[Any]
Method = Literal["minmax", "mse", "percentile"]
METHODS: tuple[Method, ...] = get_args(Method)

FRACTIONS = 64
"""The number of ranges that the method `mse` compares: k/64 of the whole range, for k from 64 down to 1."""
_UNIT_BITS = 31
_BATCH = 1 << 14
"""The number of elements processed at a time, so that intermediate values stay in the cache."""


@dataclass(frozen=True)
class Layout:
    """The partition of an array into the values that share a scale.

    Without ``axis``, all values share one scale. With ``axis``, the values at each index of the axis share a scale.
    With ``group_size`` too, each group of that many neighbours along ``axis`` shares a scale.
    """

    shape: tuple[int, ...]
    axis: int | None = None
    group_size: int | None = None

    @property
    def scales_shape(self) -> tuple[int, ...]:
        """The shape of the scales in a type."""
        if self.axis is None:
            return ()
        if self.group_size is None:
            return (self.shape[self.axis],)
        return tuple(size // self.group_size if d == self.axis else size for d, size in enumerate(self.shape))

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of UniformType that express this layout."""
        if self.group_size is None:
            return {"axis": self.axis}
        return {"block_sizes": {d: self.group_size if d == self.axis else 1 for d in range(len(self.shape))}}

    def rows(self, values: Array) -> Array:
        """Return the values as a matrix with a row for each scale, in the order of the scales."""
        if self.axis is None:
            return values.reshape(1, -1)
        if self.group_size is None:
            count = self.shape[self.axis]
            return np.moveaxis(values, self.axis, 0).reshape(count, values.size // max(count, 1))
        before, after = self.scales_shape[: self.axis + 1], self.shape[self.axis + 1 :]
        parts = values.reshape(*before, self.group_size, *after)
        return np.moveaxis(parts, self.axis + 1, -1).reshape(-1, self.group_size)


@dataclass(frozen=True)
class Storage:
    """The storage type, the storage bounds and the expressed type of a type whose scales will be chosen from ranges.

    If ``symmetric``, each range is extended so that 0 is in its middle.
    """

    name: str
    low: int
    high: int
    expressed: str
    symmetric: bool

    def parameters(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Return the (scales, zero points) with which the storage covers the ranges from ``low`` to ``high``."""
        return range_parameters(low, high, self.low, self.high, self.expressed, symmetric=self.symmetric)


def layout_of(shape: tuple[int, ...], axis: object, group_size: object) -> Layout:
    """Return the layout for an axis, counted from either end, and a group size.

    Raise QuantTypeError unless they fit the shape.
    """
    if not shape and (axis is not None or group_size is not None):
        name = "group_size" if axis is None else "axis"
        raise QuantTypeError(f"{name!r} must not be given for a scalar, which has one scale")
    if group_size is not None and 0 in shape:
        raise QuantTypeError(f"'group_size' must not be given for an array without elements, got shape {shape}")
    if axis is None and group_size is not None and len(shape) > 2:
        instead = _axes_for(shape, group_size)
        if not instead:
            divisor = _divisor(shape[-1], _integer("group_size", group_size, 1, max(*shape, 1)))
            instead = f"axis={len(shape) - 1} and group_size={divisor}"
        raise QuantTypeError(
            f"'axis' must be given with 'group_size' for an array of more than 2 dimensions, got shape {shape}: give "
            f"{instead}"
        )
    if axis is None:
        axis = None if group_size is None else 0
    else:
        axis = _integer("axis", axis, -len(shape), len(shape) - 1) % len(shape)
    if group_size is None:
        return Layout(shape, axis)
    assert axis is not None  # it is 0 if not given
    size = shape[axis]
    other = _axes_for(shape, group_size)
    wanted = _integer("group_size", group_size, 1, max(size, 1), f" along axis {axis}", other and f": give {other}")
    if size % wanted:
        raise QuantTypeError(
            f"'group_size' must divide the {size} values along axis {axis}, got {wanted}: pad the axis to "
            f"{-(-size // wanted) * wanted} or give group_size={_divisor(size, wanted)}{other and f' or {other}'}"
        )
    return Layout(shape, axis, wanted)


def _divisor(size: int, most: int) -> int:
    return next((n for n in range(min(most, size), 0, -1) if size % n == 0), 1)


def _axes_for(shape: tuple[int, ...], group_size: object) -> str:
    """Return the axes that groups of this size divide, as text for an error; empty if there is none."""
    if not isinstance(group_size, (int, np.integer)) or group_size < 1:
        return ""
    return " or ".join(f"axis={d}" for d, size in enumerate(shape) if size and size % group_size == 0)


def _integer(what: str, value: Any, least: int, greatest: int, where: str = "", instead: str = "") -> int:
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= greatest:
        raise QuantTypeError(
            f"{what!r} must be an integer from {least} to {greatest}{where}, got {shown(value)}{instead}"
        )
    return number


def integer_storage(bits: object, expressed: FloatType, *, symmetric: bool, narrow: bool) -> Storage:
    """Return signed storage of ``bits`` bits; ``narrow`` leaves out its least value."""
    for what, flag in (("symmetric", symmetric), ("narrow", narrow)):
        require(flag, (bool, np.bool_), repr(what), "True or False")
    bits = _integer("bits", bits, 1, MAX_STORAGE_WIDTH)
    low, high = storage_range(bits, True)
    if narrow and bits == 1:
        raise QuantTypeError("'bits' must be at least 2 with narrow=True, got 1")
    return Storage(f"i{bits}", low + bool(narrow), high, expressed.name, bool(symmetric))


def choose_type(
    values: Array, storage: Storage, layout: Layout, method: Method = "minmax", percentile: float = 99.99
) -> UniformType:
    """Choose a type for finite real values of ``layout.shape``.

    >>> storage = integer_storage(8, FloatType("f32"), symmetric=True, narrow=False)
    >>> str(choose_type(np.float32([[63.5, -127], [2, 0]]), storage, Layout((2, 2), axis=1)))
    '!quant.uniform<i8:f32:1, {5.000000e-01,1.000000e+00}>'
    """
    if not isinstance(method, str) or method not in METHODS:
        raise QuantTypeError(f"'method' must be one of {', '.join(METHODS)}, got {shown(method)}")
    require_finite(values, "values from which a type is chosen")
    if values.dtype.type.__module__ == "ml_dtypes":  # NumPy cannot partition these dtypes
        values = values.astype(np.float32)
    low, high = choose_ranges(layout.rows(values), storage, method, percentile)
    scales, zeros = storage.parameters(low, high)
    shape = layout.scales_shape
    return UniformType(
        storage.name,
        storage.expressed,
        scales.reshape(shape) if shape else float(scales[0]),
        zeros.reshape(shape) if shape else int(zeros[0]),
        **layout.parameters,
        storage_min=storage.low,
        storage_max=storage.high,
    )


def choose_ranges(rows: Array, storage: Storage, method: Method, percentile: float) -> tuple[Array, Array]:
    """Return (low, high) of each row as float64, each range including 0."""
    low, high = (end.astype(np.float64) + 0.0 for end in (rows.min(axis=1, initial=0), rows.max(axis=1, initial=0)))
    if method == "minmax":
        return low, high
    if method == "mse":
        return least_error_ranges(rows, low, high, storage)
    return percentile_ranges(rows, low, high, percentile, symmetric=storage.symmetric)


def percentile_ranges(
    rows: Array, low: Array, high: Array, percentile: float, *, symmetric: bool
) -> tuple[Array, Array]:
    """Return ranges that leave out at most ``100 - percentile`` percent of the values of a row.

    ``low`` and ``high`` are the rows' whole ranges, which are returned for rows whose range would otherwise be 0 to 0.
    """
    if isinstance(percentile, bool) or not isinstance(percentile, Real) or not 0 < percentile <= 100:
        raise QuantTypeError(f"'percentile' must be a number in (0, 100], got {shown(percentile)}")
    count = rows.shape[1]
    # 99.9 means the decimal number: computed with the nearest double, one value of a thousand less is left out.
    outside = int(count * (100 - Fraction(repr(float(percentile)))) / 100)
    if not count or not outside:
        return low, high
    if symmetric:
        end = _ranked(np.abs(rows), count - 1 - outside)
        ends = -end, end
    else:
        cut = outside // 2
        ends = np.minimum(_ranked(rows, cut), 0), np.maximum(_ranked(rows, count - 1 - cut), 0)
    is_empty = (ends[0] == 0) & (ends[1] == 0)
    return np.where(is_empty, low, ends[0]) + 0.0, np.where(is_empty, high, ends[1]) + 0.0


def _ranked(rows: Array, rank: int) -> Array:
    return np.partition(rows, rank, axis=1)[:, rank].astype(np.float64)


def least_error_ranges(rows: Array, low: Array, high: Array, storage: Storage) -> tuple[Array, Array]:
    """Return, for each row, the fraction of its range that has the least squared error.

    ``low`` and ``high`` are the rows' whole ranges. The fractions are k/64. If several have the least error, the widest
    is chosen.
    """
    factors = np.arange(FRACTIONS, 0, -1)[:, np.newaxis] / FRACTIONS
    best = np.empty(low.shape)
    step = max(_BATCH // max(rows.shape[1], 1), 1)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        highs, lows = _squared_errors(rows[part], low[part] * factors, high[part] * factors, storage)
        is_least = highs == highs.min(axis=0)
        best[part] = factors[np.where(is_least, lows, np.iinfo(np.int64).max).argmin(axis=0), 0]
    return low * best, high * best


def _squared_errors(rows: Array, low: Array, high: Array, storage: Storage) -> tuple[Array, Array]:
    """Return the sums of squared errors for each candidate range ``low[i]`` to ``high[i]`` of each row.

    The sums are exact integers, returned as (sum >> 31, lowest 31 bits of the sum). They have no rounding because each
    error is first rounded to a multiple of 2^-31 of a power of two that is above the row's whole range.
    """
    scales, zeros = storage.parameters(low, high)
    exponent = _UNIT_BITS - np.frexp(np.maximum(-low[0], high[0]))[1]
    scales = np.ldexp(scales, exponent)[:, :, np.newaxis]
    least, greatest = ((end - zeros)[:, :, np.newaxis].astype(np.float64) for end in (storage.low, storage.high))
    highs, lows = np.zeros(low.shape, np.int64), np.zeros(low.shape, np.int64)
    for start in range(0, rows.shape[1], _BATCH):
        values = np.ldexp(rows[:, start : start + _BATCH].astype(np.float64), exponent[:, np.newaxis])
        for k in range(len(low)):
            stored = np.clip(np.rint(values / scales[k]), least[k], greatest[k])
            error = np.rint(values - stored * scales[k]).astype(np.int64)
            square = error * error
            highs[k] += (square >> _UNIT_BITS).sum(axis=1)
            lows[k] += (square & ((1 << _UNIT_BITS) - 1)).sum(axis=1)
    return highs + (lows >> _UNIT_BITS), lows & ((1 << _UNIT_BITS) - 1)


def bias_type(x: UniformType, w: UniformType) -> UniformType:
    """Return the type of a bias whose storage is added to sums of products: i32, scale ``sx * sw``, zero point 0."""
    if not x.is_per_layer:
        raise QuantTypeError(f"bias_type: 'x' must have a per-layer type, got {x}")
    if w.is_sub_channel:
        raise QuantTypeError(
            f"bias_type: 'w' must have a type per layer or per axis, got {w}: do not call bias_type, and give the bias "
            "a type of your own"
        )
    if x.expressed_type != w.expressed_type:
        raise QuantTypeError(
            f"bias_type: 'x' and 'w' must have the same expressed type, got {x.expressed_type} and {w.expressed_type}"
        )
    scales = [x.scale * scale for scale in w.scales]
    if w.is_per_axis:
        return UniformType("i32", x.expressed_type, scales, axis=0)
    return UniformType("i32", x.expressed_type, scales[0])
