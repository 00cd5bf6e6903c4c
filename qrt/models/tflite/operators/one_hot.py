"""ONE_HOT."""

import numpy as np

from qrt.models.importing.data_movement import axis_of, reshaped
from qrt.models.importing.unquantized import Operand, compare, select, shape_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.data_movement import one_integer
from qrt.models.tflite.operators.unquantized import finish, raw


def one_hot(node: Node) -> None:
    """A new axis of known size, along which the element at each position differs from all others."""
    dtype, depth = node.input(0).dtype, one_integer(node, 1, "a depth")
    if dtype not in ("int32", "int64"):
        node.refuse(f"positions of {dtype}")
    if node.input(2).dtype != node.input(3).dtype:
        node.fail(f"its elements are of {node.input(2).dtype} and {node.input(3).dtype}")
    indices = raw(node, 0)
    own = shape_of(indices)
    axis = axis_of(node, node.options["axis"], len(own) + 1)
    shape = (*own[:axis], 1, *own[axis:])
    if (declared := node.result_type().shape or ())[axis : axis + 1] not in ((depth,), (None,)):
        node.fail(f"a depth of {depth} does not make the shape {list(declared)}")
    expanded: Operand = (
        indices.reshape([size or 0 for size in shape])
        if isinstance(indices, np.ndarray)
        else reshaped(node, indices, shape)
    )
    numbers = np.arange(depth, dtype=dtype).reshape(-1, *(1,) * (len(own) - axis))
    found = compare(node, "eq", expanded, numbers, node.type(0).element)
    finish(node, 0, select(node, found, raw(node, 2), raw(node, 3), signless(node.type(2).element)))
