"""EMBEDDING_LOOKUP_SPARSE. Hazards: cells without rows, rows of a cell that do not follow one another, several axes."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_COMBINERS = ("SUM", "MEAN", "SQRTN")


def lookup(rng, *, combiner, known):
    shape = [int(n) for n in rng.integers(1, 5, int(rng.integers(2, 4)))]
    columns = [draw.size(rng, 33) for _ in range(int(rng.integers(1, 3)))]
    count, rows, cells = int(rng.integers(1, 20)), draw.size(rng, 17), int(np.prod(shape[:-1]))

    def indices():
        numbers = rng.integers(0, cells, count)
        numbers = numbers if combiner == "SUM" else np.sort(numbers)
        *places, last = *np.unravel_index(numbers, shape[:-1]), rng.integers(0, shape[-1], count)
        return np.stack([*places, last], 1).astype("int32")

    def numbers():
        given = [rng.integers(0, rows, count).astype("int32"), *([] if known else [indices()])]
        return [*given, *(rng.normal(size=size).astype("float32") for size in (count, (rows, *columns)))]

    places = Tensor((count, len(shape)), "int32", data=indices() if known else None)
    operands = [
        Tensor((count,), "int32"),
        places,
        Tensor((len(shape),), "int32", data=shape),
        Tensor((count,), "float32"),
        Tensor((rows, *columns), "float32"),
    ]
    y = Tensor((*shape[:-1], *columns), "float32")
    options = {"combiner": _COMBINERS.index(combiner)}
    return Case(one_op("EMBEDDING_LOOKUP_SPARSE", operands, [y], options), [numbers() for _ in range(8)], ulp=0)


CASES = {
    **{f"EMBEDDING_LOOKUP_SPARSE {name}": partial(lookup, combiner=name, known=True) for name in _COMBINERS},
    "EMBEDDING_LOOKUP_SPARSE SUM, indices of the run": partial(lookup, combiner="SUM", known=False),
}
