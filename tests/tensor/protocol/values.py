"""Values as rationals or as the floats that they are, element by element, and tensors that are hard to order."""

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from qrt import QuantTensor, UniformType
from tests.ops.strategies import storage_of, storages, zero_points

# Products of these that look equal are not (3 * 0.2, 2 * 0.3), or are (powers of two); ends of the range of doubles.
SCALES = st.one_of(
    st.sampled_from([0.1, 0.2, 0.3, 0.25, 0.5, 1.0, 2.0, 1 / 3, 2 / 3, 0.1 + 2**-56, 2.0**-40]),
    st.sampled_from([5e-324, 3e-310, 2.0**-1022, 1e-300, 1e300, 1.7e308]),
    st.floats(2.0**-20, 2.0**20),
)
NEAR = st.sampled_from([0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 1 / 3])


def values(q: QuantTensor) -> np.ndarray[Any, Any]:
    """``(storage - zero_point) * scale`` as rationals."""
    t, found = q.type, np.empty(q.shape, object)
    scales, zeros = np.array(t.scales).reshape(t.scales_shape), np.array(t.zero_points).reshape(t.scales_shape)
    for index, stored in np.ndenumerate(q.storage):
        place: tuple[int, ...] = ()
        if t.is_per_axis:
            place = (index[t.axis or 0],)
        elif t.is_sub_channel:
            sizes = dict(t.block_sizes or ())
            place = tuple(i // sizes[d] if d in sizes else 0 for d, i in enumerate(index))
        found[index] = (int(stored) - int(zeros[place])) * Fraction(float(scales[place]))
    return found


def floats(q: QuantTensor) -> np.ndarray[Any, Any]:
    """Return the values as Python's floats, which compare exactly with every real number."""
    return np.asarray(q).astype(np.float64).astype(object)


@st.composite
def types(
    draw: st.DrawFn,
    shape: tuple[int, ...],
    scales: Any = SCALES,
    widths: Any = range(1, 33),
    expressed: Any = ("f64",),
) -> UniformType:
    """Per layer, per axis, or with blocks: of a shape that a tensor has."""
    stored = draw(storages(widths))
    kind = draw(st.sampled_from(["layer", "axis", "blocks"])) if shape and 0 not in shape else "layer"
    count: tuple[int, ...] = ()
    more: dict[str, Any] = {}
    if kind == "axis":
        more["axis"] = draw(st.integers(0, len(shape) - 1))
        count = (shape[more["axis"]],)
    elif kind == "blocks":
        sizes = {d: draw(st.sampled_from([1, shape[d]])) for d in range(len(shape)) if draw(st.booleans())}
        sizes = sizes or {0: 1}
        more["block_sizes"] = sizes
        count = tuple(-(-size // sizes[d]) if d in sizes else 1 for d, size in enumerate(shape))
    size = int(np.prod(count))
    one = draw(st.booleans())
    drawn = [draw(scales) for _ in range(1 if one else size)] * (size if one else 1)
    zeros = [draw(zero_points(stored)) for _ in range(1 if one else size)] * (size if one else 1)
    name = draw(st.sampled_from(expressed))
    if not count:
        return UniformType(expressed=name, scales=drawn[0], zero_points=zeros[0], **stored)
    return UniformType(
        expressed=name,
        scales=np.array(drawn).reshape(count),
        zero_points=np.array(zeros).reshape(count),
        **stored,
        **more,
    )


@st.composite
def tensors(draw: st.DrawFn, shape: Any = None, **more: Any) -> QuantTensor:
    if shape is None:
        shape = draw(st.lists(st.integers(1, 4), max_size=3).map(tuple))
    t = draw(types(shape, **more))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    storage = storage_of(t, shape, rng).astype(np.int64)
    if draw(st.booleans()):  # small multiples of the scales, where values of different scales meet
        centre = np.array(t.zero_points).min()
        storage = np.clip(centre + rng.integers(-7, 8, shape), t.storage_min, t.storage_max)
    return QuantTensor(storage, t)


def each(function: Any, *arrays: Any) -> np.ndarray[Any, Any]:
    """A function of Python numbers, element by element."""
    found = np.broadcast(*arrays)
    return np.array([function(*items) for items in found]).reshape(found.shape)
