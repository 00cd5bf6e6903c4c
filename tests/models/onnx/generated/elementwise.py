"""QLinearAdd and QLinearMul. Hazards: a tail that is computed otherwise than blocks of 8 and 32, an operand that is one
number, sums whose terms cancel, results that saturate, ties."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw

INPUTS = ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"]


def binary(rng: np.random.Generator, op: str, dtype: str, halves: bool = False) -> Case:
    """With ``halves`` every other result lies between two integers."""
    whole = draw.shape(rng, int(rng.integers(1, 5)), 8000)
    a, b = whole, whole
    kind = rng.integers(4)
    if kind == 1:
        b = tuple(n if rng.random() < 0.5 else 1 for n in whole)[int(rng.integers(len(whole))) :]
    if kind == 2:
        b = ()
    if rng.random() < 0.5:
        a, b = b, a
    sa, sb = draw.scale(rng, -8, 0), draw.scale(rng, -8, 0)
    sy = draw.around(rng, sa + sb if op == "QLinearAdd" else sa * sb * 60, 2)
    if halves:
        sa, sb, sy = 1.0, 1.0, 2.0
    scales = {name: np.float32(value) for name, value in (("sa", sa), ("sb", sb), ("sy", sy))}
    zeros = {name: draw.zero_point(rng, dtype) for name in ("za", "zb", "zy")}
    shapes = {"a": a, "b": b}
    content = draw.microsoft(op, INPUTS, shapes, whole, {**scales, **zeros}, dtype)
    return draw.case(content, rng, shapes, dtype)


def every_pair(rng: np.random.Generator, op: str, dtype: str) -> Case:
    """All pairs of bytes, in shapes by which the operands are exchanged or not."""
    info = np.iinfo(dtype)
    values = np.arange(info.min, info.max + 1).astype(dtype)
    forms = [((256, 1), (1, 256)), ((1, 256), (256, 1)), ((256, 1, 1), (1, 256, 1))]
    a, b = forms[int(rng.integers(len(forms)))]
    sa, sb = draw.scale(rng, -8, 0), draw.scale(rng, -8, 0)
    sy = draw.around(rng, sa + sb if op == "QLinearAdd" else sa * sb * 60, 2)
    constants: dict[str, Any] = {name: np.float32(value) for name, value in (("sa", sa), ("sb", sb), ("sy", sy))}
    constants |= {name: draw.zero_point(rng, dtype) for name in ("za", "zb", "zy")}
    content = draw.microsoft(op, INPUTS, {"a": a, "b": b}, np.broadcast_shapes(a, b), constants, dtype)
    return Case(content, [[values.reshape(a), values.reshape(b)]])


CASES: dict[str, Any] = {
    f"{op} {dtype}": partial(binary, op=op, dtype=dtype) for op in ("QLinearAdd", "QLinearMul") for dtype in draw.DTYPES
}
CASES |= {
    f"{op} {dtype}, every pair": partial(every_pair, op=op, dtype=dtype)
    for op in ("QLinearAdd", "QLinearMul")
    for dtype in draw.DTYPES
}
CASES["QLinearMul, halves"] = partial(binary, op="QLinearMul", dtype="int8", halves=True)
