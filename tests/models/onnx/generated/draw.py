"""What families draw: sizes around the blocks of kernels, scales, zero points, integers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.writing import model, node, port
from tests.models.tflite.generated.draw import around, integers, scale, shape, size

__all__ = ["CASES", "DTYPES", "around", "integers", "microsoft", "runs", "scale", "shape", "size", "zero_point"]
CASES: dict[str, Any] = {}  # this file has no forms of its own
DTYPES = ("int8", "uint8")


def zero_point(rng: np.random.Generator, dtype: str) -> Any:
    """A zero point: any, the middle or one of the ends."""
    info = np.iinfo(dtype)
    middle = (info.min + info.max + 1) // 2
    drawn = rng.choice([rng.integers(info.min, info.max + 1), middle, info.min, info.max])
    return np.asarray(drawn, dtype)


def runs(rng: np.random.Generator, shapes: Sequence[Sequence[int]], dtype: str) -> list[list[Any]]:
    """Inputs of two runs: over the whole range, and around the middle of it."""
    info = np.iinfo(dtype)
    whole = [integers(rng, each, dtype) for each in shapes]
    near = [
        np.clip(np.rint(rng.normal((info.min + info.max) / 2, 20, tuple(each))), info.min, info.max).astype(dtype)
        for each in shapes
    ]
    return [whole, near]


def microsoft(
    op: str,
    inputs: Sequence[str],
    shapes: dict[str, Sequence[int]],
    out: Sequence[int],
    constants: dict[str, Any],
    dtype: str,
    **attributes: Any,
) -> bytes:
    """A model of one operator of ONNX Runtime's own domain."""
    made = node(op, list(inputs), ["y"], domain="com.microsoft", **attributes)
    name = dtype.upper()
    ports = [port(each, name, each_shape) for each, each_shape in shapes.items()]
    return model([made], ports, [port("y", name, out)], constants)


def case(content: bytes, rng: np.random.Generator, shapes: dict[str, Sequence[int]], dtype: str) -> Case:
    """A case whose inputs all have one dtype."""
    return Case(content, runs(rng, list(shapes.values()), dtype))
