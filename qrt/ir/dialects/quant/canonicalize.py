"""Replaces the ops that articles on lowering write by the ops they stand for: `"quant.cast"` is a qcast or a dcast,
`"quant.conv2d"` and `"quant.matmul"` are those of `qrt`. This changes no value, because the result type holds what
`output_scale` and `output_zero_point` say.
"""

from qrt.ir import Builder, Operation, Value
from qrt.ir.dialects.quant.ops import element_of
from qrt.types import QuantizedType

_SAID_BY_THE_TYPE = ("output_scale", "output_zero_point")


def written_cast(operation: Operation, builder: Builder) -> list[Value]:
    """`"quant.cast"` becomes a qcast or a dcast, as its types say."""
    (operand,) = operation.operands
    name = "quant.dcast" if isinstance(element_of(operand.type), QuantizedType) else "quant.qcast"
    return [builder.value(name, (operand,), operation.results[0].type, dict(operation.attributes))]


def written_kernel(operation: Operation, builder: Builder) -> list[Value]:
    """The op of `qrt` that has the same name."""
    attributes = {name: value for name, value in operation.attributes.items() if name not in _SAID_BY_THE_TYPE}
    name = operation.name.replace("quant.", "qrt.")
    return [builder.value(name, operation.operands, operation.results[0].type, attributes)]
