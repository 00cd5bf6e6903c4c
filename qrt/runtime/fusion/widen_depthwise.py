"""A depthwise convolution of one channel is a convolution, whose kernels fill their vectors with fewer channels."""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Builder, Module, Operation
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import family_of
from qrt.runtime.fusion.families import chained, constant, may_be, quantized, said, stored_constant
from qrt.types import TensorType, UniformType


@dataclass(frozen=True)
class WidenDepthwise:
    """Makes a convolution of a depthwise one that has one input channel and constant weights. Preserves every value."""

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            if op.name == "qrt.depthwise_conv2d":
                _widen(op)


def _widen(op: Operation) -> None:
    x, w = op.operands[0].type, quantized(op.operands[1])
    if not isinstance(x, TensorType) or x.shape is None or x.shape[-1] != 1 or w is None:
        return
    weights = stored_constant(op.operands[1])
    if weights is None or weights.shape[2] == 1:
        return
    builder = Builder(op)
    moved = np.ascontiguousarray(weights.transpose(2, 0, 1)[..., np.newaxis])  # OHWI
    filters = constant(builder, moved, _along_first(w))
    operands = [op.operands[0], filters, *op.operands[2:]]
    made = builder.value("qrt.conv2d", operands, op.result.type, {**op.attributes, **chained([op])})
    assert made.operation is not None  # it was just made
    if may_be(family_of(made.operation), operands, said(made.operation), op.result.type):
        held = op.operands[1].operation
        assert held is not None  # it is a cast of a constant
        replace(op, [made])
        erase_dead([held])
    else:
        erase_dead([made.operation])


def _along_first(t: UniformType) -> UniformType:
    """The type of the weights, whose output channels are the first axis of a convolution."""
    return t.with_(axis=0) if t.is_per_axis else t
