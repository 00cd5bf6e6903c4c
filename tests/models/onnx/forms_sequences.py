"""Forms of one operator, for `test_operators.py`: recurrent cells, attention, normalizations of channels."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.models.onnx.forms import Form, real, whole

MS = "com.microsoft"
NEAR = 4e-6


def forms() -> Iterator[Form]:
    """Every form."""
    yield from _recurrent()
    yield from _normalizations()
    yield from _attention()


def _recurrent() -> Iterator[Form]:
    batch, steps, width, size = 3, 5, 4, 6
    x = real(steps, batch, width) / 2
    for type, gates, functions in (("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1)):
        outputs = 3 if type == "LSTM" else 2
        shapes = (gates * size, width), (gates * size, size), (2 * gates * size,)
        for direction in ("forward", "reverse", "bidirectional"):
            count = 1 + (direction == "bidirectional")
            states = [real(count, batch, size, seed=7 + i) / 4 for i in range(outputs - 1)]
            more: dict[str, Any] = {"hidden_size": size, "direction": direction}
            w, r, bias = (real(count, *shape, seed=i) / 3 for i, shape in enumerate(shapes))
            yield Form(type, (x, w, r), (1, 2), more, outputs, near=NEAR)
            yield Form(type, (x, w, r, bias, None, *states), (1, 2, 3), more, outputs, near=NEAR)
        w, r, bias = (real(1, *shape, seed=i) / 3 for i, shape in enumerate(shapes))
        more = {"hidden_size": size, "activations": ["Sigmoid", "Softsign", "Relu"][:functions]}
        yield Form(type, (x, w, r, bias), (1, 2, 3), more, outputs, near=NEAR)
        yield Form(type, (x, w, r, bias), (1, 2, 3), {"hidden_size": size, "clip": 0.25}, outputs, near=NEAR)
        lengths = np.full(batch, steps, np.int32)
        yield Form(type, (x, w, r, bias, lengths), (1, 2, 3, 4), {"hidden_size": size}, outputs, near=NEAR)
        if type == "GRU":
            more = {"hidden_size": size, "linear_before_reset": 1}
            yield Form(type, (x, w, r, bias), (1, 2, 3), more, outputs, near=NEAR)
            yield Form(type, (x, w, r), (1, 2), more, outputs, near=NEAR)
        if type == "LSTM":
            peepholes = real(1, 3 * size, seed=9) / 3
            operands = x, w, r, bias, None, None, None, peepholes
            yield Form(type, operands, (1, 2, 3, 7), {"hidden_size": size}, outputs, near=NEAR)


def _normalizations() -> Iterator[Form]:
    for shape in ((2, 3, 8), (2, 3, 4, 5), (1, 2, 3, 4, 2)):
        scale, bias = real(shape[1], seed=1), real(shape[1], seed=2)
        yield Form("InstanceNormalization", (real(*shape), scale, bias), (1, 2), {"epsilon": 1e-3}, near=NEAR)
    for p in (1, 2):
        x = real(3, 4, 5)
        x[1] = 0
        for axis in (1, -1):
            yield Form("LpNormalization", (x,), attributes={"p": p, "axis": axis}, opset=22, near=NEAR)
    yield Form("Hardmax", (whole(3, 4, 5),), attributes={"axis": 1})
    yield Form("Hardmax", (whole(3, 4, 5),), attributes={"axis": 1}, opset=11)


def _attention() -> Iterator[Form]:
    q, k, v = (real(2, n, 12, seed=i) for i, n in enumerate((4, 6, 6)))
    bias, added = real(36, seed=3), real(2, 3, 4, 6, seed=4)
    padding = np.int32([[1, 1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 1]])
    more: dict[str, Any] = {"num_heads": 3}
    for operands in ((q, k, v), (q, k, v, bias), (q, k, v, None, padding), (q, k, v, bias, padding, added)):
        yield Form("MultiHeadAttention", operands, (), more, domain=MS, near=NEAR)
    yield Form("MultiHeadAttention", (q, q, q), (), {**more, "unidirectional": 1, "scale": 0.3}, domain=MS, near=NEAR)
    x, w, b = real(2, 6, 8) / 2, real(8, 36, seed=1) / 2, real(36, seed=2)
    lengths = np.int32([4, 6])
    for operands in ((x, w, b), (x, w, b, padding), (x, w, b, lengths)):
        yield Form("Attention", operands, (1, 2), more, domain=MS, near=NEAR)
    yield Form("Attention", (x, w, b), (1, 2), {**more, "unidirectional": 1}, domain=MS, near=NEAR)
    wide = real(8, 32, seed=1) / 2
    yield Form("Attention", (x, wide, real(32, seed=2)), (1, 2), {"num_heads": 2, "qkv_hidden_sizes": [12, 12, 8]},
               domain=MS, near=NEAR)  # fmt: skip
    quantized = whole(2, 6, 8, dtype="uint8", low=0, high=255), whole(8, 36, dtype="int8", low=-100, high=100)
    scales = np.float32(0.01), np.float32(0.02)
    yield Form("QAttention", (*quantized, b, *scales, None, np.uint8(120), np.int8(0)), (1, 2, 3, 4, 6, 7), more,
               domain=MS, near=NEAR / 64)  # fmt: skip
    yield Form("QAttention", (*quantized, b, *scales, padding, np.uint8(120), np.int8(0)), (1, 2, 3, 4, 6, 7), more,
               domain=MS, near=NEAR / 64)  # fmt: skip
    angles = real(9, 2)
    for places in (np.int64([[0, 1, 2, 3], [4, 5, 6, 8]]), np.int64([3])):
        for interleaved in (0, 1):
            yield Form("RotaryEmbedding", (q, places, np.cos(angles), np.sin(angles)), (2, 3),
                       {"interleaved": interleaved}, domain=MS, near=NEAR)  # fmt: skip
    tables = [real(n, 8, seed=n) for n in (11, 7, 3)]
    words, kinds = np.int32([[1, 10, 3], [0, 4, 5]]), np.int32([[0, 1, 2], [2, 0, 0]])
    scale, offset = real(8, seed=1), real(8, seed=2)
    mask = np.int32([[1, 1, 0], [1, 1, 1]])
    for operands in ((words, kinds, *tables, scale, offset), (words, kinds, *tables, scale, offset, mask)):
        yield Form("EmbedLayerNormalization", operands, (2, 3, 4, 5, 6), outputs=2, domain=MS, near=NEAR)
    odd = np.int32([[2, 1, 0], [1, 1, -1]])  # only ones count
    yield Form("EmbedLayerNormalization", (words, kinds, *tables, scale, offset, odd), (2, 3, 4, 5, 6), outputs=2,
               domain=MS, near=NEAR)  # fmt: skip
    yield from _quantized_embeddings(words, kinds, mask)


def _quantized_embeddings(words: Any, kinds: Any, mask: Any) -> Iterator[Form]:
    """With every parameter apart, of both signs; without segments the inputs of theirs are absent."""
    sizes = (11, 8), (7, 8), (3, 8), (8,), (8,)
    scales = [np.float32(each) for each in (0.02, 0.03, 0.05, 0.01, 0.04)]
    for dtype, low, high in (("uint8", 0, 255), ("int8", -128, 127)):
        held = [whole(*shape, dtype=dtype, low=low, high=high, seed=i) for i, shape in enumerate(sizes)]
        zeros = [np.array(low + 100 + 7 * i, dtype) for i in range(5)]
        known = 2, 3, 4, 5, 6, *range(8, 18)
        operands = (words, kinds, *held)
        for kept in (mask, None):
            yield Form("QEmbedLayerNormalization", (*operands, kept, *scales, *zeros), known, {"epsilon": 1e-5},
                       outputs=2, domain=MS, near=NEAR)  # fmt: skip
        ones = [each.reshape(1) for each in (*scales, *zeros)]
        yield Form("QEmbedLayerNormalization", (*operands, mask, *ones), known, outputs=2, domain=MS, near=NEAR)
        apart = [[None if i == 2 else each for i, each in enumerate(part)] for part in (held, scales, zeros)]
        operands = (words, None, *apart[0], mask, *apart[1], *apart[2])
        known = tuple(i for i in known if i not in (4, 10, 15))
        yield Form("QEmbedLayerNormalization", operands, known, outputs=2, domain=MS, near=NEAR)
