"""Helpers for quantized operators that sum products: the bias, and the properties that select the rounding rule."""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.types import UniformType

_NARROW_WEIGHTS = {("i2", "i8"), ("i4", "i8"), ("i4", "i16")}
"""The pairs of weights of less than 8 bits and an input that LiteRT multiplies."""


def bias_of(node: Node, i: int, x: UniformType, w: UniformType, channels: slice = slice(None)) -> Value:
    """Append input ``i``, an int32 bias, as a constant and return it. ``channels`` selects some of its elements.

    The constant's scale is the product of the scales of ``x`` and ``w``. The scale in the file is ignored, because
    runtimes add the integers of the bias to the sums.
    """
    tensor = node.input(i)
    array = node.constant(i)
    if tensor.dtype not in ("int32", "int64"):
        node.fail(f"the bias {tensor.name!r} must be int32, got {tensor.dtype}")
    if tensor.quantization is not None and tensor.quantization.zero_points.any():
        node.fail(
            f"the bias {tensor.name!r} must have zero points of 0, got {tensor.quantization.zero_points.tolist()}"
        )
    if array is None:
        node.refuse("a bias known only at run time")
    if array.ndim != 1:
        node.refuse(f"a bias of rank {array.ndim}")
    if array.dtype == np.int64:
        array = _narrowed(node, array)
    scales: Any = x.scale * w.scale if w.is_per_layer else x.scale * w.scale_array
    return node.dense(array[channels], UniformType("i32", "f32", scales, axis=None if w.is_per_layer else 0))


def _narrowed(node: Node, array: Any) -> Any:
    """Return a 64-bit bias as int32. Raise UnsupportedForm if an element does not fit."""
    narrow = array.astype(np.int32)
    if not np.array_equal(narrow, array):
        node.refuse("a bias out of the range of 32 bits")
    narrow.flags.writeable = False
    return narrow


def sparse_block(node: Node) -> int:
    """Return the size of the blocks, along the last axis, in which sparse weights are stored; 0 for dense weights."""
    blocks = node.input(1).blocks
    return blocks[-1] if blocks else 0


def adjoint(node: Node, i: int) -> Value:
    """Return input ``i`` with its last two axes swapped."""
    rank = node.type(i).rank or 0
    return node.emit("qrt.transpose", [node.value(i)], {"permutation": (*range(rank - 2), rank - 1, rank - 2)})


def has_packed_kernel(weights: UniformType, units: int, depth: int) -> bool:
    """Return True if XNNPACK has a matrix product with weights [units, depth] of this storage type.

    The rows of the weights must fill whole bytes. For int2, each output must also have a scale of its own.
    """
    has_scales = weights.storage != "i2" or weights.is_per_axis or units == 1
    return has_scales and depth * weights.storage_width % 8 == 0


def _axis_of_one_scale(tensor: Tensor) -> int:
    """Return the quantized axis that the file gives for a tensor with a single scale; 0 for any other tensor.

    XNNPACK rejects unsigned weights for which this axis is not 0.
    """
    quantization = tensor.quantization
    return quantization.axis if quantization is not None and len(quantization.scales) == 1 else 0


def multiplier_facts(node: Node, x: UniformType, w: UniformType, out: UniformType, bias: int = 2) -> dict[str, Any]:
    """Return the properties of a sum of products by which the profile selects the rounding rule.

    The largest multiplier, ``x.scale * w.scale / out.scale``, is computed in float32 as the runtimes do. ``bias`` is
    the number of the bias input, which may be absent. Raise UnsupportedForm if the storage types of input and result
    differ, because no kernel supports this.
    """
    if x.storage != out.storage:
        node.refuse(f"an input of {x.storage} with a result of {out.storage}")
    if (w.storage, x.storage) not in _NARROW_WEIGHTS and w.storage_width < 8:
        node.refuse(f"weights of int{w.storage_width} with an input of {x.storage}")
    largest = np.float32(np.float32(x.scale) * np.float32(w.scale_array.max())) / np.float32(out.scale)
    given = node.inputs[bias] if node.has(bias) else None
    return {
        "storage": out.storage,
        "bias": None if given is None else {"int32": "i32", "int64": "i64"}.get(given.dtype, given.dtype),
        "bias_type": node.options.get("quantized_bias_type"),
        "multiplier": float(largest),
        "weight_offset": any(w.zero_points),
        "weights": w.storage,
        "sparse_block": sparse_block(node),
        "scale_axis": _axis_of_one_scale(node.input(1)),
    }
