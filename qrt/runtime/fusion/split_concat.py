"""Pass that requantizes the operands of a concatenation separately, so that the concatenation only copies."""

from dataclasses import dataclass

from qrt.errors import QuantError
from qrt.ir import Builder, Module, Operation
from qrt.ir.core.matching import acyclic_operations
from qrt.ops.movement import concat_pieces
from qrt.runtime.fusion.families import attributes_of, quantized
from qrt.types import TensorType


@dataclass(frozen=True)
class SplitConcat:
    """Requantizes each operand of a concatenation to the result's type, so that the op only copies.

    Preserves every value.
    """

    def run(self, module: Module) -> None:
        for op in acyclic_operations(module.operation):
            if op.name == "qrt.concat" and quantized(op.result) is not None:
                _split(op)


def _split(op: Operation) -> None:
    types = tuple(value.type for value in op.operands if isinstance(value.type, TensorType))
    result = op.result.type
    if not isinstance(result, TensorType) or len(types) < len(op.operands):
        return
    try:
        pieces = concat_pieces(types, result, attributes_of(op))
    except QuantError:  # the number of channels is not known
        return
    rule = {name: value for name, value in op.attributes.items() if name == "requant"}
    builder = Builder(op)
    for index, (value, t, piece) in enumerate(zip(list(op.operands), types, pieces, strict=True)):
        if t.element is not piece.element:
            op.set_operand(index, builder.value("qrt.requantize", (value,), piece, rule))
