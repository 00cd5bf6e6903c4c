"""transpose_conv2d against plain loops; every kernel and the lowered program against the reference."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.types import UniformType
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered
from tests.ops import naive
from tests.ops.harness import Array, infer, tensor
from tests.ops.strategies import storage_of

NAME = "transpose_conv2d"
RULES = ("fixed", "fixed_double", "float32", "half_up_twice", "reduced16")
X, W = UniformType("i8", "f32", 0.5, 3), UniformType("i8", "f32", [0.25, 0.1, 0.7], [0, -3, 5], axis=0)
Y = UniformType("i8", "f32", 40.0, -7)


def loops(
    x: Array, w: Array, tx: UniformType, tw: UniformType, out: UniformType, rule: str, said: dict[str, Any],
    size: tuple[int, int], bias: tuple[Array, UniformType] | None,
) -> Array:  # fmt: skip
    strides, padding = said.get("strides", (1, 1)), said.get("padding", ((0, 0), (0, 0)))
    result = np.empty((len(x), *size, len(w)), np.int64)
    for index in np.ndindex(*result.shape):
        image, row, column, channel = index
        acc = 0
        for i, j, ky, kx in np.ndindex(*x.shape[1:3], *w.shape[1:3]):
            if (i * strides[0] + ky - padding[0][0], j * strides[1] + kx - padding[1][0]) == (row, column):
                for c in range(x.shape[3]):
                    acc += naive.centred(x, tx, (image, i, j, c)) * naive.centred(w, tw, (channel, ky, kx, c))
        sw = naive.parameters_at(tw, (channel,))[0]
        if bias is not None:
            acc += naive.bias_at(*bias, channel, tx.scale, sw)
        result[index] = naive.stored(acc, rule, (tx.scale, sw), 1, out, index)
    return result


@pytest.mark.parametrize("seed", range(15))
def test_drawn(seed: int) -> None:
    rng, rule = np.random.default_rng(seed), RULES[seed % 5]
    kernel, size = (int(rng.integers(1, 5)), int(rng.integers(1, 4))), rng.integers(1, 4, 2)
    strides = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    whole = [(n - 1) * s + k for n, s, k in zip(size, strides, kernel, strict=True)]
    padding = tuple(
        (min(int(rng.integers(0, k + 1)), n - 1), 0) if rng.random() < 0.7 else (0, min(1, n - 1))
        for k, n in zip(kernel, whole, strict=True)
    )
    said = {"strides": strides, "padding": padding, "output_padding": (int(rng.integers(0, 3)), seed % 2)}
    tx = X if seed % 3 else UniformType("i16", "f32", 0.5)
    tw = W if seed % 2 else UniformType("u8", "f32", 0.25, 100)
    if rule == "fixed_double" and not seed % 3:
        tw = UniformType("i8", "f32", 0.25)
    depth = (3, 1, 0)[seed % 3] if seed else 3
    x, w = storage_of(tx, (1 + seed % 2, *size, depth), rng), storage_of(tw, (3, *kernel, depth), rng)
    arrays, types, bias = [x, w], [tensor(x.shape, tx), tensor(w.shape, tw)], None
    if seed % 4:
        scales = [tx.scale * s for s in tw.scales]
        tb = UniformType("i32", "f32", scales if len(scales) > 1 else scales[0], axis=0 if len(scales) > 1 else None)
        tb = tb if seed % 4 < 3 else UniformType("i32", "f32", 0.3)
        arrays.append(rng.integers(-3000, 3000, 3).astype(np.int32))
        types.append(tensor((3,), tb))
        bias = arrays[2], tb
    constants = [(), tuple(range(1, len(arrays)))]
    out = Y if seed % 3 else UniformType("i16", "f32", 33.0)
    options = [OPTIONS[seed % 4]]
    got = check_lowered(NAME, arrays, types, out, constants, options, requant=rule, **said)
    expected_size = [n - sum(p) + m for n, p, m in zip(whole, padding, said["output_padding"], strict=True)]
    assert got.shape == (len(x), *expected_size, 3)
    np.testing.assert_array_equal(got, loops(x, w, tx, tw, out, rule, said, (expected_size[0], expected_size[1]), bias))


def test_an_open_batch() -> None:
    rng = np.random.default_rng(0)
    x, w = storage_of(X, (2, 2, 3, 2), rng), storage_of(W, (3, 3, 2, 2), rng)
    types = [tensor((None, 2, 3, 2), X), tensor(w.shape, W)]
    result = infer(NAME, types, Y, strides=(2, 1))
    assert result.shape == (None, 5, 4, 3)
    from tests.ir.passes.lower_qrt.harness import lowered, program, run

    text = program(NAME, [x, w], types, result, strides=(2, 1))
    expected = loops(x, w, X, W, Y, "fixed", {"strides": (2, 1)}, (5, 4), None)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(lowered(text), [x, w], interpret), expected)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"strides": (0, 1)}, r"'strides' must be two positive integers, got \(0, 1\)"),
        (
            {"padding": ((3, 2), (0, 0))},
            r"the result must have elements, got none for 2 elements of 'x', 2 of 'w', the stride 1, the padding "
            r"\[3, 2\] and the output_padding 0",
        ),
        ({"output_padding": (-1, 0)}, r"'output_padding' must be two non-negative integers, got \(-1, 0\)"),
        ({"output_padding": "ab"}, "'output_padding' must be two non-negative integers, got 'ab'"),
        (
            {"padding": ((0, 0),)},
            r"'padding' must be 'SAME', 'VALID' or \(\(top, bottom\), \(left, right\)\), got "
            r"\(\(0, 0\),\)",
        ),
    ],
)
def test_attributes_that_are_refused(said: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        infer(NAME, [tensor((1, 2, 2, 2), X), tensor((3, 2, 2, 2), W)], Y, **said)


def test_types_that_are_refused() -> None:
    x, w = tensor((1, 2, 2, 2), X), tensor((3, 2, 2, 2), W)
    for types, message in (
        ([x, tensor((3, 2, 2, 4), W)], "'x' must have as many channels as 'w', 4 along the last axis, got 2"),
        ([tensor((2, 2, 2), X), w], "'x' must have the layout NHWC, of rank 4, got rank 3"),
        ([x, tensor((3, 0, 2, 2), W)], r"'w' must have a height and a width of at least 1, got \[0, 2\]"),
        (
            [tensor((1, 0, 2, 2), X), w],
            r"the result must have elements, got none for 0 elements of 'x', 2 of 'w', "
            r"the stride 1, the padding \[0, 0\] and the output_padding 0",
        ),
        ([x, tensor((2, 2, 2, 2), UniformType("i8", "f32", [0.5, 0.25], axis=1))], "output channels"),
    ):
        with pytest.raises(QuantTypeError, match=message):
            infer(NAME, types, Y)
