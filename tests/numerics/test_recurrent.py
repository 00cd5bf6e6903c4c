"""Multipliers of an lstm. Hazard: scales so far apart that their quotient is infinite, which warned."""

import pytest

from qrt.errors import QuantTypeError
from qrt.numerics import lstm_gate


@pytest.mark.parametrize(
    "scales",
    [
        (1.0, 1e-9, 1.0, 1e30, 1.0, None, None, 1e-30),
        (1e-30, 1.0, 1.0, 1.0, 1e30, None, None, 1e-30),
        (1e-30, 1e-30, 0.5, 1.0, 1.0, 1e30, None, 1e-30),
        (1.0, 1.0, 0.5, 1.0, 1.0, None, 1e39, 1.0),
    ],
)
def test_scales_too_far_apart_have_no_multiplier(scales: tuple[float, ...]) -> None:
    with pytest.raises(QuantTypeError, match="give a multiplier beyond the range of float32"):
        lstm_gate(*scales)
