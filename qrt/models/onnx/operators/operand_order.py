"""The order of the operands of QLinearAdd: the runtime exchanges them by their shapes, and its two fused steps round
otherwise then.
"""

from itertools import product

import numpy as np

from qrt.models.onnx.node import Node, Shape
from qrt.ops.core import storage_dtype
from qrt.tensor import QuantTensor
from qrt.tensor.functions import add
from qrt.types import UniformType


def is_exchanged(node: Node, types: tuple[UniformType, UniformType, UniformType]) -> bool:
    """Decide whether the runtime exchanges the inputs 0 and 3, whose types are given before that of the result.

    Where only the run knows this, it must make no difference; otherwise the node is refused.
    """
    orders = _possible_orders(node.shape(0), node.shape(3))
    if len(orders) > 1 and _depends_on_order(types):
        node.refuse(
            "of sizes that only the run knows: the order of the sum depends on whether the first operand has one "
            "element along the last axis; write the sizes of the inputs into the file"
        )
    return orders == {True}


def _possible_orders(first: Shape, second: Shape) -> set[bool]:
    """Collect whether the operands can be exchanged: they are where the first one has one element along the axis that
    counts. Of the axes that both have, that is the last one in which either has several elements, or else the first.
    """
    if not first:
        return {True}
    if not second:
        return {count == 1 for count in _possible_counts(first[-1])}
    orders = set()
    pairs = list(zip(reversed(first), reversed(second), strict=False))
    for i, (x, y) in enumerate(pairs):
        counts = set(product(_possible_counts(x), _possible_counts(y)))
        is_outermost = i == len(pairs) - 1
        orders |= {own == 1 for own, other in counts if is_outermost or max(own, other) > 1}
        if (1, 1) not in counts:
            break
    return orders


def _possible_counts(size: int | None) -> tuple[int, ...]:
    """List 1 for one element, 2 for several."""
    return (1, 2) if size is None else (min(size, 2),)


def _depends_on_order(types: tuple[UniformType, UniformType, UniformType]) -> bool:
    """Check whether the sum of any two bytes depends on the order."""
    a, b = (QuantTensor(np.arange(t.storage_min, t.storage_max + 1).astype(storage_dtype(t)), t) for t in types[:2])
    pair = a[:, np.newaxis], b[np.newaxis]
    sums = [add(*operands, out_type=types[2], requant="float32_fused") for operands in (pair, pair[::-1])]
    return not np.array_equal(sums[0].storage, sums[1].storage)
