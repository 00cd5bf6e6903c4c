"""What is quantized when it runs: DynamicQuantizeLinear, DynamicQuantizeMatMul, DynamicQuantizeLSTM; and MatMulNBits,
whose weights alone are. Hazards: a range without 0, a range of one number, a zero point that is a tie, tails, packed
zero points, a last block that is not whole, directions."""

from functools import partial
from typing import Any

import numpy as np

from qrt.ops.core import Array
from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port

PACKED, MEMORY, TIES = 1e-4, 2e-6, 1e-3
"""How far results of MatMulNBits and of DynamicQuantizeLSTM lie apart at most: docs/reference/onnx.md. Of the second
where each cell is below 2, as it is in two steps. The share of its elements that may lie further apart: they follow
from hidden values that are quantized to neighbours, because both runtimes' floats lie on two sides of a tie."""
RUNS = 24
"""Inputs of each DynamicQuantizeLSTM: its models are small, and take longer to import than to run."""


def quantized(rng: np.random.Generator) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 20_000)
    x = rng.normal(0, 1, shape) * 2.0 ** rng.uniform(-20, 20) + rng.choice([0, rng.normal()])
    x = {0: x, 1: np.abs(x), 2: -np.abs(x), 3: x * 0, 4: np.rint(x)}[int(rng.integers(5))]
    outputs = [port("y", "UINT8", shape), port("s", shape=()), port("z", "UINT8", ())]
    content = model([node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], [port("x", shape=shape)], outputs)
    return Case(content, [[x.astype(np.float32)]], ulp=0)


def product(rng: np.random.Generator, dtype: str, per_column: bool) -> Case:
    rows, depth, columns = draw.size(rng, 17), draw.size(rng), draw.size(rng)
    count = (columns,) if per_column else ()
    constants = {"w": draw.integers(rng, (depth, columns), dtype), "z": draw.integers(rng, count, dtype),
                 "s": np.exp2(rng.uniform(-9, -3, count)).astype(np.float32),
                 "b": rng.normal(size=columns).astype(np.float32)}  # fmt: skip
    names = ["x", "w", "s", "z", *(["b"] if rng.random() < 0.5 else [])]
    made = node("DynamicQuantizeMatMul", names, ["y"], domain="com.microsoft")
    ports = [port("x", shape=(rows, depth))], [port("y", shape=(rows, columns))]
    x = rng.normal(rng.normal(), np.exp2(rng.uniform(-4, 4)), (rows, depth)).astype(np.float32)
    return Case(model([made], *ports, constants), [[x]])


