"""The sizes of gathering, slices, extremes, the k largest and resized images."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from qrt.numerics.resizing import bilinear, bilinear_positions
from tests.kernels.draws import Array
from tests.kernels.size_cases import Case, combinations

SIDES = (0, 1, 2, 3, 17)


def gather() -> Iterator[Case]:
    rng = np.random.default_rng(21)
    for drawn in combinations(
        rng,
        4,
        batches=(0, 1, 2),
        outer=(0, 1, 3),
        sizes=((0,), (1,), (5,), (1, 1), (3, 2), (0, 4), (4, 1, 3), ()),
        count=(0, 1, 2, 9),
        inner=(0, 1, 2, 16, 17),
        dtype=(np.int8, np.uint16, np.float32, np.int64),
        index_dtype=(np.int32, np.int64),
        constant=(False, True),
    ):
        constant, sizes = drawn.pop("constant"), drawn["sizes"]
        drawn["count"] *= 0 not in sizes
        shape = drawn["batches"], drawn["count"], len(sizes)
        indices = rng.integers(0, np.maximum(sizes, 1).astype(int), shape).astype(drawn["index_dtype"])
        x = rng.integers(0, 99, (drawn["batches"], drawn["outer"], prod(sizes), drawn["inner"])).astype(drawn["dtype"])
        given = drawn | {"indices": indices if constant else None}
        yield Case(
            "gather", given, (x,) if constant else (x, indices), lambda x=x, i=indices, s=sizes: _gathered(x, i, s)
        )


def _gathered(x: Array, indices: Array, sizes: tuple[int, ...]) -> Array:
    weights = np.array([prod(sizes[axis + 1 :]) for axis in range(len(sizes))], np.int64)
    places = (indices * weights).sum(axis=-1, dtype=np.int64)
    taken = np.empty((*x.shape[:2], indices.shape[1], x.shape[3]), x.dtype)
    for batch in range(x.shape[0]):
        taken[batch] = x[batch][:, places[batch]]
    return taken


def slices() -> Iterator[Case]:
    """The first, the last and other slices, with parts of the offsets in operands."""
    rng = np.random.default_rng(24)
    for drawn in combinations(
        rng,
        8,
        x_shape=((), (0,), (1,), (7,), (5, 1), (3, 17), (2, 3, 16), (4, 2, 0), (4, 2, 1, 3)),
        stride=(1, 2, 3),
        is_known=("no", "yes", "some"),
        at=("first", "last", "between"),
        dtype=(np.bool_, np.int8, np.uint16, np.float32, np.int64),
        inserts=(False, True),
    ):
        shape = drawn["x_shape"]
        strides = rng.integers(1, drawn.pop("stride") + 1, len(shape))
        sizes = np.array(
            [rng.integers(0, (n + step - 1) // step + 1) for n, step in zip(shape, strides, strict=True)], int
        )
        most = np.where(sizes, np.array(shape, int) - 1 - (sizes - 1) * strides, shape).astype(int)
        at = {"first": most * 0, "last": most, "between": rng.integers(0, most + 1)}[drawn.pop("at")].astype(np.int64)
        known = {"no": most < 0, "yes": most >= 0, "some": rng.random(len(shape)) < 0.5}[drawn.pop("is_known")]
        static = rng.integers(0, at + 1)
        given = drawn | {
            "offsets": [int(n) for n in np.where(known, at, static)],
            "axes": [int(axis) for axis in np.flatnonzero(~known)],
            "sizes": [int(n) for n in sizes],
            "strides": [int(n) for n in strides],
        }
        x, part = (
            rng.integers(0, 2 if drawn["dtype"] is np.bool_ else 99, n).astype(drawn["dtype"]) for n in (shape, sizes)
        )
        x, part = np.asarray(x), np.asarray(part)
        where = tuple(slice(a, a + n * step, step) for a, n, step in zip(at, sizes, strides, strict=True))
        operands = (*([part] if drawn["inserts"] else []), x, *(np.array(n) for n in (at - static)[~known]))
        yield Case(
            "slice", given, operands, lambda x=x, w=where, p=part, i=drawn["inserts"]: _inserted(x, w, p) if i else x[w]
        )


def _inserted(x: Array, where: tuple[slice, ...], part: Array) -> Array:
    result = x.copy()
    result[where] = part
    return result


def extremum() -> Iterator[Case]:
    rng = np.random.default_rng(22)
    for drawn in combinations(
        rng,
        4,
        a=SIDES,
        b=SIDES,
        c=SIDES,
        rank=(0, 1, 2, 3),
        axes=((), (0,), (1,), (2,), (0, 2), (0, 1, 2)),
        dtype=(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float32, np.float64),
        least=(False, True),
        index_dtype=(None, np.int32, np.int64),
    ):
        shape = (drawn["a"], drawn["b"], drawn["c"])[: drawn["rank"]]
        axes = tuple(axis for axis in drawn["axes"] if axis < len(shape))
        if 0 in (shape[axis] for axis in axes):
            shape = tuple(max(n, 1) for n in shape)
        given: dict[str, Any] = {
            "dtype": drawn["dtype"], "x_shape": shape, "axes": axes, "least": drawn["least"],
            "index_dtype": drawn["index_dtype"],
        }  # fmt: skip
        x = rng.integers(0, 9, shape).astype(drawn["dtype"])
        yield Case("extremum", given, (x,), lambda x=x, g=given: _extreme(x, g))
    yield from _lines_of_bytes(rng)


def _lines_of_bytes(rng: np.random.Generator) -> Iterator[Case]:
    """Around vectors of bytes, with equals on both sides of a border between vectors and in an overlap."""
    for drawn in combinations(
        rng, 6, size=(1, 15, 16, 17, 21, 31, 32, 33, 100), dtype=(np.int8, np.uint8), least=(False, True),
        index_dtype=(None, np.int32, np.int64), spread=(2, 256),
    ):  # fmt: skip
        info = np.iinfo(drawn["dtype"])
        x = rng.integers(info.min, info.min + drawn["spread"], (5, drawn["size"])).astype(drawn["dtype"])
        given: dict[str, Any] = {name: drawn[name] for name in ("dtype", "least", "index_dtype")}
        given |= {"x_shape": x.shape, "axes": (1,)}
        yield Case("extremum", given, (x,), lambda x=x, g=given: _extreme(x, g))


def _extreme(x: Array, given: dict[str, Any]) -> Array:
    kept = [d for d in range(x.ndim) if d not in given["axes"]]
    lines = x.transpose(*kept, *given["axes"]).reshape(
        [x.shape[d] for d in kept] + [prod(x.shape[d] for d in given["axes"])]
    )
    if given["index_dtype"] is None:
        return np.asarray(lines.min(axis=-1) if given["least"] else lines.max(axis=-1))
    return np.asarray((lines.argmin if given["least"] else lines.argmax)(axis=-1)).astype(given["index_dtype"])


def top_k() -> Iterator[Case]:
    """The values; tests/ops/test_top_k.py looks at the indices too."""
    rng = np.random.default_rng(23)
    for given in combinations(
        rng, 4, rows=(0, 1, 2, 5), size=(0, 1, 2, 3, 8, 33), k=(0, 1, 2, 7, 33), dtype=(np.int8, np.uint8, np.float32)
    ):
        given["k"] = min(given["k"], given["size"])
        x = rng.integers(0, 9, (given["rows"], given["size"])).astype(given["dtype"])
        order = np.argsort(-x.astype(np.int64), axis=-1, kind="stable")[:, : given["k"]]
        values = np.take_along_axis(x, order, -1)
        yield Case("top_k", given, (x,), lambda v=values, order=order: np.concatenate([v.ravel(), order.ravel()]))


def resize_bilinear() -> Iterator[Case]:
    rng = np.random.default_rng(24)
    rules = (("fixed11", np.int8), ("fixed11", np.uint8), ("fixed10_away", np.int16), ("products_float32", np.uint8),
             ("lines_float32", np.float32))  # fmt: skip
    for drawn in combinations(
        rng, 6, images=(0, 1, 2), height=(1, 2, 5), width=(1, 2, 16), channels=(0, 1, 3, 7, 8, 9, 15, 16, 17, 33),
        rows=(0, 1, 2, 9), columns=(0, 1, 2, 33), rule=rules,
    ):  # fmt: skip
        rule, dtype = drawn["rule"]
        shape = drawn["images"], drawn["height"], drawn["width"], drawn["channels"]
        x = rng.integers(0, 99, shape).astype(dtype)
        if np.dtype(dtype).itemsize == 1:
            x = rng.choice(np.array([0, 127, 128, 255, 3], np.uint8), shape).astype(dtype)  # the ends, and between
        sides = [
            bilinear_positions(rule, size, out, align_corners=False, half_pixel_centers=True)
            for size, out in ((shape[1], drawn["rows"]), (shape[2], drawn["columns"]))
        ]
        given = {"dtype": dtype, "rule": rule, "x_shape": shape, "rows": sides[0], "columns": sides[1]}
        yield Case("resize_bilinear", given, (x,), lambda x=x, r=rule, s=sides: _resized(x, r, *s))


def _resized(x: Array, rule: str, rows: Any, columns: Any) -> Array:
    corners = tuple(x[:, row][:, :, column] for row in rows[:2] for column in columns[:2])
    return bilinear(rule, corners, rows[2][:, None, None], columns[2][:, None]).astype(x.dtype)  # type: ignore[arg-type]
