"""Rows of pools, means, sums, extremes and softmax: images of few channels and of many, axes at the end and before."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from benches.operators.models import Models, Operator, Value, operation
from benches.operators.rows import Makers
from tests.models.tflite.writing import Tensor

IMAGES = {
    "small": (1, 4, 4, 4),
    "3_channels": (1, 112, 112, 3),
    "16_channels": (1, 112, 112, 16),
    "middle": (1, 56, 56, 64),
    "large": (1, 512, 512, 64),
}
POOLS = {"MAX_POOL_2D": "MaxPool", "AVERAGE_POOL_2D": "AveragePool"}
REDUCTIONS = {"MEAN": "ReduceMean", "SUM": "ReduceSum", "REDUCE_MAX": "ReduceMax"}


def _pool(name: str, shape: Sequence[int], size: int, stride: int, dtype: str = "int8") -> Models:
    options = {"padding": "VALID", "stride_h": stride, "stride_w": stride, "filter_height": size, "filter_width": size}
    batch, height, width, channels = shape
    result = (batch, (height - size) // stride + 1, (width - size) // stride + 1, channels)
    onnx = Operator(POOLS[name], {"kernel_shape": [size] * 2, "strides": [stride] * 2})
    values = [Value(each, dtype, is_image=True) for each in (shape, result)]
    return operation(values[:1], values[1:], Operator(name, options, 2), onnx)


def _reduce(name: str, shape: Sequence[int], axes: Sequence[int], dtype: str = "int8", keeps: bool = True) -> Models:
    result = [1 if axis in axes else size for axis, size in enumerate(shape)]
    y = Value(result, dtype) if name == "REDUCE_MAX" else Value(result, dtype, 0.1, -5)
    axis = Tensor((len(axes),), "int32", data=np.array(axes, np.int32))
    onnx = Operator(REDUCTIONS[name], {"keepdims": 1}, constants={"axes": np.array(axes, np.int64)})
    return operation([Value(shape, dtype)], [y], Operator(name, {"keep_dims": True}, 2), onnx, parameters=[axis])


def _arg_max(shape: Sequence[int], dtype: str = "int8") -> Models:
    axis = Tensor((1,), "int32", data=np.array([len(shape) - 1], np.int32))
    tflite = Operator("ARG_MAX", {"output_type": "INT64"}, 2)
    onnx = Operator("ArgMax", {"axis": -1, "keepdims": 0})
    return operation([Value(shape, dtype)], [Value(shape[:-1], "int64")], tflite, onnx, parameters=[axis])


def _softmax(shape: Sequence[int], dtype: str = "int8") -> Models:
    tflite = Operator("SOFTMAX", {"beta": 1.0}, 2)
    y = Value(shape, dtype, 1 / 256, -128) if dtype == "int8" else Value(shape, dtype, 1 / 32768)
    onnx = Operator("Softmax", {"axis": -1}) if dtype != "int16" else None
    return operation([Value(shape, dtype)], [y], tflite, onnx)


def rows() -> Makers:
    """Return the makers of models by name."""
    found: dict[str, Callable[[], Models]] = {}
    for name, tflite in {"max_pool": "MAX_POOL_2D", "average_pool": "AVERAGE_POOL_2D"}.items():
        make: Any = partial(_pool, tflite)
        for size, shape in IMAGES.items():
            found[f"{name}_i8_2x2s2_{size}"] = partial(make, shape, 2, 2)
        found[f"{name}_i8_3x3s1_middle"] = partial(make, IMAGES["middle"], 3, 1)
        found[f"{name}_i8_7x7_middle"] = partial(make, (1, 7, 7, 1024), 7, 7)
        found[f"{name}_f32_2x2s2_middle"] = partial(make, IMAGES["middle"], 2, 2, "float32")
    for name in ("MEAN", "SUM", "REDUCE_MAX"):
        for size, (shape, axes) in {
            "small": ((1, 4, 4, 8), (1, 2)),
            "images": ((1, 14, 14, 512), (1, 2)),
            "last": ((1, 32, 32, 64), (3,)),
            "large": ((1, 1024, 1024, 32), (1, 2)),
        }.items():
            found[f"{name.lower()}_i8_{size}"] = partial(_reduce, name, shape, axes)
        found[f"{name.lower()}_f32_images"] = partial(_reduce, name, (1, 14, 14, 512), (1, 2), "float32")
    for size, shape in {
        "small": (1, 10),
        "classes": (1, 1000),
        "labels": (1, 64, 64, 21),
        "large": (4096, 8192),
    }.items():
        found[f"arg_max_i8_{size}"] = partial(_arg_max, shape)
    found["arg_max_f32_classes"] = partial(_arg_max, (1, 1000), "float32")
    for size, shape in {"small": (1, 10), "classes": (1, 1000), "attention": (8, 128, 128)}.items():
        found[f"softmax_i8_{size}"] = partial(_softmax, shape)
        found[f"softmax_f32_{size}"] = partial(_softmax, shape, "float32")
    found["softmax_i16_attention"] = partial(_softmax, (8, 128, 128), "int16")
    return found
