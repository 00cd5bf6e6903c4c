"""QuantizeLinear and DequantizeLinear. Hazards: ties, a quotient beyond the range, a zero point that is added before
the rounding, scales along an axis and in blocks, packed integers of 4 bits, floats of 16 bits."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port, tensor

RANGES = {
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535), "int4": (-8, 7),
    "uint4": (0, 15),
}  # fmt: skip
OPSET = 21


def _parameters(rng: np.random.Generator, dtype: str, form: str, shape: tuple[int, ...], fraction: str) -> Any:
    """(scales, zero points, attributes) of a tensor."""
    low, high = RANGES[dtype]
    axis = int(rng.integers(len(shape)))
    count: tuple[int, ...] = ()
    said: dict[str, Any] = {}
    if form == "axis":
        count, said = (shape[axis],), {"axis": axis}
    if form == "blocks":
        size = shape[axis] // 2
        count = tuple(2 if d == axis else n for d, n in enumerate(shape))
        said = {"axis": axis, "block_size": size}
    scales = np.exp2(rng.uniform(-8, 2, count)).astype(fraction)
    return scales, rng.integers(low, high + 1, count), said


def _shape(rng: np.random.Generator, form: str) -> tuple[int, ...]:
    """Of blocks there are two along any axis."""
    shape = draw.shape(rng, int(rng.integers(1, 4)), 6000)
    return tuple(2 * -(-n // 2) for n in shape) if form == "blocks" else shape


def _given(rng: np.random.Generator, scales: Any, zeros: Any, dtype: str) -> dict[str, Any]:
    return {"s": scales, "z": tensor("z", zeros, dtype.upper()) if dtype[-1] == "4" else np.asarray(zeros, dtype)}


def _floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: str, scale: float, fraction: str) -> Any:
    """Some of them ties, some beyond the range."""
    low, high = RANGES[dtype]
    x = rng.normal(0, 0.6 * (high - low) * scale, shape)
    halves = (rng.integers(low, high, shape) + 0.5) * scale
    return np.where(rng.random(shape) < 0.3, halves, x).astype(fraction)


def quantized(rng: np.random.Generator, dtype: str, form: str, fraction: str = "float32") -> Case:
    shape = _shape(rng, form)
    scales, zeros, said = _parameters(rng, dtype, form, shape, fraction)
    name = {"float32": "FLOAT", "float16": "FLOAT16"}[fraction]
    made = node("QuantizeLinear", ["x", "s", "z"], ["y"], **said)
    ports = [port("x", name, shape)], [port("y", dtype.upper(), shape)]
    content = model([made], *ports, _given(rng, scales, zeros, dtype), opset=OPSET)
    return Case(content, [[_floats(rng, shape, dtype, float(scales.flat[0]), fraction)] for _ in range(2)])


def dequantized(rng: np.random.Generator, dtype: str, form: str) -> Case:
    shape = _shape(rng, form)
    scales, zeros, said = _parameters(rng, dtype, form, shape, "float32")
    made = node("DequantizeLinear", ["x", "s", "z"], ["y"], **said)
    ports = [port("x", dtype.upper(), shape)], [port("y", "FLOAT", shape)]
    content = model([made], *ports, _given(rng, scales, zeros, dtype), opset=OPSET)
    return Case(content, [[draw.integers(rng, shape, dtype)]], ulp=0)


def dequantized_wide(rng: np.random.Generator, dtype: str, fraction: str) -> Case:
    """Of integers that the floats do not hold: near the ends of the type, around powers of two, and their differences
    with a zero point."""
    shape = draw.shape(rng, int(rng.integers(1, 4)), 6000)
    ends = np.iinfo(dtype)
    zero = int(rng.choice([0, 1, 5, -7])) if dtype == "int32" and fraction == "float32" else draw.zero_point(rng, dtype)
    zero = 0 if dtype == "int32" and fraction == "float16" else zero
    scales = np.exp2(rng.uniform(-12, -6)).astype(fraction)
    made = node("DequantizeLinear", ["x", "s", "z"], ["y"])
    name = {"float32": "FLOAT", "float16": "FLOAT16"}[fraction]
    ports = [port("x", dtype.upper(), shape)], [port("y", name, shape)]
    content = model([made], *ports, {"s": scales, "z": np.asarray(zero, dtype)}, opset=OPSET)
    x = rng.integers(ends.min, ends.max, shape, dtype, endpoint=True) >> rng.integers(0, ends.bits - 1, shape, dtype)
    return Case(content, [[x]], ulp=0)


def there_and_back(rng: np.random.Generator, dtype: str, form: str) -> Case:
    """Both, as no input or output of a run is of 4 bits."""
    shape = _shape(rng, form)
    scales, zeros, said = _parameters(rng, dtype, form, shape, "float32")
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["q"], **said),
             node("DequantizeLinear", ["q", "s", "z"], ["y"], **said)]  # fmt: skip
    ports = [port("x", "FLOAT", shape)], [port("y", "FLOAT", shape)]
    content = model(nodes, *ports, _given(rng, scales, zeros, dtype), opset=OPSET)
    return Case(content, [[_floats(rng, shape, dtype, float(scales.flat[0]), "float32")]], ulp=0)


CASES: dict[str, Any] = {
    f"DequantizeLinear {dtype} to {fraction}": partial(dequantized_wide, dtype=dtype, fraction=fraction)
    for dtype, fraction in (
        ("int32", "float32"), ("int16", "float16"), ("uint16", "float16"), ("int32", "float16"),
    )
}  # fmt: skip
for _form in ("", "axis", "blocks"):
    _said = f", {_form}" if _form else ""
    CASES |= {
        f"{op} {dtype}{_said}": partial(function, dtype=dtype, form=_form)
        for op, function in (("QuantizeLinear", quantized), ("DequantizeLinear", dequantized))
        for dtype in ("int8", "uint8", "int16", "uint16")
    }
    CASES |= {
        f"Q and DQ {dtype}{_said}": partial(there_and_back, dtype=dtype, form=_form) for dtype in ("int4", "uint4")
    }
    CASES |= {
        f"QuantizeLinear {dtype} of float16{_said}": partial(quantized, dtype=dtype, form=_form, fraction="float16")
        for dtype in ("int8", "uint8")
        if _form != "blocks"
    }
