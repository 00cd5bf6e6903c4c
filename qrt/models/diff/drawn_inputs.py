"""Random inputs for comparing a model when the user gives no data."""

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
    """Yield a list of arrays, one for each model input, for each of ``runs`` runs.

    Runs 0 to 7 use the four kinds of values in `KINDS` in turn; later runs alternate between "full" and "narrow".
    """
    rng = np.random.default_rng(seed)
    closed = with_sizes(inputs)
    for run in range(runs):
        kind = KINDS[run % len(KINDS)] if run < 2 * len(KINDS) else KINDS[run % 2]
        yield [drawn(port, kind, rng) for port in closed]


def with_sizes(inputs: Sequence[Input]) -> list[Input]:
    """Return the inputs with a size for each dynamic dimension: 1 on axis 0, `OPEN` (8) on the other axes.

    All dimensions with the same name get the size of the first of them.

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
    """Return an array of test values for an input without dynamic dimensions; ``kind`` is one of `KINDS`.

    Elements that would be ``port.excluded`` are a neighbouring integer.

    - Quantized storage: uniform over the dtype ("full"), normal around the zero point ("narrow"), or all elements the
      dtype's minimum ("least") or maximum ("most").
    - Floats: normal with standard deviation 1 ("full") or 0.1 ("narrow"), or all -1 ("least") or all 1 ("most").
    - Unquantized integers: uniform from 0 to ``port.limit - 1`` for every kind. Bools: uniform.
    """
    values = _drawn(port, kind, rng)
    if port.excluded is None:
        return values
    neighbour = port.excluded + (1 if port.excluded < np.iinfo(values.dtype).max else -1)
    return np.where(values == port.excluded, values.dtype.type(neighbour), values)


def _drawn(port: Input, kind: str, rng: np.random.Generator) -> Array:
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
