"""SEGMENT_SUM, UNSORTED_SEGMENT, BUCKETIZE and FAKE_QUANT. Hazards: segments without rows, rows of no segment, numbers
of several axes; values that are boundaries; halves, and numbers beyond the range of a type."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.plain import _values
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4


def segments(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 8000)
    often = rng.choice([0.0, 0.3, 0.7, 1.0])
    numbers = np.cumsum(np.append(0, rng.random(shape[0] - 1) < often)).astype("int32")
    operands = [Tensor(shape, dtype), Tensor(numbers.shape, "int32", data=numbers)]
    y = Tensor((int(numbers[-1]) + 1, *shape[1:]), dtype)
    return Case(one_op("SEGMENT_SUM", operands, [y]), [[_numbers(rng, shape, dtype)] for _ in range(_RUNS)])


def _numbers(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype) if dtype == "float32" else draw.integers(rng, shape, dtype)


def unsorted(rng, *, name, dtype, known):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 4000)
    given = shape[: int(rng.integers(1, len(shape) + 1))]
    count = int(rng.integers(1, 40))

    def numbers():
        return rng.integers(-2, count, given).astype("int32")

    x = Tensor(shape, dtype)
    ids = Tensor(given, "int32", data=numbers() if known else None)
    runs = [[_numbers(rng, shape, dtype), *([] if known else [numbers()])] for _ in range(_RUNS)]
    y = Tensor((count, *shape[len(given) :]), dtype)
    return Case(one_op(name, [x, ids, Tensor((), "int32", data=count)], [y]), runs, ulp=0)


def bucketize(rng, *, dtype):
    shape = draw.shape(rng)
    runs = [[_values(rng, shape, dtype)] for _ in range(_RUNS)]
    among = rng.choice(runs[0][0].ravel(), int(rng.integers(0, 20))).astype("float32")
    boundaries = np.sort(np.append(among, rng.normal(size=int(rng.integers(0, 9)))).astype("float32"))
    content = one_op("BUCKETIZE", [Tensor(shape, dtype)], [Tensor(shape, "int32")], {"boundaries": boundaries})
    return Case(content, runs)


def fake_quant(rng):
    shape, bits = draw.shape(rng), int(rng.integers(2, 17))
    low, high = (float(np.float32(2.0 ** rng.uniform(-8, 8))) for _ in range(2))
    low, high = (0.0, high) if rng.random() < 0.2 else (low, 0.0) if rng.random() < 0.2 else (low, high)
    runs = [[rng.uniform(-1.2 * low - 0.1, 1.2 * high + 0.1, shape).astype("float32")] for _ in range(_RUNS)]
    step = np.float32((np.float32(high) + np.float32(low)) / np.float32(2**bits - 1))
    runs.append([(rng.integers(-(2**bits), 2**bits, shape) * step / 2).astype("float32")])
    options = {"min": -low, "max": high, "num_bits": bits, "narrow_range": False}
    content = one_op("FAKE_QUANT", [Tensor(shape, "float32")], [Tensor(shape, "float32")], options)
    return Case(content, runs, ulp=0)


CASES = {
    **{f"SEGMENT_SUM {dtype}": partial(segments, dtype=dtype) for dtype in ("int32", "float32")},
    **{
        f"UNSORTED_SEGMENT_{name} {dtype}{label}": partial(
            unsorted, name=f"UNSORTED_SEGMENT_{name}", dtype=dtype, known=known
        )
        for name in ("MAX", "MIN", "PROD", "SUM")
        for dtype in ("int32", "float32")
        for label, known in (("", True), (", numbers of the run", False))
    },
    **{f"BUCKETIZE {dtype}": partial(bucketize, dtype=dtype) for dtype in ("int32", "int64", "float32")},
    "FAKE_QUANT float32": fake_quant,
}
ONLY = {f"SEGMENT_SUM {dtype}": ("litert",) for dtype in ("int32", "float32")}
