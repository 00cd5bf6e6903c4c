"""Channels between two products are multiplied by powers of two. Hazards: a bit of a result that changes, a channel
that is another one behind a reshape, a function between that lets no factor through, a record of a value that is now
another one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from tests.quantization import float_text as ops
from tests.quantization.scaling.layers import (
    INPUTS,
    OUTPUTS,
    WEIGHTS,
    channels,
    kernels,
    keys,
    passed,
    product,
    program,
    vector,
)

FUSED = "fuse-kernels,attach-stats-ref"
EQUALIZED = f"{FUSED},equalize-scales"


def relu(text, x):
    return ops.clamp(text, x, 0, None)


def leaky(text, x):
    return text.binary("arith.maximumf", x, text.binary("arith.mulf", x, text.splat(0.3, x.shape)))


def chosen(text, x):
    """A relu that is written as a comparison."""
    zero = text.splat(0, x.shape)
    answer = text.fresh()
    text.line(f"{answer} = arith.cmpf ogt, {x.name}, {zero.name} : {x.type}")
    answers = x.type.replace("f32", "i1")
    return text.op(f"arith.select {answer}, {x.name}, {zero.name} : {answers}, {x.type}", x.shape)


def halved(text, x):
    factors = np.linspace(-2, 3, x.shape[-1], dtype=np.float32)
    return ops.mul(text, x, vector(text, factors, x))


FUNCTIONS = {"relu": relu, "leaky": leaky, "abs": lambda t, x: t.unary("math.absf", x), "select": chosen, "mul": halved}
MOVES = {
    "max": lambda t, x: ops.max_pool2d(t, x, size=2, stride=1),
    "average": lambda t, x: ops.avg_pool2d(t, x, size=2, stride=1),
    "pad": lambda t, x: ops.pad(t, x, [0, 1, 1, 0], 0),
    "mean": lambda t, x: ops.mean(t, x, axes=[1, 2]),
    "flatten": ops.flatten,
}
"""What may stand between products of images; the last two leave rows."""


@st.composite
def chained(draw):
    """A chain of products of drawn weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def numbers(*shape, axis=-1):
        scales = np.exp2(rng.permutation(40)[: shape[axis]] - 20.0)
        sizes = [-1 if place == axis % len(shape) else 1 for place in range(len(shape))]
        return (rng.standard_normal(shape) * scales.reshape(sizes)).astype(np.float32)

    kind = draw(st.sampled_from(sorted(WEIGHTS)))
    functions = draw(st.lists(st.sampled_from(sorted(FUNCTIONS)), max_size=2))
    moves = draw(st.lists(st.sampled_from(["max", "average", "pad"]), max_size=1)) if kind != "matmul" else []
    last = draw(st.sampled_from(["mean", "flatten", "depthwise", "hwcf", "fhwc"])) if kind != "matmul" else "matmul"
    biases = draw(st.booleans())

    def body(text, x):
        y = product(
            text, kind, x, numbers(*WEIGHTS[kind], axis=OUTPUTS[kind]), numbers(channels(kind)) if biases else None
        )
        for name in functions:
            y = FUNCTIONS[name](text, y)
        for name in moves:
            y = MOVES[name](text, y)
        if last in WEIGHTS and last != "matmul":
            count = y.shape[-1]
            shape = {"depthwise": (2, 2, count), "hwcf": (2, 2, count, 3), "fhwc": (3, 2, 2, count)}[last]
            y = relu(text, product(text, last, y, numbers(*shape), numbers(count if last == "depthwise" else 3)))
            y = ops.flatten(text, y)
        elif last != "matmul":
            y = MOVES[last](text, y)
        return ops.matmul(text, y, text.constant(numbers(y.shape[1], 3)))

    return program(INPUTS[kind], body), rng.standard_normal(INPUTS[kind]).astype(np.float32)


@settings(max_examples=15)
@given(chained())
def test_no_bit_of_a_result_changes(drawn):
    text, x = drawn
    module, _ = passed(text, EQUALIZED)
    assert any(key.endswith("/equalized") for key in keys(module))
    np.testing.assert_array_equal(qrt.compile(module)(x).view("u4"), qrt.compile(text)(x).view("u4"))
    again = str(module)
    assert str(qrt.ir.run_passes(module, "equalize-scales")).count("/equalized/equalized") <= again.count("/equalized")


