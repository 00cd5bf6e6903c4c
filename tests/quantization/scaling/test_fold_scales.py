"""What is done to the channels of a product goes into its weights. Hazards: a number in the wrong channel, a fold that
is less exact than is said, a value that somebody else reads, a factor without an inverse, a key of a value that is
gone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt.quantization.targets import Target, TargetKernel, TargetPort, register_target
from tests.quantization import float_text as ops
from tests.quantization.scaling.layers import (
    INPUTS,
    SUMMED,
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
NAMES = {"mul": "arith.mulf", "div": "arith.divf", "add": "arith.addf", "sub": "arith.subf", "from": "arith.subf"}


@st.composite
def normalized(draw):
    """A program, and one that sums the magnitudes of all that it adds up; how many numbers are added, and the steps."""
    kind = draw(st.sampled_from(sorted(WEIGHTS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def numbers(*shape):
        return (np.exp2(rng.uniform(-12, 12, shape)) * rng.choice([-1, 1], shape)).astype(np.float32)

    before = draw(st.lists(st.sampled_from(["mul", "div"]), max_size=1))
    # A division of values is the nearest kernel of none: it stays outside, and is folded from there.
    after = draw(st.lists(st.sampled_from(sorted(NAMES)), min_size=not before, max_size=4))
    weights, bias = numbers(*WEIGHTS[kind]), draw(st.sampled_from([None, numbers(channels(kind))]))
    first, others = [numbers(INPUTS[kind][-1]) for _ in before], [numbers(channels(kind)) for _ in after]
    relu = draw(st.booleans())

    def text(is_magnitude):
        size = np.abs if is_magnitude else np.asarray

        def body(text, x):
            for name, factors in zip(before, first, strict=True):
                x = text.binary(NAMES[name], x, vector(text, size(factors), x))
            y = product(text, kind, x, size(weights), None if bias is None else size(bias))
            for name, factors in zip(after, others, strict=True):
                operands = y, vector(text, size(factors), y)
                operands = operands[::-1] if name == "from" else operands
                y = text.binary("arith.addf" if is_magnitude and name in ("sub", "from") else NAMES[name], *operands)
            return ops.clamp(text, y, 0, None) if relu else y

        return program(INPUTS[kind], body)

    x = numbers(*INPUTS[kind])
    return text(False), text(True), x, SUMMED[kind], len(before) + len(after)


@settings(max_examples=15)
@given(normalized())
def test_all_is_folded_within_the_bound(drawn):
    text, magnitudes, x, count, steps = drawn
    module, said = passed(text, f"{FUSED},fold-scales")
    assert len(kernels(module)) == 1, said
    most = np.float64(qrt.compile(magnitudes)(np.abs(x)))
    error = np.abs(np.float64(qrt.compile(module)(x)) - qrt.compile(text)(x))
    assert (error <= (2 * count + 4 * steps + 4) * 2.0**-24 * most).all()


def test_each_number_is_rounded_once_by_each_step():
    rng = np.random.default_rng(5)
    w, b, s, d, t = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 4), 4, 4, 4, 4))

    def body(text, x):
        y = product(text, "matmul", x, w, b)
        y = ops.mul(text, y, vector(text, s, y))
        y = text.binary("arith.divf", y, vector(text, d, y))
        return ops.add(text, y, vector(text, t, y))

    module, _ = passed(program((3, 5), body), f"{FUSED},fold-scales")
    found = [op.attributes["value"].python for op in module.operation.walk() if op.name == "arith.constant"]
    found = {array.shape: array for array in found if isinstance(array, np.ndarray) and array.ndim}
    np.testing.assert_array_equal(found[5, 4], (w * s) / d)
    np.testing.assert_array_equal(found[4,], (b * s) / d + t)


NORMALIZATION = """
#all = affine_map<(a, b) -> (a, b)>
#channel = affine_map<(a, b) -> (b)>
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f64
  %n = tensor.dim %x, %c0 : tensor<?x3xf32>
  %w = arith.constant dense<[[1.0, 2.0], [-3.0, 4.0], [0.5, 8.0]]> : tensor<3x2xf32>
  %gamma = arith.constant dense<[1.5, -0.75]> : tensor<2xf32>
  %beta = arith.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %mean = arith.constant dense<[3.0, -1.0]> : tensor<2xf32>
  %variance = arith.constant dense<[4.0, 0.3]> : tensor<2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x2xf32>) -> tensor<?x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x3xf32>, tensor<3x2xf32>) outs(%f : tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = linalg.generic {indexing_maps = [#all, #channel, #channel, #channel, #channel, #all],
                       iterator_types = ["parallel", "parallel"]}
    ins(%0, %gamma, %beta, %mean, %variance
        : tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%0 : tensor<?x2xf32>) {
  ^bb0(%v: f32, %g: f32, %b: f32, %m: f32, %s: f32, %out: f32):
    %t = arith.truncf %eps : f64 to f32
    %2 = arith.addf %s, %t : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.subf %v, %m : f32
    %5 = arith.mulf %4, %3 : f32
    %6 = arith.mulf %5, %g : f32
    %7 = arith.addf %6, %b : f32
    linalg.yield %7 : f32
  } -> tensor<?x2xf32>
  %z = tensor.splat %zero[%n] : tensor<?x2xf32>
  %8 = arith.maximumf %1, %z : tensor<?x2xf32>
  return %8 : tensor<?x2xf32>
}
"""


def test_a_batch_normalization_in_one_op_is_folded_with_the_relu_behind_it():
    """The form in which torch-mlir writes it, which no kernel computes; sizes are open."""
    fused, _ = passed(NORMALIZATION, FUSED)
    assert kernels(fused) == ["matmul", "clamp"]
    module, _ = passed(NORMALIZATION, f"{FUSED},fold-scales")
    assert kernels(module) == ["matmul"]
    assert not any(op.name == "linalg.generic" and "rsqrt" in str(op) for op in module.operation.walk())
    assert keys(module) == ["main/arg0", "main/clamp.0"]
    x = np.random.default_rng(1).standard_normal((50, 3)).astype(np.float32)
    np.testing.assert_allclose(qrt.compile(module)(x), qrt.compile(NORMALIZATION)(x), rtol=0, atol=2e-5)


def test_a_constant_is_rounded_as_the_program_rounds_it():
    """0.1 of f32 is another number than 0.1 of f64, and so are the products with it."""
    old = "%4 = arith.subf %v, %m : f32"
    text = (
        NORMALIZATION.replace("1.0e-05", "0.1")
        .replace("[[1.0, 2.0]", "[[1.7, 2.3]")
        .replace(old, "%4 = arith.mulf %v, %t : f32")
    )
    text = text.replace("%5 = arith.mulf %4, %3", "%5 = arith.mulf %4, %c").replace(
        "%3 = math.rsqrt %2", "%c = arith.mulf %t, %t"
    )
    module, _ = passed(text, f"{FUSED},fold-scales")
    w = np.float32([[1.7, 2.3], [-3.0, 4.0], [0.5, 8.0]])
    tenth, gamma = np.float32(0.1), np.float32([1.5, -0.75])
    (found,) = [
        op.attributes["value"].python
        for op in module.operation.walk()
        if op.name == "arith.constant" and str(op.results[0].type) == "tensor<3x2xf32>"
    ]
    np.testing.assert_array_equal(found, w * tenth * (tenth * tenth) * gamma)
    assert (found != np.float32(np.float64(w) * 0.1) * (tenth * tenth) * gamma).any()


def dense(text, x, step, *, clamped=False, weights=None):
    w = np.float32([[1, -2, 3, 0.5]] * 5) if weights is None else weights
    y = product(text, "matmul", x, w)
    return step(text, ops.clamp(text, y, 0, None) if clamped else y)


def by(numbers):
    return lambda text, y: ops.mul(text, y, vector(text, np.float32(numbers), y))


def rows(text, y):
    return ops.mul(text, y, text.constant(np.float32([[1] * 4, [2] * 4, [3] * 4])))


NEAR = {
    "a row": (lambda t, x: dense(t, x, rows), "differ along axis 0"),
    "zero": (lambda t, x: dense(t, x, by([1, 0, 2, 3])), "a channel by 0"),
    "infinity": (lambda t, x: dense(t, x, by([1, np.inf, 2, 3])), "one of its values is infinite or NaN"),
    "a tiny weight": (lambda t, x: dense(t, x, by([1, 1e-39, 2, 3])), "out of the normal range of f32"),
    "a large weight": (lambda t, x: dense(t, x, by([1, 2, 3e38, 3])), "out of the normal range of f32"),
    "a clamp between": (lambda t, x: dense(t, x, by([1, 2, 3, 4]), clamped=True), None),
    "a clamp on both sides": (
        lambda t, x: dense(t, x, lambda t, y: ops.clamp(t, by([1, -2, 3, 4])(t, y), 0, None), clamped=True),
        None,
    ),
    "two that vary": (lambda t, x: dense(t, x, lambda t, y: ops.mul(t, y, y)), None),
    "another user": (lambda t, x: [y := dense(t, x, lambda t, y: y), by([1, 2, 3, 4])(t, y)], None),
    "two factors": (
        lambda t, x: [by([1, 2, 3, 4])(t, y := dense(t, x, lambda t, y: y)), by([4, 3, 2, 1])(t, y)],
        None,
    ),
    "two users": (lambda t, x: dense(t, x, lambda t, y: ops.add(t, by([1, 2, 3, 4])(t, y), ops.tanh(t, y))), None),
    "a sum before": (
        lambda t, x: product(t, "matmul", ops.add(t, x, t.splat(2, x.shape)), np.float32([[1, 2, 3, 4]] * 5)),
        None,
    ),
}


@pytest.mark.parametrize("case", sorted(NEAR))
def test_what_must_stay(case):
    body, message = NEAR[case]
    text = program((3, 5), body)
    text = text.replace("inf,", "0x7F800000,")
    before, _ = passed(text, FUSED)
    after, said = passed(text, f"{FUSED},fold-scales")
    assert str(after) == str(before)
    if message is not None:
        assert any(message in each and "is not folded into kernel 'matmul'" in each for each in said), said


def test_a_sum_with_a_nan_stays():
    def step(text, y):
        y = by([1, 2, 3, 4])(text, y)
        return ops.add(text, y, vector(text, np.float32([1, 2, 3, 9]), y))

    text = program((3, 5), lambda t, x: dense(t, x, step)).replace("9.000000000e+00", "0x7FC00000")
    after, said = passed(text, f"{FUSED},fold-scales")
    assert kernels(after) == ["matmul", "add"]
    assert any("one of its values is infinite or NaN" in each for each in said)


def test_a_target_without_biases_keeps_sums():
    port = TargetPort("a", "i8"), TargetPort("w", "i8", -127, 127, symmetric=True), TargetPort("y", "i8")
    two = tuple(TargetKernel(name, port[:2], port[2:]) for name in ("matmul", "add", "mul"))
    register_target(Target("no-biases", two))

    def body(text, x):
        y = dense(text, x, by([1, 2, 3, 4]))
        return ops.add(text, y, vector(text, np.float32([1, 2, 3, 4]), y))

    text = program((3, 5), body)
    fused = "fuse-kernels{target=no-biases}"
    after, said = passed(text, f"{fused},fold-scales{{target=no-biases}}")
    assert kernels(after) == ["matmul", "add"]
    assert any("has no port for a bias" in each for each in said)
    assert kernels(passed(text, f"{fused},fold-scales")[0]) == ["matmul"]  # qrt-cpu has one


REGIONS = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %s = arith.constant dense<[[2.0, 4.0]]> : tensor<1x2xf32>
  %0 = quant.region (%x, %w) {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>):
    %z = arith.constant dense<0.0> : tensor<2x2xf32>
    %m = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
    quant.return %m : tensor<2x2xf32>
  } {input_specs = [IN, WEIGHTS], output_specs = [BETWEEN], kernel = "matmul", quant.key = "main/matmul.0"}
    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = quant.region (%0, %s) {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<1x2xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, j)>,
      affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<2x2xf32>, tensor<1x2xf32>) outs(%a : tensor<2x2xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %q, %p : f32
      linalg.yield %t : f32
    } -> tensor<2x2xf32>
    quant.return %r : tensor<2x2xf32>
  } {input_specs = [TAKEN, f32], output_specs = [OUT], kernel = "mul", quant.key = "main/mul.0"}
    : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
"""


def specified(**said):
    text = REGIONS
    for name in ("IN", "WEIGHTS", "BETWEEN", "TAKEN", "OUT"):
        text = text.replace(name, said.get(name, "f32"))
    return text


def test_specifications_go_where_their_values_go():
    said = {
        "IN": "!quant.calibrated<f32<-1.0:1.0>>",
        "WEIGHTS": "!quant.any<i4:f32>",
        "BETWEEN": "!quant.calibrated<f32<-8.0:8.0>>",
        "OUT": "!quant.uniform<i8:f32, 0.5>",
    }
    module, _ = passed(specified(**said), "fold-scales")
    (region,) = [op for op in module.operation.walk() if op.name == "quant.region"]
    assert [str(spec) for spec in region.specs] == [
        "!quant.calibrated<f32<-1.000000e+00:1.000000e+00>>",
        "!quant.any<i4:f32>",
        "!quant.uniform<i8:f32, 5.000000e-01>",
    ]
    assert region.attributes["quant.key"].python == "main/mul.0"


def test_the_specification_before_a_factor_is_the_product_s():
    def body(text, x):
        scaled = text.region(
            "mul", [x], ["!quant.uniform<i8:f32, 0.5>"], "f32", lambda t, a: ops.mul(t, a, t.splat(2, a.shape))
        )
        w = text.constant(np.float32([[1, 2, 3, 4]] * 5))
        return text.region("matmul", [scaled, w], ["f32", "f32"], "f32", ops.matmul)

    module, _ = passed(program((3, 5), body), "fold-scales")
    (region,) = [op for op in module.operation.walk() if op.name == "quant.region"]
    assert [str(spec) for spec in region.specs] == ["!quant.uniform<i8:f32, 5.000000e-01>", "f32", "f32"]


@pytest.mark.parametrize("name", ["WEIGHTS", "BETWEEN", "TAKEN"])
@pytest.mark.parametrize("spec", ["!quant.uniform<i8:f32, 0.5>", "!quant.none<f32>", "bf16"])
def test_a_type_that_is_given_keeps_its_value(name, spec):
    text = specified(**{name: spec})
    assert kernels(passed(text, "fold-scales")[0]) == ["matmul", "mul"]


def test_weights_that_others_use_stay_theirs():
    w = np.float32([[1, 2, 3, 4]] * 5)

    def body(text, x):
        shared = text.constant(w)
        y = ops.matmul(text, x, shared)
        return [by([2, 2, 2, 2])(text, y), ops.matmul(text, x, shared)]

    text = program((3, 5), body)
    module, _ = passed(text, f"{FUSED},fold-scales")
    assert kernels(module) == ["matmul", "matmul"]
    x = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    for a, b in zip(qrt.compile(module)(x), qrt.compile(text)(x), strict=True):
        np.testing.assert_array_equal(a, b)


def test_padding_does_not_keep_a_factor_outside():
    """Zeros around the images are zeros whatever they are multiplied by."""
    w = np.random.default_rng(2).standard_normal(WEIGHTS["hwcf"]).astype(np.float32)

    def body(text, x):
        return ops.conv2d(text, vector_times(text, x), text.constant(w), padding=1)

    def vector_times(text, x):
        return ops.mul(text, x, vector(text, np.float32([2, 0.5, -4]), x))

    text = program(INPUTS["hwcf"], body)
    module, _ = passed(text, f"{FUSED},fold-scales")
    assert kernels(module) == ["conv2d"]
    x = np.random.default_rng(3).standard_normal(INPUTS["hwcf"]).astype(np.float32)
    np.testing.assert_array_equal(qrt.compile(module)(x), qrt.compile(text)(x))  # powers of two round nothing
