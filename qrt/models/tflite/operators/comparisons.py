"""Import of comparisons such as EQUAL and LESS, and of ONE_HOT, which compares indices with all positions."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import axis_of, reshaped
from qrt.models.importing.unquantized import Operand, apply, compare, number_of, select, shape_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, one_integer, operands_of, raw
from qrt.numerics.comparisons import compared_values
from qrt.ops.core import Array, storage_dtype
from qrt.types import IntegerType, TensorType, UniformType

_COMPARISONS = {
    "EQUAL": "eq", "NOT_EQUAL": "ne", "LESS": "slt", "LESS_EQUAL": "sle", "GREATER": "sgt", "GREATER_EQUAL": "sge",
}  # fmt: skip
_I32 = IntegerType(32)


def comparison(node: Node) -> None:
    """Import a comparison: compare int32, int64 or float32 tensors that broadcast, or bools by EQUAL and NOT_EQUAL."""
    bools = ("bool",) if node.op.name in ("EQUAL", "NOT_EQUAL") else ()
    (a, b), element = operands_of(node, ("int32", "int64", "float32", *bools))
    finish(node, 0, compare(node, _COMPARISONS[node.op.name], a, b, element))


def quantized(node: Node) -> None:
    """Import a comparison: compare 8-bit or int16 tensors that broadcast.

    A table maps each storage value to an integer in a scale that both tensors share, and these integers are compared.
    LESS, LESS_EQUAL, GREATER and GREATER_EQUAL of int16 tensors compare the storage instead.
    """
    types = node.element(0), node.element(1)
    if types[0].storage != types[1].storage:
        node.fail(f"its inputs must have the same type, got {node.input(0).dtype} and {node.input(1).dtype}")
    rule = node.rule("comparison", storage=types[0].storage, function=node.op.name)
    if rule == "exact":
        a, b = raw(node, 0), raw(node, 1)
        element = signless(types[0])
    else:
        (a, b), element = (_scaled(node, i, type) for i, type in enumerate(types)), _I32
    finish(node, 0, compare(node, _COMPARISONS[node.op.name], a, b, element))


def _scaled(node: Node, i: int, element: UniformType) -> Operand:
    """Return the values of input ``i`` as 32-bit integers in a scale that all inputs share, by a lookup table."""
    if not element.is_per_layer:
        node.refuse("several scales")
    if element.scale >= 1:
        node.fail(f"the scale of tensor {node.input(i).name!r} must be below 1, got {element.scale}")
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


def one_hot(node: Node) -> None:
    """Import ONE_HOT: add an axis on which each index has the "on" value at its position and "off" values elsewhere.

    The size of the axis must be known at import.
    """
    dtype, depth = node.input(0).dtype, one_integer(node, 1, "a depth")
    if dtype not in ("int32", "int64"):
        node.refuse(f"positions of {dtype}")
    if node.input(2).dtype != node.input(3).dtype:
        node.fail(
            f"on_value and off_value must have the same type, got {node.input(2).dtype} and {node.input(3).dtype}"
        )
    indices = raw(node, 0)
    own = shape_of(indices)
    axis = axis_of(node, node.options["axis"], len(own) + 1)
    shape = (*own[:axis], 1, *own[axis:])
    sizes = (*own[:axis], depth, *own[axis:])
    node.graph.check_size(node.op, TensorType(sizes, node.result_type().element))
    expanded: Operand = (
        indices.reshape([size or 0 for size in shape])
        if isinstance(indices, np.ndarray)
        else reshaped(node, indices, shape)
    )
    numbers = np.arange(depth, dtype=dtype).reshape(-1, *(1,) * (len(own) - axis))
    is_on = compare(node, "eq", expanded, numbers, node.type(0).element)
    finish(node, 0, select(node, is_on, raw(node, 2), raw(node, 3), signless(node.type(2).element)))
