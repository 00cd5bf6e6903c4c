"""Exact arithmetic: ufuncs with an op family of their own, and sums."""

import numpy as np

from qrt.tensor.functions import add, mul, sub
from qrt.tensor.products import matmul
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor


@implements(np.add, kind="sums")
def _add(a: QuantTensor, b: QuantTensor, /, *, out: QuantTensor | None = None) -> QuantTensor:
    return add(a, b, out=out)


@implements(np.subtract, kind="sums")
def _subtract(a: QuantTensor, b: QuantTensor, /, *, out: QuantTensor | None = None) -> QuantTensor:
    return sub(a, b, out=out)


@implements(np.multiply, kind="sums")
def _multiply(a: QuantTensor, b: QuantTensor, /, *, out: QuantTensor | None = None) -> QuantTensor:
    return mul(a, b, out=out)


@implements(np.matmul, kind="sums")
def _matmul(a: QuantTensor, b: QuantTensor, /, *, out: QuantTensor | None = None) -> QuantTensor:
    return matmul(a, b, out=out)
