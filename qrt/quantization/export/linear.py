"""The export of linear region bodies as integer arithmetic, with one requantization for each result.

A body is linear if it has only sums, differences, products, negations and divisions by constants, and operations that
move elements. Its values are then integers with exact rational scales. Another operation, such as `math.exp`, is an
error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import isfinite, prod

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ir import Block, Builder, DenseElementsAttr, FloatAttr, Operation, Region, Value
from qrt.ir.core.affine import Expression, plain_loops, substitute
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects._shaped.lists import static_values
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I32, I64, Array, Extent, LoweringContext, tensor_type, uniform_type
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.passes.lower_qrt.parameters import Channels, centred
from qrt.ir.passes.lower_qrt.requantize import Requantization, requantize
from qrt.numerics import RequantParameters
from qrt.ops.core import container
from qrt.ops.movement import reshaped_element
from qrt.ops.requant import max_magnitude
from qrt.quantization.export.exact import MOST, Arithmetic, Exact, Report, divisor, number
from qrt.quantization.forms.elements import dense_of
from qrt.types import FloatType, TensorType, UniformType

_ARITHMETIC = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf")
_SHAPES = ("tensor.empty", "tensor.dim")
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape")
_MOST_PLACES = 62
"""The greatest shift of the `fixed` rule."""
_COPIES = ("linalg.fill", "tensor.splat", *IDENTITIES)
"""Operations whose result repeats their first operand."""


@dataclass
class Linear:
    """A translator of the float operations of a linear body into integer operations, which ``context`` emits.

    The module's description says which bodies are linear.
    """

    context: LoweringContext
    report: Report
    _values: dict[Value, Exact] = field(default_factory=dict)

    # -- ports

    def enter(self, argument: Value, stored: Value) -> None:
        """Register the quantized operand ``stored``, minus its zero points, as the value of a body's argument."""
        if not isinstance(stored.type, TensorType):
            raise QuantTypeError(f"kernels need tensors, got {argument.type}")
        type = uniform_type(stored)
        if type.is_sub_channel:
            raise QuantTypeError(f"the scales of {type.shown()} differ within a sum")
        storage = self.context.storage(stored)
        nest = LoopNest(self.context, "zero-point", self.context.extents(storage))
        value = centred(nest, storage, nest.loops, Channels.of(type, nest.loops), I64)
        (centred_value,) = nest.finish(value)
        bounds = (max_magnitude(type),) * len(type.scales)
        self._values[argument] = Exact(centred_value, tuple(map(Fraction, type.scales)), bounds, type.axis)

    def leave(self, value: Value, element: UniformType) -> Value:
        """Requantize a value of the body to the type ``element``, and return the quantized value.

        This rounds the value. Earlier values are exact, except those that were rounded, and reported, because an
        integer would have overflowed.
        """
        x = self.of(value)
        if element.is_sub_channel:
            raise QuantTypeError(
                f"a result of type {element.shown()} needs requantization in blocks, which is not supported here"
            )
        type = tensor_type(value)
        if x.value is None:
            x = replace(x, value=self.context.dense(np.full(_static(type), _sign(x)), I64), known=None)
        assert x.value is not None
        nest = LoopNest(self.context, "requantize", self.context.extents(x.value))
        x = replace(x, value=nest.read(x.value, nest.loops))
        finer = _places_below(x, element)
        if any(finer) and x.bound >= 1 << 31:  # the rule would give 0 where the value need not be 0
            self.report("a result needs a shift by more than 31 bits: it is rounded twice")
            x = Arithmetic(nest, self.report).shifted(x, finer)
        acc = x.value
        assert acc is not None
        if x.bound < 1 << 31:
            acc = nest.value("arith.trunci", (acc,), I32)
        (stored,) = nest.finish(requantize(nest, acc, _requantization(x, element, nest)))
        self.context.loc = None
        return self.context.value("quant.scast", (stored,), type.with_(element=element))

    def of(self, value: Value) -> Exact:
        """Return the integers and the exact scales of a value of the body."""
        if value not in self._values:
            constant = dense_of(value) or constant_of(value)
            if constant is None:
                raise QuantTypeError(
                    f"the body must not use values from outside of the region, got one of type {value.type}"
                )
            self._values[value] = self._constant(constant)
        return self._values[value]

    def _constant(self, constant: object) -> Exact:
        if isinstance(constant, FloatAttr):
            return number(_fraction(constant.python))
        if not isinstance(constant, DenseElementsAttr) or not isinstance(constant.element, FloatType):
            raise QuantTypeError("the body reads a constant that is not a float")
        array = np.asarray(constant.python, np.float64)
        if array.size and constant.is_splat:
            return number(_fraction(array.ravel()[0]))
        values = [_fraction(element) for element in array.ravel()]
        if not any(values):
            return number(Fraction(0))
        scale = divisor([member for member in values if member])
        integers = [int(member / scale) for member in values]
        bound = max(map(abs, integers))
        if bound >= MOST:
            raise QuantTypeError("a constant in the body needs more than 64 bits: make it an operand of the region")
        integers_value = self.context.dense(np.array(integers, np.int64).reshape(array.shape), I64)
        return Exact(integers_value, (scale,), (bound,))

    # -- operations

    def operation(self, op: Operation) -> None:
        """Emit the integer operations that compute one float operation of the body."""
        if op.name in _SHAPES or constant_of(op.results[0]) is not None:
            return
        if op.name in _COPIES:
            exact = self.of(op.operands[0])
        elif isinstance(op, StructuredOp):
            exact = self._structured(op)
        elif op.name in _ARITHMETIC:
            exact = self._elementwise(op)
        elif op.name in _RESHAPES:
            exact = self._reshaped(op)
        elif op.name == "tensor.pad":
            exact = self._padded(op)
        elif op.name == "tensor.concat":
            exact = self._joined(op)
        else:
            raise QuantTypeError(_not_linear(op))
        self._values[op.results[0]] = exact

    def _elementwise(self, op: Operation) -> Exact:
        operands = [self.of(value) for value in op.operands]
        if not isinstance(op.results[0].type, TensorType):
            raise QuantTypeError(f"{op.name} in its body computes scalars, not tensors")
        like = next((x.value for x in operands if x.value is not None), None)
        nest = LoopNest(self.context, "accumulate", self.context.extents(like) if like is not None else ())
        scalars = [self._read(nest, x, nest.loops) for x in operands]
        return self._finished(nest, _computed(Arithmetic(nest, self.report), op, scalars), None)

    def _structured(self, op: StructuredOp) -> Exact:
        (region,) = op.regions
        if len(op.outputs) != 1:
            raise QuantTypeError(f"{op.name} in its body must have one result, got several")
        *maps, out = op.indexing_maps
        outer = plain_loops(out)
        if outer is None or len(set(outer)) < len(outer):
            raise QuantTypeError(f"{op.name} in its body does not write each element of its result once")
        order = [*outer, *(loop for loop in range(out.dimensions) if loop not in outer)]
        renamed: list[Expression] = [("d", order.index(loop)) for loop in range(out.dimensions)]
        indices = [tuple(substitute(expression, renamed, ()) for expression in map.results) for map in (*maps, out)]
        reduced = out.dimensions - len(outer)
        extents = [self._extent(op, indices, ("d", loop)) for loop in range(out.dimensions)]
        nest = LoopNest(self.context, "accumulate", extents[: len(outer)], extents[len(outer) :])
        arithmetic = Arithmetic(nest, self.report)
        block = region.blocks[0]
        scalars: dict[Value, Exact] = {}
        for argument, value, at in zip(block.arguments, op.operands, indices, strict=True):
            if argument.uses and not (reduced and argument is block.arguments[-1]):
                scalars[argument] = self._read(nest, self.of(value), at)
        (total,) = block.terminator.operands
        added = _summand(block) if reduced else total
        for inner in block:
            if inner is not block.terminator and not (reduced and inner is total.operation):
                self._scalar(arithmetic, inner, scalars)
        if not reduced:
            return self._finished(nest, scalars[added] if added in scalars else self.of(added), None)
        count = prod(_known(extent) for extent in extents[len(outer) :])
        sums = self._finished(nest, scalars[added], (arithmetic, count, len(outer)))
        start = self.of(op.outputs[0])
        return sums if start.bound == 0 else self._plus(sums, start)

    def _scalar(self, arithmetic: Arithmetic, op: Operation, scalars: dict[Value, Exact]) -> None:
        constant = constant_of(op.results[0])
        if constant is not None:
            scalars[op.results[0]] = self._constant(constant)
            return
        if op.name not in _ARITHMETIC:
            raise QuantTypeError(_not_linear(op))
        operands = [scalars[value] if value in scalars else self.of(value) for value in op.operands]
        scalars[op.results[0]] = _computed(arithmetic, op, operands)

    def _plus(self, a: Exact, b: Exact) -> Exact:
        assert a.value is not None  # a sum is never a known constant
        nest = LoopNest(self.context, "bias", self.context.extents(a.value))
        terms = [self._read(nest, x, nest.loops) for x in (a, b)]
        return self._finished(nest, Arithmetic(nest, self.report).added(*terms), None)

    def _extent(self, op: StructuredOp, indices: Sequence[Sequence[Expression]], loop: Expression) -> Extent:
        """Return the number of iterations of a loop: the size of an operand's axis that the loop's counter indexes."""
        for value, at in zip(op.operands, indices, strict=True):
            if loop in at and isinstance(value.type, TensorType):
                size = (value.type.shape or ())[list(at).index(loop)]
                if size is not None:
                    return size
        for value, at in zip(op.operands, indices, strict=True):
            known = self._values.get(value)
            if loop in at and known is not None and known.value is not None:
                return self.context.extent(known.value, list(at).index(loop))
        raise QuantTypeError(f"{op.name} in its body must have dimensions of static size")

    def _read(self, nest: LoopNest, x: Exact, at: Sequence[Expression]) -> Exact:
        if x.value is None:
            return x
        axis = None
        if x.axis is not None:
            loop = at[x.axis]
            if not isinstance(loop, tuple) or loop[0] != "d":
                raise QuantTypeError("the scales differ along an axis that a window moves over")
            axis = loop[1]
        return replace(x, value=nest.read(x.value, at), axis=axis)

    def _finished(self, nest: LoopNest, x: Exact, reduction: tuple[Arithmetic, int, int] | None) -> Exact:
        """Finish a loop nest that computes ``x``, and return its result as a tensor.

        ``reduction`` is None if the nest computes no sum. Otherwise it has the arithmetic, the number of terms in a
        sum, and the number of loops that are not reduced.
        """
        if reduction is None:
            return x if x.value is None else replace(x, value=nest.finish(x.value)[0])
        arithmetic, count, outer = reduction
        if x.axis is not None and x.axis >= outer:
            raise QuantTypeError("the scales differ along an axis that is summed over: requantize before it")
        if x.bound * count >= MOST:
            x = arithmetic.coarser(x, MOST // (2 * count))
        total = nest.value("arith.addi", (nest.running(I64, 0), arithmetic.value(x)), I64)
        return replace(x, value=nest.finish(total)[0], bounds=tuple(bound * count for bound in x.bounds), known=None)

    # -- movements

    def _reshaped(self, op: Operation) -> Exact:
        x, type = self.of(op.operands[0]), tensor_type(op.results[0])
        if x.value is None:
            return x
        shape = np.array(_static(type), np.int64)
        sizes = self.context.dense(shape, self.context.index(0).type)
        moved = self.context.value("tensor.reshape", (x.value, sizes), TensorType(type.shape, I64))
        if x.axis is None:
            return replace(x, value=moved)
        channels = UniformType("i8", "f32", [1.0] * len(x.scales), axis=x.axis)
        axis = reshaped_element(channels, tensor_type(op.operands[0]).shape, type.shape or ()).axis
        return replace(x, value=moved, axis=axis)

    def _padded(self, op: Operation) -> Exact:
        x = self.of(op.operands[0])
        (region,) = op.regions
        if len(op.operands) > 1:
            raise QuantTypeError("tensor.pad in its body must have constant sizes")
        if self.of(region.blocks[0].terminator.operands[0]).known != 0:
            raise QuantTypeError("tensor.pad in its body must pad with 0")
        if x.value is None:
            return x if x.bound == 0 else _refuse(op)
        type = tensor_type(op.results[0]).with_(element=I64)
        body = Block([value.type for value in region.blocks[0].arguments], self.context.location)
        inside = Builder(body)
        zero = inside.constant(0, I64)
        inside.emit("tensor.yield", (zero,))
        padded = self.context.emit("tensor.pad", (x.value,), (type,), dict(op.attributes), [Region([body])])
        return replace(_with_channels_around(x, op), value=padded.results[0])

    def _joined(self, op: Operation) -> Exact:
        parts = [self.of(value) for value in op.operands]
        if any(x.axis is not None or x.value is None for x in parts):
            return _refuse(op)
        common = divisor([x.scales[0] for x in parts])
        factors = [int(x.scales[0] / common) for x in parts]
        bound = max(x.bound * factor for x, factor in zip(parts, factors, strict=True))
        if bound >= MOST:
            raise QuantTypeError("tensor.concat in its body joins values whose common scale overflows 64 bits")
        values = []
        for x, factor in zip(parts, factors, strict=True):
            assert x.value is not None
            nest = LoopNest(self.context, "accumulate", self.context.extents(x.value))
            value = nest.value("arith.muli", (nest.read(x.value, nest.loops), nest.constant(factor, I64)), I64)
            values.append(x.value if factor == 1 else nest.finish(value)[0])
        type = tensor_type(op.results[0]).with_(element=I64)
        concat = self.context.emit("tensor.concat", values, (type,), dict(op.attributes))
        return Exact(concat.results[0], (common,), (bound,))


def _with_channels_around(x: Exact, pad: Operation) -> Exact:
    """Add a scale of 1 for each channel that a `tensor.pad` adds: its elements are 0, which every scale represents."""
    if x.axis is None:
        return x
    low, high = ((static_values(pad, side)[x.axis] or 0) for side in ("low", "high"))
    one = Fraction(1)
    scales = (one,) * low + x.scales + (one,) * high
    return replace(x, scales=scales, bounds=(0,) * low + x.bounds + (0,) * high)


def _not_linear(op: Operation) -> str:
    return (
        f"{op.name} in its body is not linear: write a quant.qcast and a quant.dcast in the body before and after "
        "it, so that its operand and its result have quantized types"
    )


def _refuse(op: Operation) -> Exact:
    raise QuantTypeError(f"{op.name} in its body joins constants, or values whose scales differ along an axis")


def _computed(arithmetic: Arithmetic, op: Operation, operands: Sequence[Exact]) -> Exact:
    """Emit the integer arithmetic for an `arith` operation on scalars, and return its result."""
    if op.name == "arith.negf":
        return arithmetic.negated(operands[0])
    a, b = operands
    if op.name == "arith.divf":
        if not b.known:
            below = "a value that is not constant" if b.known is None else "0"
            raise QuantTypeError(f"arith.divf in its body must divide by a constant, but divides by {below}")
        return arithmetic.multiplied(a, number(1 / b.known))
    rules: dict[str, Callable[[Exact, Exact], Exact]] = {
        "arith.addf": arithmetic.added,
        "arith.subf": lambda x, y: arithmetic.added(x, arithmetic.negated(y)),
        "arith.mulf": arithmetic.multiplied,
    }
    return rules[op.name](a, b)


def _summand(block: Block) -> Value:
    """Return the value that each iteration of a sum adds to the accumulator.

    Raise QuantTypeError if the block computes another reduction than a sum.
    """
    (total,) = block.terminator.operands
    out, op = block.arguments[-1], total.operation
    if op is None or op.name != "arith.addf" or out not in op.operands or len(out.uses) != 1:
        name = "a reduction" if op is None else op.name
        raise QuantTypeError(f"{name} in its body is not a sum")
    return op.operands[1] if op.operands[0] is out else op.operands[0]


def _requantization(x: Exact, element: UniformType, nest: LoopNest) -> Requantization:
    """Return the requantization of integers ``x`` to ``element`` by the rule `fixed`: multiply in integers and shift.

    The multipliers come from the exact ratios of the scale of ``x`` to the scale of ``element``.
    """
    axes = sorted({axis for axis in (x.axis, element.axis) if axis is not None})

    def spread(values: Sequence[object], axis: int | None) -> Array:
        array = np.array([*values, None], object)[:-1]
        return array.reshape([-1 if other == axis else 1 for other in axes])

    own, scales = spread(x.scales, x.axis), spread([Fraction(scale) for scale in element.scales], element.axis)
    ratios = np.asarray(own / scales, object)
    zeros = np.broadcast_to(spread(element.zero_points, element.axis), ratios.shape)
    pairs = [numerics.fixed_multiplier(ratio) for ratio in ratios.ravel()]
    m0, shift = np.array(pairs, np.int64).T.astype(np.int32)
    points = np.array([int(zero) for zero in zeros.ravel()], np.int64)
    bounds = element.storage_min, element.storage_max
    parameters = RequantParameters("fixed", container(element), *bounds, points, m0, shift)
    channel = np.arange(len(pairs)).reshape(ratios.shape)
    return Requantization(parameters, channel, tuple(nest.loops[axis] for axis in axes), element)


def _places_below(x: Exact, element: UniformType) -> list[int]:
    """Return, for each scale of ``x``, the number of bits by which its requantization shift exceeds 62, or 0.

    62 is the greatest shift of the `fixed` rule.
    """
    along = element.axis is not None and element.axis == x.axis
    pairs = zip(x.scales, element.scales, strict=True) if along else product(x.scales, element.scales)
    shifts = [numerics.fixed_multiplier(own / Fraction(result))[1] for own, result in pairs]
    places = [min(max(shift - _MOST_PLACES, 0), 61) for shift in shifts]
    if len(places) > len(x.scales):
        if any(places) and x.bound >= 1 << 31:
            raise QuantTypeError(f"a result of type {element.shown()} has scales too large for those of its sums")
        return [0] * len(x.scales)
    return places


def _fraction(value: float) -> Fraction:
    if not isfinite(value):
        raise QuantTypeError("the constants of the body must be finite, but one is not")
    return Fraction(float(value))


def _sign(x: Exact) -> int:
    known = x.known or 0
    return (known > 0) - (known < 0)


def _known(extent: Extent) -> int:
    if not isinstance(extent, int):
        raise QuantTypeError("a sum in its body must be over dimensions of static size")
    return extent


def _static(type: TensorType) -> tuple[int, ...]:
    sizes = [size for size in type.shape or () if size is not None]
    if type.shape is None or len(sizes) < len(type.shape):
        raise QuantTypeError(f"the shape of {type} in its body must be static")
    return tuple(sizes)


def linear_region(
    region: RegionOp, stored: Sequence[Value], elements: Sequence[UniformType], report: Report
) -> list[Value]:
    """Emit integer arithmetic for a region of linear operations, and return its quantized results.

    ``stored`` are the quantized operands, ``elements`` the types of the results. ``report`` is called with a message
    for each rounding before the last one.
    """
    context = LoweringContext(region, in_loop=True)
    linear = Linear(context, report)
    block = region.body
    for argument, value in zip(block.arguments, stored, strict=True):
        linear.enter(argument, value)
    for op in block:
        if op is not block.terminator:
            linear.operation(op)
    return [linear.leave(value, element) for value, element in zip(block.terminator.operands, elements, strict=True)]
