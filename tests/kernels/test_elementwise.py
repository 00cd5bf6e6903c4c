"""requantize, add, sub, mul, clamp and pooling of every ISA against qrt.numerics and plain integers.

Hazards: rules at the ends of their shifts, differences of 32-bit values, products past 64 bits, broadcasting with
parameters on any axis, windows cut by the border, channels with their own zero points."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_avg_pool2d, bind_binary, bind_clamp, bind_max_pool2d, bind_requantize
from qrt.errors import KernelError
from tests.kernels.draws import (
    DTYPES,
    Array,
    full,
    isas_by_rows,
    kernels,
    layouts,
    requants,
    storages,
    stored,
    zero_points,
)

ISAS = isas_by_rows("requantize_row", "binary_row", "clamp_row", "avg_pool_run", "max_pool_run")
seeds = st.integers(0, 2**32 - 1)


def run(call: KernelCall, *operands: Array) -> Array:
    out = np.zeros(call.operand_shapes[-1], call.operand_dtypes[-1])
    call(*operands, out)
    return out


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_requantize(isa: str, data: st.DataObject) -> None:
    layout, storage = data.draw(layouts()), data.draw(storages())
    zps = data.draw(zero_points(storage, layout.count))
    requant = data.draw(requants(layout.count))
    q = stored(np.random.default_rng(data.draw(seeds)), storage, layout.shape)
    call = bind_requantize(
        isa=isa, storage=storage.name, shape=layout.shape, block=layout.block, step=layout.step, zero_points=zps,
        requant=requant,
    )  # fmt: skip
    expected = numerics.requantize(q.astype(np.int64) - zps[layout.index], requant, layout.index)
    np.testing.assert_array_equal(run(call, q), expected.astype(DTYPES[requant.storage]))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("shift", [-70, -33, -31, -1, 0, 1, 2, 30, 31, 32, 61, 62, 63, 64, 200])
def test_fixed_at_every_end_of_the_shift(isa: str, shift: int) -> None:
    """N > 62 gives zp, N = 0 has no rounding term, N < 0 shifts left exactly and saturates."""
    q = np.array([-(2**31), -(2**31) + 1, -3, -2, -1, 0, 1, 2, 3, 2**31 - 1], np.int32)
    for multiplier in (2**30, 2**31 - 1, 0):
        requant = SimpleNamespace(
            rule="fixed", storage="i32", storage_min=-(2**31), storage_max=2**31 - 1, zero_point=[5],
            multiplier=np.array([multiplier], np.int32), shift=np.array([shift], np.int32),
        )  # fmt: skip
        call = bind_requantize(isa=isa, storage="i32", shape=q.shape, zero_points=[0], requant=requant)
        products = [int(v) * multiplier for v in q]
        scaled = [
            0 if shift > 62 else (p + (1 << (shift - 1))) >> shift if shift > 0 else p << -shift for p in products
        ]
        expected = np.clip(np.array(scaled, object) + 5, -(2**31), 2**31 - 1).astype(np.int32)
        np.testing.assert_array_equal(run(call, q), expected)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["add", "sub", "mul"])
@kernels
@given(st.data())
def test_binary(isa: str, kind: str, data: st.DataObject) -> None:
    layout = data.draw(layouts())
    rank = len(layout.shape)
    shapes = []
    for _ in range(2):  # drop leading axes, repeat others
        kept = data.draw(st.integers(0, rank))
        shapes.append(tuple(1 if data.draw(st.booleans()) else n for n in layout.shape[kept:]))
    if np.broadcast_shapes(*shapes) != layout.shape:
        shapes[0] = layout.shape
    a_type, b_type = data.draw(storages((1, 16)) | storages()), data.draw(storages((1, 16)))
    rng = np.random.default_rng(data.draw(seeds))
    a, b = stored(rng, a_type, shapes[0]), stored(rng, b_type, shapes[1])
    za, zb = data.draw(zero_points(a_type, layout.count)), data.draw(zero_points(b_type, layout.count))
    left, right = a.astype(np.int64) - za[layout.index], b.astype(np.int64) - zb[layout.index]
    extra: dict[str, Any] = {}
    if kind == "mul":
        requant = data.draw(requants(layout.count))
        expected = numerics.requantize(left * right, requant, layout.index)
    else:
        to = data.draw(storages())
        places = data.draw(st.integers(1, 30))
        zps = data.draw(zero_points(to, layout.count))
        requant = numerics.rounded_shift((to.name, to.low, to.high), zps, np.full(layout.count, places))
        ma, mb = (rng.integers(1, 1 << data.draw(st.sampled_from([20, 28])), layout.count) for _ in range(2))
        extra = {"a_multipliers": ma, "b_multipliers": mb}
        scaled = right * mb[layout.index]
        total = left * ma[layout.index] + (scaled if kind == "add" else -scaled)
        expected = np.clip(
            ((total + (1 << (places - 1))) >> places) + requant.zero_point[layout.index], to.low, to.high
        )
    call = bind_binary(
        isa=isa, kind=kind, a=a_type.name, b=b_type.name, a_shape=shapes[0], b_shape=shapes[1], a_zero_points=za,
        b_zero_points=zb, requant=requant, block=layout.block, step=layout.step, **extra,
    )  # fmt: skip
    np.testing.assert_array_equal(run(call, a, b), expected.astype(DTYPES[requant.storage]))


def test_a_product_beyond_64_bits_is_an_error() -> None:
    requant = numerics.requant_parameters("fixed", "i8", -128, 127, [(1.0,)], [(1.0,)], [0])
    a = np.full(3, 2**32 - 1, np.uint32)
    call = bind_binary(
        isa="ref", kind="mul", a="u32", b="u32", a_shape=(3,), b_shape=(3,), a_zero_points=[-(2**33)],
        b_zero_points=[-(2**33)], requant=requant,
    )  # fmt: skip
    with pytest.raises(KernelError, match="mul: the exact accumulator needs more than 64 bits"):
        run(call, a, a)


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_clamp(isa: str, data: st.DataObject) -> None:
    layout, storage = data.draw(layouts()), data.draw(storages())
    rng = np.random.default_rng(data.draw(seeds))
    q = stored(rng, storage, layout.shape)
    bounds = np.sort(rng.integers(storage.low, storage.high, (2, layout.count), np.int64, endpoint=True), axis=0)
    call = bind_clamp(
        isa=isa, storage=storage.name, shape=layout.shape, block=layout.block, step=layout.step, lower=bounds[0],
        upper=bounds[1],
    )  # fmt: skip
    np.testing.assert_array_equal(run(call, q), np.clip(q.astype(np.int64), *bounds[:, layout.index]).astype(q.dtype))


def windows(x_shape: tuple[int, ...], kernel: Any, strides: Any, padding: Any) -> list[list[tuple[slice, slice]]]:
    """The valid part of each window, by output row and column."""
    spans: list[list[slice]] = []
    for axis in range(2):
        size, (before, after) = x_shape[1 + axis], padding[axis]
        count = max((size + before + after - kernel[axis]) // strides[axis] + 1, 0)
        starts = [i * strides[axis] - before for i in range(count)]
        spans.append([slice(max(s, 0), min(s + kernel[axis], size)) for s in starts])
    return [[(rows, columns) for columns in spans[1]] for rows in spans[0]]


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("kind", ["avg", "max"])
@kernels
@given(st.data())
def test_pool(isa: str, kind: str, data: st.DataObject) -> None:
    storage = data.draw(storages())
    kernel = (data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4)))
    strides = (data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)))
    channels = data.draw(st.integers(1, 9))
    x_shape = (data.draw(st.integers(0, 2)), data.draw(st.integers(4, 9)), data.draw(st.integers(4, 9)), channels)
    padding = tuple((data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))) for n in kernel)
    x = stored(np.random.default_rng(data.draw(seeds)), storage, x_shape)
    places = windows(x_shape, kernel, strides, padding)
    shape = (x_shape[0], len(places), len(places[0]) if places else 0, channels)
    bound = {"isa": isa, "storage": storage.name, "x_shape": x_shape, "kernel": kernel, "strides": strides}
    if kind == "max":
        call = bind_max_pool2d(**bound, padding=padding)
        expected = np.zeros(shape, x.dtype)
        for i, row in enumerate(places):
            for j, (ys, xs) in enumerate(row):
                expected[:, i, j] = x[:, ys, xs].max(axis=(1, 2))
    else:
        per_channel = data.draw(st.booleans())
        zps = data.draw(zero_points(storage, channels if per_channel else 1))
        counts, width = kernel[0] * kernel[1], channels if per_channel else 1
        requant = data.draw(requants(counts * width))
        call = bind_avg_pool2d(
            **bound, padding=padding, zero_points=zps, requant=requant, count_step=width, channel_step=int(per_channel)
        )
        expected = np.zeros(shape, DTYPES[requant.storage])
        for i, row in enumerate(places):
            for j, (ys, xs) in enumerate(row):
                acc = (x[:, ys, xs].astype(np.int64) - zps).sum(axis=(1, 2))
                valid = (ys.stop - ys.start) * (xs.stop - xs.start)
                index = (valid - 1) * width + np.arange(channels) * int(per_channel)
                expected[:, i, j] = numerics.requantize(acc, requant, index).astype(DTYPES[requant.storage])
    np.testing.assert_array_equal(run(call, x), expected)


def test_a_window_in_the_padding_alone_is_an_error() -> None:
    with pytest.raises(KernelError, match="max_pool2d: along axis 1, a window would contain padding alone"):
        bind_max_pool2d(
            isa="ref", storage="i8", x_shape=(1, 4, 4, 1), kernel=(2, 2), strides=(1, 1), padding=((2, 0), (0, 0))
        )
    with pytest.raises(KernelError, match="max_pool2d: along axis 2, a window would contain padding alone"):
        bind_max_pool2d(
            isa="ref", storage="i8", x_shape=(1, 4, 4, 1), kernel=(2, 2), strides=(1, 5), padding=((0, 0), (0, 3))
        )


def test_pool_storage_ends() -> None:
    assert run(
        bind_max_pool2d(
            isa="ref", storage="u32", x_shape=(1, 1, 2, 1), kernel=(1, 2), strides=(1, 1), padding=((0, 0), (0, 0))
        ),
        np.array([0, full("u32").high], np.uint32).reshape(1, 1, 2, 1),
    ).tolist() == [[[[2**32 - 1]]]]
