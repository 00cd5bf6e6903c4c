"""Programs at the ends of a rule, which drawn ones seldom meet: the plain loops, the reference, every ISA's kernel and
the lowered program give the same bits. Hazards: shifts to the left of values that are not clamped; a multiplier between
two M0, and one that M0 rounds up to a power of two; ties of sums; sizes around the blocks of rules and of kernels;
bounds that float32 does not hold; places of resized images."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest

from qrt.numerics import REQUANT_RULES
from qrt.ops.core import element_dtype
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.compare import DrawnProgram, compare
from tests.ir.passes.lower_qrt.drawn_op import DrawnOp
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered
from tests.ops import naive
from tests.ops import test_resize as resized
from tests.ops.harness import Array, tensor

Plain = Callable[[UniformType, Sequence[int]], Array]


def check(
    name: str, arrays: list[Array], elements: list[UniformType], out: UniformType | None, plain: Plain, **said: object
) -> Array:
    """The result, which everything that computes it gives."""
    op = DrawnOp(name, arrays, elements, out, plain, said)
    result = compare(DrawnProgram(op, op.types, (), "", True))
    assert result is not None, "refused"
    return result


def requantized(x: Array, t: UniformType, out: UniformType, rule: str) -> Array:
    return check("requantize", [x], [t], out, lambda to, size: naive.requantize(x, t, to, rule), requant=rule)


@pytest.mark.parametrize("out", ["u32", "i32"])
@pytest.mark.parametrize("factor", [1.0, 0.9])
def test_shifts_to_the_left(out: str, factor: float) -> None:
    """Shifts N from 4 down to -4, and -32: results within the storage, at its ends and past them."""
    zero_points = (0, 1 << 31, (1 << 32) - 1) if out == "u32" else (0, -(1 << 31), (1 << 31) - 1)
    ends = [(2.0**-places * factor, z) for places in (*range(26, 35), 62) for z in zero_points]
    scales, each = zip(*ends, strict=True)
    to = UniformType(out, "f64", scales, each, axis=1)
    x, t = np.repeat(np.arange(-4, 5, dtype=np.int8)[:, None], len(ends), 1), UniformType("i8", "f64", 1.0)
    result = requantized(x, t, to, "fixed")
    assert len(np.unique(result)) > 30  # not the ends alone


def test_a_bias_is_shifted_to_the_left_as_far_as_64_bits_allow() -> None:
    a = UniformType("i4", "f64", 1.0)
    x, w = np.ones((1, 1), np.int8), np.ones((1, 3), np.int8)
    b, bias = UniformType("u1", "f64", 2.0**61), np.array([0, 1, 1], np.uint8)
    out = UniformType("i32", "f64", 2.0**32)  # N is 62, the last that leaves something

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.matmul(x, w, a, a, to, "fixed", size, (bias, b))

    result = check("matmul", [x, w, bias], [a, a, b], out, plain, requant="fixed")
    assert result.ravel().tolist() == [0, 1 << 29, 1 << 29]


def test_products_just_beyond_64_bits() -> None:
    """`q - zp` of an i32 may be 2**32 - 1, M0 is 2**31 - 1, the rounding constant 2**33: their sum exceeds 2**63."""
    t = UniformType("i32", "f64", (1 - 2.0**-31) / 8, -(1 << 31))
    values, to = np.int32([(1 << 31) - 1, -(1 << 31), 0]), UniformType("i32", "f64", 1.0)
    assert requantized(values, t, to, "fixed").max() == 1 << 29

    a = UniformType("i4", "f64", 1.0)
    x, w = np.zeros((1, 1), np.int8), np.zeros((1, 3), np.int8)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.matmul(x, w, a, a, to, "fixed", size, (values, t))

    assert check("matmul", [x, w, values], [a, a, t], to, plain, requant="fixed").max() == 1 << 29


NEAR_31 = np.int32([0, 1, -1, (1 << 31) - 1, -(1 << 31), (1 << 30) + 1, 1431655765, -1234567891])


@pytest.mark.parametrize("rule", REQUANT_RULES)
def test_multipliers_between_two_m0(rule: str) -> None:
    """An odd number of 32 bits is one; M0 of the largest is rounded up to a power of two."""
    odd = np.array([(1 << 32) - 1, (1 << 31) + 1, (1 << 31) + 3, 3221225473, 3221225475])
    t = UniformType("i32", "f64", (odd * 2.0**-32).tolist(), axis=1)
    x = np.repeat(NEAR_31[:, None], len(odd), 1)
    requantized(x, t, UniformType("i32", "f64", 1.0), rule)


@pytest.mark.parametrize("storage", ["i8", "i16"])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_sums_in_blocks(name: str, storage: str) -> None:
    """Of an operand whose scale is so far below the other's that no places are left, or some are shifted out; just
    below a block of 16, and past two. The other operand is 0, so nothing hides the rounding."""
    left = 20 if storage == "i8" else 15
    large, to = UniformType(storage, "f64", 1.0), UniformType(storage, "f64", 2.0 ** (2 - left))
    rng = np.random.default_rng(1)
    for size, places in product((15, 33), (left - 1, left + 1)):
        x = rng.integers(-128, 128, size).astype(f"int{storage[1:]}")
        x[[0, -1]] = -6  # which one rounding takes to 0, and two to -1, past `left`
        added(name, [x, np.zeros_like(x)], [UniformType(storage, "f64", 2.0**-places), large], to, "fixed_double_16")


@pytest.mark.parametrize("rule", ["fixed", "scaled20", "float32_fused"])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_ties_of_sums(name: str, rule: str) -> None:
    """Halves of the result's unit, around blocks of 8 and of 32 elements."""
    rng = np.random.default_rng(2)
    for storage, size in (("i8", 33), ("u8", 9), ("i16", 31)):
        t, to = UniformType(storage, "f32", 0.5, 1), UniformType(storage, "f32", 1.0, 3)
        values = [rng.integers(0, 60, size).astype(element_dtype(t)) for _ in "ab"]
        added(name, values, [t, t], to, rule)


