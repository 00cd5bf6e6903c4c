"""The operations of a function that stands in a model's metadata, put where its nodes are imported."""

from collections.abc import Sequence

from qrt.errors import DiagnosticError, ModelError
from qrt.ir import Block, Value, parse
from qrt.models.onnx.node import Node
from qrt.types import TensorType, Type

_DIALECTS = ("arith.", "linalg.", "math.", "qrt.", "tensor.")
"""Their ops compute tensors from tensors, and nothing else."""


def inlined(node: Node, text: str, operands: Sequence[Value]) -> list[Value]:
    """The results of a function of these operands. ModelError for a text that is no such function."""
    block = _body(text)
    given, taken = ([value.type for value in values] for values in (operands, block.arguments))
    if given != taken:
        raise ModelError(f"its program takes {_listed(taken)}, but its operands are {_listed(given)}")
    values = dict(zip(block.arguments, operands, strict=True))
    *operations, last = block
    location = node.graph.location(node.op)
    for operation in operations:
        for inner in operation.walk():
            if not inner.name.startswith(_DIALECTS):
                raise ModelError(f"its program has an operation {inner.name}")
            inner.location = location
        for result in operation.results:
            if isinstance(result.type, TensorType):
                node.graph.check_size(node.op, result.type)
        node.graph.block.append(operation.clone(values))
    return [values.get(value, value) for value in last.operands]


def _body(text: str) -> Block:
    """The block of the one function of a text."""
    try:
        module = parse(text)
        module.verify()
    except DiagnosticError as error:
        raise ModelError(f"its program is wrong: {error.message}") from None
    functions = module.functions
    if len(functions) != 1 or len(list(module.body)) != 1 or len(functions[0].regions[0].blocks) != 1:
        raise ModelError("its program is no function of one block")
    return functions[0].regions[0].blocks[0]


def _listed(types: Sequence[Type]) -> str:
    return ", ".join(kind.shown() for kind in types) or "nothing"
