"""The sizes of elementwise entries, of lines and of movement."""

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any

import ml_dtypes
import numpy as np

from qrt import numerics
from tests.kernels.draws import DTYPES, Array
from tests.kernels.size_cases import BYTES, CONTAINERS, Case, combinations, draw, requants

FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}

# Around the vectors, tables, aligned starts and tasks of elementwise kernels.
COUNTS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025,
          2047, 2048, 2049, 4097)  # fmt: skip


# ---- elementwise ----


def layouts(rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], Array, int]]:
    """shape, block and step; the parameter index of each element; how many parameters there are."""
    shapes = [((n,), (1,), (0,)) for n in COUNTS]
    shapes += [((rows, n), (1, 1), (0, 1)) for n in COUNTS for rows in (1, 3)]
    shapes += [((n, columns), (1, 1), (1, 0)) for n in COUNTS[:22] for columns in (0, 1, 3, 33, 70)]
    shapes += [((2, n, columns), (1, 1, 1), (0, 1, 0)) for n in (0, 1, 5, 33) for columns in (0, 1, 3, 33)]
    shapes += [((2, 3 * b), (1, b), (3, 1)) for b in (1, 2, 3, 7, 16, 31, 32, 33, 64)]
    shapes += [((4, 0), (2, 1), (1, 0)), ((0, 4), (1, 2), (0, 1)), ((), (), ())]
    for shape, block, step in shapes:
        index = np.zeros(shape, np.int64)
        for axis, size in enumerate(shape):
            along = np.arange(size) // block[axis] * step[axis]
            index += along.reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        count = 1 + sum((max(n, 1) - 1) // b * s for n, b, s in zip(shape, block, step, strict=True))
        yield {"shape": shape, "block": block, "step": step}, index, count


def casts(entry: str) -> Iterator[Case]:
    rng = np.random.default_rng(1)
    for expressed, (given, index, count) in itertools.product(FLOATS, layouts(rng)):
        storage = str(rng.choice(["i8", "u8", "i16", "u16", "i32"]))
        info = np.iinfo(DTYPES[storage])
        scales, zps = np.exp2(rng.integers(-4, 4, count)), rng.integers(0, 100, count)
        given = given | {"expressed": expressed, "storage": storage, "scales": scales, "zero_points": zps}
        if entry == "dcast":
            q = draw(rng, storage, given["shape"])
            yield Case(entry, given, (q,), lambda q=q, s=scales[index], z=zps[index], e=expressed:
                       numerics.dequantize(q, s, z, e).astype(FLOATS[e]))  # fmt: skip
            continue
        low, high = (int(info.min), int(info.max)) if rng.random() < 0.5 else (0, 100)
        x = (rng.normal(0, 90, given["shape"]) * scales[index]).astype(FLOATS[expressed])
        given |= {"storage_min": low, "storage_max": high}
        for name, values in (("rounding", numerics.ROUNDINGS), ("zero_point", numerics.ZERO_POINTS),
                             ("scale", numerics.SCALES)):  # fmt: skip
            given[name] = str(values[0] if rng.random() < 0.5 else rng.choice(values))
        yield Case(entry, given, (x,), lambda x=x, s=scales[index], z=zps[index], g=given: numerics.quantize(
            x.astype(np.float64), s, z, g["storage_min"], g["storage_max"], g["expressed"], rounding=g["rounding"],
            zero_point_order=g["zero_point"], scale_form=g["scale"]))  # fmt: skip


def requantize() -> Iterator[Case]:
    rng = np.random.default_rng(2)
    for given, index, count in layouts(rng):
        storage = str(rng.choice(CONTAINERS))
        requant, zps = requants(rng, count), rng.integers(0, 100, count)
        q = draw(rng, storage, given["shape"])
        given = given | {"storage": storage, "zero_points": zps, "requant": requant}
        yield Case("requantize", given, (q,), lambda q=q, z=zps[index], r=requant, i=index:
                   numerics.requantize(q.astype(np.int64) - z, r, i))  # fmt: skip


def clamp() -> Iterator[Case]:
    rng = np.random.default_rng(3)
    for storage, (given, index, count) in itertools.product(("i8", "u8", "i16", "i32"), layouts(rng)):
        lower, upper = rng.integers(0, 40, count), rng.integers(40, 100, count)
        q = draw(rng, storage, given["shape"])
        yield Case("clamp", given | {"storage": storage, "lower": lower, "upper": upper}, (q,),
                   lambda q=q, low=lower[index], high=upper[index]: np.clip(q, low, high))  # fmt: skip


def binary() -> Iterator[Case]:
    rng = np.random.default_rng(4)
    for kind, (given, index, count) in itertools.product(("add", "sub", "mul"), layouts(rng)):
        shape, types = given["shape"], [str(rng.choice(CONTAINERS)) for _ in range(2)]
        broadcast = tuple(1 if rng.random() < 0.3 else n for n in shape)
        shapes = [shape, broadcast[rng.integers(len(shape) + 1) :] if rng.random() < 0.5 else shape]
        if rng.random() < 0.5:
            shapes.reverse()
        a, b = (draw(rng, t, s) for t, s in zip(types, shapes, strict=True))
        za, zb = rng.integers(0, 100, count), rng.integers(0, 100, count)
        requant, factors = requants(rng, count), rng.integers(1, 1 << 20, (2, count))
        given = {"block": given["block"], "step": given["step"], "kind": kind, "a": types[0], "b": types[1],
                 "a_shape": shapes[0], "b_shape": shapes[1], "a_zero_points": za, "b_zero_points": zb,
                 "requant": requant}  # fmt: skip
        if kind != "mul":
            bounds = requant.storage, requant.storage_min, requant.storage_max
            requant = numerics.rounded_shift(bounds, requant.zero_point, np.full(count, 20))
            given |= {"a_multipliers": factors[0], "b_multipliers": factors[1], "requant": requant}

        def expected(kind: str = kind, a: Array = a - za[index], b: Array = b - zb[index], i: Array = index,
                     f: Array = factors, r: numerics.RequantParameters = requant) -> Array:  # fmt: skip
            if kind == "mul":
                return numerics.requantize(a * b, r, i)
            return numerics.requantize(a * f[0][i] + (b if kind == "add" else -b) * f[1][i], r, i)

        yield Case("binary", given, (a, b), expected)


def pair() -> Iterator[Case]:
    rng = np.random.default_rng(17)
    for kind, (layout, _, _) in itertools.product(("maximum", "minimum", "prelu", "table"), layouts(rng)):
        shape, storage = layout["shape"], BYTES if kind == "table" else CONTAINERS
        broadcast = tuple(1 if rng.random() < 0.3 else n for n in shape)
        shapes = [shape, broadcast[rng.integers(len(shape) + 1) :] if rng.random() < 0.5 else shape]
        if rng.random() < 0.5:
            shapes.reverse()
        types = [str(rng.choice(storage)) for _ in range(2)]
        types = types if kind in ("prelu", "table") else types[:1] * 2
        a, b = (draw(rng, t, s) for t, s in zip(types, shapes, strict=True))
        requant, zps = requants(rng, 2), rng.integers(0, 9, 2)
        out = {"prelu": requant.storage, "table": "i16"}.get(kind, types[0])
        table = draw(rng, "i16", 1 << 16)
        given = {"kind": kind, "a": types[0], "b": types[1], "out": out, "a_shape": shapes[0], "b_shape": shapes[1]}
        given |= {"prelu": {"zero_points": tuple(zps.tolist()), "requant": requant}, "table": {"table": table}}.get(
            kind, {}
        )

        def expected(
            kind: str = kind, a: Array = a, b: Array = b, t: Array = table, z: Array = zps,
            r: numerics.RequantParameters = requant,
        ) -> Array:  # fmt: skip
            if kind == "table":
                return t[a.astype(np.int64) % 256 * 256 + b.astype(np.int64) % 256]
            if kind == "prelu":
                x, alpha = np.broadcast_arrays(a - z[0], b - z[1])
                return numerics.requantize(np.where(x < 0, x * alpha, x), r, (x < 0).astype(np.int64))
            return (np.maximum if kind == "maximum" else np.minimum)(a, b)

        yield Case("pair", given, (a, b), expected)


def leaky_relu() -> Iterator[Case]:
    rng = np.random.default_rng(18)
    for given in combinations(rng, 2, size=COUNTS, storage=CONTAINERS, zero_point=(0, 7, 99)):
        x, requant = draw(rng, given["storage"], given["size"]), requants(rng, 2)
        acc = x.astype(np.int64) - given["zero_point"]
        yield Case("leaky_relu", given | {"requant": requant}, (x,), lambda a=acc, r=requant:
                   numerics.requantize(a, r, (a < 0).astype(np.int64)))  # fmt: skip


def lookup() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    for given in combinations(rng, 4, size=(*COUNTS, 191, 192, 193), width=tuple(range(1, 9)), storage=BYTES,
                              out=tuple(DTYPES), constant=(False, True)):  # fmt: skip
        constant, entries = given.pop("constant"), 1 << given["width"]
        x, table = draw(rng, given["storage"], given["size"]), draw(rng, given["out"], entries)
        least = -entries // 2 if given["storage"] == "i8" else 0
        yield Case("lookup", given | ({"table": table} if constant else {}), (x,) if constant else (x, table),
                   lambda x=x, t=table, least=least: t[(x.astype(np.int64) - least) % len(t)])  # fmt: skip
    yield from _lookups_in_blocks(rng)


def _lookups_in_blocks(rng: np.random.Generator) -> Iterator[Case]:
    """Whole blocks have one table, what is left has another."""
    for given in combinations(rng, 2, size=COUNTS, width=(1, 7, 8), storage=("u8",), out=("i8", "i16"),
                              block=(1, 2, 16)):  # fmt: skip
        entries = 1 << given["width"]
        x, table, tail = (draw(rng, *each) for each in (("u8", given["size"]), *[(given["out"], entries)] * 2))
        whole = given["size"] // given["block"] * given["block"]
        yield Case("lookup", given | {"table": table, "tail_table": tail}, (x,),
                   lambda x=x, t=table, s=tail, n=whole: np.concatenate(
                       [t[x[:n].astype(np.int64) % len(t)], s[x[n:].astype(np.int64) % len(s)]]))  # fmt: skip


# ---- lines, movement ----

SIDES = (0, 1, 2, 3, 5, 15, 16, 17, 33, 65)


def mean() -> Iterator[Case]:
    rng = np.random.default_rng(12)
    for drawn in combinations(
        rng,
        6,
        a=SIDES,
        b=SIDES,
        c=SIDES,
        rank=(0, 1, 2, 3),
        axes=((), (0,), (1,), (2,), (0, 2), (0, 1)),
        storage=CONTAINERS,
        step=(False, True),
    ):
        shape = (drawn["a"], drawn["b"], drawn["c"])[: drawn["rank"]]
        axes = tuple(axis for axis in drawn["axes"] if axis < len(shape))
        kept = [n for axis, n in enumerate(shape) if axis not in axes]
        step = [0] * len(kept)
        if kept and drawn["step"]:
            step[-1] = 1
        count, index = (max(kept[-1], 1), np.arange(kept[-1])) if any(step) else (1, 0)
        x, zps, requant = draw(rng, drawn["storage"], shape), rng.integers(0, 99, count), requants(rng, count)
        given = {
            "storage": drawn["storage"],
            "x_shape": shape,
            "axes": axes,
            "zero_points": zps,
            "requant": requant,
            "step": step,
        }
        total = prod(shape[axis] for axis in axes)
        yield Case("mean", given, (x,), lambda x=x, axes=axes, total=total, z=zps, r=requant, i=index:
                   numerics.requantize(x.astype(np.int64).sum(axis=axes) - total * z[i], r, i))  # fmt: skip


def copy() -> Iterator[Case]:
    """Parts side by side, each transposed or as it is, some of them constants."""
    rng = np.random.default_rng(14)
    for drawn in combinations(
        rng,
        6,
        parts=(0, 1, 2, 3, 17, 62, 63),
        rows=(0, 1, 2, 7, 16, 33),
        widest=(0, 1, 2, 15, 17),
        dtype=(np.int8, np.uint16, np.float32, np.float64),
        transposed=(False, True),
        constant=(False, True),
        before=(0, 1, 3),
    ):
        rows, parts, before = drawn["rows"], drawn["parts"], drawn["before"]
        widths = rng.integers(0, drawn["widest"] + 1, parts).tolist()
        sources = [rng.integers(0, 100, (width, rows) if drawn["transposed"] else (rows, width)).astype(drawn["dtype"])
                   for width in widths]  # fmt: skip
        views = [source.T if drawn["transposed"] else source for source in sources]
        stored = [np.concatenate([np.ones(before, source.dtype), source.ravel()]) for source in sources]
        constants = [source if drawn["constant"] and i % 2 else None for i, source in enumerate(stored)]
        given = {
            "dtype": drawn["dtype"], "shapes": [view.shape for view in views], "source_strides": [
                (1, rows) if drawn["transposed"] else (width, 1) for width in widths],
            "target_strides": [(sum(widths), 1)] * parts, "source_sizes": [source.size for source in stored],
            "source_offsets": [before] * parts,
            "target_size": rows * sum(widths), "target_offsets": [sum(widths[:i]) for i in range(parts)],
            "constants": constants,
        }  # fmt: skip
        yield Case(
            "copy",
            given,
            tuple(s for s, c in zip(stored, constants, strict=True) if c is None),
            lambda views=views, rows=rows, dtype=drawn["dtype"]: np.concatenate(
                [np.zeros((rows, 0), dtype), *views], 1
            ),
        )


def bits(entry: str) -> Iterator[Case]:
    rng = np.random.default_rng(15)
    for given in combinations(rng, 6, rows=(0, 1, 2, 3, 17), columns=COUNTS, width=(1, 2, 4), storage=BYTES):
        width, signed = given["width"], given["storage"] == "i8"
        least = -(1 << (width - 1)) if signed else 0
        values = rng.integers(least, least + (1 << width), (given["rows"], given["columns"])).astype(
            DTYPES[given["storage"]]
        )
        spread = (values.astype(np.uint8)[..., None] >> np.arange(width)) & 1
        packed = np.packbits(spread.reshape(given["rows"], given["columns"] * width), axis=1, bitorder="little")
        if entry == "pack_bits":
            yield Case(entry, given, (values,), lambda packed=packed: packed)
        else:
            yield Case(entry, given, (packed,), lambda values=values: values)
