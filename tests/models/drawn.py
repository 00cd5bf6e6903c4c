"""Drawn tensors: of every width, sign, bounds and way of quantization, zero-sized and of rank 0 too."""

import numpy as np
from hypothesis import strategies as st

import qrt


@st.composite
def tensors(draw: st.DrawFn) -> qrt.QuantTensor:
    width, sign = draw(st.integers(1, 32)), draw(st.sampled_from("iu"))
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if sign == "i" else (0, (1 << width) - 1)
    if draw(st.booleans()) and high - low > 2:
        low, high = low + 1, high - 1
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=3)))
    scale = st.floats(2.0**-20, 2.0**20)
    bounds = {"storage_min": low, "storage_max": high}
    channels = [axis for axis, size in enumerate(shape) if size]
    way = draw(st.sampled_from(["layer", "axis", "blocks"])) if len(channels) == len(shape) and shape else "layer"
    if way == "layer":
        t = qrt.UniformType(f"{sign}{width}", "f32", draw(scale), **bounds)
    elif way == "axis":
        axis = draw(st.sampled_from(channels))
        t = qrt.UniformType(f"{sign}{width}", "f32", [draw(scale) for _ in range(shape[axis])], axis=axis, **bounds)
    else:
        blocks = [draw(st.sampled_from([d for d in range(1, size + 1) if size % d == 0])) for size in shape]
        counts = tuple(size // block for size, block in zip(shape, blocks, strict=True))
        scales = np.array([draw(scale) for _ in range(int(np.prod(counts)))]).reshape(counts)
        t = qrt.UniformType(f"{sign}{width}", "f32", scales, block_sizes=dict(enumerate(blocks)), **bounds)
    integers = np.random.default_rng(draw(st.integers(0, 2**32 - 1))).integers(
        low, high, shape, np.int64, endpoint=True
    )
    return qrt.QuantTensor(integers, t)
