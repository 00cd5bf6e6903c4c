"""Conversion of element-wise ops on tensors, and of named `linalg` ops, to `linalg.generic`."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Block, Builder, Module, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import element_of, is_ranked_tensor
from qrt.ir.core.folding import Folds
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.linalg.structure import StructuredOp, generic
from qrt.ir.passes.elementwise import extents
from qrt.ir.rewriting.greedy import rewrite_greedily
from qrt.ir.rewriting.rewrite import Pattern, replace
from qrt.ops.elementwise import BINDERS
from qrt.types import TensorType


@dataclass(frozen=True)
class ConvertElementwiseToLinalg:
    """Replaces element-wise arith and math ops on ranked tensors by linalg.generic. Changes no value."""

    def run(self, module: Module) -> None:
        for operation in module.operation.walk():
            if operation.name in BINDERS and _is_on_tensors(operation):
                replace(operation, as_generic(operation))


def _is_on_tensors(operation: Operation) -> bool:
    """Return True if all operands are ranked tensors or scalars, and at least one is a tensor."""
    types = [value.type for value in operation.operands]
    shaped = [type for type in types if element_of(type) is not type]
    return bool(shaped) and all(map(is_ranked_tensor, shaped))


def as_generic(operation: Operation) -> list[Value]:
    """Insert, before an element-wise op on ranked tensors, an equivalent `linalg.generic`, and return its results."""
    builder = Builder(operation)
    outputs = [_output(builder, operation, result) for result in operation.results]
    operands = [*operation.operands, *outputs]
    rank = len(ranked(operation.results[0]).shape or ())
    identity, scalar = AffineMapAttr.identity(rank), AffineMapAttr(rank, 0, ())
    maps = [identity if is_ranked_tensor(value.type) else scalar for value in operands]
    types, body = [value.type for value in operation.results], _body(operation, operands)
    return generic(builder, operation.operands, outputs, types, maps, ["parallel"] * rank, body)


def _output(builder: Builder, operation: Operation, result: Value) -> Value:
    """Return a tensor for `outs`, whose values are not read: an operand of the result's type, else a `tensor.empty`."""
    for operand in operation.operands:
        if operand.type is result.type:
            return operand
    source = next(operand for operand in operation.operands if is_ranked_tensor(operand.type))
    type = TensorType(ranked(source).shape, ranked(result).element)
    return builder.value("tensor.empty", extents(builder, source), type)


def _body(operation: Operation, operands: list[Value]) -> Region:
    block = Block([element_of(value.type) for value in operands], operation.location)
    body = Builder(block, operation.location)
    scalars = block.arguments[: len(operation.operands)]
    types = [element_of(value.type) for value in operation.results]
    inner = body.emit(operation.name, scalars, types, dict(operation.attributes))
    body.emit("linalg.yield", inner.results)
    return Region([block])


def generalize(operation: Operation, builder: Builder) -> list[Value]:
    """Replace a named op of linalg by a `linalg.generic` with the op's body, and return the results.

    Attributes of the op other than its maps and iterator types are dropped.
    """
    assert isinstance(operation, StructuredOp)  # this is a pattern of such ops alone
    types, maps, kinds = [value.type for value in operation.results], operation.indexing_maps, operation.iterators
    (region,) = operation.take_regions()
    return generic(builder, operation.inputs, operation.outputs, types, maps, kinds, region)


def _patterns(operation: Operation) -> Sequence[Pattern]:
    return (generalize,) if isinstance(operation, StructuredOp) and operation.name != "linalg.generic" else ()


@dataclass(frozen=True)
class GeneralizeNamedOps:
    """Replaces every named op of linalg by an equivalent linalg.generic. Changes no value.

    Also folds operations, merges constants and removes dead operations, as upstream's pass does.
    """

    def run(self, module: Module) -> None:
        rewrite_greedily(module.operation, Folds(), _patterns)
