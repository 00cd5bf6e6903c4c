"""Types chosen from data: 0 must be a storage value (padding, ReLU), and no value may fall outside its type."""

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from examples.digits import quantize
from examples.digits.quantize import Constant, activation_type, bias_type, round_up, weights_type
from examples.digits.write_ir import spelled

values = st.just(0.0) | st.floats(1e-30, 1e4) | st.floats(-1e4, -1e-30)


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(quantize).failed == 0


@given(st.floats(1e-30, 1e30))
def test_round_up_is_never_below_and_hardly_above(scale: float) -> None:
    assert scale * (1 - 1e-8) <= round_up(scale) <= scale * 1.0101
    assert round_up(round_up(scale)) == round_up(scale)


@given(values, values)
def test_activation_types_hold_zero_exactly_and_cover_the_range(a: float, b: float) -> None:
    element = activation_type(np.array([a, b]))
    assert -128 <= element.zero_point <= 127
    for value in (a, b):
        stored = np.clip(round(value / element.scale) + element.zero_point, -128, 127)
        assert abs((stored - element.zero_point) * element.scale - value) <= element.scale * 1.001


def test_zero_point_of_values_never_negative_is_the_storage_minimum() -> None:
    assert activation_type(np.array([0.5, 3.0])).zero_point == -128
    assert activation_type(np.array([0.0, 0.0])).zero_point == -128


@pytest.mark.parametrize("axis", [0, 1])
def test_weights_are_symmetric_with_a_scale_per_channel(axis: int) -> None:
    weights = np.random.default_rng(4).normal(size=(6, 7)).astype(np.float32)
    weights[3] = weights[:, 3] = 0  # a dead channel has no range to take a scale from
    element = weights_type(weights, axis)
    assert (element.axis, len(element.scales), set(element.zero_points)) == (axis, weights.shape[axis], {0})
    storage = Constant.quantized(weights, element).storage
    assert storage.dtype == np.int8
    assert storage.min() >= -127
    scales = np.expand_dims(element.scales, 1 - axis)
    assert np.all(np.abs(storage * scales - weights) <= scales * 0.5001)
    assert np.all(np.abs(storage).max(axis=1 - axis)[[0, 1, 2, 4, 5]] >= 125)


def test_bias_is_at_the_scale_of_the_accumulator() -> None:
    weights = qrt.UniformType("i8", "f32", scales=[0.25, 0.0137], axis=1)
    bias = bias_type(qrt.UniformType("i8", "f32", scales=0.0203, zero_points=-128), weights)
    assert str(bias.storage_type) == "i32"
    assert bias.axis == 0
    assert bias.scales == (0.0203 * 0.25, 0.0203 * 0.0137)
    assert set(bias.zero_points) == {0}


@given(st.lists(st.floats(1e-30, 1e30), min_size=1, max_size=40))
def test_types_are_written_as_what_they_are(scales: list[float]) -> None:
    element = qrt.UniformType("i8", "f32", scales=scales, axis=0, storage_min=-127, storage_max=127)
    assert qrt.parse_type(spelled(element)) == element
