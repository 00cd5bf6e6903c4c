"""Import of FULLY_CONNECTED, and of BATCH_MATMUL on quantized tensors."""

from math import prod

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_products, hybrid
from qrt.models.tflite.operators.products import adjoint, bias_of, has_packed_kernel, multiplier_facts
from qrt.types import TensorType


def batch_matmul(node: Node) -> None:
    """Import BATCH_MATMUL: multiply int8 or int16 matrices by matrices of the same type or of int8.

    The options adj_x and adj_y transpose an operand. The left operand may be float32 if the right one is int8. Then the
    right operand must be known at import, and may have one scale for each column of the result.
    """
    for i in range(2):
        rank = node.type(i).rank or 0
        if rank < 2:
            node.fail(f"input {i} must have at least 2 axes, got rank {rank}")
    if node.is_float:
        axis = (node.type(1).rank or 0) - (2 if node.options["adj_y"] else 1)
        (hybrid if hybrid.is_hybrid(node, axis) else float_products).batch_matmul(node)
        return
    x, y, out = node.element(0), node.element(1), node.result_element()
    if y.storage not in (x.storage, "i8") or x.storage != out.storage:
        node.refuse(", ".join(tensor.dtype for tensor in (node.input(0), node.input(1), *node.outputs)))
    if x.is_per_axis or y.is_per_axis:
        node.refuse(f"{node.input(0).dtype} with several scales, for which LiteRT computes 0")
    facts = multiplier_facts(node, x, y, out)
    rule = node.rule("batch_matmul", **facts)
    operands = [adjoint(node, i) if node.options[name] else node.value(i) for i, name in enumerate(("adj_x", "adj_y"))]
    node.set(0, node.emit("qrt.matmul", operands, {"requant": rule}, out))


def fully_connected(node: Node) -> None:
    """Import FULLY_CONNECTED: multiply 8-bit, int16 or float32 rows by weights [outputs, depth].

    Int8 rows have int8, int4 or int2 weights. Int16 rows have int8 or int4 weights. Float32 rows have float32, int8,
    int4 or int2 weights. The input is reshaped to [rows, depth], unless keep_num_dims is set.
    """
    options = node.options
    if options.get("weights_format", "DEFAULT") != "DEFAULT":
        node.refuse(f"weights in the format {options['weights_format']}")
    if (node.type(1).shape or ())[-1:] == (0,):
        node.refuse("weights of depth 0, for which LiteRT ignores the bias")
    if node.is_float:
        _floats(node)
        return
    x, w, out = node.element(0), node.element(1), node.result_element()
    array = node.constant(1)
    if array is None:
        node.refuse("weights known only at run time")
    if array.ndim != 2 or (w.is_per_axis and w.axis != 0):
        node.fail(
            "the weights must have the shape [outputs, depth] and one scale or scales along axis 0, got shape "
            f"{list(array.shape)} and quantized_dimension {w.axis if w.is_per_axis else 0}"
        )
    if w.is_sub_channel:
        node.refuse(f"{node.input(0).dtype} with weights in blocks")
    if node.input(1).blocks not in (None, (1, 16)):
        node.refuse("sparse weights that are not stored in blocks of 16 elements of a row")
    requant = node.rule(
        "fully_connected", has_packed_kernel=has_packed_kernel(w, *array.shape), **multiplier_facts(node, x, w, out)
    )
    element = w.with_(axis=1) if w.is_per_axis else w
    operands = [_rows(node, array.shape[1], bool(options["keep_num_dims"])), node.dense(array.T, element)]
    if node.has(2):
        operands.append(bias_of(node, 2, x, w))
    product = node.emit("qrt.matmul", operands, {"requant": requant}, out)
    node.set(0, node.activate(product, options["fused_activation_function"]))


def _floats(node: Node) -> None:
    shape = node.type(1).shape or ()
    if len(shape) != 2 or None in shape:
        node.fail(f"the weights must have the static shape [outputs, depth], got {list(shape)}")
    units, depth = shape[0] or 0, shape[1] or 0
    product = hybrid.matrix_product if hybrid.is_hybrid(node, 0) else float_products.matrix_product
    product(node, _rows(node, depth, bool(node.options["keep_num_dims"])), units, depth)


def _rows(node: Node, depth: int, keep: bool) -> Value:
    """Return input 0 with ``depth`` as its last axis: unchanged if ``keep`` is True, else reshaped to a matrix."""
    value, shape = node.value(0), node.type(0).shape or ()
    if keep:
        if not shape or shape[-1] != depth:
            node.fail(
                f"the last dimension of the input must be the depth of the weights, {depth}, got shape {list(shape)}"
            )
        return value
    if len(shape) == 2 and shape[1] == depth:
        return value
    known = prod(size for size in shape if size is not None)
    if None not in shape and (depth == 0 or known % depth):
        node.fail(
            f"the number of elements of the input must be a multiple of the depth of the weights, {depth}, got "
            f"shape {list(shape)}"
        )
    rows = None if None in shape else known // depth
    return node.emit("qrt.reshape", [value], None, TensorType((rows, depth), node.type(0).element))