def of_packed_weights(rng: np.random.Generator, bits: int) -> Case:
    rows, depth, columns = int(rng.integers(1, 4)), 16 * int(rng.integers(1, 7)), draw.size(rng, 33)
    size = int(rng.choice([16, 32]))
    blocks = -(-depth // size)
    constants = {"w": rng.integers(0, 256, (columns, blocks, size * bits // 8), np.uint8),
                 "s": rng.uniform(0.01, 0.1, columns * blocks).astype(np.float32),
                 "z": rng.integers(0, 256, columns * -(-blocks * bits // 8), np.uint8)}  # fmt: skip
    names = ["x", "w", "s", *(["z"] if rng.random() < 0.5 else [])]
    made = node("MatMulNBits", names, ["y"], domain="com.microsoft", K=depth, N=columns, bits=bits, block_size=size)
    ports = [port("x", shape=(rows, depth))], [port("y", shape=(rows, columns))]
    x = rng.normal(size=(rows, depth)).astype(np.float32)
    return Case(model([made], *ports, constants), [[x]], absolute=PACKED)


def memory(rng: np.random.Generator, direction: str) -> Case:
    """One or two sequences: of more, ONNX Runtime shares them among its threads."""
    steps, batch, inputs, cells = (int(rng.integers(1, most)) for most in (3, 3, 20, 10))
    directions = 1 + (direction == "bidirectional")
    scales = (directions, 4 * cells) if rng.random() < 0.5 else (directions,)
    constants: dict[str, Any] = {"b": rng.normal(size=(directions, 8 * cells)).astype(np.float32) / 4}
    for name, depth in (("w", inputs), ("r", cells)):
        constants |= {name: draw.integers(rng, (directions, depth, 4 * cells), "int8"),
                      f"s{name}": rng.uniform(0.002, 0.004, scales).astype(np.float32),
                      f"z{name}": np.zeros(scales, np.int8)}  # fmt: skip
    names = ["x", "w", "r", "b", "", "", "", "", "sw", "zw", "sr", "zr"]
    outputs = ["y", "h", "c"]
    made = node("DynamicQuantizeLSTM", names, outputs, domain="com.microsoft", hidden_size=cells, direction=direction)
    content = model([made], [port("x", shape=(steps, batch, inputs))], list(map(port, outputs)), constants)
    runs = [[rng.normal(size=(steps, batch, inputs)).astype(np.float32)] for _ in range(RUNS)]
    return Case(content, runs, absolute=MEMORY, share=TIES)


def sequences(rng: np.random.Generator, direction: str, form: str) -> Case:
    """Two sequences of other lengths, or other activations, in few steps."""
    steps, batch, inputs, cells = int(rng.integers(1, 5)), 2, int(rng.integers(1, 20)), int(rng.integers(1, 10))
    directions = 1 + (direction == "bidirectional")
    constants: dict[str, Any] = {"b": rng.normal(size=(directions, 8 * cells)).astype(np.float32) / 4}
    for name, depth in (("w", inputs), ("r", cells)):
        constants |= {name: draw.integers(rng, (directions, depth, 4 * cells), "int8"),
                      f"s{name}": rng.uniform(0.002, 0.004, directions).astype(np.float32),
                      f"z{name}": np.zeros(directions, np.int8)}  # fmt: skip
    if form == "peepholes":
        constants["p"] = rng.normal(size=(directions, 3 * cells)).astype(np.float32) / 4
    said: dict[str, Any] = {"hidden_size": cells, "direction": direction}
    said |= {"clip": {"clip": 0.5}, "coupled": {"input_forget": 1},
             "activations": {"activations": ["Sigmoid", "Softsign", "Relu"] * directions}}.get(form, {})  # fmt: skip

    def inputs_of_run() -> dict[str, Array]:
        arrays: dict[str, Array] = {"x": rng.normal(size=(steps, batch, inputs)).astype(np.float32)}
        if form.startswith("lengths"):
            arrays["n"] = rng.permutation([steps, rng.integers(0, steps + 1)]).astype(np.int32)
        if form == "lengths and states":
            states = {name: rng.normal(size=(directions, batch, cells)).astype(np.float32) / 2 for name in ("h0", "c0")}
            arrays["n"][:] = np.maximum(arrays["n"] - rng.integers(0, 2), 1)
            arrays |= states
        return arrays

    runs = [inputs_of_run() for _ in range(RUNS)]
    given = runs[0]
    order = ("x", "w", "r", "b", "n", "h0", "c0", "p", "sw", "zw", "sr", "zr")
    names = [name if name in given or name in constants else "" for name in order]
    outputs = ["y", "h", "c"]
    made = node("DynamicQuantizeLSTM", names, outputs, domain="com.microsoft", **said)
    kinds = {"int32": "INT32", "float32": "FLOAT"}
    ports = [port(name, kinds[array.dtype.name], array.shape) for name, array in given.items()]
    content = model([made], ports, list(map(port, outputs)), constants)
    return Case(content, [list(run.values()) for run in runs], absolute=MEMORY, share=TIES)


CASES: dict[str, Any] = {"DynamicQuantizeLinear": quantized}
for _dtype in draw.DTYPES:
    CASES |= {
        f"DynamicQuantizeMatMul {_dtype}": partial(product, dtype=_dtype, per_column=False),
        f"DynamicQuantizeMatMul {_dtype}, a scale for each column": partial(product, dtype=_dtype, per_column=True),
    }
CASES |= {f"MatMulNBits of {bits}": partial(of_packed_weights, bits=bits) for bits in (4, 8)}
CASES |= {
    f"DynamicQuantizeLSTM {way}": partial(memory, direction=way) for way in ("forward", "reverse", "bidirectional")
}
CASES |= {
    f"DynamicQuantizeLSTM {way}, {form}": partial(sequences, direction=way, form=form)
    for way in ("forward", "reverse", "bidirectional")
    for form in ("lengths", "lengths and states", "clip", "coupled", "activations", "peepholes")
}
