"""What nodes on floats compute exactly: the text of a function, which stands in the model beside them.

ONNX says neither in which order a sum is added up nor what is rounded in between. The function says both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qrt.ir import Block, Builder, Module, Operation, Region, StringAttr, TypeAttr, Value
from qrt.ir.core.operations import NOWHERE
from qrt.models.importing.node import TENSOR
from qrt.quantization.fusion.wrap_region import Body
from qrt.types import FunctionType

Permutation = tuple[int, ...] | None


@dataclass(frozen=True)
class ExportedProgram:
    """A function. Its argument ``i`` is the operand ``arguments[i][0]`` of an op, of whose axes axis ``j`` is axis
    ``arguments[i][1][j]`` of the argument. ``clamp`` is the op behind it that the function computes too.
    """

    text: str
    arguments: tuple[tuple[int, Permutation], ...]
    clamp: Operation | None = None


Programs = Mapping[Operation, ExportedProgram]
"""The functions of ops that stand in place of others."""


def text_between(inputs: Sequence[Value], operations: Iterable[Operation], results: Sequence[Value]) -> str | None:
    """The function of operations, in order, whose arguments are the inputs; None where it would need something else."""
    operations = list(operations)
    body = Body(inputs, (), operations[-1])
    if not all(body.add(operation) for operation in operations):
        return None
    return text_of(body.block, [body.values[value] for value in results])


def text_of(block: Block, results: Sequence[Value]) -> str:
    """The function whose body is a block without terminator, which is taken over."""
    for operation in block:
        operation.attributes.pop(TENSOR, None)  # tensors of the model have names of their own
    Builder(block, NOWHERE).emit("func.return", results)
    types = FunctionType([value.type for value in block.arguments], [value.type for value in results])
    attributes = {"sym_name": StringAttr("f"), "function_type": TypeAttr(types)}
    module = Module()
    Builder(module.body, NOWHERE).emit("func.func", attributes=attributes, regions=[Region([block])])
    return str(module)
