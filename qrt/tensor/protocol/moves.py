"""Functions that move elements and keep their type. A per-axis type follows its channels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor, join


@implements(np.concatenate, kind="moves")
def concatenate(arrays: Sequence[QuantTensor], axis: int = 0, out: QuantTensor | None = None) -> QuantTensor:
    return join(tuple(arrays), axis, None, "fixed", out)


@implements(np.reshape, kind="moves")
def reshape(a: QuantTensor, shape: Any) -> QuantTensor:
    return a.reshape(shape)


@implements(np.transpose, kind="moves")
def transpose(a: QuantTensor, axes: Any = None) -> QuantTensor:
    return a.transpose(axes)
