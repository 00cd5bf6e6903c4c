"""The C library's ``logf`` as scalar operations: what ``numerics.floats32`` says."""

import numpy as np

from qrt.ir import Value
from qrt.numerics.floats32 import LOG, LOG_2, LOG_INVERSES, LOG_LOGARITHMS, LOG_OFFSET
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, F64, I32


def logarithm(nest: Nest, x: Value) -> Value:
    """``logf`` of a positive normal float32."""

    def integer(name: str, a: Value, b: int) -> Value:
        return nest.emit(f"arith.{name}", (a, nest.constant(b, I32)), I32)

    def real(name: str, a: Value, b: Value | float) -> Value:
        return nest.emit(f"arith.{name}", (a, b if isinstance(b, Value) else nest.constant(b, F64)), F64)

    bits = nest.emit("arith.bitcast", (x,), I32)
    over = integer("subi", bits, LOG_OFFSET)
    part = nest.emit("arith.index_cast", (integer("andi", integer("shrsi", over, 19), 15),), INDEX)
    exponent = integer("shrsi", over, 23)
    rest = nest.emit("arith.subi", (bits, integer("shli", exponent, 23)), I32)
    z = nest.emit("arith.extf", (nest.emit("arith.bitcast", (rest,), F32),), F64)
    inverse, middle = (
        nest.gather(nest.site.tensor(np.array(values), F64), [part]) for values in (LOG_INVERSES, LOG_LOGARITHMS)
    )
    r = real("subf", real("mulf", z, inverse), 1.0)
    y0 = real("addf", middle, real("mulf", nest.emit("arith.sitofp", (exponent,), F64), LOG_2))
    square = real("mulf", r, r)
    y = real("addf", real("mulf", square, LOG[0]), real("addf", real("mulf", r, LOG[1]), LOG[2]))
    return nest.emit("arith.truncf", (real("addf", real("mulf", y, square), real("addf", y0, r)),), F32)