def added(name: str, arrays: list[Array], elements: list[UniformType], out: UniformType, rule: str) -> None:
    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.binary(name, *arrays, *elements, to, rule, size)

    check(name, arrays, elements, out, plain, requant=rule)


@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize(("storage", "zero_point", "columns"), [("i8", 3, 33), ("u8", 100, 64)])
def test_ties_of_products(storage: str, zero_point: int, columns: int, rule: str) -> None:
    """Halves and quarters of the result's unit in the 8 bits that kernels store in ways of their own; whole panels of
    columns, and one more than a panel."""
    a, to = UniformType("i4", "f32", 0.5), UniformType(storage, "f32", 0.5, zero_point)
    w = UniformType("i8", "f32", [2.0 ** -(1 + i % 2) for i in range(columns)], axis=1)
    rng = np.random.default_rng(3)
    x, weights = rng.integers(-8, 8, (5, 3)).astype(np.int8), rng.integers(-3, 4, (3, columns)).astype(np.int8)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        return naive.matmul(x, weights, a, w, to, rule, size)

    check("matmul", [x, weights], [a, w], to, plain, requant=rule)


@pytest.mark.parametrize(("name", "zero_point"), [("softmax", 77), ("log_softmax", -1840403580)])
def test_bounds_that_float32_does_not_hold(name: str, zero_point: int) -> None:
    """Of a result with 32-bit storage: it is clamped to the bound itself, not to the float32 beside it."""
    x, t = np.array([[0, 255], [3, 4]], np.uint8), UniformType("u8", "f32", 0.4, 127)
    to = UniformType("i32", "f32", 2.0**-31, zero_point)
    result = check_lowered(name, [x], [tensor(x.shape, t)], to, options=OPTIONS[:1], axis=1, requant="table_float32")
    assert np.isin(result, (to.storage_min, to.storage_max)).any()


@pytest.mark.parametrize("form", resized.FORMS)
@pytest.mark.parametrize(("rule", "storage"), [("fixed11", "i8"), ("fixed10_away", "i16"), ("products_float32", "u8")])
def test_resized_images(rule: str, storage: str, form: tuple[bool, bool]) -> None:
    """Larger and smaller by ratios that no integer is, every place of corners and pixels' centers."""
    t = UniformType(storage, "f32", 1.0)
    x = np.random.default_rng(4).integers(t.storage_min, t.storage_max, (1, 5, 3, 2)).astype(element_dtype(t))
    said = {"rule": rule, "size": (3, 7), "align_corners": form[0], "half_pixel_centers": form[1]}
    check("resize_bilinear", [x], [t], None, lambda to, size: resized.by_loops(x, rule, (3, 7), *form), **said)
