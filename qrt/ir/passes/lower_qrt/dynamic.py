"""Lowering of dynamic_matmul, and of dynamic_lstm step by step.

The float operand is quantized at run time, with parameters from its least and greatest element. The gates' sigmoid and
tanh are computed in float64, and rounded once to float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I64, Extent, LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.floats32 import exponential
from qrt.ir.passes.lower_qrt.requantize import clamp
from qrt.ir.passes.lower_qrt.transpose_conv import static_slice
from qrt.numerics.dynamic import FARTHEST, MOST, TANH, TANH_NEAR
from qrt.ops.core import Attributes
from qrt.ops.dynamic import column_parameters
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.types import TensorType, UniformType

_UNORDERED, _EQUAL, _LESS = (list(FLOAT_PREDICATES).index(name) for name in ("uno", "oeq", "olt"))
_FAR = 1e6


def _select(nest: LoopNest, condition: Value, yes: Value, no: Value) -> Value:
    return nest.value("arith.select", (condition, yes, no), yes.type)


def _parameters(context: LoweringContext, x: Value) -> tuple[Value, Value]:
    """Emit (scale f32, zero point i64), tensors of rank 0, of a quantization that covers 0 and all elements of x.

    NaNs among the elements are ignored.
    """
    nest = LoopNest(context, "range", (), context.extents(x))
    element = nest.read(x, nest.loops)
    least = nest.value("arith.minnumf", (nest.running(F32, 0.0), element), F32)
    most = nest.value("arith.maxnumf", (nest.running(F32, 0.0), element), F32)
    ends = nest.finish(least, most)
    nest = LoopNest(context, "range", ())
    least, most = (nest.read(end, ()) for end in ends)
    scale = nest.value("arith.divf", (nest.value("arith.subf", (most, least), F32), nest.constant(MOST, F32)), F32)
    scale = _select(nest, nest.compare_floats(_EQUAL, least, most), nest.constant(1.0, F32), scale)
    point = nest.value("arith.divf", (nest.value("arith.negf", (least,), F32), scale), F32)
    point = nest.value("arith.minnumf", (point, nest.constant(MOST, F32)), F32)  # first: of a NaN it is the largest
    point = nest.value("math.roundeven", (nest.value("arith.maxnumf", (point, nest.constant(0.0, F32)), F32),), F32)
    scale, point = nest.finish(scale, nest.value("arith.fptosi", (point,), I64))
    return scale, point


def _centred(context: LoweringContext, x: Value, scale: Value, point: Value) -> Value:
    """Emit the quantization of x, and return the storage integers minus the zero point as i64."""
    nest = LoopNest(context, "quantize", context.extents(x))
    by, zero_point = nest.read(scale, ()), nest.read(point, ())
    steps = nest.value("math.roundeven", (nest.value("arith.divf", (nest.read(x, nest.loops), by), F32),), F32)
    steps = _select(nest, nest.compare_floats(_UNORDERED, steps, steps), nest.constant(-_FAR, F32), steps)
    for op, end in (("arith.minimumf", _FAR), ("arith.maximumf", -_FAR)):
        steps = nest.value(op, (steps, nest.constant(end, F32)), F32)
    stored = nest.value("arith.addi", (nest.value("arith.fptosi", (steps,), I64), zero_point), I64)
    return nest.finish(nest.value("arith.subi", (clamp(nest, stored, 0, MOST), zero_point), I64))[0]


@dataclass
class _Weights:
    """Weights [depth, columns]: signless storage integers, and the quantized type."""

    storage: Value
    type: TensorType

    def product(self, context: LoweringContext, x: Value) -> Value:
        """Quantize float rows `x` [..., depth] with one scale, and return the product with the weights [..., columns].

        Rows and product are float32.
        """
        scale, point = _parameters(context, x)
        centred = _centred(context, x, scale, point)
        zero_points, scales = column_parameters(self.type)
        assert isinstance(self.type.element, UniformType)  # the family takes no other
        *rows, depth = context.extents(x)
        outer = [*rows, len(scales)]
        nest = LoopNest(context, "accumulate", outer, (depth,))
        *row, column, k = nest.loops
        weight = nest.extend(nest.read(self.storage, (k, column)), I64, self.type.element.is_signed)
        weight = nest.value("arith.subi", (weight, nest.parameter(zero_points.astype(np.int64), I64, [column])), I64)
        term = nest.value("arith.muli", (nest.read(centred, (*row, k)), weight), I64)
        (sums,) = nest.finish(nest.value("arith.addi", (nest.running(I64, 0), term), I64))
        nest = LoopNest(context, "scale", outer)
        by = nest.value("arith.mulf", (nest.read(scale, ()), nest.parameter(scales, F32, nest.loops[-1:])), F32)
        value = nest.value("arith.sitofp", (nest.read(sums, nest.loops),), F32)
        return nest.finish(nest.value("arith.mulf", (value, by), F32))[0]


@dataclass
class _Functions:
    """Builder of sigmoid and tanh of float32 in the body of a loop nest."""

    nest: LoopNest

    def real(self, op: str, a: Value | float, b: Value | float) -> Value:
        pair = [x if isinstance(x, Value) else self.nest.constant(x, F64) for x in (a, b)]
        return self.nest.value(f"arith.{op}", pair, F64)

    def _with_nan(self, x: Value, result: Value) -> Value:
        rounded = self.nest.value("arith.truncf", (result,), F32)
        return _select(self.nest, self.nest.compare_floats(_UNORDERED, x, x), x, rounded)

    def _magnitude(self, x: Value) -> Value:
        """Return |x| in float64; for a NaN return 0, so that the exponential is defined."""
        wide = self.nest.value("math.absf", (self.nest.value("arith.extf", (x,), F64),), F64)
        nan = self.nest.compare_floats(_UNORDERED, x, x)
        return _select(self.nest, nan, self.nest.constant(0.0, F64), wide)

    def sigmoid(self, x: Value) -> Value:
        wide = self.real("minimumf", self._magnitude(x), FARTHEST)
        power = exponential(self.nest, self.nest.value("arith.negf", (wide,), F64))
        negative = self.nest.compare_floats(_LESS, x, self.nest.constant(0.0, F32))
        top = _select(self.nest, negative, power, self.nest.constant(1.0, F64))
        return self._with_nan(x, self.real("divf", top, self.real("addf", power, 1.0)))

    def tanh(self, x: Value) -> Value:
        wide = self._magnitude(x)
        square = self.real("mulf", wide, wide)
        near = self.nest.constant(TANH[0], F64)
        for factor in TANH[1:]:
            near = self.real("addf", self.real("mulf", near, square), factor)
        near = self.real("addf", self.real("mulf", self.real("mulf", near, square), wide), wide)
        twice = self.real("minimumf", self.real("addf", wide, wide), FARTHEST)
        rest = self.real("divf", 2.0, self.real("addf", exponential(self.nest, twice), 1.0))
        far = self.real("subf", 1.0, rest)
        is_near = self.nest.compare_floats(_LESS, wide, self.nest.constant(TANH_NEAR, F64))
        magnitude = _select(self.nest, is_near, near, far)
        signed = self.nest.value("math.copysign", (magnitude, self.nest.value("arith.extf", (x,), F64)), F64)
        return self._with_nan(x, signed)


def _cells(context: LoweringContext, gates: Value, cell: Value, extents: Sequence[Extent], cells: int) -> list[Value]:
    """Emit (hidden values, new cell values) of one step from the gates' pre-activations [batch, 4 * cells]."""
    parts = [
        static_slice(context, "tensor.extract_slice", (gates,), (0, gate * cells), (extents[0], cells), (1, 1))
        for gate in range(4)
    ]
    nest = LoopNest(context, "cell", extents)
    functions = _Functions(nest)
    enter, out, forget = (functions.sigmoid(nest.read(part, nest.loops)) for part in parts[:3])
    candidate = functions.tanh(nest.read(parts[3], nest.loops))
    before = nest.read(cell, nest.loops)
    terms = nest.value("arith.mulf", (forget, before), F32), nest.value("arith.mulf", (enter, candidate), F32)
    after = nest.value("arith.addf", terms, F32)
    hidden = nest.value("arith.mulf", (out, functions.tanh(after)), F32)
    return nest.finish(hidden, after)


