"""qcast and dcast of every ISA against qrt.numerics, bit for bit: every expressed type, container, rounding and layout.

Hazards: rounding in the wrong format, ties, comparing with the bounds after the conversion, NaN and infinities, rows
that start inside a parameter block, subnormal quotients."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._ext.kernels import bind_dcast, bind_qcast, get_num_threads, set_num_threads
from tests.kernels.draws import (
    Array,
    Layout,
    Storage,
    full,
    isas_by_rows,
    kernels,
    layouts,
    storages,
    stored,
    zero_points,
)

FLOATS: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
CAST_ISAS = isas_by_rows("qcast_row", "dcast_row")
seeds = st.integers(0, 2**32 - 1)


def scales_of(expressed: str, exponents: Array) -> Array:
    """Positive finite values of the expressed type, its ends included."""
    largest, smallest = float(ml_dtypes.finfo(FLOATS[expressed]).max), float(ml_dtypes.finfo(FLOATS[expressed]).tiny)
    return np.clip(numerics.round_to_format(np.exp2(exponents), expressed), smallest, largest)


def inputs(rng: np.random.Generator, expressed: str, scale: Array, zero_point: Array) -> Array:
    """Values near the storage range, exact ties, and everything a float can be."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = (rng.normal(size=scale.shape) * 150 - zero_point) * scale
        ties = (rng.integers(-140, 140, scale.shape) + 0.5) * scale
        special = rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -65504.0, 1e-8]), scale.shape)
        kind = rng.random(scale.shape)
        values = np.where(kind < 0.4, near, np.where(kind < 0.8, ties, special))
        return values.astype(FLOATS[expressed])


def check_qcast(isa: str, expressed: str, storage: Storage, layout: Layout, scales: Array, zps: Array, seed: int,
                rounding: str, order: str, form: str) -> None:  # fmt: skip
    index = layout.index
    x = inputs(np.random.default_rng(seed), expressed, scales[index], zps[index])
    call = bind_qcast(
        isa=isa, expressed=expressed, storage=storage.name, shape=layout.shape, block=layout.block, step=layout.step,
        scales=scales, zero_points=zps, storage_min=storage.low, storage_max=storage.high, rounding=rounding,
        zero_point=order, scale=form,
    )  # fmt: skip
    out = np.zeros(layout.shape, storage.dtype)
    call(x, out)
    expected = numerics.quantize(
        x.astype(np.float64), scales[index], zps[index], storage.low, storage.high, expressed, rounding=rounding,
        zero_point_order=order, scale_form=form,
    )  # fmt: skip
    np.testing.assert_array_equal(out, expected.astype(storage.dtype))


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@kernels
@given(st.data())
def test_qcast(isa: str, expressed: str, data: st.DataObject) -> None:
    layout, storage = data.draw(layouts()), data.draw(storages())
    exponents = np.array(data.draw(st.lists(st.floats(-30, 12), min_size=1, max_size=4)))
    check_qcast(
        isa, expressed, storage, layout, np.resize(scales_of(expressed, exponents), layout.count),
        data.draw(zero_points(storage, layout.count)), data.draw(seeds), data.draw(st.sampled_from(numerics.ROUNDINGS)),
        data.draw(st.sampled_from(numerics.ZERO_POINTS)), data.draw(st.sampled_from(numerics.SCALES)),
    )  # fmt: skip


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@pytest.mark.parametrize("exponent", [-1074, -149, -133, -126, -24, -14, 14, 127, 1000])
@pytest.mark.parametrize("form", numerics.SCALES)
def test_qcast_with_a_scale_at_the_end_of_the_format(isa: str, expressed: str, exponent: int, form: str) -> None:
    """1 / s overflows or x / s is subnormal: infinity times 0 is a NaN that no input held."""
    layout = Layout((300,), (1,), (0,))
    scale = scales_of(expressed, np.array([float(exponent)]))
    for order in numerics.ZERO_POINTS:
        check_qcast(isa, expressed, full("i8"), layout, scale, np.array([-7]), 1, "half_even", order, form)


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("expressed", FLOATS)
@kernels
@given(st.data())
def test_dcast(isa: str, expressed: str, data: st.DataObject) -> None:
    layout, storage = data.draw(layouts()), data.draw(storages())
    exponents = np.array(data.draw(st.lists(st.floats(-30, 12), min_size=1, max_size=4)))
    scales = np.resize(scales_of(expressed, exponents), layout.count)
    zps, index = data.draw(zero_points(storage, layout.count)), layout.index
    q = stored(np.random.default_rng(data.draw(seeds)), storage, layout.shape)
    call = bind_dcast(
        isa=isa, expressed=expressed, storage=storage.name, shape=layout.shape, block=layout.block, step=layout.step,
        scales=scales, zero_points=zps,
    )  # fmt: skip
    out = np.zeros(layout.shape, FLOATS[expressed])
    call(q, out)
    expected = numerics.dequantize(q, scales[index], zps[index], expressed)
    assert out.tobytes() == expected.astype(FLOATS[expressed]).tobytes()


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize(("storage", "zero_point"), [("u16", 65535), ("u32", 70_000), ("i32", -(2**31))])
def test_infinity_less_infinity_is_the_one_nan(isa: str, storage: str, zero_point: int) -> None:
    """Of f16, on either side of a vector, where one zero point of many is beyond it too: x86 makes a negative NaN."""
    for count in (1, 7, 300):
        q = np.full(count, zero_point).astype(f"{storage[0]}{int(storage[1:]) // 8}")
        for step, zps in (((0,), [zero_point]), ((1,), [0] * (count - 1) + [zero_point])):
            call = bind_dcast(
                isa=isa, expressed="f16", storage=storage, shape=(count,), step=step, scales=[1.0] * len(zps),
                zero_points=zps,
            )  # fmt: skip
            out = np.zeros(count, np.float16)
            call(q, out)
            assert out.view(np.uint16)[-1] == 0x7E00
            numbers = out[: count - 1] if len(zps) > 1 else out[:0]
            assert (np.abs(numbers) == np.inf).all()


@pytest.mark.parametrize("isa", CAST_ISAS)
@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("step", [(0, 0), (1, 0), (0, 1)])
def test_tasks_cut_rows_at_the_right_parameter(isa: str, threads: int, step: tuple[int, int]) -> None:
    """More than a task's worth of elements, in rows longer and shorter than a task."""
    before = get_num_threads()
    set_num_threads(threads)
    try:
        for shape in ((3, 70_001), (70_001, 3), (2, 131_072)):
            layout = Layout(shape, (1, 1), step)
            rng = np.random.default_rng(0)
            scales = rng.uniform(0.1, 2, layout.count).astype(np.float32).astype(np.float64)
            zps = rng.integers(-128, 128, layout.count)
            check_qcast(isa, "f32", full("i8"), layout, scales, zps, 3, "half_even", "before", "divide")
    finally:
        set_num_threads(before)
