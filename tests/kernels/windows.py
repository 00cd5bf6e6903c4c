"""Sums and maxima over windows in plain NumPy, tap by tap: of convolutions and pools whose sizes may be 0."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.kernels.draws import Array

Pair = tuple[int, int]


def taps(padded: Array, kernel: Pair, strides: Pair, dilations: Pair) -> Iterator[tuple[Pair, Array]]:
    """What each tap of the windows sees: [images, out height, out width, channels]."""
    sizes = [
        max((n - (k - 1) * d - 1) // s + 1, 0)
        for n, k, d, s in zip(padded.shape[1:3], kernel, dilations, strides, strict=True)
    ]
    for tap in np.ndindex(*kernel):
        rows, columns = (np.arange(n) * s + t * d for n, s, t, d in zip(sizes, strides, tap, dilations, strict=True))
        yield tap, padded[:, rows][:, :, columns]


def window_sums(
    x: Array, w: Array, zx: int, zw: Array, *, strides: Pair, padding: Any, dilations: Pair, groups: int
) -> Array:
    """Sums of (x - zx) * (w - zw) over windows of x, with w [outputs, height, width, channels of a group]. Groups that
    are the channels may be 0."""
    padded = np.pad(x.astype(np.int64) - zx, ((0, 0), *padding, (0, 0)))
    weights = w.astype(np.int64) - zw.reshape(-1, 1, 1, 1)[: len(w)]
    weights = weights.reshape(groups, len(w) // max(groups, 1), *w.shape[1:])
    total: Any = 0
    for (u, v), seen in taps(padded, (w.shape[1], w.shape[2]), strides, dilations):
        grouped = seen.reshape(*seen.shape[:3], groups, 1, w.shape[3])
        total = total + grouped @ weights[:, :, u, v].transpose(0, 2, 1)  # not einsum, which reads past its operands
    return np.asarray(total).reshape(*total.shape[:3], len(w))


def pooled(x: Array, kernel: Pair, strides: Pair, padding: Any, kind: str) -> tuple[Array, Array]:
    """The sums or the largest values ("max") of the elements of x in each window, and how many there are."""
    least = np.iinfo(np.int64).min if kind == "max" else 0
    padded = np.pad(x.astype(np.int64), ((0, 0), *padding, (0, 0)), constant_values=least)
    inside = np.pad(np.ones((*x.shape[:3], 1), np.int64), ((0, 0), *padding, (0, 0)))
    seen = [values for _, values in taps(padded, kernel, strides, (1, 1))]
    counts = sum(values for _, values in taps(inside, kernel, strides, (1, 1)))
    return np.max(seen, axis=0) if kind == "max" else np.sum(seen, axis=0), np.asarray(counts)
