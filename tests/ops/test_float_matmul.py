"""float_matmul: every kernel against the reference, the reference against exact sums and another spelling of the order.

Hazards: the order of a sum, which its last bits show; a product rounded before it is added; lanes that K does not fill;
weights dequantized otherwise than dcast does."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.cases import GEMMS, GemmCase
from qrt.errors import KernelError, QuantTypeError
from qrt.types import FloatType, TensorType, Type, UniformType
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import generators, storage_of

F32 = FloatType("f32")
I8 = UniformType("i8", "f32", 0.5, 3)
EVERY_CONSTANT = ((), (1,), (2,), (1, 2))


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values of all magnitudes: sums lose bits, and some overflow."""
    return np.ldexp(rng.standard_normal(shape), rng.integers(-30, 30, shape)).astype(np.float32)


def weights(data: st.DataObject, rng: np.random.Generator, depth: int, columns: int) -> tuple[np.ndarray, Type]:
    """Floats, or storage per layer, per axis along either axis, or in blocks."""
    kind = data.draw(st.sampled_from(["f32", "layer", "columns", "rows", "blocks"]))
    if kind == "f32":
        return floats(rng, (depth, columns)), F32
    width, sign = data.draw(st.integers(2, 10)), data.draw(st.sampled_from("iu"))
    scale = np.float32(0.01)
    if kind == "layer" or 0 in (depth, columns):
        t = UniformType(f"{sign}{width}", "f32", 0.01, 1)
    elif kind == "blocks":
        block = data.draw(st.sampled_from([d for d in range(1, depth + 1) if depth % d == 0]))
        counts = (depth // block, columns)
        scales, zero_points = rng.random(counts) + scale, rng.integers(0, 2, counts)
        t = UniformType(f"{sign}{width}", "f32", scales, zero_points, block_sizes={0: block, 1: 1})
    else:
        count, axis = (columns, 1) if kind == "columns" else (depth, 0)
        scales = [float(s) for s in rng.random(count) + scale]
        t = UniformType(f"{sign}{width}", "f32", scales, [int(z) for z in rng.integers(0, 2, count)], axis=axis)
    return storage_of(t, (depth, columns), rng), t


@pytest.mark.parametrize("case", [c for c in GEMMS if not c.timed and c.batch == 1], ids=lambda c: c.name)
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
    w, t = weights(data, rng, depth, columns)
    check_kernels("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)], constants=((), (1,)))


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


@given(st.data(), generators())
def test_weights_are_what_dcast_makes_of_them(data: st.DataObject, rng: np.random.Generator) -> None:
    w, t = weights(data, rng, 33, 6)
    if not isinstance(t, UniformType):
        return
    a = floats(rng, (3, 33))
    got, _ = reference("float_matmul", [a, w], [tensor(a.shape, F32), tensor(w.shape, t)])
    dequantized = qrt.dcast(qrt.QuantTensor(w, t))
    expected, _ = reference("float_matmul", [a, dequantized], [tensor(a.shape, F32), tensor(w.shape, F32)])
    np.testing.assert_array_equal(got, expected)


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
    family, before = qrt.ops.FAMILIES["float_matmul"], qrt.get_num_threads()
    call, _ = family.call(types, infer("float_matmul", types), {}, {1: w})
    results = []
    try:
        for threads in (1, 2, 5):
            qrt.set_num_threads(threads)
            results.append(np.empty((70, 130), np.float32))
            call(a, results[-1])
    finally:
        qrt.set_num_threads(before)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ([tensor((2, 3), FloatType("f64")), tensor((3, 4), F32)], "a must be a tensor of f32"),
        ([tensor((2, 3), F32), tensor((3,), F32)], "w must be a matrix"),
        ([tensor((2, 3), F32), tensor((4, 3), F32)], "the contracted dimensions differ: 3 and 4"),
        ([tensor((2, 3), F32), tensor((3, 4), FloatType("f16"))], "w must be of f32, or quantized"),
        ([tensor((2, 3), F32), tensor((3, 4), UniformType("i8", "f16", 1.0))], "quantized weights must express f32"),
        ([tensor((2, 3), F32), tensor((3, 4), F32), tensor((3,), F32)], "the bias has 3 values for 4 columns"),
        ([tensor((2, 3), F32), tensor((3, 4), F32), tensor((4,), I8)], "the bias must be a vector of f32"),
    ],
)
def test_refused(types: list[TensorType], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        infer("float_matmul", types)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k_block": 20}, "k_block 20 is not a multiple of 16"),
        ({"w": "i16"}, "weights of i16 are not packed"),
        ({"zero_points": [2**21]}, "zero_points go beyond 2"),
        ({"scales": [np.inf]}, "scales is not finite"),
        ({"weights": "bits"}, "unknown weights 'bits'"),
    ],
)
def test_binding_refuses(changed: dict[str, Any], message: str) -> None:
    from qrt._seam import _core

    given = {"isa": "ref", "m": 1, "n": 1, "k": 40, "weights": "bytes", "scales": [1.0] * 2, "zero_points": [0] * 2}
    count = 2 if "k_block" in changed else 1
    with pytest.raises(KernelError, match=message):
        _core.bind_float_matmul(**(given | {"scales": [1.0] * count, "zero_points": [0] * count} | changed))
