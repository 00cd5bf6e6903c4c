"""Inputs of a model that are drawn: what it runs on where nobody gives data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from qrt.models.importing.comparison_source import Input
from qrt.ops.core import Array

KINDS = ("full", "narrow", "least", "most")
"""Values over the full range; normal ones around the zero point; the least everywhere; the greatest everywhere."""
_NARROW = 12
"""The standard deviation of narrow values, in steps of the tensor."""
OPEN = 8
"""The size of a dimension that the file leaves open."""


def drawn_inputs(inputs: Sequence[Input], runs: int, seed: int = 0) -> Iterator[list[Array]]:
    """The inputs of so many runs: the kinds in turn, of which the first two are drawn."""
    rng = np.random.default_rng(seed)
    closed = with_sizes(inputs)
    for run in range(runs):
        kind = KINDS[run % len(KINDS)] if run < 2 * len(KINDS) else KINDS[run % 2]
        yield [drawn(port, kind, rng) for port in closed]


def with_sizes(inputs: Sequence[Input]) -> list[Input]:
    """The inputs with a size for each dimension that the file leaves open: `OPEN`, but 1 for the first dimension of an
    input. A name has one size everywhere.

    >>> [port.shape for port in with_sizes([Input("a", "int8", ("n", "m", None)), Input("b", "int8", ("m", 3))])]
    [(1, 8, 8), (8, 3)]
    """
    sizes: dict[str, int] = {}

    def size(axis: int, said: int | str | None) -> int:
        if isinstance(said, int):
            return said
        found = 1 if axis == 0 else OPEN
        return found if said is None else sizes.setdefault(said, found)

    return [replace(port, shape=tuple(size(axis, said) for axis, said in enumerate(port.shape))) for port in inputs]


def drawn(port: Input, kind: str, rng: np.random.Generator) -> Array:
    """An input of a kind. Integers that are not quantized lie below the limit, which is 2 where nothing
    else is known; floats lie within 1,
    and full ones are normal. Every size must be known."""
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
