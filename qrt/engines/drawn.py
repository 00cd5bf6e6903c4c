"""Inputs of a model that are drawn: what it runs on where nobody gives data."""

from collections.abc import Iterator

import numpy as np

from qrt.formats.tflite.model import Model, Tensor
from qrt.ops.core import Array

KINDS = ("full", "narrow", "least", "most")
"""Values over the full range; normal ones around the zero point; the least everywhere; the greatest everywhere."""
_NARROW = 12
"""The standard deviation of narrow values, in steps of the tensor."""


def drawn_inputs(model: Model, runs: int, seed: int = 0) -> Iterator[list[Array]]:
    """The inputs of so many runs of the first subgraph: the kinds in turn, of which the first two are drawn."""
    rng = np.random.default_rng(seed)
    subgraph = model.subgraphs[0]
    for run in range(runs):
        kind = KINDS[run % len(KINDS)] if run < 2 * len(KINDS) else KINDS[run % 2]
        yield [drawn(subgraph.tensors[index], kind, rng) for index in subgraph.inputs]


def drawn(tensor: Tensor, kind: str, rng: np.random.Generator) -> Array:
    """An input of a kind. Integers that are not quantized are 0 and 1, which every index may be; floats lie within 1,
    and full ones are normal."""
    dtype, shape = np.dtype(tensor.dtype), tensor.shape
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "f":
        if kind in ("least", "most"):
            return np.full(shape, -1 if kind == "least" else 1, dtype)
        return (rng.normal(size=shape) * (1 if kind == "full" else 0.1)).astype(dtype)
    if tensor.quantization is None:
        return rng.integers(0, 2, shape).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    if kind in ("least", "most"):
        return np.full(shape, low if kind == "least" else high, dtype)
    if kind == "full":
        return rng.integers(low, high, shape, dtype, endpoint=True)
    values = np.rint(rng.normal(int(tensor.quantization.zero_points[0]), _NARROW, shape))
    return np.clip(values, low, high).astype(dtype)
