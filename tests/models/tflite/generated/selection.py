"""What selects and resizes: GATHER, GATHER_ND, ARG_MAX, REDUCE_MAX, TOPK_V2, RESIZE. Hazards: the first of equals,
neighbours at the edge, sizes that do not divide, images of one row, batches that go with their positions."""

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.generated.movement import _forms, _pair, ints
from tests.models.tflite.writing import Tensor, one_op


def gather(rng, *, dtype, known):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 2000)
    axis = int(rng.integers(len(shape)))
    batch = int(rng.integers(axis + 1)) if axis and rng.random() < 0.3 else 0
    rows = (*shape[:batch], *(int(n) for n in rng.integers(1, 6, rng.integers(0 if batch else 1, 3))))
    x, y = _pair(rng, dtype, shape, (*shape[:axis], *rows[batch:], *shape[axis + 1 :]))
    kind = str(rng.choice(["int32", "int64"]))
    positions = rng.integers(0, shape[axis], rows).astype(kind)
    indices = Tensor(rows, kind, data=positions if known else None)
    model = one_op("GATHER", [x, indices], [y], {"axis": axis - len(shape) * int(rng.random() < 0.3),
                                                "batch_dims": batch}, version=5)  # fmt: skip
    return Case(model, None if known else _with_positions(rng, x, rows, kind, shape[axis]))


def _with_positions(rng, x, rows, kind, limit):
    """Values of the first input and positions of the second, three times."""
    made = []
    for _ in range(3):
        values = (
            rng.normal(size=x.shape).astype("float32") if x.dtype == "float32" else draw.integers(rng, x.shape, x.dtype)
        )
        made.append([values, rng.integers(0, limit, rows).astype(kind)])
    return made


def gather_nd(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 5)), 4000)
    depth = int(rng.integers(1, len(shape) + 1))
    rows = tuple(int(n) for n in rng.integers(1, 40, rng.integers(1, 3)))
    x, y = _pair(rng, dtype, shape, (*rows, *shape[depth:]))
    kind = str(rng.choice(["int32", "int64"]))
    positions = np.stack([rng.integers(0, n, rows) for n in shape[:depth]], -1).astype(kind)
    return Case(one_op("GATHER_ND", [x, Tensor(positions.shape, kind, data=positions)], [y], version=3))


def reverse_sequence(rng, *, dtype):
    """Lengths that are known or not, of any batch axis."""
    shape = draw.shape(rng, int(rng.integers(2, 5)), 4000)
    along, batch = (int(axis) for axis in rng.permutation(len(shape))[:2])
    kind = str(rng.choice(["int32", "int64"]))
    lengths = rng.integers(0, shape[along], shape[batch], endpoint=True).astype(kind)
    is_known = rng.random() < 0.5
    x, y = _pair(rng, dtype, shape, shape)
    options = {"seq_dim": along, "batch_dim": batch}
    given = Tensor(lengths.shape, kind, data=lengths if is_known else None)
    content = one_op("REVERSE_SEQUENCE", [x, given], [y], options)
    return Case(content, None if is_known else _with_positions(rng, x, lengths.shape, kind, shape[along] + 1))


def arg(rng, *, dtype, name):
    shape = draw.shape(rng, int(rng.integers(2, 5)), 60_000)
    axis = int(rng.integers(-len(shape), len(shape)))
    x, _ = _pair(rng, dtype, shape, shape)
    kind = str(rng.choice(["int32", "int64"]))
    y = Tensor(tuple(n for d, n in enumerate(shape) if d != axis % len(shape)), kind)
    return Case(one_op(name, [x, ints(axis)], [y], {"output_type": kind.upper()}, version=2))


def reduce(rng, *, dtype, name):
    shape = draw.shape(rng, int(rng.integers(2, 5)), 60_000)
    count = 1 if rng.random() < 0.8 else int(rng.integers(1, len(shape) + 1))
    axes = sorted(int(each) for each in rng.permutation(len(shape))[:count])
    keeps = bool(rng.random() < 0.5)
    out = [1 if d in axes else n for d, n in enumerate(shape) if keeps or d not in axes]
    x, y = _pair(rng, dtype, shape, out)
    said = [axis - len(shape) if rng.random() < 0.3 else axis for axis in axes]
    return Case(one_op(name, [x, ints(said)], [y], {"keep_dims": keeps}, version=2))


def top_k(rng, *, dtype):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 20_000)
    k = int(rng.integers(1, shape[-1] + 1))
    x, y = _pair(rng, dtype, shape, (*shape[:-1], k))
    return Case(one_op("TOPK_V2", [x, ints(k)], [y, Tensor(y.shape, "int32")], version=2))


def resize(rng, *, dtype, name, form):
    n, h, w, c = int(rng.integers(1, 3)), int(rng.integers(1, 13)), int(rng.integers(1, 13)), draw.size(rng, 17)
    size = [int(each) for each in rng.integers(1, 30, 2)]
    x, y = _pair(rng, dtype, (n, h, w, c), (n, *size, c))
    options = {"align_corners": form == "align_corners", "half_pixel_centers": form == "half_pixel_centers"}
    return Case(one_op(name, [x, ints(size)], [y], options, version=3))


def one_hot(rng, *, dtype):
    """Positions beyond both ends make no difference anywhere."""
    shape = draw.shape(rng, int(rng.integers(1, 4)), 2000)
    depth, axis, kind = (
        int(rng.integers(1, 12)),
        int(rng.integers(-1, len(shape) + 1)),
        str(rng.choice(["int32", "int64"])),
    )
    out = list(shape)
    out.insert(axis if axis >= 0 else len(shape), depth)
    numbers = rng.integers(-2, depth + 2, shape).astype(kind)
    on, off = (Tensor((), dtype, data=np.array(rng.integers(0, 100), dtype)) for _ in range(2))
    model = one_op("ONE_HOT", [Tensor(shape, kind), ints(depth), on, off], [Tensor(tuple(out), dtype)], {"axis": axis})
    return Case(model, [[numbers], [numbers[::-1].copy()], [numbers % max(depth - 1, 1)]])


_BYTES = ("int8", "uint8", "float32")
_ALL = (*_BYTES, "int16")
_SHAPES = ("neither", "align_corners", "half_pixel_centers")


def _resizes(name, dtypes):
    return {
        key: value
        for form in _SHAPES
        for key, value in _forms(name, resize, dtypes, f", {form}", name=name, form=form).items()
    }


CASES = {
    **_forms("GATHER", gather, _ALL, known=True),
    **_forms("GATHER", gather, ("int8", "float32"), ", positions as input", known=False),
    **_forms("GATHER_ND", gather_nd, _ALL),
    **_forms("REVERSE_SEQUENCE", reverse_sequence, ("uint8", "int16", "float32")),
    **_forms("ARG_MAX", arg, _BYTES, name="ARG_MAX"),
    **_forms("ARG_MIN", arg, _BYTES, name="ARG_MIN"),
    **_forms("REDUCE_MAX", reduce, _ALL, name="REDUCE_MAX"),
    **_forms("REDUCE_MIN", reduce, _ALL, name="REDUCE_MIN"),
    **_forms("TOPK_V2", top_k, _ALL),
    **_forms("ONE_HOT", one_hot, ("float32", "int8")),
    **_resizes("RESIZE_BILINEAR", _ALL),
    **_resizes("RESIZE_NEAREST_NEIGHBOR", _ALL),
}
