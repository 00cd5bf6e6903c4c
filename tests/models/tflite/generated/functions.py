"""LOG_SOFTMAX, and functions of one variable. Hazards: results half way between two, which one kernel rounds to even
and another away from 0; scales that are powers of two; values at which a function is not defined."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

DEFINED = {"LOG": 1, "RSQRT": 1, "SQRT": 0}
"""The least value, without its zero point, for which LiteRT computes a function."""
ENDS = {"LOGISTIC": (2.0**-8, 0), "TANH": (2.0**-7, 128)}
"""The scale of 8-bit results, and their zero point above the least storage value."""


def _scales(rng, dtype):
    """Powers of two often, of which many results lie half way."""
    wide = dtype == "int16"
    found = [draw.scale(rng, -15 if wide else -8, -11 if wide else 0) for _ in range(2)]
    return [2.0 ** round(np.log2(s)) if rng.random() < 0.5 else s for s in found]


def function(rng, *, name, dtype="int8", options=None):
    shape = draw.shape(rng, 2, 3000)
    (s, so), info = _scales(rng, dtype), np.iinfo(dtype)
    zero_point, result = draw.zero_point(rng, dtype), draw.zero_point(rng, dtype)
    if name in ENDS:
        so, above = (2.0**-15, -int(info.min)) if dtype == "int16" else ENDS[name]
        result = int(info.min) + above
    if name == "HARD_SWISH":
        so = max(so, s / 64)
    least = info.min
    if name in DEFINED:
        zero_point = 0 if dtype == "int16" else int(info.min)
        least = zero_point + DEFINED[name]
    x, y = Tensor(shape, dtype, s, zero_point), Tensor(shape, dtype, so, result)
    inputs = [[draw.integers(rng, shape, dtype, least, info.max)] for _ in range(8)]
    return Case(one_op(name, [x], [y], options or {}), inputs=inputs)


def sigmoid_16(rng, *, name, power):
    """At the scale of gemmlowp's functions, and at others up to the largest."""
    shape = draw.shape(rng, 2, 9000)
    s = 2.0**power if power else draw.scale(rng, -20, 2)
    return Case(one_op(name, [Tensor(shape, "int16", s)], [Tensor(shape, "int16", 2.0**-15)]))


def log_softmax(rng, *, dtype="int8"):
    shape = draw.shape(rng, int(rng.integers(1, 4)), 3000)
    x = draw.tensor(rng, shape, dtype, draw.scale(rng, -9, 1))
    return Case(one_op("LOG_SOFTMAX", [x], [Tensor(shape, dtype, 1 / 16, int(np.iinfo(dtype).max))]))


def _forms(name, *dtypes, **others):
    short = {"int8": "i8", "uint8": "u8", "int16": "i16"}
    return {f"{name} {short[dtype]}": partial(function, name=name, dtype=dtype, **others) for dtype in dtypes}


APPROXIMATE = {"options": {"approximate": True}}
CASES = {
    **_forms("LOGISTIC", "int8", "uint8"),
    **_forms("TANH", "int8", "uint8"),
    **_forms("HARD_SWISH", "int8", "uint8"),
    **_forms("ELU", "int8"),
    **_forms("EXP", "int8", "int16"),
    **_forms("GELU", "int8", "uint8", "int16"),
    **{f"{name}, approximate": form for name, form in _forms("GELU", "int8", "uint8", "int16", **APPROXIMATE).items()},
    **_forms("LOG", "int8", "int16"),
    **_forms("RSQRT", "int8", "int16"),
    **_forms("SQRT", "int8", "int16"),
    **{f"{name} i16": partial(sigmoid_16, name=name, power=0) for name in ("LOGISTIC", "TANH")},
    **{f"{name} i16, 2^-12": partial(sigmoid_16, name=name, power=-12) for name in ("LOGISTIC", "TANH")},
    "TANH i16, 2^-11": partial(sigmoid_16, name="TANH", power=-11),
    "LOG_SOFTMAX i8": log_softmax,
    "LOG_SOFTMAX u8": partial(log_softmax, dtype="uint8"),
}
ONLY = {"ELU i8": ("litert",)}
