"""Biases with the mean error of their products. Hazards: a mean that is rounded before the bias is, the error of a
clamp or of an output's type in place of the product's, a bias that its type does not hold, a product without a bias
that is left."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.quantization.calibration.observe import calibrate_program
from qrt.quantization.steps import Trial, exported, named, quantized
from qrt.quantization.targets import Target, TargetKernel, TargetPort, register_target
from qrt.quantization.targets.registry import find
from qrt.quantization.tuning.bias_correction import _nearest, corrected
from qrt.types import FloatType
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text
from tests.quantization.scaling.layers import INPUTS, OUTPUTS, WEIGHTS, Array, channels, product, program


def made(text: str, x: Array, target: str) -> Trial:
    start = named(ir.parse(text), find(target))
    records = calibrate_program(start.module, {"arg0": x}).records
    return quantized(start, find(target), records, "minmax")


def biases(module: ir.Module) -> list[Array]:
    """The biases of products, in order."""
    regions = [op for op in module.operation.walk() if op.name == "quant.region"]
    owners = [op.operands[2].operation for op in regions if len(op.operands) == 3]
    return [np.asarray(owner.attributes["value"].python) for owner in owners if owner is not None]


def grid(rng: np.random.Generator, *shape: int) -> Array:
    """Multiples of 2^-8 from -2 to 127/64, both ends among them: the type of such a range has scale 1/64."""
    found = rng.integers(-2 * 256, 127 * 4 + 1, shape) / 256
    found.reshape(-1)[:2] = -2, 127 / 64
    return found.astype(np.float32)


def on_grid(values: Array) -> Array:
    return np.rint(np.float64(values) * 64) / 64


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("relu", [True, False])
def test_a_bias_grows_by_the_exact_mean_of_the_error(has_bias: bool, relu: bool) -> None:
    """Sums of so few bits have no rounding, so that fractions say here what the mean is, of values before the relu."""
    rng = np.random.default_rng(4)
    x, w = grid(rng, 7, 5), grid(rng, 5, 4)
    w = np.maximum(w, -127 / 64).astype(np.float32)
    w[0], w[1] = 127 / 64, -127 / 64  # in each column: its scale is 1/64 too
    b = np.float32([0.5, -0.25, 0.125, 1.0]) if has_bias else None

    def body(text: Text, value: Tensor) -> Tensor:
        start = None if b is None else text.constant(b)
        return ops.matmul(text, value, text.constant(w), start, relu=relu)

    trial = made(program((7, 5), body), x, "qrt-cpu")
    changed = corrected(trial.regions, find("qrt-cpu"), "main", [{"arg0": x}])
    assert changed is not None
    error = np.float64(x) @ np.float64(w) - on_grid(x) @ on_grid(w)
    assert error.any()
    sums = [sum(map(Fraction, column)) for column in error.T.tolist()]
    before = [Fraction(0)] * 4 if b is None else list(map(Fraction, b.tolist()))
    expected = [float(start + total / 7) for start, total in zip(before, sums, strict=True)]
    np.testing.assert_array_equal(biases(changed)[0], np.float32(expected))
    exported(changed, find("qrt-cpu"), ())  # the check of the whole program passes


@pytest.mark.parametrize("kind", sorted(WEIGHTS))
@pytest.mark.parametrize("target", ["qrt-cpu", "int4-weights", "int16x8", "tflite"])
def test_the_mean_error_goes_away(kind: str, target: str) -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(0, 2, INPUTS[kind]).astype(np.float32)
    w = rng.standard_normal(WEIGHTS[kind]).astype(np.float32)
    text = program(INPUTS[kind], lambda text, value: product(text, kind, value, w))
    trial = made(text, x, target)
    changed = corrected(trial.regions, find(target), "main", [{"arg0": x}])
    assert changed is not None
    after = exported(changed, find(target), ())
    float_program = qrt.compile(text)
    means = []
    for module in (trial.module, after.module):
        error = np.float64(float_program(x)) - qrt.compile(module)(x)
        means.append(np.abs(error.reshape(-1, channels(kind)).mean(0)).max())
    assert means[1] < means[0]
    assert biases(changed)[0].shape == (WEIGHTS[kind][OUTPUTS[kind]],)


def test_weights_alone_are_quantized() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.uniform(0, 2, (3, 5)).astype(np.float32), rng.standard_normal((5, 4)).astype(np.float32)
    trial = made(program((3, 5), lambda text, value: product(text, "matmul", value, w)), x, "weight-only")
    changed = corrected(trial.regions, find("weight-only"), "main", [{"arg0": x}])
    assert changed is not None
    y = np.float64(qrt.compile(exported(changed, find("weight-only"), ()).module)(x))
    np.testing.assert_allclose((np.float64(x) @ w - y).mean(0), 0, atol=1e-6)


def test_what_has_no_error_stays() -> None:
    w = np.float32([[1, 127], [-127, 3]]) / 64
    x = np.float32([[-2, 0.5], [127 / 64, 1]])
    trial = made(program((2, 2), lambda text, value: product(text, "matmul", value, w)), x, "qrt-cpu")
    assert corrected(trial.regions, find("qrt-cpu"), "main", [{"arg0": x}]) is None


def test_a_kernel_without_a_port_for_a_bias_stays() -> None:
    ports = TargetPort("a", "i8"), TargetPort("w", "i8", -127, 127, symmetric=True)
    register_target(Target("no-bias", (TargetKernel("matmul", ports, (TargetPort("y", "i8"),), "multiplier_scale"),)))
    rng = np.random.default_rng(1)
    x, w = rng.uniform(0, 2, (3, 5)).astype(np.float32), rng.standard_normal((5, 4)).astype(np.float32)
    trial = made(program((3, 5), lambda text, value: product(text, "matmul", value, w)), x, "no-bias")
    assert corrected(trial.regions, find("no-bias"), "main", [{"arg0": x}]) is None


def test_a_port_that_a_bias_adds_has_an_origin() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.uniform(0, 2, (3, 5)).astype(np.float32), rng.standard_normal((5, 4)).astype(np.float32)
    trial = made(program((3, 5), lambda text, value: product(text, "matmul", value, w)), x, "qrt-cpu")
    changed = corrected(trial.regions, find("qrt-cpu"), "main", [{"arg0": x}])
    assert changed is not None
    (region,) = [op for op in changed.operation.walk() if op.name == "quant.region"]
    origins = [each.python for each in region.attributes["quant.origins"].elements]
    assert origins == ["records main/arg0 (minmax)", "values", "constraint", "records main/matmul.0 (minmax)"]
    assert str(region.specs[2]).startswith("!quant.uniform<i32:f32:0, ")


@settings(max_examples=30)
@given(st.fractions(), st.integers(-140, 130), st.sampled_from(["f32", "bf16", "f64"]))
def test_a_rational_is_rounded_once(number: Fraction, power: int, name: str) -> None:
    number *= Fraction(2) ** power
    found, element = _nearest(number, FloatType(name)), FloatType(name)
    if np.isinf(found):
        assert abs(number) > Fraction(element.largest) * (1 - Fraction(1, 2**element.precision))
        return
    dtype = {"f32": np.float32, "f64": np.float64}.get(name)
    if dtype is not None:
        assert dtype(found) == found
        distance = abs(Fraction(found) - number)
        for other in (np.nextafter(dtype(found), dtype(end)) for end in (-np.inf, np.inf)):
            assert np.isinf(other) or abs(Fraction(float(other)) - number) >= distance
    else:
        assert np.float32(found).view(np.uint32) & 0xFFFF == 0


def test_a_tie_goes_to_the_even_number() -> None:
    f32 = FloatType("f32")
    assert _nearest(1 + Fraction(1, 2**24), f32) == 1
    assert _nearest(1 + Fraction(3, 2**24), f32) == 1 + 2.0**-22
    assert _nearest(1 + Fraction(1, 2**24) + Fraction(1, 2**80), f32) == 1 + 2.0**-23  # float64 comes between in vain
    assert _nearest(Fraction(1, 2**100) * (1 + Fraction(1, 2**20)), f32) == 2.0**-100 * (1 + 2.0**-20)
    assert _nearest(Fraction(5, 2**150), f32) == 2.0**-148  # below the normal numbers: a multiple of 2^-149, to even
