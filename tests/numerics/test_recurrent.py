"""Multipliers of recurrent ops. Hazard: scales so far apart that their quotient is infinite, which warned."""

import pytest

from qrt.errors import QuantTypeError
from qrt.numerics.recurrent import _gate


def test_scales_too_far_apart_have_no_multiplier() -> None:
    with pytest.raises(QuantTypeError, match="too far apart for a multiplier"):
        _gate(1e30, 1.0, 1e-30)
