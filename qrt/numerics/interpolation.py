"""Tables of 513 entries for 16-bit values, between which the low 7 bits interpolate, and the functions of them.

Source: what TFLite's kernels of 16 bits share.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from qrt.numerics.rounding import Array, round_integral

INTERPOLATED_BITS: Final = 7
"""The low bits of a value, which interpolate."""
_INTERVALS: Final = 1 << (16 - INTERPOLATED_BITS)


def interpolated_table(
    function: Callable[[Array], Array],
    low: float,
    high: float,
    least: float,
    most: float,
    dtype: type[np.floating[Any]],
) -> Array:
    """513 entries of a function between ``low`` and ``high``, in 16-bit steps from ``least`` to ``most``: each is
    moved by half the error that interpolation has in the middle. ``dtype`` is that of every step."""
    step = dtype(dtype(high) - dtype(low)) / dtype(_INTERVALS)
    units = dtype(65536) / (dtype(most) - dtype(least))
    at = dtype(low) + np.arange(_INTERVALS, dtype=dtype) * step
    value, middle, following = (
        np.asarray(function(x.astype(dtype)), dtype) * units
        for x in (at, at + step / 2, dtype(low) + (np.arange(1, _INTERVALS + 1, dtype=dtype)) * step)
    )
    sample = round_integral(value, "half_away")
    interpolated = round_integral((following + sample.astype(dtype)) / dtype(2), "half_away")
    bias = round_integral((interpolated - round_integral(middle, "half_away")) / 2, "half_away")
    last = round_integral(np.asarray(function(np.array([high], dtype)), dtype) * units, "half_away")
    table: Array = np.clip(np.concatenate([sample - bias, last]), -32768, 32767).astype(np.int16)
    table.flags.writeable = False
    return table


def lookup_interpolated(q: Array, table: Array, bits: int = INTERPOLATED_BITS) -> Array:
    """16-bit values between the entries of a table: the upper bits choose an entry, the low ``bits`` say which share of
    the way to the next one is added, rounded half up."""
    values, entries = q.astype(np.int64) + (1 << 15), table.astype(np.int64)
    base = entries[values >> bits]
    slope = entries[(values >> bits) + 1] - base
    return np.asarray(base + ((slope * (values & ((1 << bits) - 1)) + ((1 << bits) >> 1)) >> bits))
