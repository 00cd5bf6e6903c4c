"""Linear resizing of 8-bit integers, with the arithmetic and the order of sums of the runtime.

Two or three axes are resized together. Each element of the result is a sum over the corners of a cell of the input. A
term is the corner's element, multiplied by a weight for each axis. The sum is computed in float32 and truncated towards
0. If the channels are the last axis, the weights are integers of 10 bits, and the sum is divided by 2^20.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.coordinates import Axis
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, I64
from qrt.models.onnx.types import signless
from qrt.ops.core import Array
from qrt.types import IndexType, IntegerType, TensorType, Type

_I1, _I32 = IntegerType(1), IntegerType(32)
_BITS = 10
_SPATIAL = {2: ((0, 1),), 3: ((0, 1, 2),), 4: ((2, 3), (1, 2)), 5: ((2, 3, 4),)}
"""The axes that are resized together, for each rank: the first that contain all axes of other scales than 1."""


@dataclass(frozen=True)
class _Line:
    """The two input elements that each result element reads along an axis, and their weights: arrays [side, element].

    ``is_outside`` marks elements whose coordinate is outside of the input.
    """

    positions: Array
    weights: Array
    is_outside: Array


def _line(axis: Axis, coordinates: str, has_integer_weights: bool) -> _Line:
    """Return the input elements and weights along an axis.

    At an edge, where both elements of a pair are the same, each of them has half of the weight.
    """
    at = np.arange(axis.result, dtype=np.float32) if axis.scale == 1 else axis.coordinates(coordinates)
    last = axis.size - 1
    within = np.maximum(np.float32(0), np.minimum(at, np.float32(last)))
    first = np.minimum(within.astype(np.int64), last)
    positions = np.stack([first, np.minimum(first + 1, last)])
    is_same = positions[0] == positions[1]
    weights: Array
    if has_integer_weights:
        scaled = (within * np.float32(1 << _BITS)).astype(np.int32)
        distances = np.abs(scaled - positions * (1 << _BITS))
        weights = np.where(is_same, 1 << (_BITS - 1), distances)[::-1].astype(np.int32)
    else:
        distances = np.abs(within - positions.astype(np.float32))
        weights = np.where(is_same, np.float32(0.5), distances)[::-1].astype(np.float32)
    return _Line(positions, weights, (at < 0) | (at > np.float32(last)))


def resized_integers(node: Node, axes: Sequence[Axis], coordinates: str) -> Value:
    """Resize input 0, of int8 or uint8, linearly along spatial axes. Raise UnsupportedForm for other axes."""
    x, element = node.stored(0), node.plain(0)
    assert isinstance(x.type, TensorType)
    rank, scaled = len(node.shape()), {axis.axis: axis for axis in axes}
    spatial = next((group for group in _SPATIAL.get(rank, ()) if scaled.keys() <= {*group}), None)
    if spatial is None or node.attribute("antialias", 0) or any(node.shape()[axis] is None for axis in spatial):
        antialias = " with antialias" * node.attribute("antialias", 0)
        node.refuse(f"linear of {node.dtype(0)}{antialias}, of axes {sorted(scaled)} of shape {list(node.shape())}")
    is_last = rank == 4 and spatial == (1, 2)  # the channels
    sizes = {axis: node.shape()[axis] or 0 for axis in spatial}
    whole = [scaled.get(axis) or Axis(axis, sizes[axis], sizes[axis], 1.0) for axis in spatial]
    lines = [_line(axis, coordinates, is_last) for axis in whole]
    context = lowering_context(node)
    extents: list[Extent] = list(context.extents(x))
    for axis in whole:
        extents[axis.axis] = axis.result
    node.graph.check_size(node.op, TensorType(tuple(e if isinstance(e, int) else None for e in extents), element))
    nest = LoopNest(context, "resize", extents)
    is_unsigned = isinstance(element, IntegerType) and element.signedness == "unsigned"
    read = partial(_element, nest, x, is_unsigned, _I32 if is_last else F32)
    total = _sum(nest, dict(zip(spatial, lines, strict=True)), read, _I32 if is_last else F32)
    if is_last:
        total = nest.value("arith.divsi", (total, nest.constant(1 << 2 * _BITS, _I32)), _I32)
    else:
        total = nest.value("arith.fptosi", (total,), _I32)
    result = nest.value("arith.trunci", (total,), signless(element))
    if coordinates == "tf_crop_and_resize":
        filler = nest.constant(_filler(node), signless(element))
        for axis, line in zip(whole, lines, strict=True):
            is_outside = nest.read(context.dense(line.is_outside, _I1), [nest.loops[axis.axis]])
            result = nest.value("arith.select", (is_outside, filler, result), signless(element))
    return nest.finish(result)[0]


def _element(nest: LoopNest, x: Value, is_unsigned: bool, number: Type, corner: Sequence[Value]) -> Value:
    stored = nest.gather(x, corner)
    if isinstance(number, IntegerType):
        return nest.extend(stored, number, signed=not is_unsigned)
    return nest.value("arith.uitofp" if is_unsigned else "arith.sitofp", (stored,), number)


def _sum(nest: LoopNest, lines: Mapping[int, _Line], read: Callable[[Sequence[Value]], Value], number: Type) -> Value:
    """Return the sum of the weighted corners of a cell, computed in the type ``number``.

    The corners are added in row-major order. In the product of a term, the weight of the last axis is the first factor.
    ``lines`` has the positions and weights for each axis, and ``read`` returns the element at a position.
    """
    places, weights = {}, {}
    for axis, line in lines.items():
        loop = [nest.loops[axis]]
        indices = [nest.read(nest.context.dense(row, I64), loop) for row in line.positions]
        places[axis] = [nest.value("arith.index_cast", (value,), IndexType()) for value in indices]
        weights[axis] = [nest.read(nest.context.dense(row, number), loop) for row in line.weights]
    multiply, add = ("arith.muli", "arith.addi") if number is _I32 else ("arith.mulf", "arith.addf")
    total = None
    for sides in product((0, 1), repeat=len(lines)):
        corner: list[Value] = [nest.position(loop) for loop in nest.loops]
        factors: list[Value] = []
        for axis, side in zip(lines, sides, strict=True):
            corner[axis] = places[axis][side]
            factors.insert(0, weights[axis][side])
        term = factors[0]
        for factor in (*factors[1:], read(corner)):
            term = nest.value(multiply, (term, factor), number)
        total = term if total is None else nest.value(add, (total, term), number)
    assert total is not None
    return total


def _filler(node: Node) -> int:
    """Return the element for coordinates outside of the input, with the bits of a signed integer."""
    given, info = node.attribute("extrapolation_value", 0.0), np.iinfo(node.dtype(0))
    if not info.min <= given <= info.max:
        node.fail(f"attribute 'extrapolation_value' must be {info.min} to {info.max} for {node.dtype(0)}, got {given}")
    return int(np.asarray(int(given), info.dtype).view(np.int8))
