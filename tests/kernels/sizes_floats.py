"""The sizes of contractions and loops in float32 and int32."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from qrt.ops import elementwise
from qrt.runtime.planner.loop_steps import CODES
from qrt.types import FloatType, IntegerType
from tests.kernels.draws import Array
from tests.kernels.size_cases import Case, combinations

# Around tiles of 3 and 6 rows, vectors of 8 and 16 columns, panels of 64, blocks of 256 lanes.
ROWS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 19)
COLUMNS = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 80, 127, 128, 129)
DEPTH = (0, 1, 2, 3, 8, 33)
LANES = (0, 1, 2, 15, 16, 17, 31, 32, 33, 255, 256, 257, 272, 511, 512, 513)

_F32, _I32 = FloatType("f32"), IntegerType(32)
HARD = np.float32([0, -0.0, 1e-45, -1e-40, 1e38, -3e38, np.inf, -np.inf, np.nan, 1, -1])


def floats(rng: np.random.Generator, *shape: int) -> Array:
    """Numbers, of which some are zeros, subnormal, large, infinite, or the NaN that operations make."""
    made = rng.normal(0, 1, shape).astype(np.float32)
    return np.where(rng.random(shape) < 0.02, rng.choice(HARD, shape), made).astype(np.float32)


def integers(rng: np.random.Generator, *shape: int) -> Array:
    """Whole numbers of int32, of which some are its ends: sums and products wrap."""
    made = rng.integers(-(2**31), 2**31, shape)
    return np.where(rng.random(shape) < 0.1, rng.choice([-(2**31), 2**31 - 1, 0, -1], shape), made).astype(np.int32)


def contraction() -> Iterator[Case]:
    rng = np.random.default_rng(21)
    for drawn in combinations(rng, 4, m=ROWS, n=COLUMNS, k=DEPTH, batch=(1, 2), constant=(False, True),
                              init=("constant", "operand", "columns"), fused=(False, True), by_columns=(False, True),
                              transposed=(False, True), offset=(0, 1)):  # fmt: skip
        yield product(rng, **drawn)
    for drawn in combinations(rng, 2, m=ROWS, n=COLUMNS, k=DEPTH, batch=(1, 2), constant=(False, True),
                              init=("constant", "operand", "columns"), fused=(False,), by_columns=(False, True),
                              transposed=(False, True), offset=(0, 1), is_whole=(True,)):  # fmt: skip
        yield product(rng, **drawn)
    yield product(rng, 200, 130, 70, 1, True, "columns", True, False, False, 0, threads=3)
    yield product(rng, 50, 130, 70, 2, False, "columns", True, False, False, 0, threads=3)
    yield product(rng, 300, 70, 9, 1, True, "constant", True, True, False, 0, threads=3)
    a, b, start = (floats(rng, 17) for _ in range(3))
    given: dict[str, Any] = {"loops": (0, 0, 0), "extents": (17,), "strides": ((1,),) * 4, "offsets": (0,) * 4,
                             "sizes": (17,) * 4, "fused": True}  # fmt: skip
    expected = summed(a.reshape(1, 1, 1, 17), b.reshape(1, 1, 17), start, True)
    yield Case("contraction", given, (a, b, start), lambda: expected)


def product(
    rng: np.random.Generator, m: int, n: int, k: int, batch: int, constant: bool, init: str, fused: bool,
    by_columns: bool, transposed: bool, offset: int, threads: int = 1, is_whole: bool = False,
) -> Case:  # fmt: skip
    """[batch, m, k] by [batch, k, n]; where `by_columns`, a has a value for each column too."""
    drawn = integers if is_whole else floats
    a = drawn(rng, batch, m, k, n if by_columns else 1)
    b = drawn(rng, batch, k, n)
    start = {"constant": drawn(rng, 1), "columns": drawn(rng, n), "operand": drawn(rng, batch, m, n)}[init]
    stored = np.ascontiguousarray(b.transpose(0, 2, 1)) if transposed else b
    width = n if by_columns else 1
    given: dict[str, Any] = {
        "loops": (1, 1, 1),
        "extents": (batch, m, k, n),
        "strides": (
            (m * k * width, k * width, width, int(by_columns)),
            (k * n, 0, 1, k) if transposed else (k * n, 0, n, 1),
            {"constant": (0, 0, 0, 0), "columns": (0, 0, 0, 1), "operand": (m * n, n, 0, 1)}[init],
            (m * n, n, 0, 1),
        ),
        "offsets": (offset, 0, 0, 0),
        "sizes": (a.size + offset, b.size, start.size, batch * m * n),
        "fused": fused,
        "b_constant": stored if constant else None,
        "init_constant": None if init == "operand" else start,
        "integers": is_whole,
    }
    operands = [np.concatenate([np.ones(offset, a.dtype), a.ravel()])]
    operands += [] if constant else [stored.ravel()]
    operands += [start.ravel()] if init == "operand" else []
    return Case("contraction", given, tuple(operands), lambda: summed(a, b, start, fused), threads)


def summed(a: Array, b: Array, start: Array, fused: bool) -> Array:
    """The chain over k of each element, step by step."""
    if a.dtype == np.int32:
        with np.errstate(over="ignore"):
            total = np.broadcast_to(start, (a.shape[0], a.shape[1], b.shape[2])).copy()
            for step in range(a.shape[2]):
                total += a[:, :, step] * b[:, None, step]
        return total.ravel()
    fma, mul, add = (elementwise.bind(name, [_F32] * 3, [_F32]) for name in ("math.fma", "arith.mulf", "arith.addf"))
    batch, m, k, _ = a.shape
    total = np.array(np.broadcast_to(start, (batch, m, b.shape[2])))
    with np.errstate(all="ignore"):
        for step in range(k):
            x, y = np.broadcast_arrays(a[:, :, step], b[:, None, step])
            total = fma(x, y, total) if fused else add(total, mul(x, y))
    return np.where(np.isnan(total), np.float32(np.nan), total).ravel()  # the positive one


def float_loops() -> Iterator[Case]:
    rng = np.random.default_rng(22)
    for drawn in combinations(rng, 3, lanes=LANES, rows=(0, 1, 2, 3), depth=(None, 0, 1, 3), stride=(0, 1, 2)):
        yield sum_of_scaled(rng, **drawn)
    yield sum_of_scaled(rng, 300, 50, 5, 1, threads=3)
    for lanes in LANES:
        yield in_place(rng, lanes)
        yield of_integers(rng, lanes, 1)
        yield of_integers(rng, lanes, 2)
        yield of_wide_numbers(rng, lanes, 1)
        yield of_wide_numbers(rng, lanes, 2)
        yield exponentials(rng, lanes)
    for code, a, b in MAKES_NAN:
        yield beside_nans(code, a, b)


MAKES_NAN = ((0, np.inf, -np.inf), (1, np.inf, np.inf), (2, 0, np.inf), (3, 0, 0), (5, -1, np.nan))
"""Codes of qrt/float_loops.h, and what they make a NaN of; the root reads one operand."""


def beside_nans(code: int, a: float, b: float) -> Case:
    """A NaN that is made of numbers, beside NaNs in registers that the step names and does not read."""
    values = (np.full(17, value, np.float32) for value in (a, b, np.nan))
    one = ((1,), 0, 17, False, None)
    given: dict[str, Any] = {
        "loops": (1, 0), "extents": (17,), "reads": tuple(("f32", i, *one) for i in range(3)),
        "writes": (("f32", 3, *one),), "steps": ((code, 3, 0, 1, 2),), "registers": 4,
        "values": np.zeros(0, np.uint32),
    }  # fmt: skip
    return Case("float_loops", given, tuple(values), lambda: np.full(17, np.nan, np.float32))


def sum_of_scaled(
    rng: np.random.Generator, lanes: int, rows: int, depth: int | None, stride: int, threads: int = 1
) -> Case:
    """Over `depth`, the sums of 3 * x: x is [rows, depth, lanes], whose lanes are `stride` apart."""
    turns = 1 if depth is None else depth
    reach = max((lanes - 1) * stride + 1, 1) if lanes else 0
    x = floats(rng, rows, turns, reach)
    start = floats(rng, rows, lanes)
    loops, more = ((2, 0), ()) if depth is None else ((2, 1), (reach,))
    given: dict[str, Any] = {
        "loops": loops,
        "extents": (rows, lanes, *([] if depth is None else [depth])),
        "reads": (
            ("f32", 0, (turns * reach, stride, *more), 0, x.size, False, None),
            ("f32", 1, (lanes, 1, *(0 for _ in more)), 0, start.size, True, None),
        ),
        "writes": (("f32", 1, (lanes, 1, *(0 for _ in more)), 0, start.size, False, None),),
        "steps": ((2, 2, 0, 3, 0), (0, 1, 1, 2, 1)),
        "registers": 4,
        "values": np.float32([3]).view(np.uint32),
    }

    def expected() -> Array:
        total = start
        at = np.arange(lanes) * stride
        mul, add = (elementwise.bind(f"arith.{name}", [_F32] * 2, [_F32]) for name in ("mulf", "addf"))
        with np.errstate(all="ignore"):
            for step in range(turns):
                total = add(total, mul(x[:, step, at], np.broadcast_to(np.float32(3), total.shape)))
        return total.ravel()

    return Case("float_loops", given, (x.ravel(), start.ravel()), expected, threads)


def in_place(rng: np.random.Generator, lanes: int) -> Case:
    """The larger of x and y, which may stand where x does, or y."""
    x, y = floats(rng, lanes), floats(rng, lanes)
    one = ((1,), 0, lanes, False, None)
    given: dict[str, Any] = {
        "loops": (1, 0), "extents": (lanes,), "reads": (("f32", 0, *one), ("f32", 1, *one)),
        "writes": (("f32", 2, *one),), "steps": ((12, 2, 0, 1, 0),), "registers": 3,
        "values": np.zeros(0, np.uint32), "in_place": 2 if lanes % 2 else int(lanes > 0),
    }  # fmt: skip
    maximum = elementwise.bind("arith.maximumf", [_F32] * 2, [_F32])
    return Case("float_loops", given, (x, y), lambda: maximum(x, y))


def of_wide_numbers(rng: np.random.Generator, lanes: int, stride: int) -> Case:
    """x * f, y * y + y, and the larger of x and y as a float, of a float64 x, an int64 y and a float f."""
    reach = (lanes - 1) * stride + 1 if lanes else 0
    x, y, f = rng.normal(0, 9, reach), rng.integers(-(2**63), 2**63, reach), rng.normal(0, 9, reach).astype(np.float32)
    one, packed = ((stride,), 0, reach, False, None), ((1,), 0, lanes, False, None)
    given: dict[str, Any] = {
        "loops": (1, 0), "extents": (lanes,), "reads": (("f64", 0, *one), ("i64", 1, *one), ("f32", 2, *one)),
        "writes": (("f64", 4, *packed), ("i64", 6, *packed), ("f32", 9, *packed)),
        "steps": [(CODES[name], *registers) for name, *registers in (
            ("f64 of f32", 3, 2, 2, 2), ("f64.mulf", 4, 0, 3, 0), ("i64.muli", 5, 1, 1, 1),
            ("i64.addi", 6, 5, 1, 5), ("f64 of i64", 7, 1, 1, 1), ("f64.maximumf", 8, 0, 7, 0),
            ("f32 of f64", 9, 8, 8, 8),
        )],
        "registers": 10, "values": np.zeros(0, np.uint32),
    }  # fmt: skip

    def expected() -> tuple[Array, ...]:
        a, b, c = (each[::stride] for each in (x, y, f))
        return a * c.astype(float), b * b + b, np.maximum(a, b.astype(float)).astype(np.float32)

    return Case("float_loops", given, (x, y, f), expected)


def of_integers(rng: np.random.Generator, lanes: int, stride: int) -> Case:
    """Three results of a byte x, an int32 y and a float f: the low half of x * y + y, the larger of x and y as a float,
    and what f saturates to."""
    reach = (lanes - 1) * stride + 1 if lanes else 0
    x, y = rng.integers(-128, 128, reach, np.int8), integers(rng, reach)
    with np.errstate(over="ignore"):
        f = floats(rng, reach) * np.float32(2e9)
    one, packed = ((stride,), 0, reach, False, None), ((1,), 0, lanes, False, None)
    given: dict[str, Any] = {
        "loops": (1, 0), "extents": (lanes,), "reads": (("i8", 0, *one), ("i32", 1, *one), ("f32", 2, *one)),
        "writes": (("i16", 5, *packed), ("f32", 7, *packed), ("i32", 8, *packed)),
        "steps": [(CODES[name], *registers) for name, *registers in (
            ("arith.muli", 3, 0, 1, 0), ("arith.addi", 4, 3, 1, 3), ("to_i16", 5, 4, 4, 4),
            ("arith.maxsi", 6, 0, 1, 0), ("to_f32", 7, 6, 6, 6), ("saturate_i32", 8, 2, 2, 2),
        )],
        "registers": 9, "values": np.zeros(0, np.uint32),
    }  # fmt: skip

    def expected() -> Array:
        at = np.arange(lanes) * stride
        a, b, real = x[at].astype(np.int32), y[at], f[at]
        saturate = elementwise.bind("arith.fptosi", [_F32], [_I32], saturating=True)
        with np.errstate(all="ignore"):
            results = (a * b + b).astype(np.int16), np.maximum(a, b).astype(np.float32), saturate(real)
        return np.concatenate([each.astype(np.float64) for each in results])

    return Case("float_loops", given, (x, y, f), expected)


def exponentials(rng: np.random.Generator, lanes: int) -> Case:
    """Of numbers near those whose exponentials are subnormal or infinite too."""
    with np.errstate(over="ignore"):
        x = floats(rng, lanes) * rng.choice(np.float32([1e-3, 1, 30, 90]), lanes)
    x[:: 1 + lanes // 7] += rng.choice(np.float32([-104, -87.4, 88.7]))
    one = ((1,), 0, lanes, False, None)
    given: dict[str, Any] = {
        "loops": (1, 0), "extents": (lanes,), "reads": (("f32", 0, *one),), "writes": (("f32", 1, *one),),
        "steps": ((CODES["math.exp"], 1, 0, 0, 0),), "registers": 2, "values": np.zeros(0, np.uint32),
    }  # fmt: skip

    def expected() -> Array:
        with np.errstate(over="ignore"):
            return elementwise.bind("math.exp", [_F32], [_F32])(x)

    return Case("float_loops", given, (x,), expected)
