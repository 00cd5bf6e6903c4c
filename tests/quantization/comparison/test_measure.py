"""Errors at outputs, by figures that are computed here with fractions. Hazards: a comparison by rounded decibels, a NaN
that compares as equal, a split of the sample that shows."""

from fractions import Fraction
from itertools import pairwise
from math import log10

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.quantization.comparison.measure import Error, Reference
from qrt.quantization.steps import NamedProgram

FLOAT = """
func.func @main(%x: tensor<?x3xf32> {qrt.name = "x"}) -> (tensor<?x3xf32> {qrt.name = "y"}, tensor<?x1xf32>) {
  %0 = arith.addf %x, %x : tensor<?x3xf32>
  %1 = tensor.extract_slice %0[0, 0] [2, 1] [1, 1] : tensor<?x3xf32> to tensor<2x1xf32>
  %2 = tensor.cast %1 : tensor<2x1xf32> to tensor<?x1xf32>
  return %0, %2 : tensor<?x3xf32>, tensor<?x1xf32>
}
"""
ROUNDED = FLOAT.replace(
    "%1 = ", "%q = quant.qcast %0 : tensor<?x3xf32> to tensor<?x3x!quant.uniform<i8:f32, 1.0>>\n%1 = "
).replace("return %0,", "%d = quant.dcast %q : tensor<?x3x!quant.uniform<i8:f32, 1.0>> to tensor<?x3xf32>\nreturn %d,")
X = np.float32([[0.25, 1.0, 0.625], [-0.25, 0.125, 0.375], [1.0, 1.125, 0.5], [0.5, 0.625, 0.75]])


def reference(*batches: np.ndarray) -> Reference:  # type: ignore[type-arg]
    return Reference(NamedProgram(ir.parse(FLOAT), ()), None, [{"x": batch} for batch in batches])


@pytest.mark.parametrize("split", [[0, 2, 4], [0, 4]])
def test_the_error_of_outputs_is_exact(split: list[int]) -> None:
    found = reference(*(X[a:b] for a, b in pairwise(split))).noise(ir.parse(ROUNDED))
    values = [[Fraction(float(v)) * 2 for v in row] for row in X]
    errors = [[v - round(v) for v in row] for row in values]  # half to even, as qcast rounds
    first, second = found.outputs
    assert first.error.signal == sum(v * v for row in values for v in row)
    assert first.error.noise == sum(e * e for row in errors for e in row) > 0
    same = [row.index(max(row)) == [round(v) for v in row].index(max(map(round, row))) for row in values]
    assert (first.rows, first.same) == (4, same.count(True))
    assert 0 < same.count(False) < 4
    assert (second.rows, second.error.noise, second.same_answers) == (0, 0, None)
    assert found.same_answers == same.count(True) / 4
    assert found.noise == first.error.noise
    assert found.snr == pytest.approx(10 * log10(found.signal / found.noise), abs=1e-12)


def test_programs_are_compared_beyond_the_digits_of_decibels() -> None:
    """The two errors differ in the 60th bit."""
    one, other = (Error(Fraction(1), Fraction(1, 3) + add) for add in (Fraction(0), Fraction(1, 2**60)))
    assert one.snr == other.snr
    assert one.cost < other.cost


def test_a_value_that_is_no_number_costs_most() -> None:
    broken = Error.of(np.float32([1, 2, 3]), np.float32([1, np.nan, np.inf]))
    assert (broken.nonfinite, broken.noise, broken.signal, broken.snr) == (2, 0, 14, -np.inf)
    assert broken.cost > Error.of(np.float32([1, 2, 3]), np.float32([-1e30, 0, 0])).cost


def test_differences_beyond_float64_count() -> None:
    found = Error.of(np.float64([1.5e308, 1.0]), np.float64([-1.5e308, 1.5]))
    exact = (2 * Fraction(1.5e308)) ** 2 + Fraction(1, 4)
    assert abs(found.noise - exact) <= exact / 2**50


def test_a_float_program_that_gives_nan_is_refused_at_its_output() -> None:
    text = FLOAT.replace("arith.addf %x, %x", "math.log %x")
    with pytest.raises(
        ModelError, match=r"run 2 of the sample: output 'y' of the float program must be finite, got nan"
    ):
        Reference(NamedProgram(ir.parse(text), ()), None, [{"x": X[2:]}, {"x": X[:2]}])


def test_a_compiled_program_is_taken_too() -> None:
    module = ir.parse(ROUNDED)
    assert reference(X).noise(qrt.compile(module)) == reference(X).noise(module)
