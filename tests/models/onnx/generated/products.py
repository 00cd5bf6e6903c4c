"""Products of integers: QLinearConv, QLinearMatMul, QGemm, and those to int32, MatMulInteger and ConvInteger. Hazards:
a product of scales that is formed in another order, ties, a scale for each filter, zero points on both sides, padding,
groups, transposed operands, a bias at the sums' scale."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port

OPERANDS = ["x", "sx", "zx", "w", "sw", "zw"]


def _parameters(
    rng: np.random.Generator, x: str, w: str, w_scales: Sequence[int], depth: int, halves: bool = False
) -> dict[str, Any]:
    """Scales and zero points with which a sum of so many products fills the range of the result about once. With
    ``halves`` the multiplier is a power of two, and many a sum ends halfway between two integers."""
    sx = np.float32(draw.scale(rng, -8, 1))
    middle = draw.scale(rng, -10, -2)
    sw = np.float32([draw.around(rng, middle, 1) for _ in range(int(np.prod(w_scales)))]).reshape(w_scales)
    zw = np.zeros(w_scales, w) if w == "int8" else np.full(w_scales, draw.zero_point(rng, w), w)
    sy = np.float32(draw.around(rng, sx * float(sw.max()) * 90 * depth**0.5, 2))
    if halves:
        sx, sw, sy = np.float32(1), np.ones(w_scales, np.float32), np.float32(2 ** int(rng.integers(3, 9)))
    zeros = {"zx": draw.zero_point(rng, x), "zw": zw, "zy": draw.zero_point(rng, x)}
    return {"sx": sx, "sw": sw, "sy": sy, **zeros}


def _window(rng: np.random.Generator, group: int = 1, axes: int = 2) -> tuple[Any, Any, Any, dict[str, Any]]:
    """The shapes of an image, of filters and of what they give, and the attributes."""
    kernel = [int(rng.integers(1, 4)) for _ in range(axes)]
    image = [int(rng.integers(4, 12)) for _ in range(axes)]
    strides = [int(rng.integers(1, 3)) for _ in range(axes)]
    pads = [int(rng.integers(0, k)) for _ in range(2) for k in kernel]
    depth, filters = draw.size(rng, 9), draw.size(rng, 17)
    channels = group * depth
    if group > 1:
        filters = group * int(rng.integers(1, 3))
    out = [(size + pads[i] + pads[axes + i] - kernel[i]) // strides[i] + 1 for i, size in enumerate(image)]
    said = {"kernel_shape": kernel, "strides": strides, "pads": pads, "group": group}
    return (2, channels, *image), (filters, depth, *kernel), (2, filters, *out), said


def convolution(
    rng: np.random.Generator,
    x: str,
    w: str,
    per_filter: bool = False,
    group: int = 1,
    axes: int = 2,
    halves: bool = False,
) -> Case:
    image, filters, out, said = _window(rng, group, axes)
    depth = int(np.prod(filters[1:]))
    constants = _parameters(rng, x, w, (filters[0],) if per_filter else (), depth, halves)
    constants |= {"w": draw.integers(rng, filters, w), "b": rng.integers(-9000, 9001, filters[0]).astype(np.int32)}
    names = [*OPERANDS, "sy", "zy", *(["b"] if rng.random() < 0.7 else [])]
    content = model(
        [node("QLinearConv", names, ["y"], **said)],
        [port("x", x.upper(), image)],
        [port("y", x.upper(), out)],
        constants,
    )
    return Case(content, draw.runs(rng, [image], x))


def product(rng: np.random.Generator, x: str, w: str, per_column: bool = False, halves: bool = False) -> Case:
    rows, depth, columns = draw.size(rng, 33), draw.size(rng), draw.size(rng)
    constants = _parameters(rng, x, w, (columns,) if per_column else (), depth, halves)
    shapes = {"x": (rows, depth)} if rng.random() < 0.5 else {"x": (3, rows, depth)}
    constants["w"] = draw.integers(rng, (depth, columns), w)
    made = node("QLinearMatMul", [*OPERANDS, "sy", "zy"], ["y"])
    out = port("y", x.upper(), (*shapes["x"][:-1], columns))
    content = model([made], [port("x", x.upper(), shapes["x"])], [out], constants)
    return Case(content, draw.runs(rng, list(shapes.values()), x))


def gemm(rng: np.random.Generator, x: str, w: str, per_column: bool = False, to_float: bool = False) -> Case:
    rows, depth, columns = draw.size(rng, 33), draw.size(rng), draw.size(rng)
    a, b = (int(rng.integers(2)) for _ in range(2))
    constants = _parameters(rng, x, w, (columns,) if per_column else (), depth)
    constants |= {"w": draw.integers(rng, (columns, depth) if b else (depth, columns), w),
                  "b": rng.integers(-9000, 9001, columns).astype(np.int32)}  # fmt: skip
    shape = (depth, rows) if a else (rows, depth)
    names = [*OPERANDS, "b" if rng.random() < 0.7 else "", *([] if to_float else ["sy", "zy"])]
    made = node("QGemm", names, ["y"], domain="com.microsoft", transA=a, transB=b)
    out = port("y", "FLOAT" if to_float else x.upper(), (rows, columns))
    return Case(model([made], [port("x", x.upper(), shape)], [out], constants), draw.runs(rng, [shape], x), ulp=0)


def sums(rng: np.random.Generator, x: str, w: str) -> Case:
    """MatMulInteger."""
    rows, depth, columns = draw.size(rng, 33), draw.size(rng), draw.size(rng)
    points = (columns,) if w == "int8" and rng.random() < 0.5 else ()
    constants = {"w": draw.integers(rng, (depth, columns), w), "zx": draw.zero_point(rng, x),
                 "zw": draw.integers(rng, points, w)}  # fmt: skip
    out = port("y", "INT32", (rows, columns))
    made = node("MatMulInteger", ["x", "w", "zx", "zw"], ["y"])
    content = model([made], [port("x", x.upper(), (rows, depth))], [out], constants)
    return Case(content, draw.runs(rng, [(rows, depth)], x))


def sums_of_the_run(rng: np.random.Generator, x: str, w: str, known: str) -> Case:
    """MatMulInteger with operands and zero points, but those in ``known``, that are inputs; matrices of a batch have
    zero points of their own."""
    rows, depth, columns = (draw.size(rng, 17) for _ in range(3))
    batch = (2,) if rng.random() < 0.5 else ()
    left, right = (*batch, rows, depth), (*batch, depth, columns)
    points = ((*batch, 1, columns) if batch else (columns,)) if rng.random() < 0.7 else ()
    tensors = {"x": draw.integers(rng, left, x), "w": draw.integers(rng, right, w),
               "zx": draw.zero_point(rng, x), "zw": draw.integers(rng, points, w)}  # fmt: skip
    kinds = {"x": x, "w": w, "zx": x, "zw": w}
    given = [name for name in tensors if name not in known.split()]
    content = model(
        [node("MatMulInteger", list(tensors), ["y"])],
        [port(name, kinds[name].upper(), np.shape(tensors[name])) for name in given],
        [port("y", "INT32")],
        {name: np.asarray(value) for name, value in tensors.items() if name not in given},
    )
    return Case(content, [[np.asarray(tensors[name]) for name in given]])


def window_sums(rng: np.random.Generator, axes: int = 2, group: int = 1, known: str = "w zx zw") -> Case:
    """ConvInteger, which ONNX Runtime has of uint8."""
    image, filters, out, said = _window(rng, group, axes)
    tensors = {"x": draw.integers(rng, image, "uint8"), "w": draw.integers(rng, filters, "uint8"),
               "zx": draw.zero_point(rng, "uint8"), "zw": draw.zero_point(rng, "uint8")}  # fmt: skip
    given = [name for name in tensors if name not in known.split()]
    content = model(
        [node("ConvInteger", list(tensors), ["y"], **said)],
        [port(name, "UINT8", np.shape(tensors[name])) for name in given],
        [port("y", "INT32", out)],
        {name: np.asarray(value) for name, value in tensors.items() if name not in given},
    )
    return Case(content, [[np.asarray(tensors[name]) for name in given]])


CASES: dict[str, Any] = {
    "ConvInteger": window_sums,
    "ConvInteger of the run's zero point": partial(window_sums, known="w zw"),
    "ConvInteger of the run's zero points, depthwise": partial(window_sums, known="w", group=8),
    "ConvInteger of the run's weights": partial(window_sums, known="", group=2),
    "ConvInteger, one axis": partial(window_sums, axes=1, known="w zw"),
    "ConvInteger, three axes": partial(window_sums, axes=3, group=2, known="w zw"),
    "QLinearConv, three axes": partial(convolution, x="uint8", w="int8", per_filter=True, group=2, axes=3),
    "QLinearConv, three axes, depthwise": partial(convolution, x="uint8", w="uint8", group=8, axes=3),
}
for _x, _w in (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")):
    _of = {"x": _x, "w": _w}
    _name = f"{_x} by {_w}"
    CASES |= {
        f"QLinearConv {_name}": partial(convolution, **_of),
        f"QLinearConv {_name}, depthwise": partial(convolution, **_of, group=8),
        f"QLinearMatMul {_name}": partial(product, **_of),
        f"QGemm {_name}": partial(gemm, **_of),
        f"QGemm {_name}, to float": partial(gemm, **_of, to_float=True),
        f"MatMulInteger {_name}": partial(sums, **_of),
        f"MatMulInteger {_name}, of the run's left zero point": partial(sums_of_the_run, **_of, known="w zw"),
        f"MatMulInteger {_name}, of the run's zero points": partial(sums_of_the_run, **_of, known="w"),
        f"MatMulInteger {_name}, of the run": partial(sums_of_the_run, **_of, known=""),
    }
    if _w == "int8":
        CASES |= {
            f"QLinearConv {_name}, a scale for each filter": partial(convolution, **_of, per_filter=True),
            f"QLinearMatMul {_name}, a scale for each column": partial(product, **_of, per_column=True),
            f"QGemm {_name}, a scale for each column": partial(gemm, **_of, per_column=True),
        }
CASES |= {
    "QLinearConv of groups": partial(convolution, x="uint8", w="int8", per_filter=True, group=2),
    "QLinearConv, halves": partial(convolution, x="uint8", w="int8", halves=True),
    "QLinearConv, halves, depthwise": partial(convolution, x="uint8", w="int8", group=8, halves=True),
    "QLinearMatMul, halves": partial(product, x="int8", w="int8", halves=True),
    "QLinearConv of one axis": partial(convolution, x="uint8", w="uint8", axes=1),
}
