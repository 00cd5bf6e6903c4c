"""The C library's functions, which LiteRT calls to fill its tables: the same library of this machine, so that the last
bits are the same. Where none is found, Python's functions in float64 are rounded to float32.
"""

import ctypes
import math
from collections.abc import Callable
from ctypes.util import find_library
from functools import cache

import numpy as np

Function = Callable[[float], float]

_FLOAT64: dict[str, Function] = {
    "expf": math.exp,
    "expm1f": math.expm1,
    "logf": math.log,
    "tanhf": math.tanh,
    "erfcf": math.erfc,
}


@cache
def _library() -> ctypes.CDLL | None:
    """The library, by the names that are known first: a search starts other programs."""
    for name in (None, "libm.so.6", find_library):
        try:
            library = ctypes.CDLL(name("m") if callable(name) else name)
        except (OSError, TypeError):
            continue
        if hasattr(library, "expf"):
            return library
    return None


@cache
def float32(name: str) -> Function:
    """A function of one float32: ``expf``, ``expm1f``, ``logf``, ``tanhf`` or ``erfcf``."""
    library = _library()
    if library is None:
        function = _FLOAT64[name]
        return lambda x: float(np.float32(function(x)))
    found = getattr(library, name)
    found.argtypes, found.restype = [ctypes.c_float], ctypes.c_float
    return found  # type: ignore[no-any-return]  # of a library
