"""MatMulNBits, DynamicQuantizeMatMul and DynamicQuantizeLSTM, beside NumPy and ONNX Runtime.

Hazards: the order of packed bits, a block that reaches beyond the depth, zero points of one column packed into whole
bytes, directions, a state that the file leaves out, sizes known only at run time.
"""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, multiplies_exactly, run, run_oracle
from tests.models.onnx.writing import model, node, port


def packed(values: Any, bits: int) -> Any:
    """Integers along the last axis, in whole bytes, the first in the low bits."""
    per = 8 // bits
    wide = np.zeros((*values.shape[:-1], -(-values.shape[-1] // per) * per), np.uint8)
    wide[..., : values.shape[-1]] = values
    parts = wide.reshape(*wide.shape[:-1], -1, per) << (np.arange(per, dtype=np.uint8) * bits)
    return np.bitwise_or.reduce(parts, axis=-1).astype(np.uint8)


def nbits(bits: int, depth: int, columns: int, size: int, has_zeros: bool, change: Any = None) -> tuple[bytes, Any]:
    """A model of one product, and its weights as floats [depth, columns]."""
    rng = np.random.default_rng(bits + depth)
    blocks = -(-depth // size)
    stored = rng.integers(0, 1 << bits, (columns, blocks * size), np.uint8)
    scales = rng.uniform(0.01, 0.1, (columns, blocks)).astype(np.float32)
    zeros = rng.integers(0, 1 << bits, (columns, blocks), np.uint8)
    constants: dict[str, Any] = {
        "w": packed(stored, bits).reshape(columns, blocks, -1), "s": scales.ravel(),
        "z": packed(zeros, bits).ravel(), "bias": rng.normal(size=columns).astype(np.float32),
    }  # fmt: skip
    points = zeros if has_zeros else np.full_like(zeros, 1 << (bits - 1))
    wide = (stored.astype(float) - np.repeat(points, size, 1)) * np.repeat(scales, size, 1)
    attributes = {"K": depth, "N": columns, "bits": bits, "block_size": size} | (change or {})
    names = ["x", "w", "s", "z" if has_zeros else "", "", "bias"]
    made = node("MatMulNBits", names, ["y"], domain="com.microsoft", **attributes)
    return model([made], [port("x", shape=(2, "n", depth))], [port("y")], constants), wide[:, :depth].T + 0.0


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize(("depth", "columns", "size"), [(32, 3, 16), (64, 17, 32), (40, 8, 16), (129, 5, 128)])
@pytest.mark.parametrize("has_zeros", [False, True])
def test_packed_weights(bits: int, depth: int, columns: int, size: int, has_zeros: bool) -> None:
    content, w = nbits(bits, depth, columns, size, has_zeros)
    x = np.random.default_rng(0).normal(size=(2, 3, depth)).astype(np.float32)
    (y,) = run(content, x=x)
    (bias,) = run(content, x=np.zeros_like(x))  # what 0 gives
    np.testing.assert_allclose(y, x.astype(float) @ w + bias, rtol=1e-5, atol=2e-5)
    if has_oracle() and bits != 2:
        np.testing.assert_allclose(y, run_oracle(content, {"x": x})[0], rtol=1e-4, atol=1e-4)


def test_packed_weights_that_are_wrong() -> None:
    for change, message in (
        ({"K": 48}, "the weights must be 72 values of uint8 (3 columns of 3 blocks of 16 weights of 4 bits), got"),
        ({"K": 31}, "the last dimension of the input must be K, 31, got shape [2, None, 32]"),
        ({"N": 5}, "must be 80 values of uint8 (5 columns of 2 blocks of 16 weights of 4 bits), got 48"),
        ({"bits": 3}, "of float and 3 bits"),
        ({"block_size": 17}, "a power of two of at least 16, got 32, 3 and 17"),
    ):
        with pytest.raises(ModelError) as raised:
            imported(nbits(4, 32, 3, 16, True, change)[0])
        assert message in str(raised.value)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("per_column", [True, False])
def test_dynamic_products(signed: bool, per_column: bool) -> None:
    """DynamicQuantizeMatMul has the bits of DynamicQuantizeLinear, MatMulInteger and a product, in the runtime too."""
    rng = np.random.default_rng(3)
    dtype, least = (np.int8, -128) if signed else (np.uint8, 0)
    w = rng.integers(least, least + 256, (9, 5)).astype(dtype)
    count = (5,) if per_column else ()
    scales = rng.uniform(0.01, 0.02, count).astype(np.float32)
    zeros = rng.integers(least, least + 256, count).astype(dtype)
    constants: dict[str, Any] = {"w": w, "s": scales, "z": zeros, "b": rng.normal(size=5).astype(np.float32)}
    made = node("DynamicQuantizeMatMul", ["x", "w", "s", "z", "b"], ["y"], domain="com.microsoft")
    content = model([made], [port("x", shape=("n", 3, 9))], [port("y")], constants)
    x = rng.normal(size=(2, 3, 9)).astype(np.float32)
    (y,) = run(content, x=x)
    wide = (w.astype(float) - zeros) * scales
    assert np.abs(y - (x @ wide + constants["b"])).max() < 0.02 * np.abs(wide).sum(0).max()
    if has_oracle() and multiplies_exactly():
        np.testing.assert_allclose(y, run_oracle(content, {"x": x})[0], rtol=1e-6, atol=1e-6)


def lstm(direction: str, has_state: bool = True, per_column: bool = False, change: Any = None) -> bytes:
    """A memory of 4 inputs and 3 cells."""
    rng = np.random.default_rng(5)
    count, columns = 1 + (direction == "bidirectional"), 12
    of_scale = (count, columns) if per_column else (count,)
    constants: dict[str, Any] = {
        "w": rng.integers(-128, 128, (count, 4, columns), np.int8),
        "r": rng.integers(-128, 128, (count, 3, columns), np.int8),
        "b": rng.normal(size=(count, 2 * columns)).astype(np.float32),
        "h": rng.normal(size=(count, 2, 3)).astype(np.float32),
        "c": rng.normal(size=(count, 2, 3)).astype(np.float32),
    }
    for name in "wr":
        constants[f"{name}s"] = rng.uniform(0.005, 0.01, of_scale).astype(np.float32)
        constants[f"{name}z"] = np.zeros(of_scale, np.int8)
    state = ["h", "c"] if has_state else ["", ""]
    names = ["x", "w", "r", "b", "", *state, "", "ws", "wz", "rs", "rz"]
    attributes = {"hidden_size": 3, "direction": direction} | (change or {})
    made = node("DynamicQuantizeLSTM", names, ["y", "hn", "cn"], domain="com.microsoft", **attributes)
    return model([made], [port("x", shape=("steps", "batch", 4))], [port(n) for n in ("y", "hn", "cn")], constants)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize(("has_state", "per_column"), [(True, False), (False, False), (True, True)])
def test_lstm(direction: str, has_state: bool, per_column: bool) -> None:
    """The page's bound of ONNX Runtime; without it, that the last step is the hidden state of every direction."""
    content = lstm(direction, has_state, per_column)
    for steps in (1, 4):
        x = np.random.default_rng(steps).normal(size=(steps, 2, 4)).astype(np.float32)
        y, hidden, cell = run(content, x=x)
        assert y.shape == (steps, len(hidden), 2, 3)
        for number in range(len(hidden)):
            backwards = direction == "reverse" or number == 1
            np.testing.assert_array_equal(y[0 if backwards else -1, number], hidden[number])
        if has_oracle() and multiplies_exactly():
            for mine, theirs in zip((y, hidden, cell), run_oracle(content, {"x": x}), strict=True):
                np.testing.assert_allclose(mine, theirs, atol=2e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activations": ["Elu", "Tanh", "Tanh"]}, r"\(activation Elu, which has numbers\)"),
        ({"clip": 1.0}, r"\(with lengths, a clip,.*of shape \[None, None, 4\]\).*\n.*shapes="),
        ({"input_forget": 1}, r"\(with lengths, a clip,.*of shape \[None, None, 4\]\)"),
        ({"direction": "up"}, "attribute 'direction' must be forward, reverse or bidirectional, got 'up'"),
    ],
)
def test_lstm_that_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(lstm("forward", change=change))


@pytest.mark.parametrize(
    "values",
    [
        [np.nan, 1, 2], [1, 2, np.nan], [np.nan] * 3, [np.nan, -1, -2], [-2, np.nan, 1], [np.inf, 1, 2],
        [-np.inf, 1, 2], [np.inf, -np.inf, 0], [np.nan, -np.inf, 1], [1e-45, 0, 0], [3e38, -3e38, 1],
    ],
)  # fmt: skip
def test_dynamic_products_of_what_is_no_number(values: list[float]) -> None:
    """A NaN is left out of the range and stored as 0; a zero point that is a NaN is the largest, as beside -inf."""
    x, w = np.float32([values]), np.arange(-6, 6, dtype=np.int8).reshape(3, 4)
    constants = {"w": w, "s": np.float32(0.5), "z": np.int8(1)}
    made = node("DynamicQuantizeMatMul", ["x", "w", "s", "z"], ["y"], domain="com.microsoft")
    content = model([made], [port("x", shape=x.shape)], [port("y")], constants)
    (y,) = run(content, x=x)
    dynamic = model([node("DynamicQuantizeLinear", ["x"], ["q", "t", "u"])], [port("x", shape=x.shape)],
                    [port("q", "UINT8"), port("t"), port("u", "UINT8")])  # fmt: skip
    q, scale, zero = run(dynamic, x=x)
    with np.errstate(invalid="ignore"):
        wanted = np.float32((q.astype(int) - zero.astype(int)) @ (w.astype(int) - 1)) * (scale * np.float32(0.5))
    np.testing.assert_array_equal(y, wanted)
    if has_oracle() and multiplies_exactly():
        np.testing.assert_array_equal(y, run_oracle(content, {"x": x})[0])
