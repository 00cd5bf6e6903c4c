"""SUM. Hazards: axes named from the end, several axes, sums of one element, results that saturate."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op


def reduced(rng, dtype="int8"):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 8000)
    count = int(rng.integers(1, len(shape) + 1))
    axes = sorted(int(axis) for axis in rng.choice(len(shape), count, replace=False))
    keeps = bool(rng.integers(2)) or count == len(shape)
    out = [1 if axis in axes else n for axis, n in enumerate(shape) if keeps or axis not in axes]
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -8, 0))
    terms = int(np.prod([shape[axis] for axis in axes]))
    y = draw.tensor(rng, out, dtype, draw.around(rng, x.scales * terms**0.5, 2))
    named = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    axis = Tensor((len(named),), "int32", data=named)
    return Case(one_op("SUM", [x, axis], [y], {"keep_dims": keeps}, version=2))


CASES = {
    "SUM i8": reduced,
    "SUM u8": partial(reduced, dtype="uint8"),
    "SUM i16": partial(reduced, dtype="int16"),
}
ONLY = {"SUM i8": ("litert",), "SUM i16": ("litert",)}
