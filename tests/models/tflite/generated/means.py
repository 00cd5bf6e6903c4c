"""MEAN over any axes. Hazards: counts that are no power of two, sums of many raw values, axes counted from the end,
means that lie halfway."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def mean(rng, *, dtype="int8", images=False):
    rank = 4 if images else int(rng.integers(2, 5))
    shape = draw.shape(rng, rank, 12000)
    count = int(rng.integers(1, rank))
    axes = [1, 2] if images else sorted(int(axis) for axis in rng.choice(rank, count, replace=False))
    keeps = bool(rng.integers(2))
    result = [1 if axis in axes else extent for axis, extent in enumerate(shape) if keeps or axis not in axes]
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -8, 0))
    y = draw.tensor(rng, result, dtype, draw.around(rng, x.scales / np.sqrt(np.prod([shape[a] for a in axes])) * 2))
    spelled = [axis - rank if rng.random() < 0.3 else axis for axis in axes]
    indices = Tensor((len(axes),), "int32", data=spelled)
    return Case(one_op("MEAN", [x, indices], [y], {"keep_dims": keeps}, version=2))


CASES = {
    "MEAN i8": mean,
    "MEAN i8, images": partial(mean, images=True),
    "MEAN u8": partial(mean, dtype="uint8"),
    "MEAN i16": partial(mean, dtype="int16"),
}
