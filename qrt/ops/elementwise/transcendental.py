"""Functions that are not rounded correctly: computed in float64 by NumPy (``erf`` and ``erfc`` by C's library), then
rounded to the type. Their last bit may differ between machines, and from upstream's execution."""

import math
from typing import Any

import numpy as np

from qrt.ops.elementwise.floats import rounded
from qrt.ops.elementwise.signature import Function, Signature, choose, float_type, integer


def bind(signature: Signature) -> Function:
    """An op of ``OPS``, ``sincos`` or ``fpowi``."""
    t = float_type(signature.operand)
    if signature.name == "math.sincos":
        sine, cosine = rounded(np.sin, t), rounded(np.cos, t)
        return lambda x: (sine(x), cosine(x))
    if signature.name == "math.fpowi":
        integer(signature.operands[1])
        return lambda x, n: rounded(lambda y: _power(y, n), t)(x)
    return rounded(OPS[signature.name], t)


def _power(x: Any, n: Any) -> Any:
    """``x ** n``: by its magnitude, as float64 does not tell large odd numbers from even ones."""
    magnitude = np.power(abs(x), n.astype(np.float64))
    return choose(n & 1 != 0, np.copysign(magnitude, x), magnitude + 0 * n)


OPS: dict[str, Function] = {
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sin": np.sin,
    "math.cos": np.cos,
    "math.tan": np.tan,
    "math.asin": np.arcsin,
    "math.acos": np.arccos,
    "math.atan": np.arctan,
    "math.atan2": np.arctan2,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.tanh": np.tanh,
    "math.asinh": np.arcsinh,
    "math.acosh": np.arccosh,
    "math.atanh": np.arctanh,
    "math.cbrt": np.cbrt,
    "math.erf": np.vectorize(math.erf, otypes=[np.float64]),
    "math.erfc": np.vectorize(math.erfc, otypes=[np.float64]),
    "math.powf": np.power,
}
NAMES = (*OPS, "math.sincos", "math.fpowi")
