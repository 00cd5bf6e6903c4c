"""Tensors in other types: what `QuantTensor.astype` does."""

from typing import Any

import numpy as np

from qrt.eager.binding import EagerCall, bind, bind_arrays, eager
from qrt.eager.calls import Tensor
from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Array, expressed_dtype
from qrt.tensor.arrays import expressed_array, require_uniform
from qrt.types import FloatType, Type, UniformType, check_integrity, parse_type


def cast(q: Any, wanted: object) -> Any:
    """A tensor of a quantized type, or an array of a NumPy dtype; a float type stands for its dtype."""
    t = parse_type(wanted) if isinstance(wanted, str) and wanted.startswith("!") else wanted
    if isinstance(t, Type) and not isinstance(t, FloatType):
        t = require_uniform(t, "astype: type")
        check_integrity(t, q.shape)
        return q.copy() if t is q.type else _converted(q, t)
    return _values(q.dequantize(), expressed_dtype(t) if isinstance(t, FloatType) else t)


_FLOATS: dict[Any, Any] = {name: np.dtype(name) for name in (np.float32, np.float64, "float32", "float64")}


def _values(values: Array, dtype: Any) -> Array:
    if type(dtype) in (type, str) and (usual := _FLOATS.get(dtype)) is not None:
        return values if values.dtype is usual else values.astype(usual)
    try:
        wanted = None if dtype is None or np.dtype(dtype).names is not None else np.dtype(dtype)
    except (TypeError, ValueError):
        wanted = None
    if wanted is not None and (wanted.kind in "biu" or wanted.name.startswith(("int", "uint"))):
        by_values = f"np.asarray(q).astype({str(wanted)!r}), which truncates the values"
        raise QuantTypeError(
            f"astype: {wanted} does not hold the values: write q.storage for the integers, or {by_values}"
        )
    # ml_dtypes' floats are of kind V, as are bytes and subarrays, which hold no numbers.
    if wanted is not None and (wanted.kind in "fcO" or wanted.type.__module__ == "ml_dtypes"):
        return values.astype(wanted, copy=False)
    raise QuantTypeError(f"astype: a !quant.uniform type or a dtype of numbers is needed, got {shown(dtype)}")


@eager
def _converted(q: Tensor, t: UniformType) -> EagerCall[Any]:
    if q.type.expressed_type is t.expressed_type:
        return bind("requantize", (q,), {}, t, None)
    return bind_arrays("qcast", (expressed_array(q, t),), {}, t, None, t.expressed_type)  # type: ignore[arg-type]
