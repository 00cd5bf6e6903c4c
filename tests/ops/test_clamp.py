"""clamp: bounds quantized by the default cast, every kernel against the reference."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt.cli.bench import CastCase
from qrt.errors import QuantTypeError
from qrt.types import FloatType, UniformType
from tests.cases import CASTS
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, maybe_per_axis, shapes, storage_of

T = UniformType("i8", "f32", 0.5, 3)


@given(st.data(), generators(), st.integers(1, 3).flatmap(shapes))
def test_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    t = data.draw(maybe_per_axis(shape[axis], axis))
    limit = max(abs(t.storage_min), t.storage_max) * max(t.scales)
    bound = st.one_of(st.none(), st.floats(-limit, limit, allow_subnormal=False), st.just(0.0), st.just(np.inf))
    low, high = data.draw(bound), data.draw(bound)
    low, high = (None if low == np.inf else low), high
    if low is not None and high is not None and low > high:
        low, high = high, low
    q = storage_of(t, shape, rng)
    got = check_kernels("clamp", [q], [tensor(shape, t)], min=low, max=high)
    for index in np.ndindex(*shape):
        c = index[axis] if t.is_per_axis else 0
        bounds = [
            default if bound is None else int(
                numerics.quantize(bound, t.scales[c], t.zero_points[c], t.storage_min, t.storage_max, "f32")
            )
            for bound, default in ((low, t.storage_min), (high, t.storage_max))
        ]  # fmt: skip
        assert got[index] == min(max(int(q[index]), bounds[0]), bounds[1])


@pytest.mark.parametrize("case", CASTS, ids=lambda c: c.name)
def test_table_of_shapes(case: CastCase) -> None:
    count = case.shape[case.axis] if case.axis is not None else None
    scales = T.scale if count is None else [T.scale * (1 + i / 4) for i in range(count)]
    t = T.with_(scales=scales, zero_points=T.zero_point if count is None else [3] * count, axis=case.axis)
    q = storage_of(t, case.shape, np.random.default_rng(1))
    check_kernels("clamp", [q], [tensor(case.shape, t)], min=-10.0, max=20.0)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (None, None, [-128, 3, 15, 127]),
        (0.0, None, [3, 3, 15, 127]),
        (0.0, 6.0, [3, 3, 15, 15]),
        (-1e30, 1e30, [-128, 3, 15, 127]),
        (-np.inf, np.inf, [-128, 3, 15, 127]),
        (5.0, 5.0, [13, 13, 13, 13]),
    ],
)
def test_bounds(low: float | None, high: float | None, expected: list[int]) -> None:
    q = np.int8([-128, 3, 15, 127])
    assert check_kernels("clamp", [q], [tensor((4,), T)], min=low, max=high).tolist() == expected


@pytest.mark.parametrize("expressed", ["f8E4M3FN", "f8E5M2FNUZ", "f4E2M1FN", "f16", "bf16", "f64"])
def test_no_bound_is_none_in_formats_without_infinities(expressed: str) -> None:
    """An infinity rounds to NaN or to the largest value there, which would clamp everything."""
    t = UniformType("i8", expressed, 0.5, 3)
    q = np.int8([-128, 3, 127])
    for bounds in ({}, {"min": -np.inf, "max": np.inf}):
        assert check_kernels("clamp", [q], [tensor((3,), t)], **bounds).tolist() == [-128, 3, 127]


@pytest.mark.parametrize("expressed", ["f8E4M3FN", "f8E5M2FNUZ", "f16", "bf16"])
def test_a_bound_beyond_the_format_is_none(expressed: str) -> None:
    t = UniformType("i8", expressed, 0.5, 3)
    q = np.int8([-128, 3, 127])
    got = check_kernels("clamp", [q], [tensor((3,), t)], min=-1e300, max=1e300)
    assert got.tolist() == [-128, 3, 127]


def test_dynamic_and_unranked() -> None:
    assert infer("clamp", [tensor((None, 3), T)], min=0.0) == tensor((None, 3), T)
    assert infer("clamp", [tensor(None, T)], min=0.0) == tensor(None, T)


@pytest.mark.parametrize(
    ("element", "out", "attributes", "message"),
    [
        (FloatType("f32"), None, {}, "clamp: 'q' must be a tensor of !quant.uniform, got tensor<3xf32>"),
        (T, T.with_(scales=1.0), {}, "clamp: the result must have the type of the operand"),
        (T, None, {"min": 2.0, "max": 1.0}, "clamp: 'min' must be at most 'max', got min = 2.0 and max = 1.0"),
        (T, None, {"min": np.nan}, "clamp: 'min' must be at most 'max', got min = nan and max = inf"),
        (T, None, {"max": "6"}, "'max' must be a real number, got '6'"),
        (T, None, {"max": 1j}, "'max' must be a real number, got 1j"),
        (
            T.with_(zero_points=999),
            None,
            {},
            "clamp: 'q' must have zero points in [-128, 127], the range of its storage type i8, got 999 in",
        ),
    ],
)
def test_refuses(element: Any, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        infer("clamp", [tensor((3,), element)], out, **attributes)
