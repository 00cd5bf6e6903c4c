"""Pass that replaces depthwise convolutions of one input channel by convolutions, whose kernels are faster."""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Builder, Module, Operation
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.ops import family_of
from qrt.runtime.fusion.families import accepts, attributes_of, chained, constant, quantized, stored_constant
from qrt.types import TensorType, UniformType


@dataclass(frozen=True)
class WidenDepthwise:
    """Replaces depthwise convolutions of one channel and constant weights by convolutions. Preserves every value."""

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
    convolution = builder.value("qrt.conv2d", operands, op.result.type, {**op.attributes, **chained([op])})
    assert convolution.operation is not None  # the builder just created it
    if accepts(family_of(convolution.operation), operands, attributes_of(convolution.operation), op.result.type):
        weights_op = op.operands[1].operation
        assert weights_op is not None  # it is a cast of a constant
        replace(op, [convolution])
        erase_dead([weights_op])
    else:
        erase_dead([convolution.operation])


def _along_first(t: UniformType) -> UniformType:
    """Return the type of the weights with their scales along axis 0, the output channels of a conv2d."""
    return t.with_(axis=0) if t.is_per_axis else t
