"""Float32 functions of this machine's C library, which LiteRT calls to fill its tables.

Using the same library gives the same last bits. Without a C library, Python's functions in float64 are rounded to
float32. ``numerics.floats32`` has expf and logf that do not depend on the machine.
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
    """Return the C library, or None if there is none.

    Its usual names are tried first, because a search for it runs other programs.
    """
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
    function = getattr(library, name)
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    return function  # type: ignore[no-any-return]  # a function of a ctypes library


def float32(name: str, values: Array) -> Array:
    """Apply the C function ``expm1f``, ``tanhf`` or ``erfcf`` to each float32 value."""
    return map_elements(_function(name), values).astype(np.float32)


def map_elements(function: Function, values: Array) -> Array:
    """Apply a function of Python floats to each element and return a float64 array."""
    return np.fromiter(map(function, values.tolist()), np.float64, values.size).reshape(values.shape)