def two(between, *, first=None, second=None, bias=None):
    """Two products of matrices."""
    rng = np.random.default_rng(3)
    w1 = rng.standard_normal((5, 4)).astype(np.float32) * np.float32([1, 64, 0.01, 7]) if first is None else first
    w2 = rng.standard_normal((4, 3)).astype(np.float32) if second is None else second

    def body(text, x):
        return ops.matmul(text, between(text, product(text, "matmul", x, w1, bias)), text.constant(w2))

    return program((3, 5), body)


def weights(module):
    values = [op.attributes["value"].python for op in module.operation.walk() if op.name == "arith.constant"]
    return {value.shape: value for value in values if isinstance(value, np.ndarray) and value.ndim == 2}


def test_ranges_on_both_sides_are_within_a_factor_of_two():
    before, after = (weights(passed(two(relu), pipeline)[0]) for pipeline in (FUSED, EQUALIZED))
    r1, r2 = np.abs(after[5, 4]).max(0), np.abs(after[4, 3]).max(1)
    assert ((r2 / r1 >= 0.5) & (r2 / r1 < 2)).all()
    factors = after[5, 4] / before[5, 4]
    assert (factors == factors[:1]).all()
    assert (np.frexp(factors)[0] == 0.5).all()
    np.testing.assert_array_equal(after[4, 3] * factors[0][:, None], before[4, 3])
    once, _ = passed(two(relu), EQUALIZED)
    assert str(qrt.ir.run_passes(qrt.ir.parse(str(once)), "equalize-scales")) == str(once)


@pytest.mark.parametrize("quotient", [2.0, np.nextafter(np.float32(2), 0), 0.5, np.nextafter(np.float32(0.5), 0), 8.0])
def test_the_power_is_the_nearest_to_the_root(quotient):
    """From 2 up the root is nearer to 2 than to 1, by factors; below 1/2 nearer to 1/2."""
    first, second = np.ones((5, 4), np.float32), np.ones((4, 3), np.float32)
    second[1] = quotient
    found = weights(passed(two(relu, first=first, second=second), EQUALIZED)[0])
    expected = {2.0: 2, 0.5: 1, 8.0: 4}.get(float(quotient), 1 if quotient > 1 else 0.5)
    np.testing.assert_array_equal(found[5, 4][:, 1], expected)


def six(text, x):
    return ops.clamp(text, x, 0, 6)


def cut(text, x):
    return ops.clamp(text, x, -1, None)


def shifted(text, x):
    return ops.add(text, relu(text, x), text.splat(1, x.shape))


def squared(text, x):
    return ops.mul(text, x, x)


def residual(text, x):
    return ops.add(text, x, ops.tanh(text, x))


def annotated(text, x):
    return text.stats(x, -3, 3)


STAY = {
    "relu6": six,
    "a lower bound": cut,
    "tanh": ops.tanh,
    "a sum": shifted,
    "a square": squared,
    "a residual": residual,
    "an annotation": annotated,
    "a reciprocal": lambda t, x: t.binary("arith.divf", t.splat(1, x.shape), x),
}


@pytest.mark.parametrize("case", sorted(STAY))
def test_what_factors_do_not_pass_through(case):
    before, after = (str(passed(two(STAY[case]), pipeline)[0]) for pipeline in (FUSED, EQUALIZED))
    assert before == after


def test_a_value_that_somebody_else_reads_stays():
    def body(text, x):
        h = relu(text, product(text, "matmul", x, np.float32([[1, 2, 3, 400]] * 5)))
        return [h, ops.matmul(text, h, text.constant(np.ones((4, 3), np.float32)))]

    before, after = (str(passed(program((3, 5), body), pipeline)[0]) for pipeline in (FUSED, EQUALIZED))
    assert before == after


def test_rows_are_no_channels_of_the_second_product():
    """Rows and channels have one size. Hazard: a transpose behind the first, so that the second adds rows up."""

    def body(text, x):
        h = ops.transpose(text, product(text, "matmul", x, np.float32([[1, 2, 3, 400]] * 5)), [1, 0])
        return ops.matmul(text, h, text.constant(np.ones((4, 3), np.float32)))

    before, after = (str(passed(program((4, 5), body), pipeline)[0]) for pipeline in (FUSED, EQUALIZED))
    assert before == after


