"""leaky_relu and prelu against plain loops; every kernel and the lowered program against the reference."""

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered
from tests.ops import naive
from tests.ops.harness import Array, check_kernels, infer, tensor
from tests.ops.strategies import storage_of

RULES = ("fixed", "fixed_double", "fixed_double_f32", "float32", "reduced16")
STORAGE = ("i8", "u8", "i16", "u16", "i4", "i8<-100:90>", "i32")
SHAPES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (5, 7), (2, 3, 5))


def drawn(rng: np.random.Generator, storage: str, scale: float) -> UniformType:
    name, _, bounds = storage.partition("<")
    low, high = map(int, bounds[:-1].split(":")) if bounds else (None, None)
    whole = UniformType(name, "f32", scale, storage_min=low, storage_max=high)
    return whole.with_(zero_points=int(rng.choice([whole.storage_min, whole.storage_max, 0, 3])))


def loops(x: Array, t: UniformType, out: UniformType, rule: str, slope: float, factor: Array | None = None) -> Array:
    """`slope` is alpha, or the scale of the factors that are alpha's."""
    result = np.empty(np.broadcast_shapes(x.shape, () if factor is None else factor.shape), np.int64)
    x, factors = np.broadcast_arrays(x, np.ones((), np.int64) if factor is None else factor)
    for index in np.ndindex(*result.shape):
        acc = int(x[index]) - t.zero_point
        if acc >= 0:
            result[index] = naive.stored(acc, rule, (t.scale,), 1, out, index)
        else:
            acc *= int(factors[index]) if slope > 0 else -1
            result[index] = naive.stored(acc, rule, (t.scale, abs(slope)), 1, out, index)
    return result


@pytest.mark.parametrize("seed", range(18))
def test_leaky_relu_drawn(seed: int) -> None:
    rng, storage, rule = np.random.default_rng(seed), STORAGE[seed % 7], [*RULES, "fixed8"][seed % 6]
    for number, shape in enumerate(SHAPES):
        if storage == "i32" and rule == "fixed_double":
            continue  # its differences leave 32 bits
        t, out = drawn(rng, storage, 0.3), drawn(rng, str(rng.choice(STORAGE)), 0.7)
        alpha = (0.3, -1.0, 1.7, 0.05 if rule == "fixed8" else 2.0**-9, 1.0)[number]
        x = storage_of(t, shape, rng)
        attributes = {"alpha": alpha, "requant": rule}
        got = check_lowered("leaky_relu", [x], [tensor(shape, t)], out, options=[OPTIONS[number % 4]], **attributes)
        np.testing.assert_array_equal(got, loops(x, t, out, rule, alpha).reshape(shape))


def test_an_alpha_of_zero_clears_what_is_negative() -> None:
    t, out = UniformType("i16", "f32", 0.5), UniformType("i8", "f32", 1.0, 7)
    x = np.int16([-32768, -1, 0, 4])
    got = check_lowered("leaky_relu", [x], [tensor((4,), t)], out, alpha=0.0, requant="fixed_double")
    assert got.tolist() == [7, 7, 7, 9]


def test_an_alpha_of_minus_one_is_the_magnitude() -> None:
    t = UniformType("i16", "f32", 0.5)
    got = check_kernels("leaky_relu", [np.int16([-32768, -5, 6])], [tensor((3,), t)], t, alpha=-1.0)
    assert got.tolist() == [32767, 5, 6]


@pytest.mark.parametrize("seed", range(10))
def test_prelu_drawn(seed: int) -> None:
    rng, storage, rule = np.random.default_rng(seed), ("i8", "u8", "i16", "i4")[seed % 4], RULES[seed % 5]
    for number, (shape, own) in enumerate(
        [((), ()), ((0, 3), (3,)), ((4, 5), (5,)), ((2, 3, 5), (3, 1)), ((5,), (2, 1))]
    ):
        t, slope = (drawn(rng, storage, scale) for scale in (0.3, 0.01))
        if storage == "i16":
            t, slope = t.with_(zero_points=0), slope.with_(zero_points=0)  # products of 32 bits
        out = drawn(rng, str(rng.choice(STORAGE)), 0.7)
        x, alpha = storage_of(t, shape, rng), storage_of(slope, own, rng)
        types, said = [tensor(shape, t), tensor(own, slope)], OPTIONS[number % 4]
        got = check_lowered("prelu", [x, alpha], types, out, [(), (1,)][: 1 + (number == 2)], [said], requant=rule)
        expected = loops(x, t, out, rule, slope.scale, alpha.astype(np.int64) - slope.zero_point)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        (np.inf, "'alpha' must be finite, got"),
        (np.nan, "'alpha' must be finite, got"),
        ("a", "'alpha' must be a real number, got 'a'"),
    ],
)
def test_an_alpha_is_a_finite_number(alpha: object, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        infer("leaky_relu", [tensor((2,), UniformType("i8", "f32", 0.5))], alpha=alpha)


def test_types_that_are_refused() -> None:
    t = UniformType("i8", "f32", 0.5)
    by_axis = UniformType("i8", "f32", [0.5, 0.25], axis=0)
    with pytest.raises(QuantTypeError, match="'x' must have a per-layer type, got"):
        infer("leaky_relu", [tensor((2,), by_axis)])
    with pytest.raises(QuantTypeError, match="'alpha' must have a per-layer type, got"):
        infer("prelu", [tensor((2,), t), tensor((2,), by_axis)])
    with pytest.raises(QuantTypeError, match=r"'x' and 'alpha' must have shapes that broadcast, got \[3\] and \[2\]"):
        infer("prelu", [tensor((3,), t), tensor((2,), t)])
