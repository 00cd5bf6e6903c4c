"""lookup and softmax lowered. Hazards: an index from the bound and not the least value, a table read as signed, sums
of more than 32 bits, a fused or reordered float64 operation, a quotient that overflows."""

import numpy as np
import pytest

from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import check_lowered
from tests.ops.harness import tensor

T = UniformType("i8", "f32", 0.1)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1 / 256, 1e300, 1.7e308])
@pytest.mark.parametrize("sign", "iu")
def test_softmax_of_the_whole_range(scale, sign):
    """Differences of 255; products and quotients that overflow; sums of more than 32 bits."""
    t = UniformType(f"{sign}8", "f64", 10.0, 0)
    low, high = t.default_bounds
    x = np.array([[low, high, low, high, high], [low] * 5, [low, low + 1, low, low, high]], f"{sign}1")
    check_lowered("softmax", [x], [tensor(x.shape, t)], UniformType("i8", "f64", scale, -5))


def test_softmax_rounds_half_to_even():
    """Quotients of equal values, exactly 0.5."""
    for count, scale, wanted in ((2, 1.0, 0), (4, 0.5, 0), (16, 0.125, 0)):
        x, out = np.zeros((1, count), np.int8), UniformType("u8", "f32", scale)
        got = check_lowered("softmax", [x], [tensor(x.shape, T)], out)
        assert (got == wanted).all()
