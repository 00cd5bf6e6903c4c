"""What requantization is lowered to gives the bits of `numerics.requantize`, for hostile accumulators and parameters.
Sums near 2**31 and past it, multipliers near 0, at 1 and above, shifts 0, 1, 31, 62 and to the left, ties, limits."""

from itertools import product

import numpy as np
import pytest

from qrt import numerics
from qrt.ir import Module, parse
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.ir.passes.lower_qrt.requantize import Requantization, requantize
from qrt.numerics import RequantParameters
from qrt.ops.core import container
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import run
from tests.ops.harness import Array

STORAGES = [
    UniformType("i8", "f32", 1.0),
    UniformType("u8", "f32", 1.0, storage_min=3, storage_max=200),
    UniformType("i32", "f32", 1.0),
    UniformType("u32", "f32", 1.0),
    UniformType("i1", "f32", 1.0),
]
SHIFTS = [-70, -40, -34, -30, -2, -1, 0, 1, 2, 31, 32, 61, 62, 63, 100]
MULTIPLIERS = [1 << 30, (1 << 30) + 1, 1431655765, (1 << 31) - 1]
NEAR_31 = [0, 1, 2, 3, 127, 128, 255, (1 << 30) - 1, 1 << 30, (1 << 31) - 2, (1 << 31) - 1]
NEAR_63 = [
    *NEAR_31,
    1 << 31,
    (1 << 31) + 1,
    1 << 32,
    (1 << 33) - 1,
    1 << 40,
    (1 << 53) + 1,
    (1 << 62) - 1,
    (1 << 63) - 1,
]
SCALES = [1e-30, 2.0**-33, 1e-9, 0.1, 1 / 3, 0.5, np.nextafter(1, 0), 1.0, 1.5, 255.0, 1e10, 1e30]


def lowered(
    acc: Array, parameters: RequantParameters, element: UniformType, loops: bool, bound: int = 1 << 63
) -> Array:
    """Accumulators [n, channels] requantized by their channel's parameters, by an interpreted program."""
    bits = run_lowered(program(acc, parameters, element, loops, bound), acc, element).astype(np.int64)
    low = bits & ((1 << element.storage_width) - 1)
    return low - (low >> (element.storage_width - 1) << element.storage_width) if element.is_signed else low


def run_lowered(module: Module, acc: Array, element: UniformType) -> Array:
    unread = np.zeros(acc.shape, bool if element.storage_width == 1 else f"i{max(element.storage_width, 8) // 8}")
    return run(module, [acc, unread], interpret=True)


def program(acc: Array, parameters: RequantParameters, element: UniformType, loops: bool, bound: int) -> Module:
    channels = acc.shape[1]
    width = 8 * acc.itemsize
    stored = f"tensor<{acc.shape[0]}x{channels}x{element.storage_type}>"
    given = f"tensor<{acc.shape[0]}x{channels}xi{width}>"
    text = f"func.func @main(%acc: {given}, %y: {stored}) -> {stored} {{ return %y : {stored} }}"
    module = parse(text)
    block = module.function().regions[0].blocks[0]
    assert block.last is not None
    context = LoweringContext(block.last, loops=loops)
    nest = LoopNest(context, "requantize", acc.shape)
    r = Requantization(parameters, np.arange(channels), nest.loops[1:], element, bound)
    block.last.set_operands(nest.finish(requantize(nest, nest.read(block.arguments[0], nest.loops), r)))
    return module


def accumulators(magnitudes: list[int], dtype: str, channels: int) -> Array:
    least = [-(1 << 31)] if dtype == "i4" else []
    column = np.array([*magnitudes, *(-m for m in magnitudes), *least], dtype)
    return np.repeat(column[:, None], channels, axis=1)


def check(parameters: RequantParameters, element: UniformType, magnitudes: list[int], dtype: str) -> None:
    acc = accumulators(magnitudes, dtype, len(parameters.zero_point))
    expected = numerics.requantize(acc, parameters, np.arange(acc.shape[1]))
    for loops in (False, True) if acc.shape[1] == 1 else (False,):
        np.testing.assert_array_equal(lowered(acc, parameters, element, loops), expected)


def ends(element: UniformType) -> list[int]:
    """Zero points at the ends of the storage type, of its bounds, and 0."""
    low, high = element.default_bounds
    return [low, high, element.storage_min, element.storage_max, max(low, 0)]


@pytest.mark.parametrize("element", STORAGES, ids=str)
@pytest.mark.parametrize(("magnitudes", "dtype"), [(NEAR_31, "i4"), (NEAR_63, "i8")], ids=["i32", "i64"])
def test_fixed_by_channel(element: UniformType, magnitudes: list[int], dtype: str) -> None:
    """Channels of one nest shift to the left, not at all, to the right and beyond; a wrong neutral constant shows."""
    rows = list(product(MULTIPLIERS, SHIFTS, ends(element)))
    empty = np.empty(0, np.float32)
    m0, shift, zero_point = (np.array(column) for column in zip(*rows, strict=True))
    parameters = RequantParameters(
        "fixed", container(element), element.storage_min, element.storage_max, zero_point.astype(np.int64),
        m0.astype(np.int32), shift.astype(np.int32), empty, empty,
    )  # fmt: skip
    check(parameters, element, magnitudes, dtype)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize(("magnitudes", "dtype"), [(NEAR_31, "i4"), (NEAR_63, "i8")], ids=["i32", "i64"])
