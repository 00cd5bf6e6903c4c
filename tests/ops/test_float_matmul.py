"""float_matmul: every kernel against the reference, the reference against exact sums and another spelling of the order.

Hazards: the order of a sum, which its last bits show; a product rounded before it is added; lanes that K does not fill;
sums over pieces that are rounded twice; weights that are dequantized otherwise than dcast does; types on both sides of
the limit between the two rules; products of rows with scales along K that are not rounded, overflow or vanish."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.cli.bench import GemmCase
from qrt.errors import KernelError, QuantTypeError
from qrt.ops.core import parameters_of
from qrt.ops.float_matmul import sums_integers
from qrt.types import FloatType, TensorType, Type, UniformType, storage_range
from tests.cases import GEMMS
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import generators, storage_of

F32 = FloatType("f32")
I8 = UniformType("i8", "f32", 0.5, 3)
EVERY_UNIT = (1.0, 1e-43, 2.0**-126, 1e-20, 1e20, 3e38)
"""Subnormal in float32, and up to where products of the scale are infinite."""
EVERY_CONSTANT = ((), (1,), (2,), (1, 2))


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values of all magnitudes: sums lose bits, and some overflow."""
    return np.ldexp(rng.standard_normal(shape), rng.integers(-30, 30, shape)).astype(np.float32)


