"""add, sub, mul: element by element, NumPy's broadcasting where the types say which dimensions are 1."""

import numpy as np

from qrt.ir import Operation, Value
from qrt.numerics import ADD_FRACTION_BITS, add_multiplier
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.parameters import Channels, centred, joint, requantization
from qrt.passes.lower_qrt.requantize import requantize, round_shift, to_storage
from qrt.passes.lower_qrt.site import I64, Array, Site, accumulator_type, broadcast, broadcast_indices, uniform_type
from qrt.types import IntegerType


def lower_add(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the sum."""
    return _sum(site, op, "arith.addi")


def lower_sub(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the difference."""
    return _sum(site, op, "arith.subi")


def lower_mul(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the product, requantized as a matmul with K = 1 is."""
    operands = _Operands(site, op)
    width = accumulator_type(max_magnitude(operands.a.type) * max_magnitude(operands.b.type))
    nest = Nest(site, "accumulate", operands.extents)
    factors = operands.read(nest, width)
    nest.stage("accumulate")
    acc = nest.emit("arith.muli", factors, width)
    r = requantization(attributes["requant"], (operands.a, operands.b), operands.result(nest))
    return nest.finish(requantize(nest, acc, r))[0]


class _Operands:
    """Storage of both operands, how the loops index it, and where their parameters are."""

    def __init__(self, site: Site, op: Operation) -> None:
        self._stored = [site.storage(value) for value in op.operands]
        sizes = [site.extents(value) for value in self._stored]
        self.extents = broadcast(site, *sizes)
        self._at = [broadcast_indices(own, len(self.extents)) for own in sizes]
        self.a, self.b = (Channels.of(uniform_type(value), at) for value, at in zip(op.operands, self._at, strict=True))
        self._element = uniform_type(op.results[0])

    def read(self, nest: Nest, width: IntegerType) -> list[Value]:
        return [
            centred(nest, stored, at, channels, width)
            for stored, at, channels in zip(self._stored, self._at, (self.a, self.b), strict=True)
        ]

    def result(self, nest: Nest) -> Channels:
        return Channels.of(self._element, nest.loops)


def _sum(site: Site, op: Operation, combine: str) -> Value:
    """Both operands to the result's scale with 20 fractional bits; the one rounding is half up."""
    operands = _Operands(site, op)
    nest = Nest(site, "accumulate", operands.extents)
    result = operands.result(nest)
    terms = []
    for channels, value in zip((operands.a, operands.b), operands.read(nest, I64), strict=True):
        nest.stage("accumulate")
        indices, numbers = joint(channels, result)
        multiplier = nest.parameter(_multipliers(channels, result, *numbers), I64, indices)
        terms.append(nest.emit("arith.muli", (value, multiplier), I64))
    total = nest.emit(combine, terms, I64)
    nest.stage("requantize")
    rounded = round_shift(nest, total, np.array(ADD_FRACTION_BITS), ())
    return nest.finish(to_storage(nest, rounded, result.zero_points(), result.indices, result.type))[0]


def _multipliers(source: Channels, result: Channels, own: Array, to: Array) -> Array:
    scales = source.type.scales, result.type.scales
    return np.array(np.frompyfunc(lambda i, j: add_multiplier(scales[0][i], scales[1][j]), 2, 1)(own, to), np.int64)
