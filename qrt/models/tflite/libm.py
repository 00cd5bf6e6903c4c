"""The C library's functions, which LiteRT calls to fill its tables: the same library of this machine, so that the last
bits are the same. Where none is found, Python's functions in float64 are rounded to float32. ``numerics.floats32`` has
expf and logf of any machine.
"""

import ctypes
import math
from collections.abc import Callable
from ctypes.util import find_library
from functools import cache

import numpy as np

from qrt.ops.core import Array

Function = Callable[[float], float]

_FLOAT64: dict[str, Function] = {
    "expm1f": math.expm1,
    "tanhf": math.tanh,
    "erfcf": math.erfc,
}


@cache
def _library() -> ctypes.CDLL | None:
    """The library, by the names that are known first: a search starts other programs."""
    for name in (None, "libm.so.6", _searched):
        try:
            library = ctypes.CDLL(name() if callable(name) else name)
        except (OSError, TypeError):
            continue
        if hasattr(library, "expm1f"):
            return library
    return None


def _searched() -> str | None:
    return find_library("m")


@cache
def _function(name: str) -> Function:
    library = _library()
    if library is None:
        return _FLOAT64[name]
    found = getattr(library, name)
    found.argtypes, found.restype = [ctypes.c_float], ctypes.c_float
    return found  # type: ignore[no-any-return]  # of a library


def float32(name: str, values: Array) -> Array:
    """A function of float32 values: ``expm1f``, ``tanhf`` or ``erfcf``."""
    return each(_function(name), values).astype(np.float32)


def each(function: Function, values: Array) -> Array:
    """A function of Python's floats, of each value in turn, in float64."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size).reshape(values.shape)
