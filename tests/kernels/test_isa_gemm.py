"""Hazards of the SIMD GEMM, every ISA against exact integers and against ref: sums at the ends of 32 bits, operands
that a 16-bit intermediate would saturate, every shift, tails of rows, columns and K, both orders of b, reads past the
end."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from qrt import numerics
from qrt._ext.kernels import bind_gemm, get_num_threads, set_num_threads
from tests.kernels.draws import SIMD_ISAS

BOUNDS = {"i8": (-128, 127), "u8": (0, 255), "i16": (-(2**15), 2**15 - 1), "i32": (-(2**31), 2**31 - 1)}
DTYPES: dict[str, Any] = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32}
EMPTY = np.empty(0, np.int32)

Array = npt.NDArray[Any]


def parameters(rule: str, storage: str, count: int = 1, **arrays: npt.ArrayLike) -> numerics.RequantParameters:
    dtypes = {"multiplier": np.int32, "shift": np.int32, "scale_f32": np.float32, "scale_f64": np.float64}
    given = {name: np.broadcast_to(np.asarray(arrays[name], dtype), (count,)) if name in arrays else EMPTY
             for name, dtype in dtypes.items()}  # fmt: skip
    zero_point = np.broadcast_to(np.asarray(arrays.get("zero_point", 0), np.int64), (count,))
    low, high = BOUNDS[storage]
    return numerics.RequantParameters(rule=rule, storage=storage, storage_min=low, storage_max=high,
                                      zero_point=zero_point, **given)  # fmt: skip


RAW = parameters("fixed", "i32", multiplier=1 << 30, shift=30)


def gemm(isa: str, a: Array, b: Array, za: npt.ArrayLike, zb: npt.ArrayLike, requant: numerics.RequantParameters,
         transposed: bool = False, **more: Any) -> Array:  # fmt: skip
    """a (m, k) by b (k, n), per row and per column zero points where given as arrays."""
    names = {np.dtype(np.int8): "i8", np.dtype(np.uint8): "u8"}
    (m, k), n = a.shape, b.shape[1]
    given = np.ascontiguousarray(b.T) if transposed else b
    za, zb = np.atleast_1d(za), np.atleast_1d(zb)
    call = bind_gemm(
        isa=isa, a=names[a.dtype], b=names[b.dtype], m=m, n=n, k=k, a_zero_points=za, b_zero_points=zb,
        a_zero_point_steps=(0, int(za.size > 1)), b_zero_point_steps=(0, 0, int(zb.size > 1)), requant=requant,
        b_transposed=transposed, **more,
    )  # fmt: skip
    out = np.zeros((m, n), DTYPES[requant.storage])
    call(a, given, out)
    return out


def exact(a: Array, b: Array, za: npt.ArrayLike, zb: npt.ArrayLike) -> Array:
    rows = a.astype(np.int64) - np.atleast_1d(za)[:, None]
    return rows @ (b.astype(np.int64) - np.atleast_1d(zb))


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("a_dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("b_dtype", [np.int8, np.uint8])
def test_tails_of_rows_columns_and_k(isa: str, a_dtype: Any, b_dtype: Any) -> None:
    """Every length 1..130 of each dimension, with zero points per row and per column, b in both orders; every count of
    rows of a tile by one and by two vectors of columns, and by two panels, few rows over every tail of K."""
    rng = np.random.default_rng(1)
    for length in range(1, 131):
        for m, n, k in [
            (length, 3, 5),
            (length, 40, 6),
            (length, 65, 3),
            (2, length, 9),
            (3, 7, length),
            (1, 33, length),
        ]:
            a = rng.integers(0, 256, (m, k)).astype(a_dtype)
            b = rng.integers(0, 256, (k, n)).astype(b_dtype)
            za = rng.choice(a.ravel(), m).astype(np.int64)
            zb = rng.choice(b.ravel(), n).astype(np.int64)
            for transposed in (False, True):
                np.testing.assert_array_equal(gemm(isa, a, b, za, zb, RAW, transposed), exact(a, b, za, zb))


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("a_dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("k", [4, 63, 64, 65, 128, 512, 515, 1024])
def test_no_zero_point_left_to_correct(isa: str, a_dtype: Any, k: int) -> None:
    """One zero point for a, none for b: rows may be read where they are, whatever their stride, or need no sums."""
    rng = np.random.default_rng(5)
    for m, n in [(1, 1), (1, 40), (15, 33), (29, 17)]:
        a = rng.integers(0, 256, (m, k)).astype(a_dtype)
        b = rng.integers(-128, 128, (k, n)).astype(np.int8)
        za = int(a[0, 0])
        np.testing.assert_array_equal(gemm(isa, a, b, za, 0, RAW), exact(a, b, za, 0))


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize(
    ("a", "za"), [(np.uint8(255), 0), (np.uint8(0), 255), (np.int8(-128), 127), (np.int8(127), -128)]
)
@pytest.mark.parametrize(
    ("b", "zb"), [(np.uint8(255), 0), (np.uint8(0), 255), (np.int8(-128), 127), (np.int8(127), -128)]
)
def test_largest_products_do_not_saturate(isa: str, a: Any, za: int, b: Any, zb: int) -> None:
    """255 * 255 everywhere: a pair leaves 16 bits, and 33025 of them leave 31 (the last case sums slices of K)."""
    for k in (2, 4, 67, 33025, 33026, 40000):
        left, right = np.full((3, k), a), np.full((k, 5), b)
        expected = exact(left, right, za, zb)
        saturated = np.clip(expected, *BOUNDS["i32"])
        np.testing.assert_array_equal(gemm(isa, left, right, za, zb, RAW), saturated)


def extreme_operands(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array]:
    """Operands of K = 1 and a bias whose sums reach both ends of 32 bits, and everything between."""
    a = np.array([[-128], [127], [1], [0], [-1]], np.int8)
    b = rng.integers(-128, 128, (1, n)).astype(np.int8)
    b[0, :4] = [-128, 127, -128, 127]
    limit = 2**31 - 1 - 128 * 128
    bias = (rng.integers(-limit, limit, n) >> rng.integers(0, 31, n)).astype(np.int32)
    bias[:4] = [limit, -limit, -limit, limit]
    return a, b, bias


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("per", ["tensor", "column", "row"])
def test_stores_of_extreme_accumulators(isa: str, storage: str, rule: str, per: str) -> None:
    """Every shift of the fixed rule, scales that overflow 32 bits, zero points far outside the storage."""
    rng = np.random.default_rng(2)
    n = 77
    a, b, bias = extreme_operands(rng, n)
    acc = exact(a, b, 0, 0) + bias
    assert acc.max() == 2**31 - 1
    count, steps = {"tensor": (1, (0, 0, 0)), "column": (n, (0, 0, 1)), "row": (5, (0, 1, 0))}[per]
    index = np.arange(5)[:, None] * steps[1] + np.arange(n) * steps[2]
    zero_points = [
        0,
        -128,
        255,
        8192,
        -8192,
        8193,
        -8193,
        1 << 23,
        -(1 << 23) - 1,
        2**26 + 77,
        -(2**29) - 77,
        2**31 - 129,
        -(2**31) + 256,
        1 << 40,
    ]
    shifts = [-40, -1, 0, 1, 2, 29, 30, 31, 32, 33, 61, 62, 63, 70]
    for trial in range(56):
        multiplier = rng.integers(1 << 30, 1 << 31, count)
        multiplier[::5] = rng.choice([1 << 30, (1 << 31) - 1], multiplier[::5].size)
        shift = rng.integers(-4, 70, count) if trial % 4 == 3 else np.full(count, shifts[trial % len(shifts)])
        scale = np.ldexp(rng.uniform(1, 2, count), rng.integers(-40, 10, count)).astype(np.float32)
        zero_point = rng.integers(-128, 256, count) if trial % 2 else rng.choice(zero_points, count)
        requant = parameters(rule, storage, count, multiplier=multiplier, shift=shift, scale_f32=scale,
                             zero_point=zero_point)  # fmt: skip
        if trial % 3 == 1:
            requant = replace(requant, storage_min=requant.storage_min + 7, storage_max=requant.storage_max - 20)
        more: dict[str, Any] = {"bias": bias, "requant_steps": steps}
        got = gemm(isa, a, b, 0, 0, requant, **more)
        np.testing.assert_array_equal(got, gemm("ref", a, b, 0, 0, requant, **more))
        np.testing.assert_array_equal(got, numerics.requantize(acc, requant, index))


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 15, 16, 17, 31, 33, 63])
def test_stores_leave_the_next_columns_alone(isa: str, rule: str, columns: int) -> None:
    """Ties of the rounding (half up for fixed, half even for float32) in every lane, rows written back to back."""
    rng = np.random.default_rng(3)
    a = rng.integers(-128, 128, (19, 1)).astype(np.int8)
    b = rng.integers(-128, 128, (1, columns)).astype(np.int8)
    requant = parameters(rule, "i8", multiplier=1 << 30, shift=31 + 6, scale_f32=2.0**-7, zero_point=-3)
    expected = numerics.requantize(exact(a, b, 0, 0), requant)
    np.testing.assert_array_equal(gemm(isa, a, b, 0, 0, requant), expected)


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("storage", ["i8", "u8"])
@pytest.mark.parametrize("columns", [31, 32, 64, 65, 97, 130])
def test_whole_tiles_end_as_others(isa: str, rule: str, storage: str, columns: int) -> None:
    """Tiles that end in registers, of one panel and of two, beside those that end through memory: every column has
    parameters of its own, and the bounds are the container's, which packing saturates to, or tighter."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, (29, 21)).astype(np.uint8)
    b = rng.integers(-128, 128, (21, columns)).astype(np.int8)
    bias = rng.integers(-5000, 5000, columns).astype(np.int32)
    multiplier, zero_point = rng.integers(1 << 30, 1 << 31, columns), rng.integers(-20, 90, columns)
    zero_point[::5] = rng.choice([-8192, -300, 400, 8192], zero_point[::5].size)
    scale = rng.uniform(0.002, 0.005, columns)
    whole = parameters(rule, storage, columns, multiplier=multiplier, shift=40, scale_f32=scale, zero_point=zero_point)
    tight = replace(whole, storage_min=whole.storage_min + 7, storage_max=whole.storage_max - 20)
    for requant in (whole, tight):
        got = gemm(isa, a, b, 3, 0, requant, bias=bias, requant_steps=(0, 0, 1))
        acc = exact(a, b, 3, 0) + bias
        index = np.broadcast_to(np.arange(columns), acc.shape)
        np.testing.assert_array_equal(got, numerics.requantize(acc, requant, index))