@pytest.mark.parametrize("axes", [[1, 2], [2, 3]])
def test_channels_are_followed_to_another_axis_and_may_end_there(axes):
    """Height, width and channels have one size: channels that were summed up look like rows."""
    rng = np.random.default_rng(2)

    def numbers(*shape):
        return (rng.standard_normal(shape) * np.float32([1, 64, 0.01])).astype(np.float32)

    def body(text, x):
        y = ops.transpose(text, product(text, "hwcf", x, numbers(2, 2, 3, 3)), [0, 3, 1, 2])
        return ops.matmul(text, ops.mean(text, y, axes=axes), text.constant(numbers(3, 3)))

    text = program((2, 4, 4, 3), body)
    module, _ = passed(text, EQUALIZED)
    assert ("/equalized" in str(module)) == (axes == [2, 3])
    x = rng.standard_normal((2, 4, 4, 3)).astype(np.float32)
    np.testing.assert_array_equal(qrt.compile(module)(x), qrt.compile(text)(x))


def test_channels_that_nothing_uses_or_makes_stay():
    first, second = np.float32([[1, 2, 0, 400]] * 5), np.ones((4, 3), np.float32)
    second[1] = 0
    found = weights(passed(two(relu, first=first, second=second), EQUALIZED)[0])
    np.testing.assert_array_equal(found[5, 4][:, :3], first[:, :3])
    assert found[5, 4][0, 3] == 25


@pytest.mark.parametrize("place", ["weights", "bias", "second"])
def test_a_channel_that_would_lose_bits_stays(place):
    """400 would become 25; a number of the same channel is too small for that, or subnormal already."""
    first, second = np.float32([[1, 2, 3, 400]] * 5), np.ones((4, 3), np.float32)
    bias = np.zeros(4, np.float32)
    if place == "weights":
        first[0, 3] = 2e-38
    elif place == "bias":
        bias[3] = 2e-38
    else:
        second[3, 0] = 1e-39
    module, said = passed(two(relu, first=first, second=second, bias=bias), EQUALIZED)
    np.testing.assert_array_equal(weights(module)[5, 4][:, 3], first[:, 3])
    assert any("channel 3 is not equalized: a value would be out of the normal range of f32" in each for each in said)


def test_a_type_of_few_exponents_stays():
    text = two(relu).replace("f32", "f16")
    fused = passed(text, FUSED)[0]
    assert kernels(fused) == ["matmul", "matmul"]
    assert str(passed(text, EQUALIZED)[0]) == str(fused)


@pytest.mark.parametrize(
    "spec", ["!quant.uniform<i8:f32, 0.5>", "!quant.calibrated<f32<-1.0:1.0>>", "!quant.none<f32>"]
)
def test_a_type_or_a_range_that_is_given_keeps_its_value(spec):
    fused = str(passed(two(relu), FUSED)[0])
    for place in (["input_specs = [f32, f32]"], ["output_specs = [f32]"]):
        for old in place:
            text = fused.replace(old, old.replace("f32]", f"{spec}]"), 1)
            assert text != fused
            assert "/equalized" not in str(passed(text, "equalize-scales")[0])


def test_values_that_change_get_other_keys_and_no_others():
    module, _ = passed(two(relu), EQUALIZED)
    assert keys(module) == ["main/arg0", "main/matmul.0/equalized", "main/matmul.1"]


def test_three_products_come_to_rest():
    """A change of one pair asks for one of the next."""
    rng = np.random.default_rng(8)

    def body(text, x):
        for _ in range(4):
            w = rng.standard_normal((5, 5)) * np.exp2(rng.integers(-9, 9, (5, 1)))
            x = relu(text, ops.matmul(text, x, text.constant(w.astype(np.float32))))
        return x

    module, _ = passed(program((3, 5), body), EQUALIZED)
    again = qrt.ir.run_passes(qrt.ir.parse(str(module)), "equalize-scales")
    assert str(again) == str(module)
