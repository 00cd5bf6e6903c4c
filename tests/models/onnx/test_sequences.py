"""Recurrent cells and attention: forms that are wrong or not supported."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import imported, run
from tests.models.onnx.writing import model, node, port

STEPS, BATCH, WIDTH, SIZE = 5, 3, 4, 6


def recurrent(type: str = "LSTM", *more: str, gates: int = 4, shape: Any = (STEPS, BATCH, WIDTH), **said: Any) -> bytes:
    w, r = (np.zeros((1, gates * SIZE, size), np.float32) for size in (WIDTH, SIZE))
    constants = {"w": w, "r": r, "short": np.int32([5, 5, 4])}
    made = node(type, ["x", "w", "r", *more], ["y"], hidden_size=SIZE, **said)
    return model([made], [port("x", shape=shape), port("n", "INT32", (BATCH,))], [port("y")], constants)


def attending(type: str, *inputs: str, outputs: int = 1, **said: Any) -> bytes:
    constants = {
        "w": np.zeros((8, 36), np.float32),
        "b": np.zeros(36, np.float32),
        "m": np.zeros((2, 1, 6, 5), np.int32),
    }
    made = node(type, list(inputs), [f"y{i}" for i in range(outputs)], domain="com.microsoft", **said)
    ports = [port("x", shape=(2, 6, 8)), port("p", shape=(2, 2, 3, 6, 4)), port("q", shape=(2, 6, 3, 4))]
    return model([made], ports, [port("y0")], constants)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (recurrent(direction="up"), "node 0 LSTM: attribute 'direction' must be forward, reverse or"),
        (recurrent(gates=3), "for sequences of shape [5, 3, 4], W must have the shape [1, 4 * hidden, 4] and R"),
        (recurrent(direction="bidirectional"), "for sequences of shape [5, 3, 4], W must have the shape [2, 4 *"),
        (recurrent(activations=["Elu", "Tanh", "Tanh"]), "LSTM (activation Elu, which has numbers)"),
        (recurrent(activations=["Own", "Tanh", "Tanh"]), "LSTM (activation Own, which has unknown)"),
        (recurrent("GRU", gates=3, activations=["Tanh"]), "node 0 GRU: attribute 'activations' must have 2 names"),
        (recurrent("RNN", gates=1, shape=(None, BATCH, None)), "RNN (of sequences of shape [None, 3, None]"),
        (attending("Attention", "x", "w", "b"), "attribute 'num_heads' is missing, expected an integer"),
        (attending("Attention", "x", "w", "b", num_heads=0), "attribute 'num_heads' must be at least 1, got 0"),
        (attending("Attention", "x", "w", "b", "m", num_heads=3),
         "a mask of shape [2, 1, 6, 5] for 6 keys, expected [batch, 1, steps, steps]"),
        (attending("Attention", "x", "w", "b", "", "q", num_heads=3),
         "its past must have the shape [2, batch, heads, steps, elements], got [2, 6, 3, 4]"),
        (attending("Attention", "x", "w", "b", outputs=3, num_heads=3), "com.microsoft.Attention (with output 2)"),
        (attending("Attention", "x", "w", "b", num_heads=3, do_rotary=1), "(with rotary embedding)"),
        (attending("Attention", "x", "w", "b", num_heads=3, qkv_hidden_sizes=[1, 2, 3]),
         "qkv_hidden_sizes must be three sizes that add up to the columns of the weights, 36, got [1, 2, 3]"),
        (attending("MultiHeadAttention", "x", num_heads=2), "(packed queries, keys and values)"),
        (attending("MultiHeadAttention", "q", "x", "x", num_heads=2), "(packed queries, keys and values)"),
    ],
)  # fmt: skip
def test_wrong_forms(content: bytes, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        imported(content)
    assert said in str(caught.value)


@pytest.mark.parametrize("scale", [-1.0, -0.25, 0.0, 0.5])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_the_scale_of_attention_has_any_sign(scale: float, unidirectional: int) -> None:
    """The operator multiplies queries and keys by the root of the scale, which a negative number lacks."""
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 4, 6)).astype(np.float32)
    attributes = {"num_heads": 2, "scale": scale, "unidirectional": unidirectional}
    operator = node("MultiHeadAttention", ["q", "k", "v"], ["y"], domain="com.microsoft", **attributes)
    content = model([operator], [port(name, shape=(2, 4, 6)) for name in "qkv"], [port("y")])
    (result,) = run(content, q=q, k=k, v=v)
    heads = [x.astype(np.float64).reshape(2, 4, 2, 3).swapaxes(1, 2) for x in (q, k, v)]
    scores = heads[0] @ heads[1].swapaxes(2, 3) * (scale or 3**-0.5)
    scores = np.where(np.tri(4) if unidirectional else True, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ heads[2]
    np.testing.assert_allclose(result, expected.swapaxes(1, 2).reshape(2, 4, 6), rtol=1e-5, atol=1e-6)
