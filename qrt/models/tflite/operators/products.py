"""Helpers for operators that sum products: the bias, and the facts on which the profile's rules depend."""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.types import UniformType


def bias_of(node: Node, i: int, x: UniformType, w: UniformType, channels: slice = slice(None)) -> Value:
    """Return the bias of the given channels as a value.

    Its scale is the product of the operands' scales; the scale in the file is ignored, because runtimes add the bias's
    integers to the sums.
    """
    tensor = node.input(i)
    array = node.constant(i)
    if tensor.dtype not in ("int32", "int64"):
        node.fail(f"the bias {tensor.name!r} is of {tensor.dtype}, not of int32")
    if tensor.quantization is not None and tensor.quantization.zero_points.any():
        node.fail(f"the bias {tensor.name!r} has a zero point other than 0")
    if array is None:
        node.refuse("a bias known only at run time")
    if array.ndim != 1:
        node.refuse(f"a bias of rank {array.ndim}")
    if array.dtype == np.int64:
        array = _narrowed(node, array)
    scales: Any = x.scale * w.scale if w.is_per_layer else x.scale * w.scale_array
    return node.dense(array[channels], UniformType("i32", "f32", scales, axis=None if w.is_per_layer else 0))


def _narrowed(node: Node, array: Any) -> Any:
    """Return a 64-bit bias as int32. Refuse a bias that does not fit."""
    narrow = array.astype(np.int32)
    if not np.array_equal(narrow, array):
        node.refuse("a bias out of the range of 32 bits")
    narrow.flags.writeable = False
    return narrow


def _axis_of_one_scale(tensor: Tensor) -> int:
    """Return the axis in the file of a tensor with one scale. If it is not 0, XNNPACK rejects unsigned weights."""
    quantization = tensor.quantization
    return quantization.axis if quantization is not None and len(quantization.scales) == 1 else 0


def multiplier_facts(node: Node, x: UniformType, w: UniformType, out: UniformType, bias: int = 2) -> dict[str, Any]:
    """Return the facts of a product of two operands for the profile: storage, bias and the largest multiplier.

    The multiplier is computed in float32 as the runtimes do. ``bias`` is the number of the bias input, which may be
    absent. Refuse a result whose storage differs from the input's, which no kernel supports.
    """
    if x.storage != out.storage:
        node.refuse(f"an input of {x.storage} with a result of {out.storage}")
    largest = np.float32(np.float32(x.scale) * np.float32(w.scale_array.max())) / np.float32(out.scale)
    given = node.inputs[bias] if node.has(bias) else None
    return {
        "storage": out.storage,
        "bias": None if given is None else {"int32": "i32", "int64": "i64"}.get(given.dtype, given.dtype),
        "bias_type": node.options.get("quantized_bias_type"),
        "multiplier": float(largest),
        "weight_offset": any(w.zero_points),
        "scale_axis": _axis_of_one_scale(node.input(1)),
    }
