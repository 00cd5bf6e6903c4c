"""The depthwise entry of every ISA against exact integers.

Hazards: windows cut by the border under strides and dilations, sums past 32 bits and past 64, zero points outside the
storage, arrays whose sizes do not fit each other. Of the 8-bit kernels: tails of channels and of pixels, rows and
columns of padding, halves of a vector that belong to different pixels, 16-bit steps that saturate, weights beyond 8
signed bits, writes beside the result."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._ext.kernels import KernelCall, bind_depthwise_conv2d, get_num_threads, set_num_threads
from qrt.errors import KernelError
from tests.kernels.draws import DTYPES, ISAS, Array, kernels, requants, storages, stored, zero_points

REQUANT = numerics.requant_parameters("fixed", "i8", -128, 127, [(0.25,)], [(1.0,)], [1])


def sums(x: Array, w: Array, zx: int, zw: Array, strides: Any, padding: Any, dilations: Any) -> Array:
    """Window sums as Python integers, a tap at a time."""
    (top, bottom), (left, right) = padding
    multiplier = w.shape[2] // x.shape[3]
    centred = np.repeat(x.astype(object) - zx, multiplier, axis=3)
    padded = np.pad(centred, ((0, 0), (top, bottom), (left, right), (0, 0)))
    weights = w.astype(object) - zw
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[:2], dilations, strict=True)]
    size = [(n - r) // s + 1 for n, r, s in zip(padded.shape[1:3], reach, strides, strict=True)]
    total = np.zeros((x.shape[0], *size, w.shape[2]), object)
    for u, v in np.ndindex(*w.shape[:2]):
        rows = slice(u * dilations[0], u * dilations[0] + (size[0] - 1) * strides[0] + 1, strides[0])
        columns = slice(v * dilations[1], v * dilations[1] + (size[1] - 1) * strides[1] + 1, strides[1])
        total += padded[:, rows, columns] * weights[u, v]
    return total


@pytest.mark.parametrize("isa", ISAS)
@kernels
@given(st.data())
def test_drawn(isa: str, data: st.DataObject) -> None:
    x_type, w_type = (data.draw(storages((1, 8)) | storages((1, 20))) for _ in range(2))
    kernel, strides, dilations = (data.draw(st.tuples(*[st.integers(1, 3)] * 2)) for _ in range(3))
    padding = data.draw(st.tuples(*[st.tuples(*[st.integers(0, 9)] * 2)] * 2))
    channels, multiplier = data.draw(st.sampled_from([1, 2, 3, 16, 17, 40])), data.draw(st.integers(1, 3))
    size = tuple((k - 1) * d + 1 + data.draw(st.integers(0, 4)) for k, d in zip(kernel, dilations, strict=True))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    outputs = channels * multiplier
    x = stored(rng, x_type, (data.draw(st.integers(0, 2)), *size, channels))
    w = stored(rng, w_type, (*kernel, outputs))
    per_channel = data.draw(st.booleans())
    zx = int(data.draw(zero_points(x_type, 1))[0])
    zw = data.draw(zero_points(w_type, outputs if per_channel else 1))
    requant = data.draw(requants(outputs if per_channel else 1))
    bias = data.draw(st.sampled_from([None, np.int32, np.int64]))
    b = None if bias is None else rng.integers(-(2**31), 2**31, outputs).astype(bias)
    acc = sums(x, w, zx, zw, strides, padding, dilations) + (0 if b is None else b.astype(object))
    expected = numerics.requantize(acc.astype(np.int64), requant, np.arange(outputs) if per_channel else 0)
    channels_first = data.draw(st.booleans())
    w = np.ascontiguousarray(w.transpose(2, 0, 1)) if channels_first else w
    for constants in range(3):
        name = None if b is None else str(b.dtype).replace("int", "i")
        call = bind_depthwise_conv2d(
            isa=isa, x=x_type.name, w=w_type.name, x_shape=x.shape, w_shape=w.shape, x_zero_point=zx, w_zero_points=zw,
            requant=requant, strides=strides, padding=padding, dilations=dilations, channels_first=channels_first,
            w_constant=w if constants > 0 else None, bias=b if constants > 1 else name,
        )  # fmt: skip
        out = np.full(acc.shape, 85, DTYPES[requant.storage])
        given = (w,) if b is None else (w, b)
        call(x, *given[constants:], out)
        np.testing.assert_array_equal(out, expected.astype(out.dtype))


# Kernel, strides, dilations: windows in registers, shared by two output rows, columns that no two windows share.
WINDOWS = [
    ((3, 3), (1, 1), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((3, 3), (1, 2), (1, 1)), ((5, 5), (1, 1), (1, 1)),
    ((3, 3), (1, 1), (2, 2)), ((2, 7), (1, 1), (1, 1)), ((7, 2), (2, 1), (1, 1)), ((1, 3), (1, 9), (1, 4)),
    ((1, 1), (1, 1), (1, 1)), ((9, 3), (1, 1), (1, 1)),
]  # fmt: skip


def ends(rng: np.random.Generator, container: str, shape: tuple[int, ...]) -> Array:
    """Both ends of a container alone: the largest sums."""
    info = np.iinfo(DTYPES[container])
    return rng.choice(np.array([info.min, info.max], info.dtype), shape)


def within(array: Array, offset: int) -> tuple[Array, Array]:
    """The array at an odd address, and the bytes around it."""
    around = np.full(array.nbytes + 256, 0xA5, np.uint8)
    view = around[64 + offset : 64 + offset + array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view, around


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa != "ref"])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: "-".join("x".join(map(str, pair)) for pair in w))
def test_channels_and_borders(isa: str, window: tuple[Any, Any, Any]) -> None:
    """Every count of channels up to a block and a tail: by ISA the same bytes as ref, and no others written."""
    kernel, strides, dilations = window
    rng = np.random.default_rng(len(isa) + sum(kernel))
    for channels in (*range(1, 71, 1 if kernel == (3, 3) else 7), 96, 128, 161):
        x_name, w_name, rule = (str(rng.choice(names)) for names in (["i8", "u8"], ["i8", "u8"], ["fixed", "float32"]))
        multiplier = int(rng.integers(2, 6)) if channels % 5 == 0 else 1
        outputs, padding = channels * multiplier, rng.integers(0, 4, (2, 2)).tolist()
        size = [(k - 1) * d + int(rng.integers(1, 9)) for k, d in zip(kernel, dilations, strict=True)]
        x, offset = ends(rng, x_name, (1, *size, channels)), int(rng.integers(64))
        w = ends(rng, w_name, (*kernel, outputs))
        zx, zw = (
            int(rng.choice(ends(rng, x_name, (1,)))),
            [128 if w_name == "u8" else 0, int(w.flat[0])][channels % 3 == 0],
        )
        out_name = ("i8", "u8", "i32")[channels % 3]
        low, high = int(np.iinfo(DTYPES[out_name]).min), int(np.iinfo(DTYPES[out_name]).max)
        scales = np.exp2(rng.uniform(-16, 0.5 if channels % 7 == 0 else -6, outputs)).tolist()
        zps = rng.integers(low, high, outputs, endpoint=True).tolist() if out_name != "i32" else [0] * outputs
        requant = numerics.requant_parameters(
            rule, out_name, low, high, [(scale,) for scale in scales], [(1.0,)] * outputs, zps
        )
        bias = rng.integers(-9999, 9999, outputs, np.int32)
        call = {
            name: bind_depthwise_conv2d(
                isa=name, x=x_name, w=w_name, x_shape=x.shape, w_shape=w.shape, x_zero_point=zx, w_zero_points=[zw],
                requant=requant, strides=strides, padding=padding, dilations=dilations, w_constant=w, bias=bias,
            )
            for name in ("ref", isa)
        }  # fmt: skip
        expected = np.zeros(call["ref"].operand_shapes[-1], call["ref"].operand_dtypes[-1])
        call["ref"](x, expected)
        offset -= offset % expected.itemsize
        out, around = within(np.zeros_like(expected), offset)
        call[isa](within(x, int(rng.integers(64)))[0], out)
        np.testing.assert_array_equal(
            out, expected, f"{channels} channels, {x_name} {w_name} {rule}, padding {padding}"
        )
        beside = np.delete(around, np.s_[64 + offset : 64 + offset + out.nbytes])
        assert (beside == 0xA5).all()


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_and_long_rows(isa: str, threads: int) -> None:
    """Rows cut into runs, blocks of channels with one and with two segments, shared among threads."""
    rng = np.random.default_rng(5)
    x, w = rng.integers(0, 256, (2, 3, 301, 96), np.uint8), rng.integers(-128, 128, (3, 3, 96), np.int8)
    bias = rng.integers(-9999, 9999, 96, np.int32)
    requant = numerics.requant_parameters("float32", "u8", 0, 255, [(2.0**-10,)], [(1.0,)], [100])
    call = bind_depthwise_conv2d(
        isa=isa, x="u8", w="i8", x_shape=x.shape, w_shape=w.shape, x_zero_point=7, w_zero_points=[0], requant=requant,
        strides=(1, 1), padding=((1, 1), (1, 1)), dilations=(1, 1), w_constant=w, bias=bias,
    )  # fmt: skip
    acc = sums(x, w, 7, np.zeros(1, np.int64), (1, 1), ((1, 1), (1, 1)), (1, 1)) + bias
    before = get_num_threads()
    set_num_threads(threads)
    try:
        out = np.zeros(x.shape, np.uint8)
        call(x, out)
    finally:
        set_num_threads(before)
    np.testing.assert_array_equal(out, numerics.requantize(acc.astype(np.int64), requant, 0))


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa != "ref"])
@pytest.mark.parametrize("step", [1, 2])
def test_tall_images(isa: str, step: int) -> None:
    """More bands than a kernel takes at once, the last of a single row; unsigned results with a clamp and without."""
    rng = np.random.default_rng(step)
    for channels, kernel, low, high in [
        (64, 3, 0, 255),
        (70, 3, 3, 200),
        (32, 3, 0, 255),
        (9, 3, 0, 254),
        (40, 5, 0, 255),
    ]:
        x = rng.integers(0, 256, (2, 71, 5, channels), np.uint8)
        w = rng.integers(-128, 128, (kernel, kernel, channels), np.int8)
        requant = numerics.requant_parameters("float32", "u8", low, high, [(2.0**-9,)], [(1.0,)], [77])
        results = []
        for name in ("ref", isa):
            call = bind_depthwise_conv2d(
                isa=name, x="u8", w="i8", x_shape=x.shape, w_shape=w.shape, x_zero_point=99, w_zero_points=[0],
                requant=requant, strides=(step, step), padding=((1, 1), (1, 1)), dilations=(1, 1), w_constant=w,
            )  # fmt: skip
            results.append(np.zeros(call.operand_shapes[-1], np.uint8))
            call(x, results[-1])
        np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("isa", [isa for isa in ISAS if isa != "ref"])
def test_rows_of_padding_of_many_channels(isa: str) -> None:
    """A row of padding spans a run: with this many channels runs are cut short, and the row is sparse."""
    rng = np.random.default_rng(7)
    x, w = rng.integers(0, 256, (1, 3, 9, 40009), np.uint8), rng.integers(-128, 128, (3, 3, 40009), np.int8)
    requant = numerics.requant_parameters("fixed", "i8", -128, 127, [(2.0**-9,)], [(1.0,)], [3])
    results = []
    for name in ("ref", isa):
        call = bind_depthwise_conv2d(
            isa=name, x="u8", w="i8", x_shape=x.shape, w_shape=w.shape, x_zero_point=99, w_zero_points=[0],
            requant=requant, strides=(1, 1), padding=((2, 2), (2, 2)), dilations=(1, 1), w_constant=w,
        )  # fmt: skip
        results.append(np.zeros(call.operand_shapes[-1], np.int8))
        call(x, results[-1])
    np.testing.assert_array_equal(*results)


def bind(**changed: Any) -> KernelCall:
    given: dict[str, Any] = {
        "isa": "ref", "x": "i8", "w": "i8", "x_shape": (1, 2, 2, 3), "w_shape": (1, 1, 6), "x_zero_point": 0,
        "w_zero_points": [0], "requant": REQUANT, "strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilations": (1, 1),
    }  # fmt: skip
    return bind_depthwise_conv2d(**(given | changed))


def test_a_sum_beyond_64_bits_is_an_error() -> None:
    far = -(2**39)
    call = bind(x="u32", w="u32", w_shape=(1, 1, 3), x_zero_point=far, w_zero_points=[far])
    with pytest.raises(KernelError, match="depthwise_conv2d: the exact accumulator needs more than 64 bits"):
        call(np.zeros((1, 2, 2, 3), np.uint32), np.zeros((1, 1, 3), np.uint32), np.zeros((1, 2, 2, 3), np.int8))
    bias = np.full(3, 2**63 - 1)
    call = bind(w_shape=(1, 1, 3), bias=bias)
    with pytest.raises(KernelError, match="more than 64 bits"):
        call(np.ones((1, 2, 2, 3), np.int8), np.ones((1, 1, 3), np.int8), np.zeros((1, 2, 2, 3), np.int8))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"w_shape": (1, 1, 4)}, r"weights \(1, 1, 4\) do not match the input \(1, 2, 2, 3\)"),
        ({"w_shape": (1, 6)}, "w_shape has 2 entries, expected 3"),
        ({"x_shape": (1, 2, 2, 0)}, "do not match the input"),
        ({"w_zero_points": [0, 1]}, "w_zero_points has 2 values, expected 1 or 6"),
        ({"w_constant": np.zeros(5, np.int8)}, "the constant weights must be an array of 6"),
        ({"bias": "f32"}, "a float bias"),
        ({"bias": np.zeros(5, np.int32)}, "bias has 5 values, expected 6"),
        ({"strides": (0, 1)}, "strides"),
    ],
)
def test_binding_refuses(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match="depthwise_conv2d: .*" + message):
        bind(**changed)
