"""The depthwise entry of every ISA against exact integers.

Hazards: windows cut by the border under strides and dilations, sums past 32 bits and past 64, zero points outside the
storage, arrays whose sizes do not fit each other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt._seam import _core
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
    requant = data.draw(requants(outputs if per_channel else 1, ("fixed", "float32", "float64_away")))
    bias = data.draw(st.sampled_from([None, np.int32, np.int64]))
    b = None if bias is None else rng.integers(-(2**31), 2**31, outputs).astype(bias)
    acc = sums(x, w, zx, zw, strides, padding, dilations) + (0 if b is None else b.astype(object))
    expected = numerics.requantize(acc.astype(np.int64), requant, np.arange(outputs) if per_channel else 0)
    for constant in (False, True):
        name = None if b is None else str(b.dtype).replace("int", "i")
        call = _core.bind_depthwise_conv2d(
            isa=isa, x=x_type.name, w=w_type.name, x_shape=x.shape, w_shape=w.shape, x_zero_point=zx, w_zero_points=zw,
            requant=requant, strides=strides, padding=padding, dilations=dilations, w_constant=w if constant else None,
            bias=b if constant else name,
        )  # fmt: skip
        out = np.full(acc.shape, 85, DTYPES[requant.storage])
        call(x, *(() if constant else (w,) if b is None else (w, b)), out)
        np.testing.assert_array_equal(out, expected.astype(out.dtype))


def bind(**changed: Any) -> _core.Call:
    given: dict[str, Any] = {
        "isa": "ref", "x": "i8", "w": "i8", "x_shape": (1, 2, 2, 3), "w_shape": (1, 1, 6), "x_zero_point": 0,
        "w_zero_points": [0], "requant": REQUANT,
    }  # fmt: skip
    return _core.bind_depthwise_conv2d(**(given | changed))


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
