"""The constraints. Hazards: a scale that is nearly the product, a result that grows too much or too little, a port that
stays a float and is overwritten, a function that reports what it has not changed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.ops.accumulate import bias_is_direct
from qrt.quantization.targets.constraints import accumulator_scales, bias_fits, constraint_of
from qrt.quantization.targets.model import TargetKernel, TargetPort
from qrt.quantization.targets.registry import find
from qrt.types import AnyQuantizedType, CalibratedType, FloatType, NoQuantizedType, UniformType

F32, NONE = FloatType("f32"), NoQuantizedType("f32")
A, B = UniformType("i8", "f32", 0.5, 3), UniformType("u8", "f32", 0.25)
OPEN = (F32, AnyQuantizedType("i8", "f32"), CalibratedType("f32", -1, 1))
KEPT = (NONE, FloatType("bf16"))
SCALES = st.floats(2.0**-149, float(FloatType("f32").largest), allow_nan=False)
ORDINARY = st.floats(2.0**-60, 2.0**60)


def kernel(constraint, inputs="ab", multiplier=(0.0, math.inf), **ports):
    made = {name: ports.get(name, TargetPort(name)) for name in (*inputs, "y")}
    return TargetKernel("k", tuple(made[name] for name in inputs), (made["y"],), constraint, multiplier=multiplier)


def derived(made, inputs, outputs, **options):
    """(the types afterwards, what is reported): the report is what has changed, and once more changes nothing."""
    before, after = [*inputs, *outputs], ([*inputs], [*outputs])
    report = constraint_of(made, **options)(*after)
    numbers = [i for i, (old, new) in enumerate(zip(before, after[0] + after[1], strict=True)) if old is not new]
    assert numbers == [*report[0], *(len(inputs) + i for i in report[1])]
    again = ([*after[0]], [*after[1]])
    assert constraint_of(made, **options)(*again) == ([], [])
    return after[0] + after[1]


@pytest.mark.parametrize("open_", OPEN)
def test_one_type_for_all_takes_the_results_before_the_operands(open_):
    same = kernel("same_scale")
    assert derived(same, [open_, open_], [A]) == [A, A, A]
    assert derived(same, [A, open_], [open_]) == [A, A, A]
    assert derived(same, [A, B], [open_]) == [A, A, A]
    assert derived(same, [A, B], [B]) == [B, B, B]
    assert derived(same, [open_, open_], [open_]) == [open_] * 3


@pytest.mark.parametrize("kept", KEPT)
def test_what_stays_a_float_is_left_alone(kept):
    assert derived(kernel("same_scale"), [A, kept], [F32]) == [A, kept, A]
    fixed = kernel("fixed_scale", y=TargetPort("y", given=B))
    assert derived(fixed, [A, A], [kept]) == [A, A, kept]
    product = kernel("multiplier_accumulator_scale", "abc", (0.0, 1.0))
    assert derived(product, [A, A, kept], [kept]) == [A, A, kept, kept]
    assert derived(product, [A, kept, F32], [B]) == [A, kept, F32, B]


def test_a_constraint_is_total():
    for constraint in ("free", "same_scale", "sum_scale", "multiplier_scale", "multiplier_accumulator_scale"):
        made = kernel(constraint, "abc" if "accumulator" in constraint else "ab", (0.5, 1.0))
        count = len(made.inputs)
        assert constraint_of(made)([F32] * count, [F32]) == ([], [])
        assert constraint_of(made)([F32] * (count + 4), [F32]) == ([], [])  # no such number of operands


def test_a_given_type_is_that_of_the_port_and_expresses_what_the_values_are():
    softmax = find("tflite").signatures("softmax")[0]
    given_type = softmax.outputs[0].given
    assert derived(softmax, [F32], [F32]) == [F32, given_type]
    assert derived(softmax, [F32], [A]) == [F32, given_type]
    half = FloatType("f16")
    assert derived(softmax, [half], [half]) == [half, given_type.with_(expressed="f16")]


def test_a_function_is_its_own_constraint():
    def own(inputs, outputs):
        return [], []

    assert constraint_of(kernel(own)) is own


# -- multipliers -------------------------------------------------------------------------------------------------------


@given(SCALES, SCALES, SCALES, st.floats(2.0**-40, 2.0**40))
def test_the_result_grows_to_the_least_scale_whose_multiplier_is_in_range(a, b, y, most):
    product = Fraction(a) * Fraction(b)
    assume(product <= Fraction(most) * Fraction(2) ** 126)
    inputs = [UniformType("i8", "f32", a, 3), UniformType("i8", "f32", b)]
    before = UniformType("i8", "f32", y, -5)
    after = derived(kernel("multiplier_scale", multiplier=(0.0, most)), inputs, [before])[2]
    assert product / Fraction(after.scale) <= Fraction(most)
    assert after.zero_point == -5
    if after is not before:
        assert product / Fraction(y) > Fraction(most)
        below = float(np.nextafter(np.float32(after.scale), np.float32(0)))
        assert np.float32(after.scale) == after.scale
        assert not below or product / Fraction(below) > Fraction(most)


def test_a_ratio_just_above_a_scale_is_not_rounded_to_it():
    """The quotient is 1 and 2^-60, which the nearest double is not: it is the next scale that is enough."""
    near = UniformType("i8", "f32", 1 + 2.0**-30)
    made = kernel("multiplier_scale", multiplier=(0.0, 1 + 2.0**-29))
    assert derived(made, [near, near], [UniformType("i8", "f32", 0.5)])[2].scale == 1 + 2.0**-23


def test_a_multiplier_that_no_greater_scale_brings_into_range_is_an_error():
    made = kernel("multiplier_scale", multiplier=(0.5, 1.0))
    with pytest.raises(
        QuantTypeError, match=r"k: the multipliers must be from 0.5 to 1, but no scale of the result from 1 up"
    ):
        constraint_of(made)([A, A], [UniformType("i8", "f32", 1.0)])
    wide = UniformType("i8", "f32", [0.5, 2.0], axis=0)
    with pytest.raises(QuantTypeError, match="no scale of the result"):
        constraint_of(made)([A, wide], [UniformType("i8", "f32", 0.25)])


def test_channels_of_a_result_grow_each_for_itself():
    w, y = (UniformType("i8", "f32", scales, axis=0) for scales in ([0.5, 2.0], [0.125, 4.0]))
    after = derived(kernel("multiplier_scale", multiplier=(0.0, 1.0)), [A, w], [y])[2]
    assert after.scales == (0.25, 4.0)


@given(SCALES, SCALES, SCALES)
def test_a_sum_is_such_as_64_bits_hold(a, b, y):
    """The family refuses what 64 bits do not hold: the range is that of the targets."""
    from qrt.ops import FAMILIES
    from qrt.types import TensorType

    made = find("qrt-cpu").signatures("add")[-1]
    inputs = [UniformType(t, "f32", scale, zero) for t, scale, zero in (("i16", a, -(2**15)), ("i16", b, 2**15 - 1))]
    assume(max(a, b) / 2**24 < FloatType("f32").largest)
    *types, result = (TensorType((2,), t) for t in derived(made, inputs, [UniformType("i8", "f32", y)]))
    assert FAMILIES["add"].resolve(tuple(types), {"requant": "fixed"}, result) is result


# -- biases ------------------------------------------------------------------------------------------------------------

CONV = find("qrt-cpu").signatures("conv2d")[0]


@given(ORDINARY, st.lists(ORDINARY, min_size=1, max_size=4), st.sampled_from([*OPEN, A]))
def test_a_bias_has_the_product_of_the_scales_and_zero_point_0(a, scales, bias):
    x, w = UniformType("i8", "f32", a, 7), UniformType("i8", "f32", scales, axis=0)
    after = derived(CONV, [x, w, bias], [F32])
    assert after[:2] == [x, w]
    assert after[2] == UniformType("i32", "f32", [a * s for s in scales], axis=0)
    assert bias_is_direct(after[2], x, w)
    per_layer = derived(CONV, [x, w.with_(scales=scales[0], axis=None, zero_points=None), bias], [F32])[2]
    assert per_layer == UniformType("i32", "f32", a * scales[0])


def test_a_bias_that_is_right_is_left_as_it_is():
    """Also one that says it per layer where all channels are alike; a coarser one only where the target has those."""
    w = UniformType("i8", "f32", [0.25, 0.25], axis=0)
    for bias in (UniformType("i32", "f32", 0.125), UniformType("i32", "f32", [0.125, 0.125], axis=0)):
        assert derived(CONV, [A, w, bias], [F32])[2] is bias
    coarser = UniformType("i32", "f32", [0.125, 0.5], axis=0)
    assert derived(CONV, [A, w, coarser], [F32], coarser_bias=True)[2] is coarser
    assert derived(CONV, [A, w, coarser], [F32])[2].scales == (0.125, 0.125)
    assert derived(CONV, [A, w, coarser.with_(scales=[0.125] * 2, zero_points=[0, 1])], [F32])[2].zero_points == (0, 0)
    for wrong in ([0.125, 0.375], [0.125, 0.0625]):
        assert derived(CONV, [A, w, coarser.with_(scales=wrong)], [F32], coarser_bias=True)[2].scales == (0.125, 0.125)


@given(SCALES, SCALES)
def test_weights_grow_where_no_bias_has_so_small_a_scale(a, w):
    assume(a * w <= FloatType("f32").largest)
    after = derived(CONV, [UniformType("i8", "f32", a), UniformType("i8", "f32", [w, w], axis=0), F32], [F32])
    assert after[2].scales[0] == a * after[1].scales[0]
    assert (after[1].scales[0] == w) == (a * w >= 2.0**-149)


def test_the_bias_of_blocks_has_the_greatest_product_of_its_column():
    w = UniformType("i4", "f32", [[0.5, 0.25], [2.0, 0.125]], block_sizes={0: 32, 1: 1})
    assert accumulator_scales(A, w).tolist() == [1.0, 0.125]
    transposed = UniformType("i4", "f32", [[0.5, 2.0], [0.25, 0.125]], block_sizes={0: 1, 1: 32})
    assert accumulator_scales(A, transposed, {0: 32, 1: 1}).tolist() == [1.0, 0.125]
    matmul = find("int4-weights").signatures("matmul")[0]
    assert derived(matmul, [A, w, F32], [F32])[2] == UniformType("i32", "f32", [1.0, 0.125], axis=0)


@given(
    st.lists(st.floats(-3e38, 3e38), min_size=1, max_size=4),
    st.floats(2.0**-100, 2.0**60),
    st.sampled_from(["i32", "i8", "u16"]),
)
def test_how_much_coarser_a_scale_must_be_is_exact(values, scale, storage):
    least, greatest = {"i32": (-(2**31), 2**31 - 1), "i8": (-128, 127), "u16": (0, 2**16 - 1)}[storage]
    if not least:
        values = [abs(value) for value in values]
    for value, k in zip(values, bias_fits(values, scale, storage).tolist(), strict=True):
        held = [
            least * Fraction(scale) * 2**power <= Fraction(value) <= greatest * Fraction(scale) * 2**power
            for power in (k, max(k - 1, 0))
        ]
        assert held[0]
        assert k == 0 or not held[1]


def test_a_bias_at_the_ends_of_its_storage_fits():
    ends = [2.0**31 - 1, 2.0**31, -(2.0**31), -(2.0**31) - 1, 0.0]
    assert bias_fits(ends, 1.0).tolist() == [0, 1, 0, 1, 0]
