"""requantize and clamp lowered. Hazards: parameters of operand and result along different axes or in blocks, bounds of
unsigned storage compared as signed, constants of odd widths."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import VerifyError
from qrt.numerics import fixed_multiplier
from qrt.ops.requant import max_magnitude
from qrt.types import UniformType
from tests.ops.harness import tensor
from tests.ops.strategies import generators, maybe_per_axis, rules, shapes, storage_of
from tests.passes.lower_qrt.harness import check_lowered, drawn, lowered

WIDTHS = range(2, 33)


@given(st.data(), generators(), st.integers(0, 3).flatmap(lambda rank: shapes(rank, 5)))
def test_requantize_drawn(data, rng, shape):
    """Channels of the operand and of the result along axes of their own."""
    axes = [data.draw(st.integers(0, len(shape) - 1)) if shape else 0 for _ in range(2)]
    t, out = (
        data.draw(maybe_per_axis(shape[axis] if shape else 0, axis, widths=WIDTHS, scales=st.floats(1e-3, 1e3)))
        for axis in axes
    )
    rule = data.draw(rules(max_magnitude(t)))
    check_lowered("requantize", [storage_of(t, shape, rng)], [tensor(shape, t)], out, options=drawn(data), requant=rule)


@pytest.mark.parametrize("rule", ["fixed", "fixed_double", "float32", "float64_away"])
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
    [(2.0**-32, 62), (2.0**-33, 63), (1.0, 30), (2.0**30, 0), (2.0**31, -1), (2.0**70, -40), (0.5, 31)],
)
def test_requantize_shifts(scale, shift):
    """Every kind of shift, and multipliers of exactly 1 and above: negative ties, and results that saturate."""
    assert fixed_multiplier(Fraction(scale)) == (1 << 30, shift)
    t, out = UniformType("i16", "f64", scale, -7), UniformType("i32", "f64", 1.0, 5)
    x = np.int16([-32768, -32767, -8, -7, -6, -5, 0, 1, 32767])
    check_lowered("requantize", [x], [tensor(x.shape, t)], out)


@given(st.data(), generators(), st.integers(1, 3).flatmap(lambda rank: shapes(rank, 5)))
def test_clamp_drawn(data, rng, shape):
    axis = data.draw(st.integers(0, len(shape) - 1))
    t = data.draw(maybe_per_axis(shape[axis], axis, widths=WIDTHS))
    limit = max(abs(t.storage_min), t.storage_max) * max(t.scales)
    bound = st.one_of(st.none(), st.floats(-limit, limit, allow_subnormal=False), st.just(0.0))
    low, high = data.draw(bound), data.draw(bound)
    if low is not None and high is not None:
        low, high = sorted((low, high))
    bounds = {name: value for name, value in (("min", low), ("max", high)) if value is not None}
    check_lowered("clamp", [storage_of(t, shape, rng)], [tensor(shape, t)], options=drawn(data), **bounds)


def test_what_has_no_rank_is_refused():
    t = "tensor<*x!quant.uniform<i8:f32, 0.5>>"
    for op in ("requantize", "clamp"):
        with pytest.raises(VerifyError, match=rf"'qrt.{op}' op cannot be lowered: .* has no rank"):
            lowered(f"func.func @f(%x: {t}) -> {t} {{ %0 = qrt.{op} %x : ({t}) -> {t} return %0 : {t} }}")
