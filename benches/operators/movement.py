"""Rows of operators that move elements: of 8, 16 and 32 bits, in blocks of a few bytes and of many."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benches.operators.models import Models, Operator, Value, operation
from benches.operators.rows import Makers
from tests.models.tflite.writing import Tensor

DTYPES = {"i8": "int8", "i16": "int16", "f32": "float32"}
IMAGE = (1, 56, 56, 24)
LARGE = (1, 1024, 1024, 32)


def _constant(values: Any) -> Tensor:
    array = np.asarray(values, np.int32)
    return Tensor(array.shape, "int32", data=array)


def _onnx(name: str, dtype: str, attributes: Any = None, absent: int = 0, **constants: Any) -> Operator | None:
    """Return the node, unless ONNX Runtime has no such storage type of 16 bits."""
    return None if dtype == "int16" else Operator(name, attributes or {}, constants=constants, absent=absent)


def _transpose(shape: Sequence[int], order: Sequence[int], dtype: str) -> Models:
    y = Value([shape[axis] for axis in order], dtype)
    onnx = _onnx("Transpose", dtype, {"perm": list(order)})
    return operation([Value(shape, dtype)], [y], Operator("TRANSPOSE", version=2), onnx, parameters=[_constant(order)])


def _concatenation(shapes: Sequence[Sequence[int]], axis: int, dtype: str) -> Models:
    shape = list(shapes[0])
    shape[axis] = sum(each[axis] for each in shapes)
    tflite = Operator("CONCATENATION", {"axis": axis, "fused_activation_function": "NONE"}, 2)
    onnx = _onnx("Concat", dtype, {"axis": axis})
    return operation([Value(each, dtype) for each in shapes], [Value(shape, dtype)], tflite, onnx)


def _slice(shape: Sequence[int], begin: Sequence[int], size: Sequence[int], dtype: str) -> Models:
    ends = np.add(begin, size)
    onnx = _onnx("Slice", dtype, starts=np.int64(begin), ends=np.int64(ends))
    parameters = [_constant(begin), _constant(size)]
    return operation(
        [Value(shape, dtype)], [Value(size, dtype)], Operator("SLICE", version=2), onnx, parameters=parameters
    )


def _strided_slice(shape: Sequence[int], steps: Sequence[int], dtype: str) -> Models:
    result = [-(-size // step) for size, step in zip(shape, steps, strict=True)]
    begin = [0] * len(shape)
    axes = np.arange(len(shape))
    onnx = _onnx("Slice", dtype, starts=np.int64(begin), ends=np.int64(shape), axes=axes, steps=np.int64(steps))
    tflite = Operator("STRIDED_SLICE", dict.fromkeys(("begin_mask", "end_mask", "shrink_axis_mask"), 0), 2)
    parameters = [_constant(begin), _constant(shape), _constant(steps)]
    return operation([Value(shape, dtype)], [Value(result, dtype)], tflite, onnx, parameters=parameters)


def _split(shape: Sequence[int], axis: int, parts: int, dtype: str) -> Models:
    result = list(shape)
    result[axis] //= parts
    onnx = _onnx("Split", dtype, {"axis": axis, "num_outputs": parts})
    tflite = Operator("SPLIT", {"num_splits": parts}, 2)
    outputs = [Value(result, dtype) for _ in range(parts)]
    return operation([Value(shape, dtype)], outputs, tflite, onnx, parameters=[_constant(axis)], places=(1, 0))


def _pad(shape: Sequence[int], pads: Sequence[Sequence[int]], dtype: str) -> Models:
    result = [size + sum(pad) for size, pad in zip(shape, pads, strict=True)]
    onnx = _onnx("Pad", dtype, pads=np.int64([pad[side] for side in (0, 1) for pad in pads]))
    return operation(
        [Value(shape, dtype)], [Value(result, dtype)], Operator("PAD", version=2), onnx, parameters=[_constant(pads)]
    )


def _gather(shape: Sequence[int], axis: int, count: int, dtype: str) -> Models:
    indices = np.random.default_rng(1).integers(0, shape[axis], count).astype(np.int32)
    result = [*shape[:axis], count, *shape[axis + 1 :]]
    onnx = _onnx("Gather", dtype, {"axis": axis}, indices=indices)
    parameters = [Tensor((count,), "int32", data=indices)]
    tflite = Operator("GATHER", {"axis": axis}, 2)
    return operation([Value(shape, dtype)], [Value(result, dtype)], tflite, onnx, parameters=parameters)


def _resize(shape: Sequence[int], size: Sequence[int], bilinear: bool, dtype: str) -> Models:
    batch, _, _, channels = shape
    x, y = (Value(each, dtype, is_image=True) for each in (shape, (batch, *size, channels)))
    name = "RESIZE_BILINEAR" if bilinear else "RESIZE_NEAREST_NEIGHBOR"
    tflite = Operator(name, {"align_corners": False, "half_pixel_centers": True}, 3)
    parameters = [_constant(size)]
    attributes: dict[str, Any] = {"mode": "linear" if bilinear else "nearest"}
    if not bilinear:
        attributes["nearest_mode"] = "floor"
    attributes["coordinate_transformation_mode"] = "half_pixel" if bilinear else "asymmetric"
    if not bilinear:
        tflite = Operator(name, {"align_corners": False, "half_pixel_centers": False}, 3)
    onnx = _onnx("Resize", dtype, attributes, absent=2, sizes=np.int64(y.onnx_shape()))
    return operation([x], [y], tflite, onnx, parameters=parameters)


def _blocks(name: str, shape: Sequence[int], size: int, dtype: str) -> Models:
    batch, height, width, channels = shape
    if name == "SPACE_TO_DEPTH":
        result = (batch, height // size, width // size, channels * size * size)
    else:
        result = (batch, height * size, width * size, channels // size // size)
    tflite = Operator(name, {"block_size": size}, 2)
    return operation([Value(shape, dtype)], [Value(result, dtype)], tflite, None)


def _pack(shape: Sequence[int], count: int, axis: int, dtype: str) -> Models:
    result = [*shape[:axis], count, *shape[axis:]]
    tflite = Operator("PACK", {"values_count": count, "axis": axis}, 2)
    return operation([Value(shape, dtype) for _ in range(count)], [Value(result, dtype)], tflite, None)


def _tile(shape: Sequence[int], times: Sequence[int], dtype: str) -> Models:
    result = [size * count for size, count in zip(shape, times, strict=True)]
    onnx = _onnx("Tile", dtype, repeats=np.int64(times))
    return operation(
        [Value(shape, dtype)], [Value(result, dtype)], Operator("TILE", version=3), onnx, parameters=[_constant(times)]
    )


def rows() -> Makers:
    """Return the makers of models by name."""
    found: dict[str, Callable[[], Models]] = {}
    for kind, dtype in DTYPES.items():
        found[f"transpose_{kind}_nchw"] = partial(_transpose, IMAGE, (0, 3, 1, 2), dtype)
        found[f"transpose_{kind}_nhwc"] = partial(_transpose, (1, 24, 56, 56), (0, 2, 3, 1), dtype)
        found[f"transpose_{kind}_heads"] = partial(_transpose, (1, 128, 8, 32), (0, 2, 1, 3), dtype)
        found[f"transpose_{kind}_matrix"] = partial(_transpose, (512, 512), (1, 0), dtype)
        found[f"concatenation_{kind}_channels"] = partial(_concatenation, [IMAGE] * 3, 3, dtype)
        found[f"concatenation_{kind}_unequal"] = partial(_concatenation, [(1, 56, 56, n) for n in (5, 64, 3)], 3, dtype)
        found[f"slice_{kind}_channels"] = partial(_slice, IMAGE, (0, 0, 0, 4), (1, 56, 56, 16), dtype)
        found[f"strided_slice_{kind}_pixels"] = partial(_strided_slice, IMAGE, (1, 2, 2, 1), dtype)
        found[f"gather_{kind}_rows"] = partial(_gather, (1000, 64), 0, 128, dtype)
        found[f"gather_{kind}_columns"] = partial(_gather, (64, 1000), 1, 128, dtype)
        found[f"resize_bilinear_{kind}_middle"] = partial(_resize, (1, 28, 28, 32), (56, 56), True, dtype)
        found[f"resize_nearest_{kind}_middle"] = partial(_resize, (1, 28, 28, 32), (56, 56), False, dtype)
        found[f"pad_{kind}_middle"] = partial(_pad, IMAGE, ((0, 0), (1, 1), (1, 1), (0, 0)), dtype)
        if kind == "i16":  # LiteRT has no kernel for it
            continue
        found[f"space_to_depth_{kind}_middle"] = partial(_blocks, "SPACE_TO_DEPTH", (1, 56, 56, 16), 2, dtype)
        found[f"depth_to_space_{kind}_middle"] = partial(_blocks, "DEPTH_TO_SPACE", (1, 28, 28, 64), 2, dtype)
    for size, shape in {"small": (1, 4, 4, 4), "large": LARGE}.items():
        found[f"transpose_i8_{size}"] = partial(_transpose, shape, (0, 3, 1, 2), "int8")
        found[f"concatenation_i8_{size}"] = partial(_concatenation, [shape] * 2, 3, "int8")
        found[f"pad_i8_{size}"] = partial(_pad, shape, ((0, 0), (1, 1), (1, 1), (0, 0)), "int8")
    found["resize_bilinear_i8_small"] = partial(_resize, (1, 2, 2, 4), (4, 4), True, "int8")
    found["resize_bilinear_i8_large"] = partial(_resize, (1, 512, 512, 32), (1024, 1024), True, "int8")
    found["resize_bilinear_i8_3_channels"] = partial(_resize, (1, 112, 112, 3), (224, 224), True, "int8")
    found["resize_nearest_i8_3_channels"] = partial(_resize, (1, 112, 112, 3), (224, 224), False, "int8")
    found["split_i8_channels"] = partial(_split, IMAGE, 3, 3, "int8")
    found["pack_i8_last"] = partial(_pack, (56, 56), 4, 2, "int8")
    found["tile_i8_channels"] = partial(_tile, (1, 56, 56, 8), (1, 1, 1, 3), "int8")
    return found
