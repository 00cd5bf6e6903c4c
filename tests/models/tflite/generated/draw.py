"""What families draw: sizes around the blocks of kernels, scales, zero points, tensors."""

from collections.abc import Sequence

import numpy as np

from tests.models.tflite.writing import Tensor

CASES: dict = {}  # this file has no forms of its own

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 49, 63, 64, 65)
ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")


def size(rng, most=65):
    """A size, mostly beside a multiple of a block."""
    return int(rng.choice([each for each in SIZES if each <= most]))


def shape(rng, rank=None, elements=4000):
    """A shape of about so many elements at most."""
    rank = int(rng.integers(1, 5)) if rank is None else rank
    found = []
    for _ in range(rank):
        found.append(min(size(rng), max(1, elements // int(np.prod(found, initial=1)))))
    rng.shuffle(found)
    return tuple(found)


def scale(rng, low=-12.0, high=2.0):
    """A scale between two powers of two; now and then a power of two itself."""
    exponent = rng.uniform(low, high)
    return float(np.float32(2.0 ** (round(exponent) if rng.random() < 0.1 else exponent)))


def around(rng, middle, octaves=2.0):
    """A float32 near a number: within so many octaves of it."""
    return float(np.float32(middle * 2.0 ** rng.uniform(-octaves, octaves)))


def zero_point(rng, dtype="int8"):
    """A zero point: any, 0 or one of the ends. Those of 16 bits are 0."""
    if np.dtype(dtype).itemsize > 1:
        return 0
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return int(rng.choice([rng.integers(low, high + 1), rng.integers(low, high + 1), 0, low, high]))


def integers(rng, shape: Sequence[int], dtype="int8", low=None, high=None):
    """Integers of a dtype, over its whole range if no other is said."""
    info = np.iinfo(dtype)
    bounds = info.min if low is None else low, info.max if high is None else high
    return rng.integers(*bounds, tuple(shape), dtype=dtype, endpoint=True)


def weights(rng, shape, dtype="int8", **bounds):
    """Integers of a dtype, of which NumPy may lack int4, uint4 and int2."""
    low, high = {"int2": (-2, 1), "int4": (-8, 7), "uint4": (0, 15)}.get(dtype, (None, None))
    return integers(rng, shape, dtype, **bounds) if low is None else integers(rng, shape, "int8", low, high)


def tensor(rng, shape, dtype="int8", scales=None, **others):
    """A quantized tensor with a drawn zero point, and a drawn scale if none is given."""
    given = {"zero_points": zero_point(rng, dtype), **others}
    return Tensor(tuple(shape), dtype, scales=scale(rng) if scales is None else scales, **given)


def activation(rng):
    return str(rng.choice(ACTIVATIONS))
