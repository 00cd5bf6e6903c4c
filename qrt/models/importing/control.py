"""Branches and loops whose bodies are private functions: `scf.if` and `scf.while` around calls of them."""

from collections.abc import Sequence

from qrt.ir import Block, Builder, Region, Value
from qrt.ir.core.functions import FuncOp
from qrt.models.importing.node import Node
from qrt.types import IndexType, IntegerType, TensorType


def call(block: Block, function: FuncOp, values: Sequence[Value]) -> Sequence[Value]:
    """The results of a call at the end of a block."""
    types = list(function.type.results)
    return Builder(block).create("func.call", *values, types=types, callee=function.sym_name).results


def is_one_bool(value: Value) -> bool:
    """Whether a value is a tensor of one bool."""
    type = value.type
    if not isinstance(type, TensorType) or type.element is not IntegerType(1) or type.shape is None:
        return False
    return all(size == 1 for size in type.shape)


def condition(node: Node, block: Block, value: Value) -> Value:
    """The one bool that a tensor holds."""
    if not is_one_bool(value):
        node.fail(f"its condition is {value.type}, expected one bool")
    assert isinstance(value.type, TensorType)
    builder = Builder(block)
    indices = [builder.constant(0, IndexType()) for _ in value.type.shape or ()]
    return builder.create("tensor.extract", value, indices).result


def branches(
    node: Node, said: Value, functions: Sequence[FuncOp], operands: Sequence[Sequence[Value]]
) -> Sequence[Value]:
    """The results of the first function where a condition holds, else those of the second; each has its operands."""
    decided = condition(node, node.graph.block, said)
    regions = []
    for function, values in zip(functions, operands, strict=True):
        block = Block()
        Builder(block).create("scf.yield", *call(block, function, values))
        regions.append(Region([block]))
    return node.make("scf.if", [decided], None, list(functions[0].type.results), regions=regions).results


def rounds(node: Node, goes_on: FuncOp, body: FuncOp, values: Sequence[Value]) -> Sequence[Value]:
    """What a function makes of values as often as another one says so of them. Their types stay."""
    types = [value.type for value in values]
    before, after = Block(types), Block(types)
    (said,) = call(before, goes_on, before.arguments)
    Builder(before).create("scf.condition", condition(node, before, said), list(before.arguments))
    Builder(after).create("scf.yield", *call(after, body, after.arguments))
    return node.make("scf.while", values, None, types, regions=[Region([before]), Region([after])]).results
