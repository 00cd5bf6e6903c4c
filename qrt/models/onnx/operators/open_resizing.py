"""Resizing of axes whose sizes are known only at run time. The program computes coordinates and weights."""

from dataclasses import dataclass

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, compare, number_of, select
from qrt.models.onnx.coordinates import ROUNDED
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, I64
from qrt.types import IndexType, TensorType

_TIE = 1e-6
"""The distance from the middle of two elements up to which the runtime treats a coordinate as a tie."""
_COORDINATES = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")


@dataclass(frozen=True)
class OpenAxis:
    """The resizing of one axis from ``size`` to ``result`` elements, of which one or both are known only at run time.

    ``scale`` is ``result / size``, or the scale in the file.
    """

    axis: int
    size: Operand
    count: Value
    result: Operand
    scale: Operand


def open_axis(node: Node, axis: int, result: Extent | None, scale: float | None) -> OpenAxis:
    """Return the resizing of an axis of input 0 to ``result`` elements, or by ``scale`` if that is given."""
    size = _float(node, lowering_context(node).extent(node.value(0), axis))
    if scale is not None:
        number = number_of(scale, F32)
        wanted = apply(node, "math.floor", [_of(node, "mulf", size, number)], [F32], F32)
        count = node.emit("tensor.extract", [as_value(node, wanted, F32)], None, F32)
        count = node.emit("arith.fptosi", [count], None, I64)
        return OpenAxis(axis, size, node.emit("arith.index_cast", [count], None, IndexType()), wanted, number)
    assert result is not None
    count = lowering_context(node).index(result)
    wanted = _float(node, count)
    return OpenAxis(axis, size, count, wanted, _of(node, "divf", wanted, size))


def resized_open(node: Node, value: Value, axis: OpenAxis, mode: str, coordinates: str, rounding: str) -> Value:
    """Resize one axis of a value by the mode "nearest" or "linear". Raise UnsupportedForm for other modes."""
    if coordinates not in _COORDINATES or mode not in ("nearest", "linear") or node.attribute("antialias", 0):
        node.refuse(f"{mode} with coordinates {coordinates}, of an axis whose size is known only at run time")
    places = _coordinates(node, axis, coordinates)
    if mode == "nearest":
        return _gathered(node, value, axis, _rounded(node, places, rounding))
    first = apply(node, "math.floor", [places], [F32], F32)
    second = _of(node, "addf", first, number_of(1, F32))
    weights = _of(node, "subf", second, places), _of(node, "subf", places, first)
    parts = []
    for positions, weight in zip((first, second), weights, strict=True):
        assert isinstance(value.type, TensorType)
        shape = tuple(None if d == axis.axis else 1 for d in range(value.type.rank or 0))
        along = node.emit("qrt.reshape", [as_value(node, weight, F32)], None, TensorType(shape, F32))
        parts.append(_of(node, "mulf", _gathered(node, value, axis, positions), along))
    return as_value(node, _of(node, "addf", *parts), F32)


def _coordinates(node: Node, axis: OpenAxis, mode: str) -> Operand:
    """Compute the position of each result element in the input, as `Axis.coordinates` does."""
    nest = LoopNest(lowering_context(node), "coordinates", [axis.count])
    number = nest.value("arith.index_cast", (nest.position(nest.loops[0]),), I64)
    at: Operand = nest.finish(nest.value("arith.sitofp", (number,), F32))[0]
    one, half = number_of(1, F32), number_of(0.5, F32)
    if mode == "asymmetric":
        return _of(node, "divf", at, axis.scale)
    if mode == "align_corners":
        steps = apply(node, "arith.maximumf", [_of(node, "subf", axis.result, one), one], [F32, F32], F32)
        return _of(node, "divf", _of(node, "mulf", at, _of(node, "subf", axis.size, one)), steps)
    places = _of(node, "subf", _of(node, "divf", _of(node, "addf", at, half), axis.scale), half)
    if mode == "half_pixel":
        return places
    return select(node, compare(node, "sle", axis.result, one, F32), number_of(0, F32), places, F32)


def _rounded(node: Node, places: Operand, rounding: str) -> Operand:
    """Round coordinates by one of the rules of `ROUNDED`."""
    if rounding not in ROUNDED:
        node.fail(f"attribute 'nearest_mode' must be one of {', '.join(ROUNDED)}, got {rounding!r}")
    ends = {name: apply(node, f"math.{name}", [places], [F32], F32) for name in ("floor", "ceil")}
    if rounding in ends:
        return ends[rounding]
    apart = _of(node, "subf", _of(node, "subf", places, ends["floor"]), number_of(0.5, F32))
    is_tie = compare(node, "sle", apply(node, "math.absf", [apart], [F32], F32), number_of(_TIE, F32), F32)
    nearest = apply(node, "math.roundeven", [places], [F32], F32)
    return select(node, is_tie, ends[rounding.removeprefix("round_prefer_")], nearest, F32)


def _gathered(node: Node, value: Value, axis: OpenAxis, positions: Operand) -> Value:
    """Return the elements at positions along an axis. Positions out of range are clamped to the axis."""
    last = _of(node, "subf", axis.size, number_of(1, F32))
    within = apply(node, "arith.maximumf", [positions, number_of(0, F32)], [F32, F32], F32)
    within = apply(node, "arith.minimumf", [within, last], [F32, F32], F32)
    indices = apply(node, "arith.fptosi", [within], [F32], I64)
    return node.emit("qrt.gather", [value, as_value(node, indices, I64)], {"axis": axis.axis})


def _of(node: Node, name: str, left: Operand, right: Operand) -> Operand:
    return apply(node, f"arith.{name}", [left, right], [F32, F32], F32)


def _float(node: Node, extent: Extent) -> Operand:
    if isinstance(extent, int):
        return number_of(extent, F32)
    number = node.emit("arith.sitofp", [node.emit("arith.index_cast", [extent], None, I64)], None, F32)
    return node.emit("tensor.from_elements", [number], None, TensorType((), F32))
