"""QLinearSoftmax, QLinearSigmoid, QLinearLeakyRelu, QLinearConcat, QLinearWhere. Hazards: a table that depends on the
length of the axis, an axis before the last one by either meaning, a table where a copy is meant, a function whose last
bit decides a rounding."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port

INPUTS = ["x", "sx", "zx", "sy", "zy"]


def softmax(rng: np.random.Generator, dtype: str, opset: int) -> Case:
    shape = draw.shape(rng, int(rng.integers(2, 5)), 6000)
    axis = int(rng.integers(len(shape)))
    count = shape[axis] if opset >= 13 else int(np.prod(shape[axis:]))
    least = np.iinfo(dtype).min
    sy = 1 / 256 if rng.random() < 0.5 else draw.scale(rng, -7.2, 1)
    sy = max(sy, 0.01) if count == 1 else sy  # of one element the largest result is beyond float32
    constants = {"sx": np.float32(draw.scale(rng, -9, 3)), "zx": draw.zero_point(rng, dtype), "sy": np.float32(sy),
                 "zy": np.asarray(least, dtype) if rng.random() < 0.7 else draw.zero_point(rng, dtype)}  # fmt: skip
    named = axis - len(shape) if rng.random() < 0.3 else axis
    shapes = {"x": shape}
    content = draw.microsoft("QLinearSoftmax", INPUTS, shapes, shape, constants, dtype, axis=named, opset=opset)
    return draw.case(content, rng, shapes, dtype)


def function(rng: np.random.Generator, op: str, dtype: str, halves: bool = False) -> Case:
    """All 256 values: what is compared is the table. With ``halves`` every other value lies between two integers, and
    a reciprocal of the scale would not."""
    info = np.iinfo(dtype)
    sx = draw.scale(rng, -9, 0)
    sy = draw.scale(rng, -8.5, -6) if op == "QLinearSigmoid" else draw.around(rng, sx, 3)
    constants = {"sx": np.float32(sx), "zx": draw.zero_point(rng, dtype), "sy": np.float32(sy),
                 "zy": draw.zero_point(rng, dtype)}  # fmt: skip
    if halves:
        constants |= {"sx": np.float32(20.5), "sy": np.float32(41)}
    attributes = {"alpha": float(rng.uniform(-1, 2))} if op == "QLinearLeakyRelu" else {}
    content = draw.microsoft(op, INPUTS, {"x": (256,)}, (256,), constants, dtype, **attributes)
    return Case(content, [[np.arange(info.min, info.max + 1).astype(dtype)]])


def _typed(rng: np.random.Generator, name: str, dtype: str, like: dict[str, Any] | None, sy: float) -> dict[str, Any]:
    """A scale and a zero point: drawn, or those of the result."""
    if like is not None and rng.random() < 0.3:
        return {f"s{name}": like["sy"], f"z{name}": like["zy"]}
    return {f"s{name}": np.float32(draw.around(rng, sy, 2)), f"z{name}": draw.zero_point(rng, dtype)}


def concat(rng: np.random.Generator, dtype: str) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 5)), 2000)
    axis, sy = int(rng.integers(len(shape))), draw.scale(rng, -8, 2)
    out = {"sy": np.float32(sy), "zy": draw.zero_point(rng, dtype)}
    shapes, names, constants = {}, ["sy", "zy"], dict(out)
    for i in range(int(rng.integers(1, 5))):
        shapes[f"x{i}"] = tuple(draw.size(rng, 17) if d == axis else n for d, n in enumerate(shape))
        constants |= _typed(rng, f"x{i}", dtype, out, sy)
        names += [f"x{i}", f"sx{i}", f"zx{i}"]
    joined = [sum(each[axis] for each in shapes.values()) if d == axis else n for d, n in enumerate(shape)]
    content = draw.microsoft("QLinearConcat", names, shapes, joined, constants, dtype, axis=axis)
    return draw.case(content, rng, shapes, dtype)


def where(rng: np.random.Generator, dtype: str) -> Case:
    shape, sy = draw.shape(rng, int(rng.integers(1, 4)), 4000), draw.scale(rng, -8, 2)
    out = {"sy": np.float32(sy), "zy": draw.zero_point(rng, dtype)}
    constants = out | _typed(rng, "a", dtype, out, sy) | _typed(rng, "b", dtype, out, sy)
    shapes = {name: tuple(n if rng.random() < 0.8 else 1 for n in shape) for name in "cab"}
    whole = np.broadcast_shapes(*shapes.values())
    made = node("QLinearWhere", ["c", "a", "sa", "za", "b", "sb", "zb", "sy", "zy"], ["y"], domain="com.microsoft")
    name = dtype.upper()
    ports = [port("c", "BOOL", shapes["c"]), port("a", name, shapes["a"]), port("b", name, shapes["b"])]
    content = model([made], ports, [port("y", name, whole)], constants)
    arrays = [draw.integers(rng, shapes[each], dtype) for each in "ab"]
    return Case(content, [[rng.random(shapes["c"]) < 0.5, *arrays]])


CASES: dict[str, Any] = {}
for _dtype in draw.DTYPES:
    CASES |= {
        f"QLinearSoftmax {_dtype}": partial(softmax, dtype=_dtype, opset=13),
        f"QLinearSoftmax {_dtype}, before 13": partial(softmax, dtype=_dtype, opset=12),
        f"QLinearSigmoid {_dtype}": partial(function, dtype=_dtype, op="QLinearSigmoid"),
        f"QLinearLeakyRelu {_dtype}": partial(function, dtype=_dtype, op="QLinearLeakyRelu"),
        f"QLinearConcat {_dtype}": partial(concat, dtype=_dtype),
        f"QLinearWhere {_dtype}": partial(where, dtype=_dtype),
    }
CASES["QLinearLeakyRelu, halves"] = partial(function, dtype="int8", op="QLinearLeakyRelu", halves=True)