def weights(
    data: st.DataObject, rng: np.random.Generator, depth: int, columns: int, units: Sequence[float] = (1.0,)
) -> tuple[np.ndarray, Type]:
    """Floats, or storage per layer, per axis along either axis, or in blocks, with scales about one of the units."""
    kind = data.draw(st.sampled_from(["f32", "layer", "columns", "rows", "blocks"]))
    if kind == "f32":
        return floats(rng, (depth, columns)), F32
    width, sign = data.draw(st.integers(2, 10)), data.draw(st.sampled_from("iu"))
    least, greatest = storage_range(width, sign == "i")
    unit = data.draw(st.sampled_from(units))

    def parameters(count: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        return (rng.random(count) + 0.1) * unit, rng.integers(least, greatest, count, endpoint=True)

    if kind == "layer" or 0 in (depth, columns):
        scales, zero_points = parameters(())
        t = UniformType(f"{sign}{width}", "f32", float(scales), int(zero_points))
    elif kind == "blocks":
        block = data.draw(st.sampled_from([d for d in range(1, depth + 1) if depth % d == 0]))
        scales, zero_points = parameters((depth // block, columns))
        t = UniformType(f"{sign}{width}", "f32", scales, zero_points, block_sizes={0: block, 1: 1})
    else:
        count, axis = (columns, 1) if kind == "columns" else (depth, 0)
        scales, zero_points = parameters((count,))
        t = UniformType(f"{sign}{width}", "f32", scales.tolist(), zero_points.tolist(), axis=axis)
    return storage_of(t, (depth, columns), rng), t


@pytest.mark.parametrize("case", [c for c in GEMMS if c.batch == 1], ids=lambda c: c.name)
@pytest.mark.parametrize("element", [F32, I8, UniformType("u4", "f32", 0.1, 9)], ids=["floats", "bytes", "nibbles"])
def test_table_of_shapes(case: GemmCase, element: Type) -> None:
    rng = np.random.default_rng(1)
    a, bias = floats(rng, case.a_shape), floats(rng, (case.n,))
    w = floats(rng, case.w_shape) if element is F32 else storage_of(element, case.w_shape, rng)
    types = [tensor(case.a_shape, F32), tensor(case.w_shape, element), tensor((case.n,), F32)]
    check_kernels("float_matmul", [a, w, bias], types, constants=EVERY_CONSTANT)


@given(st.data(), generators(), st.integers(0, 20), st.integers(0, 80), st.integers(0, 10))
def test_drawn(data: st.DataObject, rng: np.random.Generator, rows: int, depth: int, columns: int) -> None:
    a = floats(rng, (rows, depth))
    w, t = weights(data, rng, depth, columns, EVERY_UNIT)
    check_kernels("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)], constants=((), (1,)))


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("block", [1, 2, 5, 64])
@pytest.mark.parametrize("zero_points", [0, 3, None])
def test_weights_whose_packed_form_is_not_kept(width: int, block: int, zero_points: int | None) -> None:
    """Short pieces are packed by each call; zero points of None differ."""
    rng, depth, columns = np.random.default_rng(2), 320, 70
    shape = (depth // block, columns)
    scales = rng.random(shape) + 0.1
    points = rng.integers(-8, 8, shape) if zero_points is None else np.full(shape, zero_points)
    t = UniformType(f"i{width}", "f32", scales.tolist(), points.tolist(), block_sizes={0: block, 1: 1})
    a, w = floats(rng, (6, depth)), storage_of(t, (depth, columns), rng)
    a[3, [0, 7, 319]] = np.nan, np.inf, -np.inf
    bias = floats(rng, (columns,))
    types = [tensor(a.shape, F32), tensor(w.shape, t), tensor(bias.shape, F32)]
    check_kernels("float_matmul", [a, w, bias], types, constants=EVERY_CONSTANT)


@pytest.mark.parametrize("storage", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize(
    ("rows", "depth", "columns"), [(1, 320, 70), (4, 129, 33), (9, 300, 16), (70, 1, 1), (2, 7, 0)]
)
def test_scales_along_k(storage: str, rows: int, depth: int, columns: int) -> None:
    """Zero points that are 0, alike and different; values that are not finite, or whose products are not, are subnormal
    or vanish, some of them beside weights of 0."""
    rng = np.random.default_rng(9)
    values = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -0.0, 0.0, 1e-38, 1e30]
    factors = np.float32([0.1, 1.0, 3e38, 1e-45, 1e-38, 1e10])
    for kind in ("none", "alike", "different"):
        least, greatest = storage_range(int(storage[1:]), storage[0] == "i")
        points = rng.integers(least, greatest, depth, endpoint=True)
        points = {"none": np.zeros(depth, int), "alike": np.full(depth, points[0]), "different": points}[kind]
        scales = np.where(rng.random(depth) < 0.1, rng.choice(factors, depth), rng.random(depth) + 0.1)
        t = UniformType(storage, "f32", scales.tolist(), points.tolist(), axis=0)
        a, w = floats(rng, (rows, depth)), storage_of(t, (depth, columns), rng)
        w[rng.random(w.shape) < 0.3] = 0
        w = np.where(rng.random(w.shape) < 0.3, points[:, None], w).astype(w.dtype)
        hostile = rng.random(a.shape) < 0.01
        hostile[1::2] = False
        a[hostile] = rng.choice(values, int(hostile.sum()))
        bias = floats(rng, (columns,))
        types = [tensor(a.shape, F32), tensor(w.shape, t), tensor(bias.shape, F32)]
        check_kernels("float_matmul", [a, w, bias], types, constants=EVERY_CONSTANT)


@pytest.mark.parametrize("scale", [1e20, 3e38])
@pytest.mark.parametrize("value", [1e30, -1e30])
def test_products_with_scales_along_k_that_overflow(value: float, scale: float) -> None:
    """They are infinite as those of dequantized weights are, and 0 where the weight is."""
    t = UniformType("i8", "f32", [0.5, scale, 2.0], [3, 1, -4], axis=0)
    a, w = np.float32([[1, value, 2]]), np.int8([[5, 4, 9], [2, 1, -7], [-4, 0, 1]])
    got = check_kernels("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)], constants=((), (1,)))
    sign = np.sign(value)
    np.testing.assert_array_equal(got, [[sign * np.inf, 0.5 * 1 + 2 * 2 * 4, -sign * np.inf]])


def test_products_with_scales_along_k_that_are_subnormal() -> None:
    """Each is rounded to a multiple of 2^-149 before it is summed."""
    t = UniformType("i8", "f32", [2.0**-149, 2.0**-100, 2.0**-126], axis=0)
    a, w = np.float32([[1.5, 2.0**-50, 0.75]]), np.full((3, 1), 1, np.int8)
    got = check_kernels("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)], constants=((), (1,)))
    assert model(a[0], w, t, 3) == [Fraction(float(got[0, 0]))]


@given(generators(), st.integers(1, 100))
def test_order_of_the_sum(rng: np.random.Generator, depth: int) -> None:
    """Against lanes spelled out one by one, in float64, where products of float32 are exact."""
    a, w = floats(rng, (1, depth)), floats(rng, (depth, 1))
    lanes = [0.0] * 16
    for k in range(-(-depth // 16) * 16):
        x, y = (float(v.ravel()[k]) if k < depth else 0.0 for v in (a, w))
        lanes[k % 16] = fused(x, y, lanes[k % 16])
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [float(np.float32(lanes[i]) + np.float32(lanes[i + half])) for i in range(half)]
    got, _ = reference("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, F32)])
    np.testing.assert_array_equal(got[0, 0], np.float32(lanes[0]))


def fused(x: float, y: float, z: float) -> float:
    """x * y + z rounded once to float32, by integers: all three have exponents within 2**200."""
    unit = 2.0**-200
    total = int(x / unit) * int(y / unit) + (int(z / unit) << 200)
    if total == 0:
        return x * y + z
    size = abs(total)
    spare = max(size.bit_length() - 24, 0)
    kept, rest, half = size >> spare, size & ((1 << spare) - 1), 1 << spare >> 1
    kept += spare > 0 and (rest > half or (rest == half and kept & 1))
    return float(np.copysign(float(kept << spare >> 0) * unit * unit, total))


def rounded(value: Fraction) -> Fraction:
    """To float32, half to even, by integers."""
    if value == 0:
        return value
    exponent = abs(value).numerator.bit_length() - abs(value).denominator.bit_length()
    exponent -= Fraction(2) ** exponent > abs(value)
    quantum = Fraction(2) ** (max(exponent, -126) - 23)
    return round(value / quantum) * quantum


def model(a: np.ndarray, w: np.ndarray, t: UniformType, block: int) -> list[Fraction]:
    """One row by quantized weights, by exact fractions and the definition's roundings alone."""
    scales, zero_point = (np.broadcast_to(x, w.shape) for x in parameters_of(t, w.shape))
    row, scale = [Fraction(float(x)) for x in a], np.vectorize(lambda s: Fraction(float(np.float32(s))))(scales)
    if t.axis == 0:
        row, scale = [rounded(x * s) for x, s in zip(row, scale[:, 0], strict=True)], np.full(w.shape, Fraction(1))
    result = []
    for j in range(w.shape[1]):
        total = Fraction(0)
        for start in range(0, len(w), block):
            for k in range(start, min(start + block, len(w)), 128):
                piece = range(k, min(k + 128, start + block, len(w)))
                unit = least_unit(max(abs(row[i]) for i in piece))
                exact = sum(round(row[i] / unit) * (int(w[i, j]) - int(zero_point[i, j])) for i in piece)
                total = rounded(rounded(rounded(Fraction(exact)) * scale[k, j]) * unit + total)
        result.append(total)
    return result


def least_unit(largest: Fraction) -> Fraction:
    """The least power of two with which three balanced bytes hold the largest value."""
    unit = Fraction(1, 2**126)
    while round(largest / unit) > 127 * 65536 + 127 * 256 + 127:
        unit *= 2
    return unit


@given(st.data(), generators(), st.sampled_from([1, 5, 32, 130, 300]))
def test_sums_of_integers(data: st.DataObject, rng: np.random.Generator, depth: int) -> None:
    a = floats(rng, (1, depth))
    w, t = weights(data, rng, depth, 2)
    if not isinstance(t, UniformType) or not sums_integers(t):
        return
    block = dict(t.block_sizes)[0] if t.is_sub_channel else depth
    got, _ = reference("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)])
    assert [Fraction(float(x)) for x in got[0]] == model(a[0], w, t, block)


def test_largest_values_of_a_piece() -> None:
    """Around the fraction from which the unit doubles, of normal and subnormal numbers."""
    tops = [0x800000, 0x800001, 0xFEFEFD, 0xFEFEFE, 0xFEFEFF, 0xFEFF00, 0xFFFFFF, 0x7EFEFF, 0x7EFEFE, 1]
    t = UniformType("i8", "f32", 0.5, -128)
    w = np.array([[127], [-128], [3]], np.int8)
    for exponent in (-149, -127, -126, -104, -23, 0, 60):
        for top in tops:
            a = np.array([[top, top // 3, -1]], np.float64) * 2.0**exponent
            row = a.astype(np.float32)
            got, _ = reference("float_matmul", [row, w], [tensor((1, 3), F32), tensor((3, 1), t)])
            assert Fraction(float(got[0, 0])) == model(row[0], w, t, 3)[0]


@pytest.mark.parametrize(
    ("element", "by_integers"),
    [
        (UniformType("i8", "f32", 0.5, -128), True),
        (UniformType("u8", "f32", [0.5, 0.3], [255, 0], axis=1), True),
        (UniformType("u1", "f32", [0.5, 0.3], [0, 1], axis=1), True),
        (UniformType("i9", "f32", 0.3), False),
        (UniformType("u16", "f32", [0.5, 0.3], [0, 65535], axis=1), False),
    ],
)
def test_which_weights_are_summed_as_integers(element: UniformType, by_integers: bool) -> None:
    """The others are floats, as dcast makes them; of both every kernel gives the reference's bits."""
    assert sums_integers(element) == by_integers
    rng = np.random.default_rng(5)
    a, w = floats(rng, (3, 150)), storage_of(element, (150, 2), rng)
    types = [tensor(a.shape, F32), tensor(w.shape, element)]
    got = check_kernels("float_matmul", [a, w], types, constants=((), (1,)))
    dequantized = qrt.dcast(qrt.QuantTensor(w, element))
    expected, _ = reference("float_matmul", [a, dequantized], [types[0], tensor(w.shape, F32)])
    assert np.array_equal(got, expected) != by_integers


@pytest.mark.parametrize("block", [32, 128, None])
@pytest.mark.parametrize("width", [4, 8])
def test_no_worse_than_floats(width: int, block: int | None) -> None:
    """The error against float64, beside that of dequantized weights."""
    rng = np.random.default_rng(6)
    a, w = rng.standard_normal((8, 2048), np.float32), rng.integers(-(1 << (width - 1)), 1 << (width - 1), (2048, 16))
    scales = rng.uniform(0.005, 0.015, (2048 // (block or 2048), 16))
    t = UniformType(f"i{width}", "f32", scales, block_sizes={0: block or 2048, 1: 1})
    q = qrt.QuantTensor(w.astype(np.int8), t)
    real = a.astype(np.float64) @ (w * np.repeat(np.float32(scales), block or 2048, axis=0).astype(np.float64))
    errors = [np.linalg.norm(qrt.float_matmul(a, x) - real) / np.linalg.norm(real) for x in (q, qrt.dcast(q))]
    assert errors[0] < 1.5 * errors[1]
    assert errors[0] < 3e-7


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize(("spread", "times"), [(0.5, 1.5), (3.0, 2.0)])
def test_scales_along_k_are_about_as_exact_as_floats(width: int, spread: float, times: float) -> None:
    """The error against float64, of scales that are alike and that differ by factors of up to 400: small products have
    the unit of the largest ones."""
    rng = np.random.default_rng(6)
    a, w = rng.standard_normal((8, 2048), np.float32), rng.integers(-(1 << (width - 1)), 1 << (width - 1), (2048, 16))
    scales = np.float32(0.01 * np.exp(rng.uniform(-spread, spread, 2048)))
    q = qrt.QuantTensor(w.astype(np.int8), UniformType(f"i{width}", "f32", scales, axis=0))
    real = a.astype(np.float64) @ (w * scales[:, None].astype(np.float64))
    errors = [np.linalg.norm(qrt.float_matmul(a, x) - real) / np.linalg.norm(real) for x in (q, qrt.dcast(q))]
    assert errors[0] < times * errors[1]
    assert errors[0] < times * 2e-7


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite(value: float) -> None:
    """Gives what dequantized weights give, in its row alone; times a weight of 0 a NaN."""
    rng = np.random.default_rng(7)
    a, w = rng.standard_normal((3, 40)).astype(np.float32), storage_of(I8, (40, 6), rng)
    a[1, 33], w[33, 2] = value, I8.zero_point
    types = [tensor(a.shape, F32), tensor(w.shape, I8)]
    got = check_kernels("float_matmul", [a, w], types, constants=((), (1,)))
    dequantized = qrt.dcast(qrt.QuantTensor(w, I8))
    expected, _ = reference("float_matmul", [a, dequantized], [types[0], tensor(w.shape, F32)])
    np.testing.assert_array_equal(got[1], expected[1])
    assert np.isnan(got[1, 2])
    assert np.isfinite(got[[0, 2]]).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, -0.0, 1e-45, 3e38])
def test_special_values(value: float) -> None:
    """Infinities meet zeros, sums overflow in one lane, products underflow."""
    rng = np.random.default_rng(2)
    a, w = floats(rng, (7, 35)), floats(rng, (35, 6))
    a[::2, 3], w[20, ::2] = value, value
    check_kernels("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, F32)], constants=((), (1,)))
    q = storage_of(I8, (35, 6), rng)
    check_kernels("float_matmul", [a, q], [tensor(a.shape, F32), tensor(q.shape, I8)], constants=((), (1,)))


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(3)
    a, w = floats(rng, (70, 700)), floats(rng, (700, 130))
    types = (tensor(a.shape, F32), tensor(w.shape, F32))
    family, before = qrt.ops.FAMILIES["float_matmul"], qrt.kernels.get_num_threads()
    call, _ = family.call(types, infer("float_matmul", types), {}, {1: w})
    results = []
    try:
        for threads in (1, 2, 5):
            qrt.kernels.set_num_threads(threads)
            results.append(np.empty((70, 130), np.float32))
            call(a, results[-1])
    finally:
        qrt.kernels.set_num_threads(before)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([tensor((2, 3), FloatType("f64")), tensor((3, 4), F32)], "'a' must have elements of f32, got f64"),
        ([tensor((2, 3), F32), tensor((3,), F32)], "'w' must have rank 2, got rank 1"),
        (
            [tensor((2, 3), F32), tensor((4, 3), F32)],
            "the contracted dimensions of 'a' and 'w' must have the same size, got 3 and 4",
        ),
        (
            [tensor((2, 3), F32), tensor((3, 4), FloatType("f16"))],
            "'w' must have elements of f32, or of a quantized type with the expressed type f32, got f16",
        ),
        (
            [tensor((2, 3), F32), tensor((3, 4), UniformType("i8", "f16", 1.0))],
            "'w' must have elements of f32, or of a quantized type with the expressed type f32, got",
        ),
        (
            [tensor((2, 3), F32), tensor((3, 4), F32), tensor((3,), F32)],
            r"'bias' must have the shape \[4\], got \[3\]",
        ),
        ([tensor((2, 3), F32), tensor((3, 4), F32), tensor((4,), I8)], "'bias' must have elements of f32, got"),
    ],
)
def test_refused(types: list[TensorType], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        infer("float_matmul", types)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k_block": 0}, "k_block"),
        ({"w": "i16"}, "weights must have storage i8 or u8, got i16"),
        ({"zero_points": [256]}, "zero_points must be from -255 to 255, got values from 256 to 256"),
        ({"scales": [np.inf]}, "scales must be finite"),
        ({"scales": []}, "scales has 0 values, expected 1"),
        ({"k_scales": [1.0] * 39}, "k_scales has 39 values, expected 40"),
        ({"k_scales": [np.inf] * 40}, "k_scales must be finite"),
        (
            {"k_scales": [1.0] * 40, "scales": [2.0]},
            "if k_scales are given, the weights must have one block along K, and all scales must be 1",
        ),
        (
            {"k_scales": [1.0] * 40, "k_block": 20, "scales": [1.0] * 2, "zero_points": [0] * 2},
            "if k_scales are given, the weights must have one block along K, and all scales must be 1",
        ),
        (
            {"k_zero_points": [1] * 40},
            "if k_zero_points are given, k_scales must be given too, and all zero_points must be 0",
        ),
        (
            {"k_scales": [1.0] * 40, "k_zero_points": [1] * 40, "zero_points": [1]},
            "if k_zero_points are given, k_scales must be given too, and all zero_points must be 0",
        ),
        (
            {"k_scales": [1.0] * 40, "k_zero_points": [-256] * 40},
            "k_zero_points must be from -255 to 255, got values from -256 to -256",
        ),
    ],
)
def test_binding_refuses(changed: dict[str, Any], message: str) -> None:
    from qrt._ext.kernels import bind_mixed_matmul

    given = {"isa": "ref", "m": 1, "n": 1, "k": 40, "nibbles": False, "w": "i8", "scales": [1.0], "zero_points": [0]}
    with pytest.raises(KernelError, match=message):
        bind_mixed_matmul(**(given | changed))
