"""MATRIX_DIAG and MATRIX_SET_DIAG. Hazards: matrices that are wider than high, or higher than wide; zero points that
are not 0."""

from functools import partial

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4
_WHOLE = ("int8", "uint8", "int16", "int32", "int64", "float32")


def _values(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype) if dtype == "float32" else draw.integers(rng, shape, dtype)


def _tensors(rng, dtype, *shapes):
    """Of one type, which has scales or not."""
    scales, zero = (draw.scale(rng), draw.zero_point(rng, dtype)) if dtype in _WHOLE[:3] else (None, 0)
    return [Tensor(tuple(shape), dtype, scales, zero) for shape in shapes]


def diagonal(rng, *, dtype):
    line = draw.shape(rng, int(rng.integers(1, 4)), 300)
    x, y = _tensors(rng, dtype, line, (*line, line[-1]))
    return Case(one_op("MATRIX_DIAG", [x], [y]), [[_values(rng, line, dtype)] for _ in range(_RUNS)])


def set_diagonal(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(2, 5)), 8000)
    line = (*shape[:-2], min(shape[-2:]))
    x, diagonal, y = _tensors(rng, dtype, shape, line, shape)
    runs = [[_values(rng, shape, dtype), _values(rng, line, dtype)] for _ in range(_RUNS)]
    return Case(one_op("MATRIX_SET_DIAG", [x, diagonal], [y]), runs)


CASES = {
    **{f"MATRIX_DIAG {dtype}": partial(diagonal, dtype=dtype) for dtype in _WHOLE},
    **{f"MATRIX_SET_DIAG {dtype}": partial(set_diagonal, dtype=dtype) for dtype in _WHOLE},
}