def test_fixed_per_layer(shift: int, magnitudes: list[int], dtype: str) -> None:
    """Steps that a shift makes needless are not there; the others still are."""
    element, empty = STORAGES[2], np.empty(0, np.float32)
    one = (np.array([v], np.int32) for v in (1431655765, shift))
    zero = np.array([-7], np.int64)
    parameters = RequantParameters("fixed", "i32", element.storage_min, element.storage_max, zero, *one, empty, empty)
    check(parameters, element, magnitudes, dtype)


@pytest.mark.parametrize("element", STORAGES, ids=str)
@pytest.mark.parametrize("rule", ["fixed_double", "float32", "float64_away", "half_up_twice", "reduced16"])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_other_rules(element: UniformType, rule: str, dtype: str) -> None:
    """Ties to both sides of zero, saturation before and after a shift, bounds that f32 does not hold."""
    scales = [s for s in SCALES if rule in ("float32", "float64_away") or s < 2**30]
    rows = list(product(scales, ends(element)))
    parameters = numerics.requant_parameters(
        rule, container(element), element.storage_min, element.storage_max,
        [(s,) for s, _ in rows], [(1.0,)] * len(rows), [z for _, z in rows],
    )  # fmt: skip
    check(parameters, element, NEAR_31 if dtype == "i4" else NEAR_63, dtype)


@pytest.mark.parametrize("rule", ["fixed", "fixed_double", "float32", "float64_away", "half_up_twice"])
def test_a_changed_rounding_is_seen(rule: str) -> None:
    """Ties, by hand: half up; half away, after the first step halved exactly; half to even; half away."""
    element = STORAGES[0]
    parameters = numerics.requant_parameters(rule, "i8", -128, 127, [(0.25,)], [(1.0,)], [0])
    acc = np.array([[-10], [-6], [-2], [2], [6], [10]], np.int32)
    wanted = {
        "fixed": [-2, -1, 0, 1, 2, 3],
        "fixed_double": [-3, -2, -1, 1, 2, 3],
        "half_up_twice": [-2, -1, 0, 1, 2, 3],
        "float32": [-2, -2, 0, 0, 2, 2],
        "float64_away": [-3, -2, -1, 1, 2, 3],
    }[rule]
    got = lowered(acc, parameters, element, loops=False)
    assert numerics.requantize(acc, parameters, np.zeros(1, int)).ravel().tolist() == got.ravel().tolist()
    assert got.ravel().tolist() == wanted


@pytest.mark.parametrize("element", STORAGES[:4], ids=str)
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_rules_of_averages(element: UniformType, dtype: str) -> None:
    """Halves to both sides of zero by odd and even divisors; offsets that cancel the sum."""
    counts, size = [1, 2, 3, 4, 49, 1 << 20], (container(element), element.storage_min, element.storage_max)
    scales = [(0.37,)] * len(counts)
    points = np.resize(ends(element), len(counts))
    check(numerics.requant_parameters("integer", *size, scales, scales, points, counts), element,
          NEAR_31 if dtype == "i4" else NEAR_63[:-2], dtype)  # fmt: skip
    for rule in ("raw_mean", "raw_sum"):
        raw = numerics.requant_parameters(rule, *size, scales, [(0.2,)] * len(counts), points, counts, points[::-1])
        check(raw, element, NEAR_31 if dtype == "i4" else NEAR_63, dtype)


@pytest.mark.parametrize("shift", [-30, -1, 0, 1, 2, 31, 62])
@pytest.mark.parametrize("m0", MULTIPLIERS)
def test_i64_accumulators_take_128_bits_only_beyond_their_bound(m0: int, shift: int) -> None:
    """At the largest bound that 64 bits allow, and one above: no product wraps, and no zero point added to a result."""
    half = 1 << (shift - 1) if shift > 0 else 0
    largest = min(((1 << 63) - 1 - half) // m0, (((1 << 62) + 1 << max(shift, 0)) - 1 - half) // m0)
    element = STORAGES[2]
    for zero_point in (element.storage_min, element.storage_max):
        parameters = RequantParameters(
            "fixed", "i32", element.storage_min, element.storage_max, np.array([zero_point], np.int64),
            np.array([m0], np.int32), np.array([shift], np.int32), *[np.empty(0, np.float32)] * 2,
        )  # fmt: skip
        for bound in (largest, largest + 1):
            acc = np.array([[bound], [-bound], [bound - 1], [1 - bound], [1], [-1]])
            module = program(acc, parameters, element, loops=False, bound=bound)
            assert ("mulsi_extended" in str(module)) == (bound > largest)
            expected = numerics.requantize(acc, parameters, np.zeros(1, int))
            np.testing.assert_array_equal(run_lowered(module, acc, element), expected)


@pytest.mark.parametrize("rule", ["fixed_double", "half_up_twice"])
@pytest.mark.parametrize("bound", [(1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_i64_accumulators_saturate_to_32_bits_beyond_them(rule: str, bound: int) -> None:
    """These rules multiply 32 bits: only an accumulator with a smaller bound is not clamped first."""
    element = STORAGES[2]
    scales: list[tuple[float, ...]] = [(0.75,)]
    parameters = numerics.requant_parameters(
        rule, "i32", element.storage_min, element.storage_max, scales, [(1.0,)], [0]
    )
    acc = np.array([[bound], [-bound], [1], [-1]])
    expected = numerics.requantize(acc, parameters, np.zeros(1, int))
    np.testing.assert_array_equal(lowered(acc, parameters, element, loops=False, bound=bound), expected)
