"""Comparisons: of plain numbers, and of quantized tensors, whose storage is brought to scales first."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import Operand, apply, compare, number_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.unquantized import finish, operands_of, raw
from qrt.numerics.comparison_operands import compared_values
from qrt.ops.core import Array, storage_dtype
from qrt.types import IntegerType, TensorType, UniformType

_COMPARISONS = {
    "EQUAL": "eq", "NOT_EQUAL": "ne", "LESS": "slt", "LESS_EQUAL": "sle", "GREATER": "sgt", "GREATER_EQUAL": "sge",
}  # fmt: skip
_I32 = IntegerType(32)


def comparison(node: Node) -> None:
    """A comparison of two tensors that broadcast: int32, int64 or float32, and bools by EQUAL and NOT_EQUAL."""
    bools = ("bool",) if node.op.name in ("EQUAL", "NOT_EQUAL") else ()
    (a, b), element = operands_of(node, ("int32", "int64", "float32", *bools))
    finish(node, 0, compare(node, _COMPARISONS[node.op.name], a, b, element))


def quantized(node: Node) -> None:
    """A comparison of two tensors that broadcast: of 8 and 16 bits each by a table of what it stands for, int16 by
    LESS, GREATER and their like as storage; int32, int64 or float32; bools by EQUAL and NOT_EQUAL.
    """
    types = node.element(0), node.element(1)
    if types[0].storage != types[1].storage:
        node.fail(f"its inputs are of {node.input(0).dtype} and {node.input(1).dtype}")
    rule = node.rule("comparison", storage=types[0].storage, function=node.op.name)
    if rule == "exact":
        a, b = raw(node, 0), raw(node, 1)
        element = signless(types[0])
    else:
        (a, b), element = (_scaled(node, i, each) for i, each in enumerate(types)), _I32
    finish(node, 0, compare(node, _COMPARISONS[node.op.name], a, b, element))


def _scaled(node: Node, i: int, element: UniformType) -> Operand:
    """What an input stands for, as integers of 32 bits."""
    if not element.is_per_layer:
        node.refuse("several scales")
    if element.scale >= 1:
        node.fail(f"the scale of tensor {node.input(i).name!r} is {element.scale}, which must be below 1")
    least, most = element.default_bounds
    table = compared_values(np.arange(least, most + 1), element.scale, element.zero_point).astype(np.int32)
    stored = raw(node, i)
    if isinstance(stored, np.ndarray):
        values: Array = stored.view(storage_dtype(element)).astype(np.int64) - least
        return table[values]
    narrow = signless(element)
    wide = apply(node, "arith.extsi" if element.is_signed else "arith.extui", [stored], [narrow], _I32)
    places = apply(node, "arith.subi", [wide, number_of(least, _I32)], [_I32] * 2, _I32)
    assert isinstance(places, Value)
    assert isinstance(places.type, TensorType)
    return node.emit("qrt.gather", [node.dense(table, _I32), places], {"axis": 0, "batch_dims": 0})
