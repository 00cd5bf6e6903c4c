"""Operators of float16, which ONNX Runtime computes in float32 between casts. Hazards: results that are rounded between
two such operators, where the runtime rounds the last one alone; outputs that stay in float32."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port


def _halves(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float16)


CANCELLED = 2 * 6 * 2**-24 * 16
"""The bound of docs/reference/onnx.md for a Gemm of 6 products with magnitudes of up to 16 in all: the sums are of
float32, and a result near 0 has units of float16 that are smaller than their errors."""


def _case(
    nodes: Any, shape: Any, constants: dict[str, Any], rng: np.random.Generator, ulp: int, absolute: float = 0.0
) -> Case:
    content = model(nodes, [port("x", "FLOAT16", shape)], [port("y", "FLOAT16")], constants)
    return Case(content, [[_halves(rng, *shape)]], ulp=ulp, absolute=absolute)


def line(rng: np.random.Generator, ops: str) -> Case:
    """Functions, one after the other."""
    names = ops.split()
    values = ["x", *(f"v{i}" for i in range(1, len(names))), "y"]
    nodes = [node(op, [values[i]], [values[i + 1]]) for i, op in enumerate(names)]
    return _case(nodes, draw.shape(rng, 2, 400), {}, rng, 1)


def network(rng: np.random.Generator) -> Case:
    """Two convolutions, a pool and a product."""
    constants = {"w": _halves(rng, 4, 3, 3, 3), "b": _halves(rng, 4), "v": _halves(rng, 5, 4, 1, 1),
                 "m": _halves(rng, 5, 6), "c": _halves(rng, 6)}  # fmt: skip
    nodes = [node("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1]), node("Relu", ["a"], ["r"]),
             node("Conv", ["r", "v"], ["d"]), node("GlobalAveragePool", ["d"], ["g"]), node("Flatten", ["g"], ["f"]),
             node("Gemm", ["f", "m", "c"], ["y"])]  # fmt: skip
    return _case(
        nodes, (int(rng.integers(2, 99)), 3, *(int(n) for n in rng.integers(3, 9, 2))), constants, rng, 2, CANCELLED
    )


CASES: dict[str, Any] = {
    "float16, a network": network,
    **{f"float16 {ops}": partial(line, ops=ops)
       for ops in ("Sigmoid", "Exp Sqrt", "Sigmoid Identity Exp Tanh", "Softmax", "Abs Sqrt Reciprocal")},
}  # fmt: skip
