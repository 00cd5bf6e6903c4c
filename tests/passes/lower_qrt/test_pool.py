"""max_pool2d, avg_pool2d and mean lowered. Hazards: padding that is counted or wins, a count of another window, the
zero point subtracted for elements that do not exist, channels that move, sums that wrap on the way."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.cases import POOLS
from qrt.errors import VerifyError
from qrt.ops.requant import max_magnitude
from qrt.types import UniformType
from tests.ops.harness import infer, reference, tensor
from tests.ops.strategies import generators, maybe_per_axis, rules, shapes, storage_of
from tests.ops.test_pool import OUT, T, channels
from tests.passes.lower_qrt.harness import OPTIONS, check_lowered, drawn, lowered, program, run

WIDTHS, SCALES = range(2, 33), st.floats(1e-3, 10.0)


@pytest.mark.parametrize("case", [c for c in POOLS if not c.timed], ids=lambda c: c.name)
@pytest.mark.parametrize("rule", ["fixed", "fixed_double", "float32", "float64_away"])
def test_average_leaves_padding_out(case, rule):
    """Per axis: a table by count and channel."""
    t, out = (channels(T, case.shape[3]), channels(OUT, case.shape[3])) if case.shape[3] else (T, OUT)
    x = storage_of(t, case.shape, np.random.default_rng(1))
    check_lowered("avg_pool2d", [x], [tensor(case.shape, t)], out, options=OPTIONS[:2], requant=rule, **case.attributes)


@given(st.data(), generators())
def test_pools_drawn(data, rng):
    kernel = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    padding = tuple((data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))) for k in kernel)
    size = tuple(max(k - sum(p), 1) + data.draw(st.integers(0, 4)) for k, p in zip(kernel, padding, strict=True))
    shape = (data.draw(st.integers(0, 2)), *size, data.draw(st.integers(1, 4)))
    t, out = (data.draw(maybe_per_axis(shape[3], 3, widths=WIDTHS, scales=SCALES)) for _ in range(2))
    window = {"kernel": kernel, "strides": data.draw(st.tuples(*[st.integers(1, 3)] * 2)), "padding": padding}
    x, types, options = storage_of(t, shape, rng), [tensor(shape, t)], drawn(data)
    rule = data.draw(rules(prod(kernel) * max_magnitude(t)))
    check_lowered("avg_pool2d", [x], types, out, options=options, requant=rule, **window)
    check_lowered("max_pool2d", [x], types, options=options, **window)


@pytest.mark.parametrize("t", [T, UniformType("u4", "f32", 0.5), UniformType("u16", "f32", 1.0, 65535)])
def test_padding_does_not_win_over_the_lower_bound(t):
    window = {"kernel": (3, 3), "strides": (2, 2), "padding": ((2, 1), (1, 2))}
    lowest = np.full((1, 4, 4, 2), t.storage_min, storage_of(t, (0,), np.random.default_rng(0)).dtype)
    assert (check_lowered("max_pool2d", [lowest], [tensor(lowest.shape, t)], **window) == t.storage_min).all()


@given(st.data(), generators(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 6)))
def test_mean_drawn(data, rng, shape):
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    count = prod(shape[d] for d in axes)
    kept = [d for d in range(len(shape)) if d not in axes]
    if count == 0:
        return
    keepdims = data.draw(st.booleans())
    t, out = (data.draw(maybe_per_axis(0, 0, widths=WIDTHS, scales=SCALES)) for _ in range(2))
    if kept:
        own, to = data.draw(st.sampled_from(kept)), data.draw(st.sampled_from(kept))
        t = data.draw(maybe_per_axis(shape[own], own, widths=WIDTHS, scales=SCALES))
        out = data.draw(maybe_per_axis(shape[to], to if keepdims else kept.index(to), widths=WIDTHS, scales=SCALES))
    rule = data.draw(rules(count * max_magnitude(t)))
    types = [tensor(shape, t)]
    check_lowered(
        "mean", [storage_of(t, shape, rng)], types, out, options=drawn(data), axes=axes, keepdims=keepdims, requant=rule
    )


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
    with pytest.raises(VerifyError, match=r"'qrt.mean' op cannot be lowered: the axes \[0\] of .* must be known"):
        lowered(f"func.func @f(%x: {x}) -> {y} {{ %0 = qrt.mean %x {{axes = [0]}} : ({x}) -> {y} return %0 : {y} }}")
