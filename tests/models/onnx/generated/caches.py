"""Attention with keys and values of earlier steps: GroupQueryAttention, MultiHeadAttention and Attention. Hazards:
sequences of several lengths, a cache that is longer than what it holds, a window that begins within the past, heads
that share keys, positions that go on behind the past."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.writing import model, node, port

OWN = "com.microsoft"
NEAR = 2e-5
"""How far results lie apart at most: 64 units in the last place of the largest."""
ORDER = ("q", "k", "v", "pk", "pv", "lengths", "total", "cos", "sin", "positions", "bias", "sinks")
KINDS = {"float32": "FLOAT", "int32": "INT32", "int64": "INT64"}


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float32)


def _model(type: str, order: tuple[str, ...], given: dict[str, Any], known: dict[str, Any], count: int,
           **said: Any) -> Case:  # fmt: skip
    names = [name if name in given or name in known else "" for name in order]
    while not names[-1]:
        names.pop()
    outputs = [f"y{i}" for i in range(count)]
    made = node(type, names, outputs, domain=OWN, **said)
    ports = [port(name, KINDS[array.dtype.name], array.shape) for name, array in given.items()]
    return Case(model([made], ports, list(map(port, outputs)), known), [list(given.values())], absolute=NEAR)


def grouped(rng: np.random.Generator, form: str, prompt: bool) -> Case:
    batch, groups, shared, size = (int(n) for n in rng.integers(1, (4, 4, 4, 3)))
    size, heads = 16 * size, groups * shared
    steps = int(rng.integers(1, 6)) if prompt or batch == 1 else 1
    lengths, past = np.full(batch, steps), steps + int(rng.integers(1, 9))
    if not prompt:
        lengths = rng.integers(steps, past + 1, batch)
    if form == "growing":
        lengths[:] = steps + past
    total = np.array(lengths.max(), np.int32)
    given = {"q": _floats(rng, batch, steps, (heads + 2 * groups * (form == "packed")) * size)}
    if form != "packed":
        given |= {name: _floats(rng, batch, steps, groups * size) for name in "kv"}
    if form != "no past":
        given |= {name: _floats(rng, batch, groups, past, size) for name in ("pk", "pv")}
    given["lengths"] = (lengths - 1).astype(np.int32)
    said: dict[str, Any] = {"num_heads": heads, "kv_num_heads": groups}
    if form in ("rotary", "packed", "positions"):
        columns = 8 * int(rng.integers(1, size // 16 + 1))
        given |= {name: _floats(rng, 20, columns) for name in ("cos", "sin")}
        said |= {"do_rotary": 1, "rotary_interleaved": int(rng.integers(2))}
    if form == "positions":
        given["positions"] = rng.integers(0, 15, (batch, steps))
    if form in ("window", "sum", "sinks"):
        said["local_window_size"] = int(rng.integers(1, 9))
    if form in ("cap", "sum"):
        said |= {"softcap": float(rng.uniform(0.5, 3)), "scale": 0.3}
    if form == "sum":
        given["bias"] = _floats(rng, rng.choice([1, batch]), rng.choice([1, heads]), steps, int(total))
    if form == "sinks":
        given["sinks"] = _floats(rng, heads)
    said |= {"smooth": {"smooth_softmax": 1}, "two directions": {"causal": 0}}.get(form, {})
    known = {} if form in ("total of the run", "no past") else {"total": total}
    return _model("GroupQueryAttention", ORDER, given | ({} if known else {"total": total}), known, 3, **said)


def of_heads(rng: np.random.Generator, mask: str, split: bool = False) -> Case:
    """MultiHeadAttention with a past, or with keys that are split in heads."""
    batch, heads, size, queries, keys, past = (int(n) for n in rng.integers(1, 6, 6))
    width, total = heads * size, keys + past * (not split)
    given = {"q": _floats(rng, batch, queries, width)}
    given |= {name: _floats(rng, *((batch, heads, keys, size) if split else (batch, keys, width))) for name in "kv"}
    if mask:
        shape = {"keys": (batch, total), "rows": (batch, queries, total), "ends": (batch,)}[mask]
        given["mask"] = rng.integers(0, 3, shape).astype(np.int32)
        if mask == "ends":
            given["mask"] = rng.integers(1, total + 1, shape).astype(np.int32)
    if not split:
        given |= {name: _floats(rng, batch, heads, past, size) for name in ("pk", "pv")}
    order = ("q", "k", "v", "", "mask", "sum", "pk", "pv")
    count = 1 if split else 3
    return _model("MultiHeadAttention", order, given, {}, count, num_heads=heads)


def packed(rng: np.random.Generator, mask: str, **said: Any) -> Case:
    """Attention with a past."""
    batch, heads, size, steps, past = (int(n) for n in rng.integers(1, 6, 5))
    width = heads * size
    known = {"w": _floats(rng, width, 3 * width) / np.float32(np.sqrt(width)), "b": _floats(rng, 3 * width)}
    given = {"x": _floats(rng, batch, steps, width), "past": _floats(rng, 2, batch, heads, past, size)}
    if mask:
        shape = (batch, past + steps) if mask == "keys" else (batch, steps, past + steps)
        given["mask"] = rng.integers(0, 3, shape).astype(np.int32)
    return _model("Attention", ("x", "w", "b", "mask", "past"), given, known, 2, num_heads=heads, **said)


CASES: dict[str, Any] = {
    f"GroupQueryAttention, {form}, {'prompt' if prompt else 'further steps'}": partial(
        grouped, form=form, prompt=prompt
    )
    for form in ("plain", "rotary", "positions", "window", "cap", "sum", "sinks", "smooth", "two directions", "packed")
    for prompt in (False, True)
}
CASES |= {
    "GroupQueryAttention, growing cache": partial(grouped, form="growing", prompt=False),
    "GroupQueryAttention, no past": partial(grouped, form="no past", prompt=True),
    "GroupQueryAttention, total of the run": partial(grouped, form="total of the run", prompt=False),
    "MultiHeadAttention, keys in heads": partial(of_heads, mask="", split=True),
    "MultiHeadAttention, keys in heads, mask of keys": partial(of_heads, mask="keys", split=True),
    "Attention, unidirectional, past": partial(packed, mask="", unidirectional=1),
    "Attention, unidirectional, past, mask of keys": partial(packed, mask="keys", unidirectional=1),
}
CASES |= {
    f"MultiHeadAttention, past{f', mask of {mask}' * bool(mask)}": partial(of_heads, mask=mask)
    for mask in ("", "keys", "rows", "ends")
}
CASES |= {
    f"Attention, past{f', mask of {mask}' * bool(mask)}": partial(packed, mask=mask) for mask in ("", "keys", "rows")
}
