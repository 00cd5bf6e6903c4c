"""How far floats of an operator may lie from LiteRT's. Hazards: results near 0, of which a unit in the last place is
nothing; a sum whose terms cancel, so that little is left to compare with."""

import numpy as np
import pytest

from qrt.models.diff.tally import DifferenceTally
from qrt.models.importing.comparison_source import Bound, bounds_of_outputs
from qrt.models.profiles import PROFILES
from qrt.models.tflite.comparison_source import bound_of, compared, inputs_of
from qrt.models.tflite.read import read
from qrt.runtime.compilation import compile
from qrt.runtime.functions import choose
from tests.models.tflite.generated import fourier, recurrent_plain
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

F32 = np.float32
LEAST = 2.0**-126


@pytest.mark.parametrize(
    ("operator", "ours", "theirs", "is_near"),
    [
        ("LOGISTIC", 1.1e-38, 0.0, True),
        ("LOGISTIC", 1.2e-38, 0.0, False),
        ("EXP", 1.1e-38, 0.0, True),
        ("RELU", 1e-39, 0.0, True),
        ("HARD_SWISH", -5.2e-8, 0.0, True),
        ("HARD_SWISH", -1.3e-7, 0.0, False),
        ("GELU", -1e-6, 0.0, False),
        ("SIN", 2e-7, 4e-7, True),
        ("ADD", 2e-7, 4e-7, False),
    ],
)
def test_small_results_lie_near_by_a_number(operator, ours, theirs, is_near):
    tally = DifferenceTally(bound_of(operator))
    tally.add(F32([ours, 1]), F32([theirs, 1]))
    assert (tally.differ == 0) is is_near


@pytest.mark.parametrize("name", ["SUM", "MEAN"])
@pytest.mark.parametrize("is_input", [True, False])
def test_a_sum_lies_as_far_apart_as_its_terms_say(name, is_input):
    """An input of the graph is known by its name, another tensor by its index."""
    given, x, y = Tensor((2, 3, 4), "float32"), Tensor((2, 3, 4), "float32"), Tensor((3,), "float32")
    axes = Tensor((2,), "int32", data=[0, 2])
    operators = [Operator(name, [given if is_input else x, axes], [y], {"keep_dims": False})]
    content = one_op(name, [given, axes], [y], {"keep_dims": False})
    if not is_input:
        operators.insert(0, Operator("ABS", [given], [x], {}))
        content = write([Subgraph([given], [y], operators)])
    made = compared(content, PROFILES["litert"]).tensors[-1]
    key = "t0" if is_input else 1
    assert (made.reads, made.terms) == ((key,), 8)
    array = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(F32)
    assert made.alone is not None
    (result,) = compile(made.alone(np.abs, {key: array})).run({str(key): np.abs(array)}).values()
    wanted = np.abs(array).sum((0, 2)) / (8 if name == "MEAN" else 1)
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)


@pytest.mark.parametrize(("name", "dtype", "excluded"), [("DIV", "int16", 7), ("FLOOR_MOD", "int16", 0)])
def test_drawn_divisors_are_not_zero(name, dtype, excluded):
    """LiteRT rejects zeros: the zero point of DIV, and a stored 0 of FLOOR_MOD, which ignores zero points."""
    tensors = [Tensor((50,), dtype, 0.5, 7) for _ in range(3)]
    dividend, divisor = inputs_of(read(one_op(name, tensors[:2], tensors[2:], {})).subgraphs[0])
    assert (dividend.excluded, divisor.excluded) == (None, excluded)


def test_drawn_divisors_of_floats_are_any():
    tensors = [Tensor((50,), "float32") for _ in range(3)]
    ports = inputs_of(read(one_op("DIV", tensors[:2], tensors[2:], {})).subgraphs[0])
    assert [port.excluded for port in ports] == [None, None]


def test_an_output_of_a_whole_run_has_the_greatest_bound_of_its_operators():
    """An operator on which an output does not depend has no part in it."""
    x, exponential, near, sine = (Tensor((4,), "float32") for _ in range(4))
    operators = [Operator("EXP", [x], [exponential]), Operator("RELU", [exponential], [near])]
    operators.append(Operator("SIN", [x], [sine]))
    source = compared(write([Subgraph([x], [near, sine, exponential], operators)]), PROFILES["litert"])
    bounds = bounds_of_outputs(choose(source.module, None), source.tensors)
    assert [(bound.ulp, bound.absolute) for bound in bounds] == [(64, LEAST), (4, 2.0**-21), (64, LEAST)]
    assert all(bound.is_sum for bound in bounds)


@pytest.mark.parametrize("name", ["RNN", "LSTM"])
def test_whole_runs_of_recurrent_operators_have_their_bound(name):
    case = recurrent_plain.CASES[f"{name} float32{', BASIC' if name == 'LSTM' else ''}"](np.random.default_rng(1))
    source = compared(case.content, PROFILES["litert"])
    for bound in bounds_of_outputs(choose(source.module, None), source.tensors):
        assert bound == Bound(64, is_sum=True, absolute=LEAST)


@pytest.mark.parametrize("part", ["COMPLEX_ABS", "IMAG", "REAL"])
def test_parts_of_transforms_have_the_bound_of_their_forms(part):
    """The imaginary parts of a constant are 0 up to a rest, which depends on the order of sums in float64."""
    case = fourier.CASES[f"{part} of RFFT2D"](np.random.default_rng(1))
    assert bound_of(part) == Bound(case.ulp, is_sum=True, absolute=case.absolute)
