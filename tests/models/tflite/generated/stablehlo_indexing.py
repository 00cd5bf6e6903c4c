"""STABLEHLO_GATHER and STABLEHLO_SCATTER. Hazards: axes in any order, positions that are clamped or left out, indices
on any axis of the positions, updates that meet, positions known or not."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.diagonals import _tensors, _values
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

_RUNS = 3


def _axes(rng, rank, count):
    return np.sort(rng.permutation(rank)[:count]).astype("int64")


def _drawn(rng):
    """A shape, the sizes of slices, which axes have size 1 and are left out, which have positions, and the batch."""
    shape = draw.shape(rng, int(rng.integers(1, 5)), 2000)
    rank = len(shape)
    left_out = _axes(rng, rank, int(rng.integers(0, rank + 1)))
    sizes = np.array([1 if axis in left_out else rng.integers(1, n + 1) for axis, n in enumerate(shape)])
    axes = rng.permutation(rank)[: int(rng.integers(1, rank + 1))].astype("int64")
    batch = tuple(int(n) for n in rng.integers(1, 7, int(rng.integers(0, 3))))
    return shape, sizes, left_out, axes, batch


def _positions(rng, shape, axes, batch, last, low, kind, known):
    """The positions as a tensor, and functions that draw them: one index on axis ``last`` for each of ``axes``."""

    def drawn():
        columns = [rng.integers(low, shape[axis] + 2, batch) for axis in axes]
        return np.stack(columns, last).astype(kind)

    first = drawn()
    return Tensor(first.shape, kind, data=first if known else None), drawn


def gather(rng, *, dtype, known=True):
    shape, sizes, left_out, axes, batch = _drawn(rng)
    last, kind = int(rng.integers(0, len(batch) + 1)), str(rng.choice(["int32", "int64"]))
    indices, drawn = _positions(rng, shape, axes, batch, last, -2, kind, known)
    window = [int(n) for axis, n in enumerate(sizes) if axis not in left_out]
    offsets = _axes(rng, len(batch) + len(window), len(window))
    of_window, of_batch = iter(window), iter(batch)
    result = [next(of_window) if d in offsets else next(of_batch) for d in range(len(batch) + len(window))]
    x, y = _tensors(rng, dtype, shape, result)
    options = {
        "offset_dims": offsets, "collapsed_slice_dims": left_out, "start_index_map": axes,
        "index_vector_dim": last, "slice_sizes": sizes.astype("int64"),
    }  # fmt: skip
    runs = [[_values(rng, shape, dtype), *([] if known else [drawn()])] for _ in range(_RUNS)]
    return Case(one_op("STABLEHLO_GATHER", [x, indices], [y], options), runs)


def scatter(rng, *, body, dtype, known=True):
    shape, sizes, left_out, axes, batch = _drawn(rng)
    last, kind = int(rng.integers(0, len(batch) + 1)), str(rng.choice(["int32", "int64"]))
    indices, drawn = _positions(rng, shape, axes, batch, last, 0, kind, known)
    window = [int(n) for axis, n in enumerate(sizes) if axis not in left_out]
    windows = _axes(rng, len(batch) + len(window), len(window))
    of_window, of_batch = iter(window), iter(batch)
    given = [next(of_window) if d in windows else next(of_batch) for d in range(len(batch) + len(window))]
    x, updates, y = _tensors(rng, dtype, shape, given, shape)
    options = {
        "update_window_dims": windows, "inserted_window_dims": left_out, "scatter_dims_to_operand_dims": axes,
        "index_vector_dim": last, "update_computation_subgraph_index": 1,
    }  # fmt: skip
    operator = Operator("STABLEHLO_SCATTER", [x, indices, updates], [y], options)
    a, b, c = _tensors(rng, dtype, (), (), ())
    function = Subgraph([a, b], [c], [Operator(body, [a, b], [c])]) if body else Subgraph([a, b], [b], [])
    main = Subgraph([x, *([] if known else [indices]), updates], [y], [operator])
    runs = [
        [_values(rng, shape, dtype), *([] if known else [drawn()]), _values(rng, given, dtype)] for _ in range(_RUNS)
    ]
    return Case(write([main, function]), runs)


_BODIES = {"update": None} | {name: f"STABLEHLO_{name}" for name in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM")}
CASES = {
    **{f"STABLEHLO_GATHER {dtype}": partial(gather, dtype=dtype) for dtype in ("int8", "uint8", "int64", "float32")},
    "STABLEHLO_GATHER int32, positions of the run": partial(gather, dtype="int32", known=False),
    **{
        f"STABLEHLO_SCATTER {name} {dtype}": partial(scatter, body=body, dtype=dtype)
        for name, body in _BODIES.items()
        for dtype in ("int8", "uint8", "int32", "float32")
    },
    "STABLEHLO_SCATTER update int32, positions of the run": partial(scatter, body=None, dtype="int32", known=False),
    "STABLEHLO_SCATTER MAXIMUM int32, positions of the run": partial(
        scatter, body="STABLEHLO_MAXIMUM", dtype="int32", known=False
    ),
}
