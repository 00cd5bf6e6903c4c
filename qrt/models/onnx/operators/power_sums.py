"""Sums of powers: LpPool and GlobalLpPool, which compute norms, and LRN, which normalizes over neighboring channels."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing import windows
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, number_of
from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, require
from qrt.models.onnx.operators.pooling import window_of
from qrt.models.onnx.operators.windows import channels_first, channels_last, form_of

_MOST_CHANNELS = 255
"""The most channels whose sum is unrolled."""


def _power_of(node: Node) -> int:
    power = node.attribute("p", 2)
    if power < 1:
        node.fail(f"attribute 'p' must be at least 1, got {power}")
    return power


def _power(node: Node, x: Operand, exponent: float) -> Operand:
    """Raise nonnegative float32 values to the power ``exponent``."""
    if exponent == 1:
        return x
    if exponent == 2:
        return apply(node, "arith.mulf", [x, x], [F32, F32], F32)
    if exponent == 0.5:
        return apply(node, "math.sqrt", [x], [F32], F32)
    return apply(node, "math.powf", [x, number_of(exponent, F32)], [F32, F32], F32)


def lp_pool(node: Node) -> None:
    """Import LpPool: compute the p-norm of each float32 window, the p-th root of the sum of ``abs(x) ** p``.

    The terms are added by rows.
    """
    require(node, 0, "float")
    power, rank = _power_of(node), len(node.shape())
    form = form_of(node, node.shape(), None).of_images()
    x = channels_last(node, node.value(0))
    window = window_of(node, form, x)[1]
    powers = _power(node, apply(node, "math.absf", [x], [F32], F32), power)
    assert isinstance(powers, Value)
    sums = windows.sums(lowering_context(node), window.padded(node, powers), window)
    norms = _power(node, sums, 1 / power)
    assert isinstance(norms, Value)
    node.set(0, channels_first(node, norms, rank))


def global_lp_pool(node: Node) -> None:
    """Import GlobalLpPool: compute the p-norm of each float32 channel, the p-th root of the sum of ``abs(x) ** p``."""
    require(node, 0, "float")
    power, graph = _power_of(node), composed(node)
    axes = graph.integers(*range(2, len(node.shape())))
    powers = graph.add("Pow", graph.add("Abs", node.input(0)), graph.constant(power))
    graph.replace(node, graph.add("Pow", graph.add("ReduceSum", powers, axes, keepdims=1), graph.constant(1 / power)))


def response(node: Node) -> None:
    """Import LRN: compute ``x / (bias + alpha / size * s) ** beta`` of float32, where s is a sum of squares.

    The squares are those of ``size`` neighboring channels, at most 255.
    """
    require(node, 0, "float")
    size, rank, graph = node.required("size", int), len(node.shape()), composed(node)
    if size < 1 or size % 2 == 0:
        node.fail(f"attribute 'size' must be an odd positive integer, got {size}")
    if size > _MOST_CHANNELS:
        node.refuse(f"of {size} channels")
    channels = node.shape()[1] if rank > 1 else None
    if channels is None:
        node.refuse(f"of shape {list(node.shape())}")
    x, widths = node.input(0), [0] * (2 * rank)
    widths[1] = widths[rank + 1] = (size - 1) // 2
    squares = graph.add("Pad", graph.add("Mul", x, x), graph.integers(*widths))
    total = ""
    for at in range(size):
        part = graph.add("Slice", squares, graph.integers(at), graph.integers(at + channels), graph.integers(1))
        total = graph.add("Add", total, part) if total else part
    alpha, beta = node.attribute("alpha", 1e-4), node.attribute("beta", 0.75)
    scaled = graph.add("Mul", total, graph.constant(np.float32(alpha) / np.float32(size)))
    scale = graph.add("Add", scaled, graph.constant(node.attribute("bias", 1.0)))
    graph.replace(node, graph.add("Mul", graph.add("Pow", scale, graph.constant(-beta)), x))
