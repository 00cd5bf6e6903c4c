"""Groups of DequantizeLinear, an operator on floats and QuantizeLinear, which are one quantized operator here. The
runtime rounds each float between the casts, qrt the result alone: elements beside ties may differ by one step."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port

Shape = Sequence[int]
Drawn = tuple[list[Shape], Shape, float, dict[str, Any], dict[str, Any]]
"""Shapes of what is dequantized, the result's shape, how large results are in steps of the inputs, attributes, and
constants by the names of inputs."""


def group(rng: np.random.Generator, kind: str, form: Callable[[np.random.Generator], Drawn], dtype: str) -> Case:
    """A drawn group. A constant of a quantized operand is dequantized too."""
    shapes, out, gain, attributes, constants = form(rng)
    nodes, given, operands = [], {}, []
    scales = []
    for i in range(len(shapes)):
        name = f"x{i}"
        given |= {f"s{i}": np.float32(draw.scale(rng)), f"z{i}": draw.zero_point(rng, dtype)}
        scales.append(float(given[f"s{i}"]))
        if name in constants:
            weights = constants[name]
            given |= {name: weights, f"z{i}": np.zeros((), weights.dtype)}
        nodes.append(node("DequantizeLinear", [name, f"s{i}", f"z{i}"], [f"f{i}"]))
        operands.append(f"f{i}")
    if "bias" in constants:
        given |= {"bias": constants["bias"], "sb": np.float32(scales[0] * scales[1])}
        nodes.append(node("DequantizeLinear", ["bias", "sb"], ["fb"]))
        operands.append("fb")
    if "condition" in constants:
        given["condition"] = constants["condition"]
        operands.insert(0, "condition")
    unit = float(np.prod(scales)) if kind in ("Conv", "MatMul", "Gemm", "Mul") else max(scales)
    given |= {"sy": np.float32(draw.around(rng, unit * gain, 2)), "zy": draw.zero_point(rng, dtype)}
    if kind in ("Sigmoid", "Softmax"):
        given["sy"] = np.float32(draw.around(rng, 1 / 256, 1.5))
    nodes += [node(kind, operands, ["f"], **attributes), node("QuantizeLinear", ["f", "sy", "zy"], ["y"])]
    shapes = [each for i, each in enumerate(shapes) if f"x{i}" not in constants]
    ports = [port(f"x{i}", dtype.upper(), each) for i, each in enumerate(shapes)]
    content = model(nodes, ports, [port("y", dtype.upper(), out)], given)
    return Case(content, draw.runs(rng, shapes, dtype), is_rounded_otherwise=True)


def conv(rng: np.random.Generator, depthwise: bool = False) -> Drawn:
    batch, channels, filters, *image = (int(n) for n in rng.integers((1, 1, 1, 6, 6), (3, 20, 20, 20, 20)))
    kernel = [int(n) for n in rng.integers(1, 4, 2)]
    filters = channels if depthwise else filters
    w = rng.integers(-127, 128, (filters, 1 if depthwise else channels, *kernel)).astype(np.int8)
    out = [batch, filters, *(size - k + 1 for size, k in zip(image, kernel, strict=True))]
    bias = rng.integers(-9000, 9000, filters).astype(np.int32)
    depth = w[0].size
    attributes = {"group": channels if depthwise else 1}
    return [[batch, channels, *image], w.shape], out, 50.0 * depth**0.5, attributes, {"x1": w, "bias": bias}


def matmul(rng: np.random.Generator) -> Drawn:
    rows, depth, columns = (int(n) for n in rng.integers(1, (40, 200, 200)))
    w = rng.integers(-127, 128, (depth, columns)).astype(np.int8)
    return [[rows, depth], w.shape], [rows, columns], 50.0 * depth**0.5, {}, {"x1": w}


def gemm(rng: np.random.Generator) -> Drawn:
    shapes, out, gain, _, constants = matmul(rng)
    bias = rng.integers(-9000, 9000, out[1]).astype(np.int32)
    w = np.ascontiguousarray(constants["x1"].T)
    return [shapes[0], w.shape], out, gain, {"transB": 1}, {"x1": w, "bias": bias}


def pair(rng: np.random.Generator, gain: float = 1.5) -> Drawn:
    shape = draw.shape(rng)
    return [shape, shape], shape, gain, {}, {}


def alone(rng: np.random.Generator, **attributes: Any) -> Drawn:
    shape = draw.shape(rng)
    return [shape], shape, 1.0, attributes, {}


def rows(rng: np.random.Generator) -> Drawn:
    shape = [int(rng.integers(1, 100)), int(rng.integers(2, 60))]
    return [shape], shape, 1.0, {"axis": -1}, {}


def joined(rng: np.random.Generator) -> Drawn:
    shape = draw.shape(rng)
    return [shape, shape], [2 * shape[0], *shape[1:]], 1.2, {"axis": 0}, {}


def chosen(rng: np.random.Generator) -> Drawn:
    shapes, out, gain, attributes, _ = pair(rng)
    return shapes, out, gain, attributes, {"condition": rng.integers(0, 2, out).astype(bool)}


CASES: dict[str, Any] = {}
_FORMS: dict[str, tuple[str, Callable[[np.random.Generator], Drawn]]] = {
    "Conv": ("Conv", conv),
    "Conv, depthwise": ("Conv", partial(conv, depthwise=True)),
    "MatMul": ("MatMul", matmul),
    "Gemm": ("Gemm", gemm),
    "Add": ("Add", pair),
    "Mul": ("Mul", partial(pair, gain=60.0)),
    "Sigmoid": ("Sigmoid", alone),
    "LeakyRelu": ("LeakyRelu", partial(alone, alpha=0.1)),
    "Softmax": ("Softmax", rows),
    "Concat": ("Concat", joined),
    "Where": ("Where", chosen),
}
for _dtype in draw.DTYPES:
    CASES |= {
        f"QDQ {_name} {_dtype}": partial(group, kind=_kind, form=_form, dtype=_dtype)
        for _name, (_kind, _form) in _FORMS.items()
    }
