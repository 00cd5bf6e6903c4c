"""Import of BUCKETIZE and FAKE_QUANT, whose functions are constant between steps."""

import numpy as np

from qrt.errors import shown
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I32
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import apply, compare, number_of, select
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, operands_of
from qrt.types import FloatType

_LESS = 4
"""The number of the predicate `olt` of arith.cmpf."""


def bucketize(node: Node) -> None:
    """Import BUCKETIZE: count, for each int32, int64 or float32 value, the boundaries that are at most this value.

    Integers are rounded to float32 before they are compared. For a NaN all boundaries are counted.
    """
    tensor, boundaries = node.input(0), np.asarray(node.options["boundaries"], np.float32)
    if tensor.dtype not in ("int32", "int64", "float32") or node.outputs[0].dtype != "int32":
        node.refuse(f"{tensor.dtype} to {node.outputs[0].dtype}")
    if np.isnan(boundaries).any() or (np.diff(boundaries) < 0).any():
        node.fail(f"boundaries must be ascending numbers, got {shown(boundaries.tolist())}")
    context, x = lowering_context(node), node.value(0)
    if not isinstance(node.type(0).element, FloatType):
        x = node.emit("arith.sitofp", [x], None, node.type(0).with_(element=F32))
    nest = LoopNest(context, "bucketize", context.extents(x), [boundaries.size])
    scalar, boundary = nest.read(x, nest.loops[:-1]), nest.read(node.dense(boundaries, F32), nest.loops[-1:])
    is_below = nest.compare_floats(_LESS, scalar, boundary)
    step = nest.value("arith.select", (is_below, nest.constant(0, I32), nest.constant(1, I32)), I32)
    node.set(0, nest.finish(nest.value("arith.addi", (nest.running(I32, 0), step), I32))[0])


_MOST_BITS = 16


def fake_quant(node: Node) -> None:
    """Import FAKE_QUANT: round float32 values to the numbers of a quantized type of 2 to 16 bits.

    The options give the range of the type, which must include 0.
    """
    (x,), element = operands_of(node, ("float32",))
    low, high = np.float32(node.options["min"]), np.float32(node.options["max"])
    bits = int(node.options["num_bits"])
    if not (low <= 0 <= high and 0 < high - low < np.inf and 2 <= bits <= _MOST_BITS):
        node.fail(
            f"it must have min <= 0 <= max, min < max and num_bits from 2 to {_MOST_BITS}, got min {low}, max {high} "
            f"and num_bits {bits}"
        )
    if node.options["narrow_range"]:
        node.refuse("narrow_range, which LiteRT does not run")
    least, greatest, scale = _range(low, high, bits)
    with np.errstate(all="ignore"):
        inverse = float(np.float32(1) / np.float32(scale))
    if not np.isfinite(inverse):
        node.refuse(f"a scale of {scale}")
    first, last, pair = number_of(least, element), number_of(greatest, element), [element] * 2
    x = select(node, compare(node, "slt", first, x, element), x, first, element)  # a NaN becomes the least number
    x = select(node, compare(node, "slt", x, last, element), x, last, element)
    x = apply(node, "arith.subf", [x, first], pair, element)
    x = apply(node, "arith.mulf", [x, number_of(inverse, element)], pair, element)
    x = apply(node, "math.round", [x], [element], element)
    x = apply(node, "arith.mulf", [x, number_of(scale, element)], pair, element)
    finish(node, 0, apply(node, "arith.addf", [x, first], pair, element))


def _range(low: np.float32, high: np.float32, bits: int) -> tuple[float, float, float]:
    """Return the least and the greatest number of the type, and its scale, as LiteRT computes them in float32.

    The range is moved so that 0 is one of the type's numbers.
    """
    most = np.float32((1 << bits) - 1)
    scale = np.float32((high - low) / most)
    with np.errstate(all="ignore"):
        place = np.float32(-low / scale)
    zero = np.float32(np.floor(np.clip(place, 0, most).astype(np.float64) + 0.5))
    return float((np.float32(0) - zero) * scale), float((most - zero) * scale), float(scale)
