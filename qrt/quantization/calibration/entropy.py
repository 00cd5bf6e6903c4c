"""The choice of a range by least Kullback-Leibler divergence (docs/reference/records.md, "entropy")."""

from collections.abc import Sequence
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.numerics.transcendental.correctly_rounded import bind
from qrt.tensor.choose import FRACTIONS, Storage

Array = npt.NDArray[Any]

PARTS = 2048
"""The number of equal bins on each side of 0 in which values are counted."""


def least_divergence(
    values: Array, counts: Sequence[int], low: float, high: float, storage: Storage
) -> tuple[float, float]:
    """Return the range `(low, high) * k/64`, k = 1 to 64, whose quantized values diverge least from the data.

    ``values`` are distinct values, and ``counts`` says how often each occurs. Of equally good k the greatest is chosen.
    Zeros are not counted, because every type represents 0 exactly.

    >>> values, storage = np.float64([0.5, 1, 1.5, 2, 100]), Storage("u2", 0, 3, "f32", False)
    >>> least_divergence(values, [900, 800, 700, 600, 1], 0.0, 100.0, storage)
    (0.0, 3.125)
    """
    centres, totals = _parts(values, counts, max(-low, high))
    if not centres.size:
        return low, high
    factors = np.arange(FRACTIONS, 0, -1) / FRACTIONS
    scales, zeros = storage.parameters(low * factors, high * factors)
    best: tuple[float, int] | None = None
    for k, (scale, zero) in enumerate(zip(scales, zeros, strict=True)):
        stored = np.rint(centres / scale)
        inside = np.flatnonzero((stored >= storage.low - zero) & (stored <= storage.high - zero))
        if inside.size:
            divergence = _divergence(stored, totals, int(inside[0]), int(inside[-1]) + 1)
            if best is None or divergence < best[0]:
                best = divergence, k
    factor = 1.0 if best is None else factors[best[1]]
    return float(low * factor) + 0.0, float(high * factor) + 0.0


def _parts(values: Array, counts: Sequence[int], reach: float) -> tuple[Array, Array]:
    """Divide ``-reach`` to ``reach`` into equal bins; return the centres and counts of non-empty bins, ascending."""
    number = np.minimum(np.floor(np.abs(values) / reach * PARTS), PARTS - 1) + 0.5
    middles = np.where(values < 0, -number, number)
    counts_by_middle: dict[float, int] = {}
    for middle, value, count in zip(middles.tolist(), values.tolist(), counts, strict=True):
        if value:
            counts_by_middle[middle] = counts_by_middle.get(middle, 0) + count
    keys = sorted(counts_by_middle)
    return np.array(keys) / PARTS * reach, np.array([counts_by_middle[key] for key in keys], np.float64)


def _divergence(stored: Array, totals: Array, first: int, last: int) -> float:
    """Return the Kullback-Leibler divergence between the data and the quantized data, times the number of values.

    For each bin, ``stored`` has the storage value before saturation, and ``totals`` the number of values. The bins from
    ``first`` up to ``last`` (exclusive) lie within the range; the values of other bins saturate. Counts are floats,
    which are exact up to 2^53.
    """
    log = bind("log", "f64")
    inside = totals[first:last]
    given = inside.copy()
    given[0] += totals[:first].sum()
    given[-1] += totals[last:].sum()
    starts = np.flatnonzero(np.diff(stored[first:last], prepend=np.nan))
    sizes = np.diff(starts, append=last - first).astype(np.float64)
    of_codes = np.add.reduceat(given, starts)
    every = given.sum(keepdims=True)
    # Each product is a summand of its own, so that equal ones cancel exactly.
    terms = (
        given * log(given),
        -of_codes * log(np.add.reduceat(inside, starts)),
        of_codes * log(sizes),
        -every * log(every),
        every * log(inside.sum(keepdims=True)),
    )
    return fsum(np.concatenate(terms).tolist())
