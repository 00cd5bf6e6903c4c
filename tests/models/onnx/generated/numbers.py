"""Remainders, shifts, signs, comparisons of unsigned integers, what floats are, means, reductions of integers. Hazards:
a quotient that is rounded, the sign of a remainder of 0, a shift by the width, numbers beyond the largest signed one,
zeros of either sign, tails of vectors."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port


def _floats(rng: np.random.Generator, shape: Any) -> Any:
    x = (rng.normal(0, 1, shape) * 2.0 ** rng.uniform(-10, 10)).astype(np.float32)
    return np.where(rng.random(shape) < 0.1, np.rint(x), x).astype(np.float32)


def _integers(rng: np.random.Generator, shape: Any, dtype: str) -> Any:
    if dtype == "float32":
        return _floats(rng, shape)
    whole = draw.integers(rng, shape, dtype)
    if dtype == "int64":
        whole >>= 12  # the runtime's fmod goes through float64
    return whole if rng.random() < 0.5 else (whole % 8).astype(dtype)


def _model(op: str, operands: list[Any], out: str, opset: int = 18, **attributes: Any) -> Case:
    names = [f"x{i}" for i in range(len(operands))]
    ports = [port(name, _name(array.dtype.name), array.shape) for name, array in zip(names, operands, strict=True)]
    made = node(op, names, ["y"], **attributes)
    return Case(model([made], ports, [port("y", _name(out))], opset=opset), [operands], ulp=0)


def _name(dtype: str) -> str:
    return {"float32": "FLOAT"}.get(dtype, dtype.upper())


def binary(rng: np.random.Generator, op: str, dtype: str, out: str = "", nonzero: bool = False, **more: Any) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 8000)
    a, b = _integers(rng, shape, dtype), _integers(rng, shape[int(rng.integers(len(shape))) :], dtype)
    b = np.where(b == 0, 3, b).astype(dtype) if nonzero else b
    if nonzero and dtype.startswith("int"):
        b = np.where(b == -1, 2, b).astype(dtype)  # the least number by -1 traps in the runtime
    return _model(op, [a, b], out or dtype, **more)


def shifted(rng: np.random.Generator, dtype: str) -> Case:
    shape = draw.shape(rng, 2, 8000)
    by = rng.integers(0, np.iinfo(dtype).bits, shape).astype(dtype)
    return _model(
        "BitShift", [draw.integers(rng, shape, dtype), by], dtype, direction=str(rng.choice(["LEFT", "RIGHT"]))
    )


def unary(rng: np.random.Generator, op: str, dtype: str, out: str = "") -> Case:
    x = _integers(rng, draw.shape(rng, int(rng.integers(1, 4)), 8000), dtype)
    if op.startswith("Is"):
        x = np.where(rng.random(x.shape) < 0.3, rng.choice(np.float32([np.nan, np.inf, -np.inf, 0]), x.shape), x)
    return _model(op, [x.astype(dtype)], out or dtype, opset=20)


def reduced(rng: np.random.Generator, op: str, dtype: str) -> Case:
    shape = [*draw.shape(rng, 3, 8000), 2]
    axes = np.flatnonzero(rng.random(4) < 0.3).tolist() or [3]
    low, high = (-1, 2) if op == "ReduceProd" else (-1000, 1000)  # the runtime saturates what overflows
    x = rng.integers(low, high, shape).astype(dtype)
    content = model([node(op, ["x", "a"], ["y"])], [port("x", _name(dtype), shape)], [port("y", _name(dtype))],
                    {"a": np.int64(axes)}, opset=18)  # fmt: skip
    return Case(content, [[x]], ulp=0)


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "Sign float32": partial(unary, op="Sign", dtype="float32"),
    "IsNaN float32": partial(unary, op="IsNaN", dtype="float32", out="bool"),
    "IsInf float32": partial(unary, op="IsInf", dtype="float32", out="bool"),
    "Mod float32, fmod": partial(binary, op="Mod", dtype="float32", nonzero=True, fmod=1),
}
for _dtype in ("int8", "int32", "int64", "uint8", "uint32"):
    CASES[f"Mod {_dtype}"] = partial(binary, op="Mod", dtype=_dtype, nonzero=True)
    CASES[f"Mod {_dtype}, fmod"] = partial(binary, op="Mod", dtype=_dtype, nonzero=True, fmod=1)
    CASES[f"BitwiseNot {_dtype}"] = partial(unary, op="BitwiseNot", dtype=_dtype)
for _dtype in ("uint8", "uint32", "uint64"):
    CASES[f"BitShift {_dtype}"] = partial(shifted, dtype=_dtype)
for _dtype in ("uint32", "uint64"):
    CASES |= {f"{op} {_dtype}": partial(binary, op=op, dtype=_dtype, out="bool") for op in ("Less", "Greater")}
for _dtype in ("int32", "int64"):
    CASES |= {
        f"{op} {_dtype}": partial(reduced, op=op, dtype=_dtype) for op in ("ReduceSum", "ReduceMax", "ReduceProd")
    }
