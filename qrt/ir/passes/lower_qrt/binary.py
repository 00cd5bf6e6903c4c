"""Lowering of add, sub and mul, element by element.

Operands broadcast by NumPy's rules, but only dimensions whose static size is 1 are repeated.
"""

from dataclasses import replace

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import (
    F32,
    I64,
    LoweringContext,
    accumulator_type,
    broadcast,
    broadcast_indices,
    uniform_type,
)
from qrt.ir.passes.lower_qrt.parameters import Channels, centred, joint, requantization
from qrt.ir.passes.lower_qrt.requantize import (
    Requantization,
    finish,
    requantize,
    round_float32,
    round_shift,
    scale_fixed_double,
    scale_once,
)
from qrt.numerics import SUM_RULES
from qrt.ops.binary import sum_parameters
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude
from qrt.types import IntegerType


def lower_add(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.add to loops and return the sum as storage integers."""
    return _sum(context, op, attributes, 1)


def lower_sub(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.sub to loops and return the difference as storage integers."""
    return _sum(context, op, attributes, -1)


def lower_mul(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.mul to loops and return the product as storage integers, requantized as in a matmul with K = 1."""
    operands = _Operands(context, op)
    bound = max_magnitude(operands.a.type) * max_magnitude(operands.b.type)
    width = accumulator_type(bound)
    nest = LoopNest(context, "accumulate", operands.extents)
    factors = operands.read(nest, width)
    nest.stage("accumulate")
    acc = nest.value("arith.muli", factors, width)
    r = requantization(attributes["requant"], (operands.a, operands.b), operands.result())
    return nest.finish(requantize(nest, acc, replace(r, bound=bound)))[0]


class _Operands:
    """Both operands of the op: their storage, and the loop indices at which their elements and parameters are read."""

    def __init__(self, context: LoweringContext, op: Operation) -> None:
        self._stored = [context.storage(value) for value in op.operands]
        sizes = [context.extents(value) for value in self._stored]
        self.extents = broadcast(context, *sizes)
        self._at = [broadcast_indices(own, len(self.extents)) for own in sizes]
        self.a, self.b = (Channels.of(uniform_type(value), at) for value, at in zip(op.operands, self._at, strict=True))
        self._element = uniform_type(op.results[0])

    def read(self, nest: LoopNest, width: IntegerType) -> list[Value]:
        return [
            centred(nest, stored, at, channels, width)
            for stored, at, channels in zip(self._stored, self._at, (self.a, self.b), strict=True)
        ]

    def read_raw(self, nest: LoopNest) -> list[Value]:
        """Return an element of each operand as i64, without subtracting its zero point."""
        return [
            nest.extend(nest.read(stored, at), I64, channels.type.is_signed)
            for stored, at, channels in zip(self._stored, self._at, (self.a, self.b), strict=True)
        ]

    def result(self) -> Channels:
        return Channels.of(self._element, [("d", i) for i in range(len(self.extents))])


def _sum(context: LoweringContext, op: Operation, attributes: Attributes, sign: int) -> Value:
    is_fused = SUM_RULES[attributes["requant"]].summand == "storage"
    return (_fused_sum if is_fused else _scaled_sum)(context, op, attributes, sign)


def _scaled_sum(context: LoweringContext, op: Operation, attributes: Attributes, sign: int) -> Value:
    """Lower an add (`sign` 1) or sub (-1) by a rule that scales both operands, adds them and requantizes the sum."""
    operands = _Operands(context, op)
    result = operands.result()
    indices, numbers = joint(operands.a, operands.b, result)
    types = operands.a.type, operands.b.type, result.type
    sums, channel = sum_parameters(attributes["requant"], types, numbers)
    whole = context.in_blocks(operands.extents) if sums.block else 0
    nest = LoopNest(context, "accumulate", operands.extents)
    factors = (sums.a_multiplier, sums.a_shift), (sums.b_multiplier, sums.b_shift)
    terms = []
    for value, (multiplier, shift) in zip(operands.read(nest, I64), factors, strict=True):
        nest.stage("accumulate")
        if not shift.size:
            terms.append(nest.value("arith.muli", (value, nest.parameter(multiplier[channel], I64, indices)), I64))
            continue
        given = multiplier[channel], shift[channel]
        shifted = nest.value("arith.shli", (value, nest.constant(sums.left, I64)), I64)
        term = scale_fixed_double(nest, shifted, *given, indices, bound=(1 << 31) - 1)
        if sums.block:
            once = scale_once(nest, value, *given, sums.left, indices)
            term = nest.value("arith.select", (nest.is_before(whole), once, term), I64)
        terms.append(term)
    total = nest.value("arith.addi" if sign > 0 else "arith.subi", terms, I64)
    r = Requantization(sums.end, channel, indices, result.type)
    nest.stage("requantize")
    if sums.end.rule == "fixed":  # with the multiplier 1: 64 bits have room for the sum and its rounding
        return nest.finish(finish(nest, round_shift(nest, total, r.of(sums.end.shift).astype(np.int64), indices), r))[0]
    return nest.finish(requantize(nest, total, r))[0]


def _fused_sum(context: LoweringContext, op: Operation, attributes: Attributes, sign: int) -> Value:
    """Lower an add (`sign` 1) or sub (-1) by two fused multiply-adds in f32.

    They add each operand's raw storage times a factor to an offset that contains all zero points.
    """
    operands = _Operands(context, op)
    result = operands.result()
    indices, numbers = joint(operands.a, operands.b, result)
    types = operands.a.type, operands.b.type, result.type
    sums, channel = sum_parameters(attributes["requant"], types, numbers, sign)
    nest = LoopNest(context, "accumulate", operands.extents)
    values = operands.read_raw(nest)
    nest.stage("accumulate")
    total = nest.parameter(sums.end.offset_f32[channel], F32, indices)
    for value, scale in reversed([*zip(values, (sums.a_scale, sums.b_scale), strict=True)]):
        factor = nest.parameter(scale[channel], F32, indices)
        total = nest.value("math.fma", (nest.value("arith.sitofp", (value,), F32), factor, total), F32)
    r = Requantization(sums.end, channel, indices, result.type)
    return nest.finish(finish(nest, round_float32(nest, total, r), r))[0]
