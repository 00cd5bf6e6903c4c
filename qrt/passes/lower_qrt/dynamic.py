"""dynamic_matmul, and dynamic_lstm, whose steps come one after the other. A reduction finds the parameters. Functions
of gates go through float64, and are rounded once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.numerics.dynamic import FARTHEST, MOST, TANH, TANH_NEAR
from qrt.ops.core import Attributes
from qrt.ops.dynamic import column_parameters
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.passes.lower_qrt.floats32 import exponential
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.requantize import clamp
from qrt.passes.lower_qrt.site import F32, F64, I64, Extent, Site, tensor_type
from qrt.passes.lower_qrt.transpose_conv import static_slice
from qrt.types import TensorType, UniformType

_UNORDERED, _EQUAL, _LESS = (list(FLOAT_PREDICATES).index(name) for name in ("uno", "oeq", "olt"))
_FAR = 1e6


def _select(nest: Nest, condition: Value, yes: Value, no: Value) -> Value:
    return nest.emit("arith.select", (condition, yes, no), yes.type)


def _parameters(site: Site, x: Value) -> tuple[Value, Value]:
    """(scale f32, zero point i64) of the elements of x and 0: tensors without dimensions. A NaN is no least number."""
    nest = Nest(site, "range", (), site.extents(x))
    element = nest.read(x, nest.loops)
    least = nest.emit("arith.minnumf", (nest.running(F32, 0.0), element), F32)
    most = nest.emit("arith.maxnumf", (nest.running(F32, 0.0), element), F32)
    ends = nest.finish(least, most)
    nest = Nest(site, "range", ())
    least, most = (nest.read(end, ()) for end in ends)
    scale = nest.emit("arith.divf", (nest.emit("arith.subf", (most, least), F32), nest.constant(MOST, F32)), F32)
    scale = _select(nest, nest.compare_floats(_EQUAL, least, most), nest.constant(1.0, F32), scale)
    point = nest.emit("arith.divf", (nest.emit("arith.negf", (least,), F32), scale), F32)
    point = nest.emit("arith.minnumf", (point, nest.constant(MOST, F32)), F32)  # first: of a NaN it is the largest
    point = nest.emit("math.roundeven", (nest.emit("arith.maxnumf", (point, nest.constant(0.0, F32)), F32),), F32)
    scale, point = nest.finish(scale, nest.emit("arith.fptosi", (point,), I64))
    return scale, point


def _centred(site: Site, x: Value, scale: Value, point: Value) -> Value:
    """Storage of x less the zero point, i64."""
    nest = Nest(site, "quantize", site.extents(x))
    by, zero_point = nest.read(scale, ()), nest.read(point, ())
    steps = nest.emit("math.roundeven", (nest.emit("arith.divf", (nest.read(x, nest.loops), by), F32),), F32)
    steps = _select(nest, nest.compare_floats(_UNORDERED, steps, steps), nest.constant(-_FAR, F32), steps)
    for op, end in (("arith.minimumf", _FAR), ("arith.maximumf", -_FAR)):
        steps = nest.emit(op, (steps, nest.constant(end, F32)), F32)
    stored = nest.emit("arith.addi", (nest.emit("arith.fptosi", (steps,), I64), zero_point), I64)
    return nest.finish(nest.emit("arith.subi", (clamp(nest, stored, 0, MOST), zero_point), I64))[0]


@dataclass
class _Weights:
    """Weights [depth, columns]: their signless storage and their type."""

    storage: Value
    type: TensorType

    def product(self, site: Site, x: Value) -> Value:
        """The product of rows, which are quantized together: float32, with columns in place of the last axis."""
        scale, point = _parameters(site, x)
        centred = _centred(site, x, scale, point)
        zero_points, scales = column_parameters(self.type)
        assert isinstance(self.type.element, UniformType)  # the family takes no other
        *rows, depth = site.extents(x)
        kept = [*rows, len(scales)]
        nest = Nest(site, "accumulate", kept, (depth,))
        *row, column, k = nest.loops
        weight = nest.extend(nest.read(self.storage, (k, column)), I64, self.type.element.is_signed)
        weight = nest.emit("arith.subi", (weight, nest.parameter(zero_points.astype(np.int64), I64, [column])), I64)
        term = nest.emit("arith.muli", (nest.read(centred, (*row, k)), weight), I64)
        (sums,) = nest.finish(nest.emit("arith.addi", (nest.running(I64, 0), term), I64))
        nest = Nest(site, "scale", kept)
        by = nest.emit("arith.mulf", (nest.read(scale, ()), nest.parameter(scales, F32, nest.loops[-1:])), F32)
        value = nest.emit("arith.sitofp", (nest.read(sums, nest.loops),), F32)
        return nest.finish(nest.emit("arith.mulf", (value, by), F32))[0]


@dataclass
class _Functions:
    """Functions of float32 in the body of a nest."""

    nest: Nest

    def real(self, op: str, a: Value | float, b: Value | float) -> Value:
        pair = [x if isinstance(x, Value) else self.nest.constant(x, F64) for x in (a, b)]
        return self.nest.emit(f"arith.{op}", pair, F64)

    def _with_nan(self, x: Value, made: Value) -> Value:
        rounded = self.nest.emit("arith.truncf", (made,), F32)
        return _select(self.nest, self.nest.compare_floats(_UNORDERED, x, x), x, rounded)

    def _magnitude(self, x: Value) -> Value:
        """|x| in float64; of a NaN 0, which has an exponential."""
        wide = self.nest.emit("math.absf", (self.nest.emit("arith.extf", (x,), F64),), F64)
        nan = self.nest.compare_floats(_UNORDERED, x, x)
        return _select(self.nest, nan, self.nest.constant(0.0, F64), wide)

    def sigmoid(self, x: Value) -> Value:
        wide = self.real("minimumf", self._magnitude(x), FARTHEST)
        power = exponential(self.nest, self.nest.emit("arith.negf", (wide,), F64))
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
        made = _select(self.nest, is_near, near, far)
        signed = self.nest.emit("math.copysign", (made, self.nest.emit("arith.extf", (x,), F64)), F64)
        return self._with_nan(x, signed)


def _cells(site: Site, gates: Value, cell: Value, kept: Sequence[Extent], cells: int) -> list[Value]:
    """(hidden values, cell) after a step, from the sums of gates [batch, 4 * cells]."""
    parts = [
        static_slice(site, "tensor.extract_slice", (gates,), (0, gate * cells), (kept[0], cells), (1, 1))
        for gate in range(4)
    ]
    nest = Nest(site, "cell", kept)
    functions = _Functions(nest)
    enter, out, forget = (functions.sigmoid(nest.read(part, nest.loops)) for part in parts[:3])
    candidate = functions.tanh(nest.read(parts[3], nest.loops))
    before = nest.read(cell, nest.loops)
    terms = nest.emit("arith.mulf", (forget, before), F32), nest.emit("arith.mulf", (enter, candidate), F32)
    after = nest.emit("arith.addf", terms, F32)
    hidden = nest.emit("arith.mulf", (out, functions.tanh(after)), F32)
    return nest.finish(hidden, after)


def lower_dynamic_matmul(site: Site, op: Operation, attributes: Attributes) -> Value:
    """The product."""
    x, w = op.operands
    return _Weights(site.storage(w), tensor_type(w)).product(site, x)


def lower_dynamic_lstm(site: Site, op: Operation, attributes: Attributes) -> list[Value]:
    """The results. Raises QuantTypeError where the number of steps or of cells is not known."""
    x, _, _, bias, hidden, cell = op.operands
    steps, cells = (tensor_type(x).shape or (None,))[0], (tensor_type(cell).shape or (None, None))[1]
    if steps is None or cells is None:
        raise QuantTypeError(f"the number of steps of {x.type} and of cells of {cell.type} must be known")
    w, r = (_Weights(site.storage(each), tensor_type(each)) for each in op.operands[1:3])
    batch = site.extent(cell, 0)
    of_x = w.product(site, x)
    y = site.empty([steps, batch, cells], F32)
    for step in reversed(range(steps)) if attributes["reverse"] else range(steps):
        of_hidden = r.product(site, hidden)
        nest = Nest(site, "gate", (batch, 4 * cells))
        b, column = nest.loops
        sums = nest.read(of_x, (step, b, column)), nest.read(of_hidden, (b, column))
        gate = nest.emit("arith.addf", (nest.emit("arith.addf", sums, F32), nest.read(bias, (column,))), F32)
        (gates,) = nest.finish(gate)
        hidden, cell = _cells(site, gates, cell, (batch, cells), cells)
        nest = Nest(site, "step", (1, batch, cells))
        (line,) = nest.finish(nest.read(hidden, nest.loops[1:]))
        y = static_slice(site, "tensor.insert_slice", (line, y), (step, 0, 0), (1, batch, cells), (1, 1, 1))
    return [y, hidden, cell]
