"""Intervals of the integers that folded groups may give: a group rounds once, and the runtime each float in it.

Let f be the float that the group's QuantizeLinear takes, n the number of its terms and S the sum of their magnitudes.
Both results are those of numbers within ``2 * (n + 4) * 2^-24 * S`` of f; of functions, within twice what their floats
may lie apart. Two results differ beside a tie alone.
"""

import numpy as np

from qrt.models.importing.comparison_source import Bound, Run
from qrt.models.onnx.folding import Folding, Group
from qrt.models.onnx.model import ABSENT
from qrt.models.onnx.types import NUMBERS, numpy_dtype
from qrt.ops.core import Array

ROUNDED = frozenset({"Add", "Conv", "Gemm", "MatMul", "Mul", "Softmax"})
"""Operators whose groups round otherwise than the runtime. The results of all others are the runtime's own."""
_UNIT = 2.0**-24
_STEPS = 4
"""The roundings of a group beside those of its terms: of the sum, the multiplier, their product and the result."""


def rounding_interval(folding: Folding, group: Group, bound: Bound, run: Run) -> tuple[Array, Array]:
    """Return the least and the greatest integer that each element of a group's result may be.

    ``run`` computes the group's operator on floats, and ``bound`` is how far those of a function may lie apart.
    """
    op, last = group.parts[0], group.parts[-1]
    values = run(lambda array: array)
    scale = float(_number(folding, last.inputs[1]))
    zero_point = _number(folding, last.inputs[2]) if len(last.inputs) > 2 and last.inputs[2] != ABSENT else None
    if op.type == "Softmax":
        room = 2 * (bound.relative * np.abs(values) + bound.absolute)
    else:
        room = 2 * _UNIT * (run(np.ones_like) + _STEPS) * (run(np.abs) + _of_zero_points(folding, group))
    zero = 0.0 if zero_point is None else float(zero_point)
    room = room + 2 * _UNIT * _STEPS * (np.abs(values) + abs(zero) * scale)
    dtype = zero_point.dtype if zero_point is not None else numpy_dtype(_dtype(last.attributes.get("output_dtype", 0)))
    ends = np.iinfo(dtype)
    low, high = group.within or (None, None)

    def stored(numbers: Array) -> Array:
        numbers = numbers if low is None else np.maximum(numbers, low)
        numbers = numbers if high is None else np.minimum(numbers, high)
        return np.asarray(np.clip(np.rint(numbers / scale) + zero, ends.min, ends.max))

    return stored(values - room), stored(values + room)


def _number(folding: Folding, name: str) -> Array:
    tensor = folding.constant(name)
    assert tensor is not None, name  # a group has no computed scales and zero points
    return tensor.data.reshape(-1)[0]  # type: ignore[no-any-return]


def _dtype(number: int) -> str:
    return NUMBERS.get(number, "uint8")


def _of_zero_points(folding: Folding, group: Group) -> float:
    """Return the magnitudes of the zero points that a sum rounds together with its terms, as floats."""
    if group.parts[0].type != "Add":
        return 0.0
    pairs = [group.folded.inputs[i : i + 2] for i in (1, 4)]
    return sum(abs(float(_number(folding, scale)) * float(_number(folding, zero))) for scale, zero in pairs if zero)
