"""Operators of ``com.microsoft`` that ONNX Runtime's optimizer writes in place of several operators of ONNX."""

from typing import Any

from qrt.models.onnx.composed import ComposedGraph, composed, require_floats
from qrt.models.onnx.node import Node

_PARAMETERS = {
    "": (), "Clip": (), "HardSigmoid": ("alpha", "beta"), "LeakyRelu": ("alpha",), "Relu": (), "Sigmoid": (),
    "Tanh": (),
}  # fmt: skip
"""The attributes of each activation, in the order of ``activation_params``."""


def _activated(node: Node, graph: ComposedGraph, x: Any, prefix: str = "activation") -> Any:
    """Add the activation that the node's attributes describe, and return the name of its result."""
    name = node.attribute(prefix, "")
    numbers = node.numbers(f"{prefix}_params", float)
    if name not in _PARAMETERS:
        node.refuse(f"with the activation {name}")
    if not name:
        return x
    if name == "Clip":
        if len(numbers) != 2:
            node.fail(f"attribute '{prefix}_params' must have 2 numbers, got {list(numbers)}")
        return graph.add("Clip", x, *map(graph.constant, numbers))
    given: dict[str, Any] = dict(zip(_PARAMETERS[name], numbers, strict=False))
    for parameter in _PARAMETERS[name]:
        value = node.number(f"{prefix}_{parameter}")  # FusedGemm has attributes of their own
        given |= {} if value is None else {parameter: value}
    return graph.add(name, x, **given)


def _own_attributes(node: Node, *left: str) -> dict[str, Any]:
    return {
        name: value for name, value in node.op.attributes.items() if not name.startswith("activation")
        and name not in left
    }  # fmt: skip


def fused_conv(node: Node) -> None:
    """Import FusedConv: compute a Conv of float32, add another tensor, if there is one, and apply an activation."""
    graph, names = composed(node), node.op.inputs
    result = graph.add("Conv", *(name for i, name in enumerate(names[:3]) if node.has(i)), **_own_attributes(node))
    if node.has(3):
        result = graph.add("Add", result, names[3])
    graph.replace(node, _activated(node, graph, result))


def fused_gemm(node: Node) -> None:
    """Import FusedGemm: compute a Gemm of float32, and apply an activation."""
    graph = composed(node)
    result = graph.add("Gemm", *node.op.inputs, **_own_attributes(node))
    graph.replace(node, _activated(node, graph, result))


def fused_matmul(node: Node) -> None:
    """Import FusedMatMul: multiply float32 matrices, each transposed or not, and multiply the product by alpha.

    With ``transBatchA`` or ``transBatchB``, the first axis of an operand is moved behind the axes of the batch first.
    """
    require_floats(node, 0, 1)
    graph, operands = composed(node), []
    for i, side in enumerate("AB"):
        order = list(range(len(node.shape(i))))
        if len(order) > 1:
            if node.attribute(f"transBatch{side}", 0):
                order = [*order[1:-1], order[0], order[-1]]
            if node.attribute(f"trans{side}", 0):
                order[-2:] = order[:-3:-1]
        name = node.input(i)
        operands.append(graph.add("Transpose", name, perm=tuple(order)) if order != sorted(order) else name)
    result, alpha = graph.add("MatMul", *operands), node.attribute("alpha", 1.0)
    graph.replace(node, result if alpha == 1 else graph.add("Mul", result, graph.constant(alpha)))


def with_channels_last(node: Node) -> None:
    """Import NhwcMaxPool, or QLinearConv of ``com.microsoft``, whose images may have the channels last.

    Such images are transposed for MaxPool or ONNX's QLinearConv, and the result is transposed back.
    """
    type, names, rank = node.op.type.removeprefix("Nhwc"), list(node.op.inputs), len(node.shape())
    graph, is_last = composed(node), bool(node.attribute("channels_last", int(node.op.type.startswith("Nhwc"))))
    if rank < 3:
        node.fail(f"its input must have a batch, channels and at least one more axis, got shape {list(node.shape())}")
    if is_last:
        names[0] = graph.add("Transpose", names[0], perm=(0, rank - 1, *range(1, rank - 1)))
    result = graph.add(type, *names, **_own_attributes(node, "channels_last"))
    graph.replace(node, graph.add("Transpose", result, perm=(0, *range(2, rank), 1)) if is_last else result)


def matmul_integer_to_float(node: Node) -> None:
    """Import MatMulIntegerToFloat: multiply 8-bit matrices as MatMulInteger does, and convert the sums to floats.

    The sums are multiplied by both scales, and a bias is added.
    """
    graph, names = composed(node), [*(node.input(i) for i in range(4)), *node.op.inputs[4:], "", "", ""]
    require_floats(node, 2, 3, 6)
    sums = graph.add("MatMulInteger", names[0], names[1], names[4], names[5])
    result = graph.add("Mul", graph.add("Cast", sums, to=1), graph.add("Mul", names[2], names[3]))
    graph.replace(node, graph.add("Add", result, names[6]) if node.has(6) else result)
