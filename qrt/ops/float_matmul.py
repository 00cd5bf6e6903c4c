"""float_matmul: ``a @ w`` in float32, with float or quantized weights and an optional bias for each column.

The bits are defined, on every ISA, for any number of threads and rows (docs/numerics_operations.md, "float_matmul").

**Float weights.** Both operands are extended by zeros to a multiple of 16 along K. A dot product has 16 lanes. Lane
``l`` adds the products with ``k % 16 == l`` by fused multiply-adds, in ascending order from +0. Then a tree adds lanes
``l`` and ``l + 8``, ``l`` and ``l + 4``, ``l`` and ``l + 2``, and the last two lanes. The bias is added at the end.

**Quantized weights of up to 8 bits.** K is divided into blocks that share a scale and zero point: the blocks of a
sub-channel type, else one block. A block is divided into pieces of 128; its last piece may be shorter. In each piece, a
row of ``a`` is converted to integers x, multiples of a unit (``numerics.unit_integers``). The sum T of ``x * (q - zp)``
is exact. The result begins with +0. Each piece, in ascending order, changes it to ``fma(f32(T) * f32(s), unit,
result)``, where f32(T) is rounded half to even. Then the bias is added.

NaNs and infinities of ``a`` count as 0 in these sums. At the end each of them is multiplied by its weight as ``dcast``
gives it, and the product is added. If the weights are per axis along K, ``f32(a * f32(s))`` replaces ``a``, and 1
replaces s; a value of ``a`` whose product is NaN or infinite counts as 0 and is multiplied at the end.

**Wider quantized weights** are used as the floats that ``dcast`` makes of them, ``(f32(q) - f32(zp)) * f32(s)``.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, TypeGuard

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_float_matmul, bind_mixed_matmul
from qrt.errors import QuantTypeError
from qrt.numerics import floats
from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.nans import with_one_nan
from qrt.ops.checks import (
    check_contracted,
    check_element,
    check_float_result,
    check_shape,
    shape_of_least_rank,
    shape_of_rank,
)
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    DerivedArray,
    KernelCall,
    OpFamily,
    Types,
    container,
    fail,
    parameters_of,
    quantized,
    static_shape,
)
from qrt.ops.declare import BIAS, Declaration, Operand, Result
from qrt.ops.sub_channel import column_scales
from qrt.types import FloatType, TensorType, UniformType

LANES = 16
PIECE = 128
_F32 = FloatType("f32")
_FMA = with_one_nan(floats.OPS["math.fma"]("f32"), "math.fma", "f32")


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    w = types[1]
    check_element("float_matmul", types, 0, "a", _F32)
    *outer, k = shape_of_least_rank("float_matmul", types, 0, "a", 1)
    depth, columns = shape_of_rank("float_matmul", types, 1, "w", 2)
    is_quantized = isinstance(w.element, UniformType)
    if (quantized(w, "float_matmul", "w").expressed_type if is_quantized else w.element) != _F32:
        wanted = "elements of f32, or of a quantized type with the expressed type f32"
        fail("float_matmul", f"'w' must have {wanted}, got {w.element}", types)
    check_contracted("float_matmul", types, ("a", "w"), (k, depth), QuantTypeError)
    if len(types) > 2:
        check_element("float_matmul", types, 2, "bias", _F32)
        check_shape("float_matmul", types, 2, "bias", (columns,))
    check_float_result("float_matmul", types, result, _F32)
    return TensorType((*outer, columns), _F32)


def sums_integers(element: Any) -> TypeGuard[UniformType]:
    """Return True for quantized weights of up to 8 bits, whose products are summed as integers."""
    return isinstance(element, UniformType) and element.storage_width <= 8


def k_block(t: UniformType, depth: int) -> int:
    """Return the number of values along K that share a scale: a sub-channel type's block size, else K (at least 1)."""
    return dict(t.block_sizes or ()).get(0, max(depth, 1))


def scales_along_k(t: UniformType) -> bool:
    """Return True if the weights are per axis along K. Rows of ``a`` are then multiplied by the scales first."""
    return not t.is_sub_channel and t.axis == 0


def _scaled_rows(a: Array, t: UniformType) -> Array:
    return a * _f32_scales(t.scale_array) if scales_along_k(t) else a


def _f32_scales(scales: Array) -> Array:
    return numerics.round_to_format(scales, "f32").astype(np.float32)


def pieces(depth: int, block: int) -> list[slice]:
    """Return the slices of K in which integers are summed: each block is cut into pieces of at most 128 values.

    >>> [(piece.start, piece.stop) for piece in pieces(400, 200)]
    [(0, 128), (128, 200), (200, 328), (328, 400)]
    """
    starts = range(0, depth, block)
    return [slice(k, min(k + PIECE, start + block)) for start in starts for k in range(start, start + block, PIECE)]


