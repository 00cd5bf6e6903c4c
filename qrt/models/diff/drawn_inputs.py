"""Random inputs for a model, for runs without given data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from qrt.models.importing.comparison_source import Input
from qrt.ops.core import Array

KINDS = ("full", "narrow", "least", "most")
"""The kinds of inputs: uniform over the full range, normal around the zero point, all minimum, all maximum."""
_NARROW = 12
"""The standard deviation of narrow values, in multiples of the scale."""
OPEN = 8
"""The size used for a dynamic dimension."""


def drawn_inputs(inputs: Sequence[Input], runs: int, seed: int = 0) -> Iterator[list[Array]]:
    """Yield the inputs of each run. The kinds alternate; after two rounds only the random ones are used."""
    rng = np.random.default_rng(seed)
    closed = with_sizes(inputs)
    for run in range(runs):
        kind = KINDS[run % len(KINDS)] if run < 2 * len(KINDS) else KINDS[run % 2]
        yield [drawn(port, kind, rng) for port in closed]


def with_sizes(inputs: Sequence[Input]) -> list[Input]:
    """Return the inputs with a size for each dynamic dimension: 1 for the first dimension of an input, else `OPEN`.

    Dimensions of the same name get the same size.

    >>> [port.shape for port in with_sizes([Input("a", "int8", ("n", "m", None)), Input("b", "int8", ("m", 3))])]
    [(1, 8, 8), (8, 3)]
    """
    sizes: dict[str, int] = {}

    def size(axis: int, declared: int | str | None) -> int:
        if isinstance(declared, int):
            return declared
        default = 1 if axis == 0 else OPEN
        return default if declared is None else sizes.setdefault(declared, default)

    return [
        replace(port, shape=tuple(size(axis, dimension) for axis, dimension in enumerate(port.shape)))
        for port in inputs
    ]


def drawn(port: Input, kind: str, rng: np.random.Generator) -> Array:
    """Return an array of a kind for an input, all of whose sizes must be known.

    Unquantized integers are at least 0 and below ``port.limit``. Floats are normally distributed, with a standard
    deviation of 1 (kind "full") or 0.1, or all -1 or 1 for "least" and "most"."""
    dtype, shape = np.dtype(port.dtype), cast("tuple[int, ...]", port.shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        if kind in ("least", "most"):
            return np.full(shape, -1 if kind == "least" else 1, dtype)
        return (rng.normal(size=shape) * (1 if kind == "full" else 0.1)).astype(dtype)
    if port.zero_point is None:
        return rng.integers(0, port.limit, shape).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if kind in ("least", "most"):
        return np.full(shape, low if kind == "least" else high, dtype)
    if kind == "full":
        return rng.integers(low, high, shape, dtype, endpoint=True)
    values = np.rint(rng.normal(port.zero_point, _NARROW, shape))
    return np.clip(values, low, high).astype(dtype)
