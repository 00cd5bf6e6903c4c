"""AveragePool and GlobalAveragePool of floats and between casts, bit for bit. Hazards: the order of a sum, which the
opset, the number of axes, the last stride, the sizes of kernel and image, padding, and ceil_mode together with padding
that counts decide; ties between two integers, which the order decides; a zero point that joins before the rounding."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port

OPSETS = (10, 11, 18, 19, 22)
LONG = 2045
"""Of padded rows beyond this, columns are not added first."""


def _window(rng: np.random.Generator, axes: int, opset: int) -> tuple[list[int], dict[str, Any]]:
    """An image, and the attributes of a window over it."""
    kernel = [int(rng.integers(1, 7)) for _ in range(axes)]
    if axes == 2 and rng.random() < 0.1:
        kernel[int(rng.integers(2))] = int(rng.choice([32, 33]))
    image = [int(n + rng.integers(0, 9)) for n in kernel]
    if rng.random() < 0.15:
        image = list(kernel)
    if axes == 2 and rng.random() < 0.05:
        image[-1] = LONG - int(rng.integers(0, 4))
    strides = [int(rng.integers(1, 4)) for _ in kernel] if rng.random() < 0.6 else [1] * axes
    pads = [int(rng.integers(0, n)) for n in kernel * 2] if rng.random() < 0.5 else [0] * (2 * axes)
    said: dict[str, Any] = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    said |= {"count_include_pad": int(rng.integers(2)), "ceil_mode": int(rng.integers(2))}
    if opset >= 19 and rng.random() < 0.3:
        said["dilations"] = [int(rng.integers(1, 3)) for _ in kernel]
        image = [max(n, (k - 1) * d + 1) for n, k, d in zip(image, kernel, said["dilations"], strict=True)]
    return image, said


def _shape(rng: np.random.Generator, image: list[int]) -> list[int]:
    """Of few channels where the image is large."""
    return [int(rng.integers(1, 3)), draw.size(rng, max(2, 4000 // int(np.prod(image)))), *image]


def floats(rng: np.random.Generator, axes: int, is_global: bool = False) -> Case:
    opset = int(rng.choice(OPSETS))
    image, said = _window(rng, axes, opset)
    shape = _shape(rng, image)
    made = node("GlobalAveragePool", ["x"], ["y"]) if is_global else node("AveragePool", ["x"], ["y"], **said)
    content = model([made], [port("x", "FLOAT", shape)], [port("y", "FLOAT", [None] * len(shape))], opset=opset)
    return Case(content, [[rng.normal(3, 2, shape).astype(np.float32)] for _ in range(2)], ulp=0)


def quantized(rng: np.random.Generator, dtype: str, axes: int, is_global: bool = False) -> Case:
    """Most have equal scales: the average of an even number of elements often lies halfway between two integers."""
    opset = int(rng.choice(OPSETS))
    image, said = _window(rng, axes, opset)
    shape = _shape(rng, image)
    sx, zx, zy = draw.scale(rng), draw.zero_point(rng, dtype), draw.zero_point(rng, dtype)
    sy = sx if rng.random() < 0.7 else draw.around(rng, sx, 1)
    given = {"sx": np.float32(sx), "zx": zx, "sy": np.float32(sy), "zy": zx if rng.random() < 0.5 else zy}
    made = node("GlobalAveragePool", ["f"], ["g"]) if is_global else node("AveragePool", ["f"], ["g"], **said)
    nodes = [node("DequantizeLinear", ["x", "sx", "zx"], ["f"]), made, node("QuantizeLinear", ["g", "sy", "zy"], ["y"])]
    ports = [port("x", dtype.upper(), shape)], [port("y", dtype.upper(), [None] * len(shape))]
    return Case(model(nodes, *ports, given, opset=opset), draw.runs(rng, [shape], dtype))


CASES: dict[str, Any] = {"GlobalAveragePool": partial(floats, axes=2, is_global=True)}
for _axes, _said in ((1, "one axis"), (2, "two axes"), (3, "three axes")):
    CASES[f"AveragePool, {_said}"] = partial(floats, axes=_axes)
    for _dtype in draw.DTYPES:
        CASES[f"QDQ AveragePool {_dtype}, {_said}"] = partial(quantized, dtype=_dtype, axes=_axes)
for _dtype in draw.DTYPES:
    CASES[f"QDQ GlobalAveragePool {_dtype}"] = partial(quantized, dtype=_dtype, axes=2, is_global=True)
