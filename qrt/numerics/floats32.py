"""Functions of float32 as the C library computes them, where a runtime has such values in a table.

``expf`` of glibc (2.27 and later; musl, FreeBSD and Bionic have the same one) is a polynomial and a table in float64,
rounded once to float32. It is no correctly rounded function: one value in some 1600 is off by one unit in the last
place. Source: Arm's optimized routines, ``expf.c``.
"""

from decimal import Decimal, localcontext
from typing import Final

import numpy as np

from qrt.numerics.rounding import Array

_PARTS: Final = 32
_C0 = float.fromhex("0x1.c6af84b912394p-5") / _PARTS**3
_C1 = float.fromhex("0x1.ebfce50fac4f3p-3") / _PARTS**2
_C2 = float.fromhex("0x1.62e42ff0c52d6p-1") / _PARTS
_PER_E = float.fromhex("0x1.71547652b82fep+0") * _PARTS


def _powers() -> Array:
    with localcontext(prec=40):
        return np.array([float(Decimal(2) ** (Decimal(i) / _PARTS)) for i in range(_PARTS)])


_POWERS: Final = _powers()
"""2^(i/32), rounded to float64."""


def expf(x: Array) -> Array:
    """The exponential of float32 values.

    >>> float(expf(np.float32([0.5]))[0])
    1.6487212181091309
    """
    z = np.asarray(x, np.float32).astype(np.float64) * _PER_E
    whole = np.rint(np.clip(z, -10000.0, 10000.0))
    r = z - whole
    k = whole.astype(np.int64)
    with np.errstate(all="ignore"):
        power = np.ldexp(_POWERS[k % _PARTS], k // _PARTS)
        return np.asarray((((_C0 * r + _C1) * (r * r) + (_C2 * r + 1.0)) * power).astype(np.float32))
