"""float_matmul: ``a @ w`` in float32, the weights floats or quantized ("weight-only"), perhaps with a bias per column.

The bits are defined, on every ISA and for any number of threads (NUMERICS.md, "Float operations"): a dot product has
16 lanes, lane ``l`` a chain of fused multiply-adds over ``k = l mod 16`` in ascending order from +0, both operands
continued by zeros to a multiple of 16; then a tree adds lanes ``l`` and ``l + 8``, ``l`` and ``l + 4``, ``l`` and
``l + 2``, the last two; then the bias. Quantized weights count as what ``dcast`` makes of them: ``(f32(q) - f32(zp)) *
f32(s)``.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.ops import elementwise
from qrt.ops.core import (
    Array,
    Attributes,
    BoundCall,
    OpFamily,
    Types,
    container,
    fail,
    parameters_of,
    quantized,
    static_shape,
)
from qrt.ops.sub_channel import column_scales
from qrt.types import FloatType, TensorType, UniformType

LANES = 16
_F32 = FloatType("f32")


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    a, w = types[0], types[1]
    if a.element != _F32 or not a.shape:
        fail("float_matmul", "a must be a tensor of f32 with one axis or more", types)
    if w.shape is None or len(w.shape) != 2:
        fail("float_matmul", "w must be a matrix", types)
    if isinstance(w.element, UniformType):
        if quantized(w, "float_matmul", "w").expressed_type != _F32:
            fail("float_matmul", "quantized weights must express f32", types)
    elif w.element != _F32:
        fail("float_matmul", "w must be of f32, or quantized", types)
    depth, columns = w.shape
    if None not in (a.shape[-1], depth) and a.shape[-1] != depth:
        fail("float_matmul", f"the contracted dimensions differ: {a.shape[-1]} and {depth}", types)
    if len(types) > 2:
        bias = types[2]
        if bias.element != _F32 or bias.shape is None or len(bias.shape) != 1:
            fail("float_matmul", "the bias must be a vector of f32", types)
        if None not in (bias.shape[0], columns) and bias.shape[0] != columns:
            fail("float_matmul", f"the bias has {bias.shape[0]} values for {columns} columns", types)
    if result is not None and result.element != _F32:
        fail("float_matmul", f"the result is of f32, but {result} is declared", types)
    return TensorType((*a.shape[:-1], columns), _F32)


def _dequantized(w: Array, t: TensorType) -> Array:
    if not isinstance(t.element, UniformType):
        return w
    scale, zero_point = parameters_of(t.element, w.shape)
    return numerics.dequantize(w, scale, zero_point, "f32").astype(np.float32)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    a, w = arrays[0], _dequantized(arrays[1], types[1])
    depth, columns = w.shape
    steps = -(-depth // LANES)
    rows = np.zeros((prod(a.shape[:-1]), steps * LANES), np.float32)
    rows[:, :depth] = a.reshape(-1, depth) if depth else 0
    weights = np.zeros((steps * LANES, columns), np.float32)
    weights[:depth] = w
    multiply_add = elementwise.bind("math.fma", [_F32] * 3, [_F32])
    lanes = np.zeros((len(rows), columns, LANES), np.float32)
    with np.errstate(all="ignore"):
        for step in range(steps):
            k = slice(step * LANES, (step + 1) * LANES)
            lanes = multiply_add(*np.broadcast_arrays(rows[:, None, k], weights[None, k].swapaxes(1, 2), lanes))
        for half in (8, 4, 2, 1):
            lanes = lanes[..., :half] + lanes[..., half:]
        sums = lanes[..., 0]
        return (sums + arrays[2] if len(arrays) > 2 else sums).reshape(static_shape(result, "float_matmul"))


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Mapping[int, Array]) -> BoundCall | None:
    if 0 in constants:
        return None
    shape, (depth, columns) = static_shape(types[0], "float_matmul"), static_shape(types[1], "float_matmul")
    weights, w = _packing(types[1].element, depth, columns), constants.get(1)
    if weights is None and w is None:
        return None
    if weights is None and w is not None:
        w, weights = _dequantized(w, types[1]), {}
    return _core.bind_float_matmul(
        isa=kernels.active(),
        m=prod(shape[:-1]),
        n=columns,
        k=depth,
        w_constant=w,
        bias=None if len(types) < 3 else constants.get(2, "operand"),
        **(weights or {}),
    )


def _packing(element: Any, depth: int, columns: int) -> dict[str, Any] | None:
    """How the kernel keeps the weights; None where it takes them as floats only."""
    if not isinstance(element, UniformType):
        return {}
    if element.storage_width > 8:
        return None
    if element.is_sub_channel:
        k_block, scales, zero_points = column_scales(element, depth, columns)
        if k_block < depth and k_block % LANES:
            return None
    elif element.axis == 0:
        return None
    else:
        k_block = max(depth, 1)
        scales = np.broadcast_to(np.array(element.scales), (1, columns))
        zero_points = np.broadcast_to(np.array(element.zero_points), (1, columns))
    return {
        "weights": "nibbles" if element.storage_width <= 4 else "bytes",
        "w": container(element),
        "k_block": k_block,
        "scales": numerics.round_to_format(scales, "f32"),
        "zero_points": zero_points,
    }


FAMILIES = (
    OpFamily(
        name="float_matmul",
        operands=("a", "w", "bias"),
        optional=1,
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
    ),
)
