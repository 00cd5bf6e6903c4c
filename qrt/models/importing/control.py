"""Branches (`scf.if`) and loops (`scf.while`) whose bodies are calls of private functions."""

from collections.abc import Sequence

from qrt.ir import Block, Builder, Region, Value
from qrt.ir.core.functions import FuncOp
from qrt.models.importing.node import Node
from qrt.types import IndexType, IntegerType, TensorType


def call(block: Block, function: FuncOp, values: Sequence[Value]) -> Sequence[Value]:
    """Append a call of a function to a block and return the call's results."""
    types = list(function.type.results)
    return Builder(block).create("func.call", *values, types=types, callee=function.sym_name).results


def is_one_bool(value: Value) -> bool:
    """Return True if a value is a tensor with exactly one bool, of any rank."""
    type = value.type
    if not isinstance(type, TensorType) or type.element is not IntegerType(1) or type.shape is None:
        return False
    return all(size == 1 for size in type.shape)


def condition(node: Node, block: Block, value: Value) -> Value:
    """Append a `tensor.extract` of the bool in a one-element tensor, and return the bool.

    Raise ModelError for any other value.
    """
    if not is_one_bool(value):
        node.fail(f"its condition must be one bool, got {value.type}")
    assert isinstance(value.type, TensorType)
    builder = Builder(block)
    indices = [builder.constant(0, IndexType()) for _ in value.type.shape or ()]
    return builder.create("tensor.extract", value, indices).result


def branches(
    node: Node, condition_tensor: Value, functions: Sequence[FuncOp], operands: Sequence[Sequence[Value]]
) -> Sequence[Value]:
    """Append an `scf.if` that calls the first of two functions if the condition is true, else the second.

    ``operands`` has the operands of each call. Return the results of the `scf.if`.
    """
    is_first = condition(node, node.graph.block, condition_tensor)
    regions = []
    for function, values in zip(functions, operands, strict=True):
        block = Block()
        Builder(block).create("scf.yield", *call(block, function, values))
        regions.append(Region([block]))
    return node.make("scf.if", [is_first], None, list(functions[0].type.results), regions=regions).results


def rounds(node: Node, predicate: FuncOp, body: FuncOp, values: Sequence[Value]) -> Sequence[Value]:
    """Append an `scf.while`, and return its results: the loop-carried values after the last iteration.

    These values start as ``values``. While the function ``predicate`` returns true for them, the function ``body``
    computes their next values. Their types do not change.
    """
    types = [value.type for value in values]
    before, after = Block(types), Block(types)
    (condition_tensor,) = call(before, predicate, before.arguments)
    Builder(before).create("scf.condition", condition(node, before, condition_tensor), list(before.arguments))
    Builder(after).create("scf.yield", *call(after, body, after.arguments))
    return node.make("scf.while", values, None, types, regions=[Region([before]), Region([after])]).results
