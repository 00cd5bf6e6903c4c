"""maximum, minimum, div and squared_difference against plain loops; every kernel and the lowered program against the
reference."""

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.types import UniformType
from tests import rules
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import storage_of

SHAPES: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((), ()), ((0,), (1,)), ((67,), (67,)), ((3, 5), (5,)), ((2, 1, 5), (3, 1)),
)  # fmt: skip
T, OUT = UniformType("i8", "f32", 0.5, 3), UniformType("u8", "f32", 60.0, 9)


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("storage", ["i8", "u8", "i4", "i16", "u16", "i32", "u32"])
def test_extremes_drawn(name: str, storage: str) -> None:
    rng, t = np.random.default_rng(1), UniformType(storage, "f32", 0.3, 1)
    for number, shapes in enumerate(SHAPES):
        a, b = (storage_of(t, shape, rng) for shape in shapes)
        got = check_lowered(name, [a, b], [tensor(s, t) for s in shapes], options=[OPTIONS[number % 4]])
        np.testing.assert_array_equal(got, (np.maximum if name == "maximum" else np.minimum)(a, b))


def product(x: int, m: float) -> int:
    return rules.fixed_double(x, *rules.quantize_multiplier(m))


@pytest.mark.parametrize("storage", ["i8", "u8", "i5"])
@pytest.mark.parametrize("name", ["div", "squared_difference"])
def test_bytes_drawn(name: str, storage: str) -> None:
    rng = np.random.default_rng(2)
    for number, shapes in enumerate(SHAPES):
        ta, tb = (UniformType(storage, "f32", s, int(rng.integers(0, 16))) for s in (0.3, 0.5))
        out = UniformType(str(rng.choice(["i8", "u8", "i16"])), "f32", {"div": 0.05}.get(name, 11.0), 4)
        arrays = [storage_of(t, shape, rng) for t, shape in zip((ta, tb), shapes, strict=True)]
        types = [tensor(shape, t) for t, shape in zip((ta, tb), shapes, strict=True)]
        got = check_lowered(name, arrays, types, out, options=[OPTIONS[number % 4]])
        if name == "div":
            check_lowered(name, arrays, types, out, options=[OPTIONS[number % 4]], requant="float64_away")
            continue  # tests/numerics/test_gemmlowp.py has its values
        a, b = np.broadcast_arrays(*arrays)
        for index in np.ndindex(*got.shape):
            x, y = (product((int(q[index]) - t.zero_point) << 7, t.scale / 1.0) for q, t in ((a, ta), (b, tb)))
            square = product((x - y) ** 2, 1.0 / (2**14 * out.scale)) + out.zero_point
            assert got[index] == rules.clamp(square, out.storage_min, out.storage_max)


@pytest.mark.parametrize("rule", ["gemmlowp", "float64_away"])
@pytest.mark.parametrize("storage", ["i16", "u16", "i9"])
def test_quotients_of_16_bits(storage: str, rule: str) -> None:
    """Zero divisors and dividends, ends of the storage, zero points at the ends; shifts beyond 31 and below 0."""
    rng = np.random.default_rng(3)
    for number, (shapes, scale) in enumerate(zip(SHAPES, (0.05, 1.0, 2.0**-16, 2.0**-20, 300.0), strict=True)):
        bounds = UniformType(storage, "f32", 1.0)
        points = [0, bounds.storage_min, bounds.storage_max]
        ta, tb = (UniformType(storage, "f32", s, int(rng.choice(points))) for s in (0.3, 0.5))
        out = UniformType(str(rng.choice(["i8", "i16", "u16"])), "f32", scale, 4)
        arrays = [storage_of(t, shape, rng) for t, shape in zip((ta, tb), shapes, strict=True)]
        for array, t in zip(arrays, (ta, tb), strict=True):
            hostile = np.array([t.storage_min, t.storage_max, t.zero_point], array.dtype)
            array.ravel()[: array.size // 2] = rng.choice(hostile, array.size // 2)
        types = [tensor(shape, t) for t, shape in zip((ta, tb), shapes, strict=True)]
        check_lowered("div", arrays, types, out, options=[OPTIONS[number % 4]], requant=rule)


def test_a_narrow_byte_outside_of_its_bounds_stays_in_the_table() -> None:
    """No value has such a byte, but an array may: the kernel reads inside of the table."""
    t = UniformType("i8", "f32", 0.5, storage_min=-5, storage_max=6)
    q = np.int8([-128, -5, 6, 127])
    got = check_kernels("squared_difference", [q[1:3], q[1:3]], [tensor((2,), t)] * 2, OUT)
    assert got.tolist() == [9, 9]


def test_types_that_are_refused() -> None:
    other, by_axis = T.with_(scales=0.25), UniformType("i8", "f32", [0.5, 0.25], axis=0)
    with pytest.raises(QuantTypeError, match="'a' and 'b' must have the same type, got"):
        infer("maximum", [tensor((2,), T), tensor((2,), other)])
    with pytest.raises(QuantTypeError, match="the result must have the type of the operand"):
        infer("minimum", [tensor((2,), T)] * 2, other)
    for name in ("maximum", "div"):
        with pytest.raises(QuantTypeError, match="'a' must have a per-layer type, got"):
            infer(name, [tensor((2,), by_axis)] * 2, OUT)
    for name, storage, bits in (("squared_difference", "i16", 8), ("div", "i17", 16)):
        with pytest.raises(QuantTypeError, match=f"{name}: 'a' must have storage of at most {bits} bits, got"):
            infer(name, [tensor((2,), UniformType(storage, "f32", 0.5))] * 2, OUT)
    for scale in (2.0**-31, 1e-44):
        with pytest.raises(QuantTypeError, match=r"div: scale of 'a' / .* must be below 2\*\*30, got"):
            infer("div", [tensor((2,), T)] * 2, OUT.with_(scales=scale))
    with pytest.raises(QuantTypeError, match="div: 'requant' must be one of gemmlowp, float64_away, got 'fixed'"):
        infer("div", [tensor((2,), T)] * 2, OUT, requant="fixed")
    with pytest.raises(QuantTypeError, match=r"the result type must be a !quant\.uniform type, got none"):
        infer("squared_difference", [tensor((2,), T)] * 2)
