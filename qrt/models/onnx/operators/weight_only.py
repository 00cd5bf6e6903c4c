"""Products of floats and quantized weights: MatMulNBits, whose weights are packed, and DynamicQuantizeMatMul."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import apply
from qrt.models.onnx.node import Node
from qrt.ops.core import Array
from qrt.types import FloatType, TensorType, UniformType

F32 = FloatType("f32")


def unpacked(array: Array, bits: int) -> Array:
    """Unpack unsigned integers of 2, 4 or 8 bits along the last axis. The first is in the low bits of a byte.

    >>> unpacked(np.array([0x21, 0x43], np.uint8), 4).tolist()
    [1, 2, 3, 4]
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (array[..., np.newaxis] >> shifts) & np.uint8((1 << bits) - 1)
    return np.ascontiguousarray(parts.reshape(*array.shape[:-1], array.shape[-1] * len(shifts)))


def matmul_nbits(node: Node) -> None:
    """Multiply float32 by weights of 2, 4 or 8 bits, which have a scale for each block of a column.

    Sums are computed in float32 as in `qrt.float_matmul`, whatever ``accuracy_level`` the file has.
    """
    depth, columns = node.required("K", int), node.required("N", int)
    bits, size = node.attribute("bits", 4), node.required("block_size", int)
    if node.plain(0) is not F32 or bits not in (2, 4, 8) or node.has(4):
        node.refuse("in groups" if node.has(4) else f"of {node.dtype(0)} and {bits} bits")
    if depth < 1 or columns < 1 or size < 16 or size & (size - 1):
        node.fail(
            f"K and N must be at least 1, and block_size a power of two of at least 16, got {depth}, {columns} and "
            f"{size}"
        )
    blocks = -(-depth // size)
    w = node.known(1, "weights")
    if w.dtype != np.uint8 or w.size != columns * blocks * size * bits // 8:
        node.fail(
            f"the weights must be {columns * blocks * size * bits // 8} values of uint8 ({columns} columns of "
            f"{blocks} blocks of {size} weights of {bits} bits), got {w.size} of {w.dtype}"
        )
    stored = unpacked(w.reshape(columns, -1), bits)
    scales, zeros = _parameters(node, columns, blocks, bits)
    stored[:, depth:] = np.repeat(zeros[:, -1:], blocks * size - depth, axis=1)  # weights equal to the zero point are 0
    blocks_of_columns = {0: size, 1: 1}
    element = UniformType(f"u{bits}", "f32", scales.T.tolist(), zeros.T.tolist(), block_sizes=blocks_of_columns)
    operands = [_padded(node, depth, blocks * size), node.dense(np.ascontiguousarray(stored.T), element)]
    if node.has(5):
        operands.append(node.value(5))
    node.set(0, node.emit("qrt.float_matmul", operands))


def _parameters(node: Node, columns: int, blocks: int, bits: int) -> tuple[Array, Array]:
    """Return the scales and the zero points of the weights, as arrays [columns, blocks]."""
    scales = np.asarray(node.known(2, "scales"), np.float64)
    if scales.size != columns * blocks or not ((scales > 0) & (scales < np.inf)).all():
        node.fail(f"it must have {columns * blocks} scales, all positive and finite, got {scales.size}")
    zeros = np.full((columns, blocks), 1 << (bits - 1), np.int64)
    if node.has(3):
        array = node.known(3, "zero points")
        if array.dtype != np.uint8:
            node.refuse(f"zero points of {node.dtype(3)}")
        if array.size != columns * -(-blocks * bits // 8):
            node.fail(
                f"the zero points must have {columns * -(-blocks * bits // 8)} bytes ({columns} columns of "
                f"{blocks} zero points of {bits} bits), got {array.size}"
            )
        zeros = unpacked(array.reshape(columns, -1), bits)[:, :blocks].astype(np.int64)
    return scales.reshape(columns, blocks), zeros


def _padded(node: Node, depth: int, wanted: int) -> Value:
    """Return the float input, padded with zeros along the last axis from ``depth`` to ``wanted`` elements."""
    shape = node.shape()
    if not shape or shape[-1] != depth:
        node.fail(f"the last dimension of the input must be K, {depth}, got shape {list(shape)}")
    if depth == wanted:
        return node.value(0)
    padding = [[0, 0]] * (len(shape) - 1) + [[0, wanted - depth]]
    return node.emit("qrt.pad", [node.value(0)], {"padding": padding, "value": 0.0})


def dynamic_quantize_matmul(node: Node) -> None:
    """Multiply float32 by 8-bit weights that are known at import, and add an optional bias.

    The float32 operand is quantized at run time with a single scale. The weights have one scale, or one for each
    column.
    """
    if node.plain(0) is not F32 or len(node.shape(1)) != 2:
        node.refuse(f"of {node.dtype(0)} and weights {node.type(1)}")
    node.known(1, "weights")
    zero = node.known(3, "a zero point") if node.has(3) else np.zeros(1, np.int8)
    if node.has(3) and node.plain(3) is not node.plain(1):
        node.fail(f"the zero point must have the type of the weights, {node.dtype(1)}, got {node.dtype(3)}")
    element = node.parameters(1, 2, 3 if zero.size != 1 else None, axis=1)
    if zero.size == 1:
        point = int(zero.reshape(-1)[0])
        element = element.with_(zero_points=point if element.is_per_layer else [point] * len(element.scales))
    result = node.emit("qrt.dynamic_matmul", [node.value(0), node.cast(1, element)])
    if node.has(4):
        biased = apply(node, "arith.addf", [result, node.value(4)], [F32, F32], F32)
        assert isinstance(biased, Value)
        result = biased
    assert isinstance(result.type, TensorType)
    node.set(0, result)
