"""max_pool2d, avg_pool2d and mean lowered. Hazards: padding that is counted or wins, a count of another window, the
zero point subtracted for elements that do not exist, channels that move, sums that wrap on the way."""

import numpy as np
import pytest

from qrt.errors import VerifyError
from qrt.numerics import REQUANT_RULES
from qrt.types import UniformType
from tests.cases import POOLS
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program, run
from tests.ops.harness import infer, reference, tensor
from tests.ops.strategies import storage_of
from tests.ops.test_pool import OUT, WHOLE, T, channels


@pytest.mark.parametrize("case", POOLS, ids=lambda c: c.name)
@pytest.mark.parametrize("rule", [*REQUANT_RULES, "dequantized", "dequantized_rows", "dequantized_columns"])
def test_average_leaves_padding_out(case, rule):
    """Per axis: a table by count and channel."""
    t, out = (channels(T, case.shape[3]), channels(OUT, case.shape[3])) if case.shape[3] else (T, OUT)
    x = storage_of(t, case.shape, np.random.default_rng(1))
    check_lowered("avg_pool2d", [x], [tensor(case.shape, t)], out, options=OPTIONS[:2], requant=rule, **case.attributes)


@pytest.mark.parametrize("image", WHOLE)
@pytest.mark.parametrize("options", OPTIONS)
def test_lanes_of_whole_images(image, options):
    """Rows whose ends lie within a lane's four."""
    x = storage_of(T, (2, *image, 3), np.random.default_rng(4))
    window = {"kernel": image, "strides": (1, 1), "requant": "dequantized_lanes"}
    for t, out in ((T, OUT), (channels(T, 3), channels(OUT, 3))):
        check_lowered("avg_pool2d", [x], [tensor(x.shape, t)], out, options=[options], **window)


@pytest.mark.parametrize("t", [T, UniformType("u4", "f32", 0.5), UniformType("u16", "f32", 1.0, 65535)])
def test_padding_does_not_win_over_the_lower_bound(t):
    window = {"kernel": (3, 3), "strides": (2, 2), "padding": ((2, 1), (1, 2))}
    lowest = np.full((1, 4, 4, 2), t.storage_min, storage_of(t, (0,), np.random.default_rng(0)).dtype)
    assert (check_lowered("max_pool2d", [lowest], [tensor(lowest.shape, t)], **window) == t.storage_min).all()


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("op", ["avg_pool2d", "max_pool2d"])
def test_images_of_any_size(op, options):
    """Counts are computed where the sizes are not known."""
    window = {"kernel": (2, 3), "strides": (2, 1), "padding": ((1, 0), (1, 2))}
    result = infer(op, [tensor((None, None, None, 3), T)], **window)
    x = storage_of(T, (2, 5, 4, 3), np.random.default_rng(5))
    module = lowered(program(op, [x], [tensor((None, None, None, 3), T)], result, **window), options)
    expected, _ = reference(op, [x], [tensor(x.shape, T)], **window)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(module, [x], interpret), expected)


def test_a_mean_over_an_unknown_number_is_refused():
    x, y = f"tensor<?x3x{T}>", f"tensor<3x{T}>"
    with pytest.raises(
        VerifyError, match=r"'qrt.mean' op cannot be lowered: the sizes of the reduced axes \[0\] must be static"
    ):
        lowered(f"func.func @f(%x: {x}) -> {y} {{ %0 = qrt.mean %x {{axes = [0]}} : ({x}) -> {y} return %0 : {y} }}")
