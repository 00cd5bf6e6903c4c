"""The op families, on plain storage arrays and types. Knows neither QuantTensor nor IR.

>>> sorted(FAMILIES)[:3]
['add', 'avg_pool2d', 'clamp']
"""

from qrt.ops import (
    binary,
    casts,
    clamp,
    conv,
    depthwise,
    float_matmul,
    lookup,
    matmul,
    mean,
    movement,
    pad,
    pool,
    softmax,
)
from qrt.ops.core import OpFamily

_MODULES = (casts, matmul, float_matmul, conv, depthwise, binary, clamp, lookup, pool, mean, softmax, movement, pad)

FAMILIES: dict[str, OpFamily] = {family.name: family for module in _MODULES for family in module.FAMILIES}

__all__ = ["FAMILIES", "OpFamily"]