@pytest.mark.parametrize("isa", SIMD_ISAS)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("storage", ["i8", "u8", "i16", "i32"])
@pytest.mark.parametrize("per", ["tensor", "column", "row"])
@pytest.mark.parametrize("n", [1, 33])
def test_one_column_over(isa: str, rule: str, storage: str, per: str, n: int) -> None:
    """A panel of one column may be summed along K, four rows at a time, and many rows requantized as one: every tail of
    rows and of 64 values of K, parameters of each row, what lies between the results."""
    rng = np.random.default_rng(6)
    for m, k in [(1, 1), (2, 3), (3, 64), (4, 65), (15, 63), (29, 129), (127, 7), (131, 197)]:
        a = rng.integers(0, 256, (m, k)).astype(np.uint8)
        b = rng.integers(-128, 128, (k, n)).astype(np.int8)
        count, steps = {"tensor": (1, (0, 0, 0)), "column": (n, (0, 0, 1)), "row": (m, (0, 1, 0))}[per]
        requant = parameters(
            rule,
            storage,
            count,
            multiplier=rng.integers(1 << 30, 1 << 31, count),
            shift=40,
            scale_f32=rng.uniform(0.001, 0.01, count),
            zero_point=rng.integers(-20, 90, count),
        )
        index = np.arange(m)[:, None] * steps[1] + np.arange(n) * steps[2]
        bias = rng.integers(-5000, 5000, n).astype(np.int32)
        for za, zb in [(7, 0), (rng.integers(0, 256, m), rng.integers(-128, 128, n))]:
            got = gemm(isa, a, b, za, zb, requant, bias=bias, requant_steps=steps)
            np.testing.assert_array_equal(got, numerics.requantize(exact(a, b, za, zb) + bias, requant, index))


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_threads_and_blocks_agree(isa: str) -> None:
    """More rows than a block holds, more K than a slice, with one thread and with two; rows read past their ends, but
    for the last block's last."""
    rng = np.random.default_rng(4)
    a = rng.integers(0, 256, (301, 1500)).astype(np.uint8)
    b = rng.integers(-128, 128, (1500, 131)).astype(np.int8)
    odd = np.ascontiguousarray(a[:, :1497])
    before = get_num_threads()
    try:
        for threads in (1, 2):
            set_num_threads(threads)
            np.testing.assert_array_equal(gemm(isa, a, b, 200, -7, RAW), exact(a, b, 200, -7))
            np.testing.assert_array_equal(gemm(isa, odd, b[:1497], 200, 0, RAW), exact(odd, b[:1497], 200, 0))
    finally:
        set_num_threads(before)
