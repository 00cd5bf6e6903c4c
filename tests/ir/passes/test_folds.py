"""The folds that claim to change no value change none. Hazard: a bound on errors that does not hold at its ends."""

import itertools

import numpy as np
import pytest

from qrt import ir
from qrt.ir.core.folding import Folds, fold
from qrt.numerics import SCALES, ZERO_POINTS, dequantize, quantize
from qrt.types import UniformType

WIDEST = {"f32": 21, "f16": 8, "bf16": 5, "f64": 32, "f8E5M2": 0, "f8E4M3": 1, "tf32": 8}
"""Storage bits at which the fold still holds: the precision less 3."""


def folds(t, attributes="", allowed=Folds()):  # noqa: B008  # frozen
    module = ir.parse(
        f"func.func @f(%q: {t}) -> {t} {{ %0 = quant.dcast %q : {t} to {t.expressed_type} "
        f"%1 = quant.qcast %0 {attributes} : {t.expressed_type} to {t} return %1 : {t} }}"
    )
    block = module.function("f").regions[0].blocks[0]
    found = fold(block.operations[1], allowed)
    assert found in (None, [block.arguments[0]])
    return found is not None


@pytest.mark.parametrize("expressed", WIDEST)
def test_the_widest_storage_that_folds(expressed):
    for width in range(1, 33):
        assert folds(UniformType(f"i{width}", expressed, 0.5)) == (width <= WIDEST[expressed])
        assert folds(UniformType(f"u{width}", expressed, 0.5)) == (width <= WIDEST[expressed])


@pytest.mark.parametrize(("expressed", "width"), [("f32", 8), ("f32", 16), ("f16", 8), ("bf16", 5), ("tf32", 8)])
def test_quantizing_what_was_dequantized_is_the_identity_where_it_folds(expressed, width):
    rng = np.random.default_rng(width)
    folded = 0
    for _ in range(60):
        sign = rng.choice(["i", "u"])
        scale = float(2.0 ** rng.uniform(-14, 14) if expressed == "f16" else 2.0 ** rng.uniform(-126, 126))
        low, high = (-(1 << width - 1), 1 << width - 1) if sign == "i" else (0, 1 << width)
        zero_point = int(rng.integers(low, high))
        t = UniformType(f"{sign}{width}", expressed, scale, zero_point)
        if not folds(t):
            continue
        folded += 1
        q = np.arange(low, high) if width <= 8 else rng.integers(low, high, 4000)
        x = dequantize(q, scale, zero_point, expressed)
        for rounding, order, form in itertools.product(("half_even", "half_away"), ZERO_POINTS, SCALES):
            again = quantize(
                x, scale, zero_point, low, high - 1, expressed,
                rounding=rounding, zero_point_order=order, scale_form=form,
            )  # fmt: skip
            np.testing.assert_array_equal(again, q)
    assert folded > 20


@pytest.mark.parametrize(
    ("t", "attributes"),
    [
        (UniformType("i8", "f32", 0.1), '{rounding = "toward_zero"}'),
        (UniformType("i8", "f32", 0.1, storage_min=-127), ""),
        (UniformType("i8", "f32", 0.1, 300), ""),
        (UniformType("i8", "f32", 1e-39), ""),
        (UniformType("i8", "f32", 1e38), ""),
        (UniformType("i8", "f16", 600.0), ""),
    ],
)
def test_what_may_change_stays_unless_asked_for(t, attributes):
    assert not folds(t, attributes)
    assert folds(t, attributes, Folds(qcast_dcast=True))


def test_channels_fold_if_all_of_them_do():
    fine = UniformType("i8", "f32", [0.5, 0.1], [3, -128], axis=0)
    for t, expected in ((fine, True), (fine.with_(scales=[0.5, 1e-39], zero_points=[0, 0]), False)):
        tensor = f"tensor<2x{t}>"
        module = ir.parse(
            f"func.func @f(%q: {tensor}) -> {tensor} {{ %0 = quant.dcast %q : {tensor} to tensor<2xf32> "
            f"%1 = quant.qcast %0 : tensor<2xf32> to {tensor} return %1 : {tensor} }}"
        )
        operation = module.function("f").regions[0].blocks[0].operations[1]
        assert (fold(operation, Folds()) is not None) == expected
