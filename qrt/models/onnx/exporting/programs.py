"""The exact computation of nodes on floats, recorded in the metadata as the text of an MLIR function.

ONNX specifies neither the order of a sum nor the rounding of intermediate results, but the function does. The import
replaces the nodes by the function.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from qrt.errors import DiagnosticError, ModelError
from qrt.ir import Block, Builder, Module, Operation, Region, StringAttr, TypeAttr, Value, parse
from qrt.ir.core.operations import NOWHERE
from qrt.models.importing.node import TENSOR
from qrt.models.onnx.node import Node
from qrt.quantization.fusion.wrap_region import Body
from qrt.types import FunctionType, TensorType, Type

Permutation = tuple[int, ...] | None


@dataclass(frozen=True)
class ExportedProgram:
    """The text of an MLIR function that computes exactly what the nodes of an operation compute approximately.

    ``arguments`` has a pair (operand, permutation) for each argument of the function: the argument is this operand of
    the operation, transposed. Axis ``j`` of the operand is axis ``permutation[j]`` of the argument. The permutation
    None means no transposition. ``clamp`` is a clamp of the operation's result, which the function computes too, or
    None.
    """

    text: str
    arguments: tuple[tuple[int, Permutation], ...]
    clamp: Operation | None = None


Programs = Mapping[Operation, ExportedProgram]
"""The function of each operation that replaced a loop nest."""


def text_between(inputs: Sequence[Value], operations: Iterable[Operation], results: Sequence[Value]) -> str | None:
    """Return the text of a function that computes ``results`` from ``inputs`` by the given operations.

    Return None if an operation has an operand that is neither an input nor computed by another of the operations.
    """
    operations = list(operations)
    body = Body(inputs, (), operations[-1])
    if not all(body.add(operation) for operation in operations):
        return None
    return text_of(body.block, [body.values[value] for value in results])


def text_of(block: Block, results: Sequence[Value]) -> str:
    """Return the text of a function with the body ``block``, to which a return of ``results`` is appended.

    The block is moved into the function, and cannot be used afterwards.
    """
    for operation in block:
        operation.attributes.pop(TENSOR, None)  # tensors of the model have names of their own
    Builder(block, NOWHERE).emit("func.return", results)
    types = FunctionType([value.type for value in block.arguments], [value.type for value in results])
    attributes = {"sym_name": StringAttr("f"), "function_type": TypeAttr(types)}
    module = Module()
    Builder(module.body, NOWHERE).emit("func.func", attributes=attributes, regions=[Region([block])])
    return str(module)


_DIALECTS = ("arith.", "linalg.", "math.", "qrt.", "tensor.")
"""Dialects whose operations compute tensors from tensors, without side effects."""


def inlined(node: Node, text: str, operands: Sequence[Value]) -> list[Value]:
    """Insert the body of a function in place of ``node``, and return its results.

    Raise ModelError if ``text`` is not a function with arguments of the operands' types.
    """
    block = _body(text)
    given, taken = ([value.type for value in values] for values in (operands, block.arguments))
    if given != taken:
        raise ModelError(
            f"'program' must have arguments of the types of the operands, {_listed(given)}, got {_listed(taken)}"
        )
    values = dict(zip(block.arguments, operands, strict=True))
    *operations, last = block
    location = node.graph.location(node.op)
    for operation in operations:
        for inner in operation.walk():
            if not inner.name.startswith(_DIALECTS):
                raise ModelError(
                    f"'program' must have ops of arith, linalg, math, qrt and tensor alone, got {inner.name}"
                )
            inner.location = location
        for result in operation.results:
            if isinstance(result.type, TensorType):
                node.graph.check_size(node.op, result.type)
        node.graph.block.append(operation.clone(values))
    return [values.get(value, value) for value in last.operands]


def _body(text: str) -> Block:
    """Parse a text that consists of one function with one block, and return the block."""
    try:
        module = parse(text)
        module.verify()
    except DiagnosticError as error:
        raise ModelError(f"'program' is not valid MLIR: {error.message}") from None
    functions = module.functions
    if len(functions) != 1 or len(list(module.body)) != 1 or len(functions[0].regions[0].blocks) != 1:
        raise ModelError("'program' must be one function with one block")
    return functions[0].regions[0].blocks[0]


def _listed(types: Sequence[Type]) -> str:
    return ", ".join(kind.shown() for kind in types) or "nothing"
