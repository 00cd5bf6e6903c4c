"""QLinearAveragePool and QLinearGlobalAveragePool. Hazards: another order of the sum, padding that counts and that does
not, windows that ``ceil_mode`` adds, channels on either side, images of one axis."""

from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw

INPUTS = ["x", "sx", "zx", "sy", "zy"]


def _constants(rng: np.random.Generator, dtype: str, octaves: float = 2) -> dict[str, Any]:
    sx = draw.scale(rng, -8, 2)
    sy = draw.around(rng, sx, octaves)
    zeros = {name: draw.zero_point(rng, dtype) for name in ("zx", "zy")}
    return {"sx": np.float32(sx), "sy": np.float32(sy), **zeros}


def _placed(image: list[int], channels: int, is_last: bool) -> list[int]:
    return [3, *image, channels] if is_last else [3, channels, *image]


def pooled(rng: np.random.Generator, dtype: str, axes: int = 2, is_last: bool = False, counts: bool = False) -> Case:
    kernel = [int(rng.integers(1, 6)) for _ in range(axes)]
    image = [int(rng.integers(k, 18)) for k in kernel]
    strides = [int(rng.integers(1, 4)) for _ in range(axes)]
    ends = [[int(rng.integers(0, k)) for k in kernel] for _ in range(2)]
    ceil = not counts and bool(rng.integers(2))
    padded = [n + sum(p) for n, p in zip(image, zip(*ends, strict=True), strict=True)]
    out = []
    for size, extent, step, whole, before in zip(image, kernel, strides, padded, ends[0], strict=True):
        count = (whole - extent) // step + 1
        if ceil:
            count = -(-(whole - extent) // step) + 1
            count -= (count - 1) * step >= size + before
        out.append(count)
    channels = draw.size(rng, 40)
    shapes = {"x": _placed(image, channels, is_last)}
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": ends[0] + ends[1], "ceil_mode": int(ceil),
                  "count_include_pad": int(counts), "channels_last": int(is_last)}  # fmt: skip
    content = draw.microsoft(
        "QLinearAveragePool",
        INPUTS,
        shapes,
        _placed(out, channels, is_last),
        _constants(rng, dtype),
        dtype,
        **attributes,
    )
    return draw.case(content, rng, shapes, dtype)


def averaged(rng: np.random.Generator, dtype: str, is_last: bool = False) -> Case:
    image = [int(rng.integers(1, 14)) for _ in range(2)]
    channels = 8 * draw.size(rng)
    shapes = {"x": _placed(image, channels, is_last)}
    constants = _constants(rng, dtype)
    constants["sy"] = np.float32(draw.around(rng, constants["sx"] / np.prod(image) ** 0.5, 2))
    out = _placed([1, 1], channels, is_last)
    content = draw.microsoft(
        "QLinearGlobalAveragePool", INPUTS, shapes, out, constants, dtype, channels_last=int(is_last)
    )
    return draw.case(content, rng, shapes, dtype)


CASES: dict[str, Any] = {}
for _dtype in draw.DTYPES:
    CASES |= {
        f"QLinearAveragePool {_dtype}": partial(pooled, dtype=_dtype),
        f"QLinearAveragePool {_dtype}, padding counts": partial(pooled, dtype=_dtype, counts=True),
        f"QLinearAveragePool {_dtype}, channels last": partial(pooled, dtype=_dtype, is_last=True),
        f"QLinearAveragePool {_dtype}, one axis": partial(pooled, dtype=_dtype, axes=1),
        f"QLinearGlobalAveragePool {_dtype}": partial(averaged, dtype=_dtype),
        f"QLinearGlobalAveragePool {_dtype}, channels last": partial(averaged, dtype=_dtype, is_last=True),
    }
