"""SCATTER_ND, SPARSE_TO_DENSE, DYNAMIC_UPDATE_SLICE, EMBEDDING_LOOKUP and STABLEHLO_COMPOSITE. Hazards: rows that name
one element, whose sums wrap; parts that would go beyond an end; positions that are known or not."""

from functools import partial

import numpy as np
from flatbuffers.flexbuffers import Dumps

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.movement import _pair, ints
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

_RUNS = 4
_DTYPES = ("int8", "uint8", "int32", "int64", "float32")


def _values(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype) if dtype == "float32" else draw.integers(rng, shape, dtype)


def _plain(rng, dtype, *shapes):
    """Tensors of one type, of which bytes have scales."""
    if dtype not in ("int8", "uint8", "int16"):
        return [Tensor(tuple(shape), dtype) for shape in shapes]
    first = draw.tensor(rng, shapes[0], dtype)
    return [first, *(Tensor(tuple(shape), dtype, first.scales, first.zero_points) for shape in shapes[1:])]


def scatter_nd(rng, *, dtype, known):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 8000)
    depth = int(rng.integers(1, len(shape) + 1))
    rows = tuple(int(n) for n in rng.integers(1, 40, rng.integers(1, 3)))
    updates, y = _plain(rng, dtype, (*rows, *shape[depth:]), shape)

    def positions():
        return np.stack([rng.integers(0, n, rows) for n in shape[:depth]], -1).astype("int32")

    indices = Tensor((*rows, depth), "int32", data=positions() if known else None)
    runs = [[_values(rng, updates.shape, dtype)] for _ in range(_RUNS)]
    if not known:
        runs = [[positions(), *run] for run in runs]
    return Case(one_op("SCATTER_ND", [indices, updates, ints(shape)], [y]), runs)


def sparse_to_dense(rng, *, dtype):
    """Positions in any order: LiteRT is told not to check that."""
    shape = draw.shape(rng, int(rng.integers(1, 4)), 8000)
    count = int(rng.integers(1, 60))
    kind = str(rng.choice(["int32", "int64"]))
    rows = np.stack([rng.integers(0, n, count) for n in shape], -1).astype(kind)
    rows = rows[:, 0] if len(shape) == 1 and rng.random() < 0.5 else rows
    values, default, y = _plain(rng, dtype, (count,) if rng.random() < 0.8 else (), (), shape)
    given = [ints(rows, kind), ints(shape, kind), values, default]
    runs = [[_values(rng, values.shape, dtype), _values(rng, (), dtype)] for _ in range(_RUNS)]
    return Case(one_op("SPARSE_TO_DENSE", given, [y]), runs)


def update_slice(rng, *, dtype, known):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 8000)
    part = tuple(int(rng.integers(1, n + 1)) for n in shape)
    x, update, y = _plain(rng, dtype, shape, part, shape)
    kind = str(rng.choice(["int32", "int64"]))

    def starts():
        return rng.integers(-4, np.array(shape) + 4).astype(kind)

    runs = [[_values(rng, shape, dtype), _values(rng, part, dtype)] for _ in range(_RUNS)]
    if not known:
        runs = [[*run, starts()] for run in runs]
    start = Tensor((len(shape),), kind, data=starts() if known else None)
    return Case(one_op("DYNAMIC_UPDATE_SLICE", [x, update, start], [y]), runs)


def embedding(rng, *, dtype, is_hybrid=False):
    shape = draw.shape(rng, int(rng.integers(2, 4)), 4000)
    count = int(rng.integers(1, 80))
    x, y = _pair(rng, dtype, shape, (count, *shape[1:]))
    table = Tensor(shape, dtype, x.scales, 0 if is_hybrid else x.zero_points, data=_values(rng, shape, dtype))
    runs = [[rng.integers(0, shape[0], count).astype("int32")] for _ in range(_RUNS)]
    y = Tensor(y.shape, "float32") if is_hybrid else y
    return Case(one_op("EMBEDDING_LOOKUP", [Tensor((count,), "int32"), table], [y]), runs)


def composite(rng):
    """A product and a sum in a subgraph of their own."""
    shape = draw.shape(rng)
    a, b, inside, made, left, right, y = (Tensor(shape, "float32") for _ in range(7))
    body = Subgraph([a, b], [made], [Operator("MUL", [a, b], [inside]), Operator("ADD", [inside, a], [made])], "body")
    options = {"name": "test.composite", "decomposition_subgraph_index": 1, "composite_attributes": Dumps({})}
    main = Subgraph([left, right], [y], [Operator("STABLEHLO_COMPOSITE", [left, right], [y], options)])
    runs = [[_values(rng, shape, "float32"), _values(rng, shape, "float32")] for _ in range(_RUNS)]
    return Case(write([main, body]), runs)


CASES = {
    **{f"SCATTER_ND {dtype}": partial(scatter_nd, dtype=dtype, known=True) for dtype in _DTYPES},
    **{f"SCATTER_ND {dtype}, positions of the run": partial(scatter_nd, dtype=dtype, known=False)
       for dtype in ("int8", "float32")},
    **{f"SPARSE_TO_DENSE {dtype}": partial(sparse_to_dense, dtype=dtype) for dtype in _DTYPES},
    **{f"DYNAMIC_UPDATE_SLICE {dtype}": partial(update_slice, dtype=dtype, known=True) for dtype in _DTYPES},
    **{f"DYNAMIC_UPDATE_SLICE {dtype}, positions of the run": partial(update_slice, dtype=dtype, known=False)
       for dtype in ("int8", "int16", "float32")},
    **{f"EMBEDDING_LOOKUP {dtype}": partial(embedding, dtype=dtype) for dtype in ("int8", "uint8", "float32")},
    "EMBEDDING_LOOKUP int8 to float32": partial(embedding, dtype="int8", is_hybrid=True),
    "STABLEHLO_COMPOSITE": composite,
}  # fmt: skip