def _dequantized(w: Array, t: TensorType) -> Array:
    if not isinstance(t.element, UniformType):
        return w
    scale, zero_point = parameters_of(t.element, w.shape)
    return numerics.dequantize(w, scale, zero_point, "f32").astype(np.float32)


def _float_sums(a: Array, w: Array) -> Array:
    depth, columns = w.shape
    steps = -(-depth // LANES)
    rows = np.zeros((len(a), steps * LANES), np.float32)
    rows[:, :depth] = a
    weights = np.zeros((steps * LANES, columns), np.float32)
    weights[:depth] = w
    lanes = np.zeros((len(rows), columns, LANES), np.float32)
    for step in range(steps):
        k = slice(step * LANES, (step + 1) * LANES)
        lanes = _multiply_add(rows[:, None, k], weights[None, k].swapaxes(1, 2), lanes)
    for half in (8, 4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def _integer_sums(a: Array, w: Array, t: UniformType) -> Array:
    scale, zero_point = (np.broadcast_to(x, w.shape) for x in parameters_of(t, w.shape))
    centred, scale = w.astype(np.int64) - zero_point, _f32_scales(scale)
    if scales_along_k(t):
        scale = np.ones_like(scale)
    total = np.zeros((len(a), w.shape[1]), np.float32)
    for piece in pieces(len(w), k_block(t, len(w))):
        integers, unit = numerics.unit_integers(a[:, piece])
        sums = (integers @ centred[piece]).astype(np.float32)
        total = _multiply_add(sums * scale[piece.start], unit, total)
    return total


def _with_bias(sums: Array, bias: Array | None) -> Array:
    return sums if bias is None else sums + bias


def _multiply_add(*operands: Array) -> Array:
    return np.asarray(_FMA(*broadcast_arrays(*operands)))


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (depth, _), element = arrays[1].shape, types[1].element
    a, w = arrays[0].reshape(prod(arrays[0].shape[:-1]), depth), _dequantized(arrays[1], types[1])
    bias = arrays[2] if len(arrays) > 2 else None
    with np.errstate(all="ignore"):
        if not sums_integers(element):
            total = _with_bias(_float_sums(a, w), bias)
        else:
            rows = _scaled_rows(a, element)
            finite = np.isfinite(rows)
            total = _with_bias(_integer_sums(np.where(finite, rows, np.float32(0)), arrays[1], element), bias)
            for row, k in np.argwhere(~finite):
                total[row] += a[row, k] * w[k]
    total = np.where(np.isnan(total), np.float32(np.nan), total)  # the positive NaN
    return total.reshape(static_shape(result, "float_matmul"))


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    shape, (depth, columns) = static_shape(types[0], "float_matmul"), static_shape(types[1], "float_matmul")
    element, w = types[1].element, constants.get(1)
    sizes: dict[str, Any] = {
        "isa": kernels.active(),
        "m": prod(shape[:-1]),
        "n": columns,
        "k": depth,
        "bias": None if len(types) < 3 else constants.get(2, "operand"),
    }
    if sums_integers(element):
        return bind_mixed_matmul(**sizes, **_packing(element, depth, columns), w_constant=w)
    if not isinstance(element, UniformType):
        return bind_float_matmul(**sizes, w_constant=w)
    if w is None:
        return None
    return bind_float_matmul(**sizes, w_constant=DerivedArray.of(_dequantized(w, types[1]), w))


def _packing(t: UniformType, depth: int, columns: int) -> dict[str, Any]:
    sizes = {"nibbles": t.storage_width <= 4, "w": container(t), "k_block": k_block(t, depth)}
    if scales_along_k(t):
        zero_points = t.zero_point_array
        common = np.all(zero_points == zero_points[:1])
        return sizes | {
            "scales": [1.0],
            "zero_points": zero_points[:1] if common else [0],
            "k_scales": numerics.round_to_format(t.scale_array, "f32"),
            "k_zero_points": None if common else zero_points,
        }
    if t.is_sub_channel:
        _, scales, zero_points = column_scales(t, depth, columns)
    else:
        scales, zero_points = np.broadcast_arrays(t.scale_array, t.zero_point_array)
    return sizes | {"scales": numerics.round_to_format(scales, "f32"), "zero_points": zero_points}


FAMILIES = (
    OpFamily(
        Declaration(
            "float_matmul",
            operands=(Operand("a", "f32"), Operand("w", "a matrix of f32, or quantized"), replace(BIAS, note="f32")),
            result=Result("f32"),
        ),
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
    ),
)
