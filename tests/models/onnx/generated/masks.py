"""Masks of attention. Hazards: a number for each batch, two of them, a row for each batch or for each query, numbers
other than 0 and 1."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.writing import model, node, port

OWN = "com.microsoft"
NEAR = 2e-5
"""How far results lie apart at most: 64 units in the last place of the largest."""


def masked(rng: np.random.Generator, kind: str, packed: bool, **said: Any) -> Case:
    batch, heads, size, queries = (int(n) for n in rng.integers(1, 5, 4))
    keys = queries if packed else int(rng.integers(1, 7))
    width = heads * size
    shape = {"ends": (batch,), "bounds": (2 * batch,), "keys": (batch, keys), "rows": (batch, queries, keys)}[kind]
    mask = rng.integers(1, keys + 1, shape) if kind in ("ends", "bounds") else rng.integers(0, 3, shape)
    if kind == "bounds":
        mask[batch:] = rng.integers(0, mask[:batch])
    constants = {}
    if packed:
        shapes = {"x": (batch, queries, width)}
        constants = {"w": rng.normal(size=(width, 3 * width)).astype(np.float32) / np.float32(np.sqrt(width)),
                     "b": rng.normal(size=3 * width).astype(np.float32)}  # fmt: skip
        made = node("Attention", ["x", "w", "b", "m"], ["y"], domain=OWN, num_heads=heads, **said)
    else:
        shapes = {"q": (batch, queries, width), "k": (batch, keys, width), "v": (batch, keys, width)}
        made = node("MultiHeadAttention", ["q", "k", "v", "", "m"], ["y"], domain=OWN, num_heads=heads, **said)
    ports = [*(port(name, shape=own) for name, own in shapes.items()), port("m", "INT32", shape)]
    content = model([made], ports, [port("y")], constants)
    given = [rng.normal(size=own).astype(np.float32) for own in shapes.values()]
    return Case(content, [[*given, mask.astype(np.int32)]], absolute=NEAR)


CASES: dict[str, Any] = {
    f"Attention, mask of {kind}": partial(masked, kind=kind, packed=True) for kind in ("ends", "bounds", "keys", "rows")
}
CASES |= {
    f"MultiHeadAttention, mask of {kind}": partial(masked, kind=kind, packed=False) for kind in ("ends", "keys", "rows")
}
CASES["Attention, unidirectional, mask of keys"] = partial(masked, kind="keys", packed=True, unidirectional=1)
