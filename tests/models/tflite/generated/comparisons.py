"""Comparisons of quantized tensors. Hazards: values that are equal in one scale and not in the other, scales so small
that different ones become equal, uint8 beyond 127, operands that are broadcast or constant."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4
_NAMES = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")


def _scale(rng):
    return min(draw.scale(rng, -12, 0), 0.999)


def compared(rng, name, dtype):
    """The second operand mostly stands for what the first one does."""
    full = draw.shape(rng)
    a = draw.tensor(rng, full, dtype, _scale(rng))
    b = draw.tensor(rng, full if rng.random() < 0.7 else full[-1:], dtype, min(draw.around(rng, a.scales), 0.999))
    if rng.random() < 0.3:
        b = Tensor(b.shape, dtype, a.scales, a.zero_points)
    info = np.iinfo(dtype)
    low, high = (info.min, info.max) if info.bits == 8 else (-999, 999)
    runs = []
    for _ in range(_RUNS):
        x = draw.integers(rng, full, dtype, low, high)
        same = (x[(0,) * (x.ndim - len(b.shape))].astype(float) - a.zero_points) * a.scales / b.scales + b.zero_points
        near = np.rint(same) + rng.integers(-1, 2, b.shape)
        runs.append([x, np.clip(near, info.min, info.max).astype(dtype)])
    if rng.random() < 0.3:
        b = Tensor(b.shape, dtype, b.scales, b.zero_points, data=runs[0][1])
        runs = [run[:1] for run in runs]
    return Case(one_op(name, [a, b], [Tensor(full, "bool")]), runs)


CASES = {
    f"{name} {storage}": partial(compared, name=name, dtype=dtype)
    for name in _NAMES
    for storage, dtype in (("i8", "int8"), ("u8", "uint8"), ("i16", "int16"))
}
