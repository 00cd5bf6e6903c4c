"""clamp: bounds given as expressed values, applied to storage. ``relu`` is a clamp from 0.

Each bound is quantized by the default cast rule to the operand's type (for each channel of a per-axis type), then
storage is clamped. The result has the operand's type.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_clamp
from qrt.errors import QuantTypeError
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    collapsed_layout,
    container,
    parameter_index,
    quantized,
    real_number,
    static_shape,
    uniform,
)
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand, Traits
from qrt.types import TensorType, UniformType


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    quantized(types[0], "clamp", "q")
    low, high = _bounds(attributes)
    if isnan(low) or isnan(high) or low > high:
        raise QuantTypeError(f"clamp: 'min' must be at most 'max', got min = {low} and max = {high}")
    return types[0]


def _bounds(attributes: Attributes) -> tuple[float, float]:
    low, high = attributes["min"], attributes["max"]
    return (
        -np.inf if low is None else real_number("clamp", "min", low),
        np.inf if high is None else real_number("clamp", "max", high),
    )


def stored_bounds(t: UniformType, attributes: Attributes) -> tuple[Array, Array]:
    """Return the clamp's (lower, upper) bounds as storage: two arrays with an entry for each scale of the type."""

    def stored(bound: float) -> Array:
        scales, zero_points = t.scale_array.ravel(), t.zero_point_array.ravel()
        # Formats without infinities round a bound that is too large to NaN or their largest value, which would clamp.
        if np.isinf(bound) or not np.isfinite(numerics.round_to_format(bound, t.expressed_type.name)):
            return np.full(len(scales), t.storage_max if bound > 0 else t.storage_min, np.int64)
        return numerics.quantize(bound, scales, zero_points, t.storage_min, t.storage_max, t.expressed_type.name)

    low, high = _bounds(attributes)
    return stored(low), stored(high)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    t = uniform(types[0])
    index = parameter_index(t, q.shape)
    lower, upper = stored_bounds(t, attributes)
    return np.clip(q.astype(np.int64), lower[index], upper[index])


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    t = uniform(types[0])
    shape, block, step = collapsed_layout(t, static_shape(types[0], "clamp"))
    lower, upper = stored_bounds(t, attributes)
    return bind_clamp(
        isa=kernels.active(), storage=container(t), shape=shape, block=block, step=step, lower=lower, upper=upper
    )


_BOUND = Attribute("min", "number", note="no bound; otherwise an expressed value", positional=True)

FAMILIES = (
    OpFamily(
        Declaration("clamp", operands=(Operand("q"),), attributes=(_BOUND, replace(_BOUND, name="max")), result=KEPT),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(
            is_elementwise=True,
            constraint="same_scale",
            bounds=stored_bounds,
        ),
    ),
)
