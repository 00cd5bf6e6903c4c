"""What the operators share that sum products: the type of a bias, and the facts on which their rules depend."""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.types import UniformType


def bias_of(node: Node, i: int, x: UniformType, w: UniformType, channels: slice = slice(None)) -> Value:
    """The bias of some channels as a value. Its scale is that of the sums, whatever the file says: a runtime adds it as
    it is.
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
    """A bias of 64 bits in 32, which hold it unless a file is odd."""
    narrow = array.astype(np.int32)
    if not np.array_equal(narrow, array):
        node.refuse("a bias out of the range of 32 bits")
    narrow.flags.writeable = False
    return narrow


def _axis_of_one_scale(tensor: Tensor) -> int:
    """The axis that a file names although the tensor has one scale: XNNPACK then refuses unsigned weights."""
    found = tensor.quantization
    return found.axis if found is not None and len(found.scales) == 1 else 0


def multiplier_facts(node: Node, x: UniformType, w: UniformType, out: UniformType, bias: int = 2) -> dict[str, Any]:
    """The facts of a product of two operands: their storage, the bias, and the largest multiplier, as a runtime forms
    it in float32. ``bias`` is the input that is the bias, if there is one. A result of another storage than the input
    is refused: kernels take both as one.
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