def lower_dynamic_matmul(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.dynamic_matmul and return the float32 product."""
    x, w = op.operands
    return _Weights(context.storage(w), tensor_type(w)).product(context, x)


def lower_dynamic_lstm(context: LoweringContext, op: Operation, attributes: Attributes) -> list[Value]:
    """Lower a qrt.dynamic_lstm and return its results, [all hidden values, last hidden values, cell].

    Raises QuantTypeError for a dynamic number of steps or of cells.
    """
    x, _, _, bias, hidden, cell = op.operands
    steps, cells = (tensor_type(x).shape or (None,))[0], (tensor_type(cell).shape or (None, None))[1]
    if steps is None or cells is None:
        raise QuantTypeError(
            "the number of steps (dimension 0 of 'x') and of cells (dimension 1 of 'cell') must be static, got "
            f"{x.type} and {cell.type}"
        )
    w, r = (_Weights(context.storage(weights), tensor_type(weights)) for weights in op.operands[1:3])
    batch = context.extent(cell, 0)
    of_x = w.product(context, x)
    y = context.empty([steps, batch, cells], F32)
    for step in reversed(range(steps)) if attributes["reverse"] else range(steps):
        of_hidden = r.product(context, hidden)
        nest = LoopNest(context, "gate", (batch, 4 * cells))
        b, column = nest.loops
        sums = nest.read(of_x, (step, b, column)), nest.read(of_hidden, (b, column))
        gate = nest.value("arith.addf", (nest.value("arith.addf", sums, F32), nest.read(bias, (column,))), F32)
        (gates,) = nest.finish(gate)
        hidden, cell = _cells(context, gates, cell, (batch, cells), cells)
        nest = LoopNest(context, "step", (1, batch, cells))
        (line,) = nest.finish(nest.read(hidden, nest.loops[1:]))
        y = static_slice(context, "tensor.insert_slice", (line, y), (step, 0, 0), (1, batch, cells), (1, 1, 1))
    return [y, hidden, cell]
