"""Functions that order and compare by value, exactly."""

from typing import Any

import numpy as np

from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor


@implements(np.array_equal, kind="order")
def array_equal(a: Any, b: Any) -> bool:
    if isinstance(a, QuantTensor) and isinstance(b, QuantTensor):
        return a == b
    return bool(np.array_equal(np.asarray(a), np.asarray(b)))
