"""Draws quantized types, storage and shapes: every width, both signs, narrowed bounds, zero points at the ends."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from qrt.numerics import REQUANT_RULES
from qrt.ops.core import parameters_of, storage_dtype
from qrt.types import UniformType, storage_range

Array = npt.NDArray[Any]

# Scales of networks, powers of two, and pairs whose quotients are far from 1.
SCALES = st.one_of(
    st.sampled_from([0.5, 1.0, 0.1, 1 / 3, 0.0235, 2.0**-20, 2.0**20, 3e-7, 1e4]),
    st.floats(2.0**-12, 2.0**4, width=32),
    st.floats(1e-10, 1e10),
)


@st.composite
def storages(draw: st.DrawFn, widths: Sequence[int] = range(1, 33)) -> dict[str, Any]:
    """Keyword arguments of `UniformType` that say how it is stored."""
    width, signed = draw(st.sampled_from(list(widths))), draw(st.booleans())
    least, greatest = storage_range(width, signed)
    low, high = least, greatest
    if draw(st.booleans()):
        low = draw(st.integers(least, greatest - 1))
        high = draw(st.integers(low + 1, greatest))
    return {"storage": f"{'i' if signed else 'u'}{width}", "storage_min": low, "storage_max": high}


def zero_points(t: dict[str, Any]) -> st.SearchStrategy[int]:
    """Zero points within the storage type, its ends and the bounds among them; they may lie outside the bounds."""
    least, greatest = storage_range(int(t["storage"][1:]), t["storage"][0] == "i")
    middle = (t["storage_min"] + t["storage_max"]) // 2
    ends = [least, greatest, t["storage_min"], t["storage_max"], middle, max(least, min(0, greatest))]
    return st.one_of(st.sampled_from(ends), st.integers(least, greatest))


@st.composite
def uniform_types(
    draw: st.DrawFn,
    channels: int | None = None,
    axis: int | None = None,
    widths: Sequence[int] = range(1, 33),
    scales: st.SearchStrategy[float] = SCALES,
    expressed: str = "f32",
) -> UniformType:
    """A per-layer type, or one per axis where `channels` and `axis` are given."""
    stored = draw(storages(widths))
    if channels is None or axis is None:
        return UniformType(expressed=expressed, scales=draw(scales), zero_points=draw(zero_points(stored)), **stored)
    return UniformType(
        expressed=expressed,
        scales=draw(st.lists(scales, min_size=channels, max_size=channels)),
        zero_points=draw(st.lists(zero_points(stored), min_size=channels, max_size=channels)),
        axis=axis,
        **stored,
    )


@st.composite
def maybe_per_axis(draw: st.DrawFn, channels: int, axis: int, **more: Any) -> UniformType:
    """A type per layer or per axis."""
    per_axis = channels > 0 and draw(st.booleans())
    return draw(uniform_types(channels if per_axis else None, axis if per_axis else None, **more))


def storage_of(t: UniformType, shape: Sequence[int], rng: np.random.Generator) -> Array:
    """Storage within the bounds; the bounds themselves are frequent."""
    values = rng.integers(t.storage_min, t.storage_max, size=tuple(shape), endpoint=True)
    choice = rng.integers(0, 8, size=values.shape)
    values = np.where(choice == 0, t.storage_min, np.where(choice == 1, t.storage_max, values))
    return values.astype(storage_dtype(t)).reshape(tuple(shape))


def fitted(t: UniformType, spread: float) -> UniformType:
    """The type with scales such that values of this spread fill its storage but seldom saturate."""
    span = t.storage_max - t.storage_min
    scales = [min(max(6 * spread / span * (1 + i / 7), 1e-30), 1e30) for i in range(len(t.scales))]
    return t.with_(
        scales=scales if t.is_per_axis else scales[0], zero_points=t.zero_points if t.is_per_axis else t.zero_point
    )


def spread_of_product(*operands: tuple[Array, UniformType], depth: int) -> float:
    """The standard deviation of a sum of `depth` products."""
    spreads = [_spread(*operand) for operand in operands]
    return math.prod(spreads) * max(depth, 1) ** 0.5


def _spread(q: Array, t: UniformType) -> float:
    scale, zero_point = parameters_of(t, q.shape)
    with np.errstate(over="ignore"):  # of scales near the largest
        return float(np.sqrt(np.mean(((q - zero_point) * scale) ** 2))) if q.size else 1.0


def generators() -> st.SearchStrategy[np.random.Generator]:
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def rules() -> st.SearchStrategy[str]:
    """Rules of an accumulator."""
    return st.sampled_from(REQUANT_RULES)


def shapes(rank: int, largest: int = 9) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of few elements, zero sizes among them."""
    return (
        st.lists(st.integers(0, largest), min_size=rank, max_size=rank)
        .map(tuple)
        .filter(lambda shape: math.prod(shape) < 2000)
    )
