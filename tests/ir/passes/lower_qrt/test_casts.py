"""requantize and clamp lowered. Hazards: parameters of operand and result along different axes or in blocks, bounds of
unsigned storage compared as signed, constants of odd widths."""

from fractions import Fraction

import numpy as np
import pytest

from qrt.errors import VerifyError
from qrt.numerics import REQUANT_RULES, fixed_multiplier
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import check_lowered, lowered
from tests.ops.harness import tensor
from tests.ops.strategies import storage_of


@pytest.mark.parametrize("rule", REQUANT_RULES)
def test_requantize_blocks(rule):
    blocks = UniformType("i8", "f32", [[0.5, 1.5], [2.0, 0.25]], [[1, -128], [127, 0]], block_sizes={0: 2, 1: 3})
    rows = UniformType("u8", "f32", [[0.5], [1.0], [2.0], [3.0]], [[0], [1], [255], [3]], block_sizes={0: 1})
    x = storage_of(blocks, (4, 6), np.random.default_rng(1))
    for out in (
        rows,
        UniformType("i4", "f32", 9.0, -8),
        rows.with_(scales=[1.0] * 4, zero_points=[0, 1, 2, 3], block_sizes=None, axis=0),
    ):
        check_lowered("requantize", [x], [tensor((4, 6), blocks)], out, requant=rule)


@pytest.mark.parametrize(
    ("scale", "shift"),
    [(2.0**-32, 62), (2.0**-33, 63), (0.5, 31), (1.0, 30), (2.0**29, 1), (2.0**30, 0), (2.0**31, -1), (2.0**70, -40)],
)
def test_requantize_shifts(scale, shift):
    """Every kind of shift, and multipliers of exactly 1 and above: negative ties, and results that saturate."""
    assert fixed_multiplier(Fraction(scale)) == (1 << 30, shift)
    t, out = UniformType("i16", "f64", scale, -7), UniformType("i32", "f64", 1.0, 5)
    x = np.int16([-32768, -32767, -8, -7, -6, -5, 0, 1, 32767])
    check_lowered("requantize", [x], [tensor(x.shape, t)], out)


def test_what_has_no_rank_is_refused():
    t = "tensor<*x!quant.uniform<i8:f32, 0.5>>"
    for op in ("requantize", "clamp"):
        with pytest.raises(VerifyError, match=rf"'qrt.{op}' op cannot be lowered: a ranked tensor is required"):
            lowered(f"func.func @f(%x: {t}) -> {t} {{ %0 = qrt.{op} %x : ({t}) -> {t} return %0 : {t} }}")
