"""Functions of ``numerics.floats32`` as scalar operations: ``logf``, and the float64 exponential in ``expf``."""

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I32, I64
from qrt.ir.passes.elementwise import INDEX
from qrt.numerics.floats32 import (
    EXP,
    LOG,
    LOG_2,
    LOG_INVERSES,
    LOG_LOGARITHMS,
    LOG_OFFSET,
    PARTS,
    PER_E,
    POWERS,
)


def logarithm(nest: LoopNest, x: Value) -> Value:
    """Emit the C library's ``logf`` of `x`, a positive normal float32."""

    def integer(name: str, a: Value, b: int) -> Value:
        return nest.value(f"arith.{name}", (a, nest.constant(b, I32)), I32)

    def real(name: str, a: Value, b: Value | float) -> Value:
        return nest.value(f"arith.{name}", (a, b if isinstance(b, Value) else nest.constant(b, F64)), F64)

    bits = nest.value("arith.bitcast", (x,), I32)
    over = integer("subi", bits, LOG_OFFSET)
    part = nest.value("arith.index_cast", (integer("andi", integer("shrsi", over, 19), 15),), INDEX)
    exponent = integer("shrsi", over, 23)
    rest = nest.value("arith.subi", (bits, integer("shli", exponent, 23)), I32)
    z = nest.value("arith.extf", (nest.value("arith.bitcast", (rest,), F32),), F64)
    inverse, middle = (
        nest.gather(nest.context.dense(np.array(values), F64), [part]) for values in (LOG_INVERSES, LOG_LOGARITHMS)
    )
    r = real("subf", real("mulf", z, inverse), 1.0)
    y0 = real("addf", middle, real("mulf", nest.value("arith.sitofp", (exponent,), F64), LOG_2))
    square = real("mulf", r, r)
    y = real("addf", real("mulf", square, LOG[0]), real("addf", real("mulf", r, LOG[1]), LOG[2]))
    return nest.value("arith.truncf", (real("addf", real("mulf", y, square), real("addf", y0, r)),), F32)


def exponential(nest: LoopNest, x: Value) -> Value:
    """Emit the float64 exponential of `x`, a float32 value in a float64.

    `x` is not a NaN, and its magnitude is at most 1000.
    """

    def real(name: str, a: Value, b: Value | float) -> Value:
        return nest.value(f"arith.{name}", (a, b if isinstance(b, Value) else nest.constant(b, F64)), F64)

    def integer(name: str, a: Value, b: int) -> Value:
        return nest.value(f"arith.{name}", (a, nest.constant(b, I64)), I64)

    z = real("mulf", x, PER_E)
    whole = nest.value("math.roundeven", (z,), F64)
    r, k = real("subf", z, whole), nest.value("arith.fptosi", (whole,), I64)
    part = nest.value("arith.index_cast", (integer("andi", k, PARTS - 1),), INDEX)
    exponent = integer("shli", integer("addi", integer("shrsi", k, PARTS.bit_length() - 1), 1023), 52)
    power = real(
        "mulf", nest.gather(nest.context.dense(POWERS, F64), [part]), nest.value("arith.bitcast", (exponent,), F64)
    )
    c0, c1, c2 = EXP
    high = real("mulf", real("addf", real("mulf", r, c0), c1), real("mulf", r, r))
    return real("mulf", real("addf", high, real("addf", real("mulf", r, c2), 1.0)), power)
