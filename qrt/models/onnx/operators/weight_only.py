"""Products of floats and quantized weights: MatMulNBits, whose weights are packed, and DynamicQuantizeMatMul."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import apply
from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node
from qrt.ops.core import Array
from qrt.types import FloatType, TensorType, UniformType

F32 = FloatType("f32")


def unpacked(array: Array, bits: int) -> Array:
    """Unpack unsigned integers of 2, 4 or 8 bits along the last axis. The first integer has a byte's low-order bits.

    >>> unpacked(np.array([0x21, 0x43], np.uint8), 4).tolist()
    [1, 2, 3, 4]
    """
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (array[..., np.newaxis] >> shifts) & np.uint8((1 << bits) - 1)
    return np.ascontiguousarray(parts.reshape(*array.shape[:-1], array.shape[-1] * len(shifts)))


def matmul_nbits(node: Node) -> None:
    """Import MatMulNBits: multiply float32 by weights of 2, 4 or 8 bits, with a scale for each block of a column.

    Zero points are packed integers or floats. The input ``g_idx`` has the block of each row of the weights. Sums are
    computed in float32 as in `qrt.float_matmul`, and the attribute ``accuracy_level`` is ignored. With float zero
    points, negative scales or ``g_idx``, the weights are dequantized at import, and sums are computed as in MatMul.
    """
    depth, columns = node.required("K", int), node.required("N", int)
    bits, size = node.attribute("bits", 4), node.required("block_size", int)
    if node.plain(0) is not F32 or bits not in (2, 4, 8):
        node.refuse(f"of {node.dtype(0)} and {bits} bits")
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
    if node.has(4) and (bits != 4 or (node.has(3) and zeros.dtype.kind != "f")):
        node.refuse(
            "g_idx with weights of 2 or 8 bits, or with packed zero points, which ONNX Runtime reads differently"
        )
    if node.has(4) or zeros.dtype.kind == "f" or (scales < 0).any():
        _multiply_dequantized(node, stored[:, :depth], scales, zeros, size)
        return
    stored[:, depth:] = np.repeat(zeros[:, -1:], blocks * size - depth, axis=1)  # weights equal to the zero point are 0
    are_zero = np.repeat(scales == 0, size, axis=1)
    stored[are_zero] = np.repeat(zeros, size, axis=1)[are_zero]
    scales = np.where(scales == 0, 1, scales)
    blocks_of_columns = {0: size, 1: 1}
    element = UniformType(f"u{bits}", "f32", scales.T.tolist(), zeros.T.tolist(), block_sizes=blocks_of_columns)
    operands = [_padded(node, depth, blocks * size), node.dense(np.ascontiguousarray(stored.T), element)]
    if node.has(5):
        operands.append(node.value(5))
    node.set(0, node.emit("qrt.float_matmul", operands))


def _parameters(node: Node, columns: int, blocks: int, bits: int) -> tuple[Array, Array]:
    """Return the scales and the zero points of the weights, as arrays [columns, blocks]."""
    scales = np.asarray(node.known(2, "scales"), np.float64)
    if scales.size != columns * blocks or not np.isfinite(scales).all():
        node.fail(f"it must have {columns * blocks} scales, all of them finite, got {scales.size}")
    zeros = np.full((columns, blocks), 1 << (bits - 1), np.int64)
    if node.has(3):
        array = node.known(3, "zero points")
        if node.plain(3) is F32 and array.size == columns * blocks:
            return scales.reshape(columns, blocks), array.reshape(columns, blocks)
        if array.dtype != np.uint8:
            node.refuse(f"zero points of {node.dtype(3)} and shape {list(array.shape)}")
        if array.size != columns * -(-blocks * bits // 8):
            node.fail(
                f"the zero points must have {columns * -(-blocks * bits // 8)} bytes ({columns} columns of "
                f"{blocks} zero points of {bits} bits), got {array.size}"
            )
        zeros = unpacked(array.reshape(columns, -1), bits)[:, :blocks].astype(np.int64)
    return scales.reshape(columns, blocks), zeros


def _multiply_dequantized(node: Node, stored: Array, scales: Array, zeros: Array, size: int) -> None:
    """Set the output to the product with weights that are dequantized in float32, plus the bias.

    ``stored`` has the integers [columns, depth]. ``scales`` and ``zeros`` have a column for each block.
    """
    graph, depth = composed(node), stored.shape[1]
    blocks = np.arange(depth) // size
    if node.has(4):
        blocks = np.asarray(node.known(4, "g_idx"), np.int64).reshape(-1)[:depth]
        if len(blocks) != depth or blocks.min(initial=0) < 0 or blocks.max(initial=0) >= scales.shape[1]:
            node.fail(f"g_idx must name for each of {depth} rows one of {scales.shape[1]} blocks")
    narrow, points = scales.astype(np.float32), zeros.astype(np.float32)
    weights = (stored.astype(np.float32) - points[:, blocks]) * narrow[:, blocks]
    result = graph.add("MatMul", node.input(0), graph.constant(np.ascontiguousarray(weights.T)))
    graph.replace(node, graph.add("Add", result, node.input(5)) if node.has(5) else result)


def gather_block_quantized(node: Node) -> None:
    """Import GatherBlockQuantized: take elements along an axis of weights of 4 or 8 bits, and dequantize them.

    The weights must be known at import. They have a scale for each block along ``quantize_axis``. There is a zero point
    for each block, or one for all blocks.
    """
    data, rank = node.known(0, "weights"), len(node.shape(0))
    bits, size = node.attribute("bits", 4), node.attribute("block_size", 128)
    axis = node.axis(node.attribute("gather_axis", 0), rank)
    along = node.axis(node.attribute("quantize_axis", 1), rank)
    is_packed = node.dtype(0) == "uint8"
    if bits not in (2, 4, 8) or size < 16 or size & (size - 1) or node.dtype(0) not in ("int4", "uint4", "uint8"):
        node.refuse(f"of {node.dtype(0)}, {bits} bits and blocks of {size}")
    middle = 1 << (bits - 1) if is_packed else 0
    if is_packed:
        data = unpacked(data, bits)
    if node.type(2).element is not F32:
        node.refuse(f"to {node.dtype(2)}")
    length = data.shape[along]
    count = -(-length // size)
    expected = tuple(count if d == along else n for d, n in enumerate(data.shape))
    scales = node.known(2, "scales")
    if scales.shape != expected:
        node.fail(f"the scales must have the shape {list(expected)}, got {list(scales.shape)}")
    zeros = np.full(expected, middle, np.float32)
    if node.has(3):
        points = node.known(3, "zero points")
        points = unpacked(points, bits)[..., : expected[-1]] if is_packed else points
        if points.shape != expected:
            node.fail(f"the zero points must have the shape {list(expected)}, got {list(points.shape)}")
        zeros = points.astype(np.float32)
    graph, indices = composed(node), node.input(1)
    stored = graph.constant(data.astype(np.uint8 if is_packed or node.dtype(0) == "uint4" else np.int8), None)
    parameters = [graph.constant(zeros), graph.constant(scales)]
    taken = graph.add("Gather", stored, indices, axis=axis)
    if along == axis:
        counted = graph.add("Cast", indices, to=7)
        from_end = graph.add("Add", counted, graph.integers(length))
        counted = graph.add("Where", graph.add("Less", counted, graph.integers(0)), from_end, counted)
        blocks = graph.add("Reshape", graph.add("Div", counted, graph.integers(size)), graph.add("Shape", indices))
        parameters = [graph.add("Gather", part, blocks, axis=axis) for part in parameters]
    else:
        place = along + len(node.shape(1)) - 1 if along > axis else along
        of_blocks = graph.integers(*(np.arange(length) // size))
        parameters = [graph.add("Gather", part, indices, axis=axis) for part in parameters]
        parameters = [graph.add("Gather", part, of_blocks, axis=place) for part in parameters]
    difference = graph.add("Sub", graph.add("Cast", taken, to=1), parameters[0])
    graph.replace(node, graph.add("Mul", difference, parameters[1]))


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
    """Import DynamicQuantizeMatMul: multiply float32 by 8-bit weights, and add an optional bias.

    The float32 operand is quantized at run time with a single scale. The weights have one scale, or one for each
    column.
    """
    if node.plain(0) is not F32 or len(node.shape(1)) != 2:
        node.refuse(f"of {node.dtype(0)} and weights {node.type(1)}")
    if node.constant(1) is None or node.constant(2) is None or (node.has(3) and node.constant(3) is None):
        _multiply_of_the_run(node)
        return
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


def _multiply_of_the_run(node: Node) -> None:
    """Quantize the input, multiply it by weights known only at run time, and multiply the sums by both scales."""
    graph, names = composed(node), [*node.op.inputs, "", ""]
    stored, scale, zero = graph.add("DynamicQuantizeLinear", names[0], outputs=3)
    inputs = (stored, names[1], scale, names[2], zero, names[3], names[4])
    graph.replace(node, graph.add("MatMulIntegerToFloat", *inputs, domain="com.microsoft"))
