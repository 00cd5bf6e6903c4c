"""The functions on QuantTensors: each is one call of an op family. ``qrt.ops`` says the shapes,
docs/numerics.md the rules.

Each raises ``QuantTypeError`` for an argument that it does not take, of whatever kind; that is a TypeError too."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from qrt.eager.binding import Bound, bind, bind_arrays, eager, require_tensor
from qrt.errors import QuantTypeError
from qrt.ops.core import Array
from qrt.ops.window import Pairs, resolve_padding, two_positive
from qrt.tensor.arrays import as_array, integers, items, require_uniform
from qrt.tensor.quant_tensor import PackedTensor, QuantTensor, join
from qrt.types import UniformType

Padding = Literal["SAME", "VALID"] | Sequence[Sequence[int]]
Pair = Sequence[int] | int


def pack(w: QuantTensor) -> PackedTensor:
    """Weights that never change: a copy of the storage, with which is kept what functions make of it as their second or
    third operand. ``matmul``, ``conv2d``, ``depthwise_conv2d`` and ``lookup`` read it packed for their kernel, and give
    the same results.

    >>> t = UniformType("i8", "f32", 0.5)
    >>> a, w = QuantTensor(np.int8([[1, 2]]), t), QuantTensor(np.int8([[3], [4]]), t)
    >>> (a @ pack(w)) == (a @ w)
    True
    """
    require_tensor(w, "pack: w")
    return w if isinstance(w, PackedTensor) else PackedTensor(w)


@eager
def matmul(
    a: QuantTensor,
    w: QuantTensor,
    *,
    bias: QuantTensor | None = None,
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """``a @ w`` with NumPy's shapes; ``bias`` is one value per column; ``out_type`` fuses the requantization.

    Without ``out_type`` the result is i32 with scale ``sa * sw``, where that is exact for every value of the types.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> t = UniformType("i8", "f32", 0.5)
    >>> a = QuantTensor(np.int8([[1, 2]]), t)
    >>> (a @ a.T).storage.tolist(), str((a @ a.T).type)
    ([[5]], '!quant.uniform<i32:f32, 2.500000e-01>')
    """
    operands = (a, w) if bias is None else (a, w, bias)
    return bind("matmul", operands, {"requant": requant}, out_type, out)


@eager
def float_matmul(
    a: npt.ArrayLike, w: QuantTensor | npt.ArrayLike, *, bias: npt.ArrayLike | None = None, out: Array | None = None
) -> Bound[Array]:
    """``a @ w`` in float32: ``a`` of any rank from 1, ``w`` a float32 matrix, or a quantized one that expresses f32;
    ``bias`` is one float per column.

    Quantized weights of up to 8 bits are summed exactly as integers over pieces of K, with errors as small as those of
    ``float_matmul(a, dcast(w))``, but other bits; wider ones count as ``dcast(w)``. The order of each sum is defined
    (``qrt.ops.float_matmul``), so the bits are those of every machine. Weights that stay the same are packed once by
    ``qrt.pack``. Raises ``QuantTypeError`` for other dtypes and shapes.

    >>> w = QuantTensor(np.int8([[1, -2], [3, 0]]), UniformType("i4", "f32", [0.5, 0.25], axis=1))
    >>> float_matmul(np.float32([[2, 1]]), w).tolist()
    [[2.5, -1.0]]
    """
    given = {"a": a, "w": w} if bias is None else {"a": a, "w": w, "bias": bias}
    operands = [x if name == "w" and isinstance(x, QuantTensor) else _floats(name, x) for name, x in given.items()]
    return bind_arrays("float_matmul", operands, {}, None, out)


def _floats(name: str, x: Any) -> Array:
    array = as_array(x)
    if array.dtype != np.float32:
        raise QuantTypeError(f"float_matmul: {name} must be an array of float32, got dtype {array.dtype}")
    return array


@eager
def conv2d(
    x: QuantTensor,
    w: QuantTensor,
    *,
    bias: QuantTensor | None = None,
    strides: Pair = (1, 1),
    padding: Padding = "VALID",
    dilations: Pair = (1, 1),
    groups: int = 1,
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """2-D convolution: ``x`` NHWC, ``w`` OHWI (I = channels / groups), ``bias`` one value per output channel.

    ``padding``: "VALID", "SAME" (TensorFlow's) or ``((top, bottom), (left, right))``.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> t = UniformType("i8", "f32", 1.0)
    >>> x = QuantTensor(np.ones((1, 3, 3, 1), np.int8), t)
    >>> conv2d(x, x, padding="SAME").storage[0, :, :, 0].tolist()
    [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    """
    require_tensor(x, "conv2d: x")
    require_tensor(w, "conv2d: w")
    window = _convolution_window("conv2d", x, w.shape[1:3], strides, padding, dilations)
    attributes = {**window, "groups": groups, "requant": requant}
    return bind("conv2d", (x, w) if bias is None else (x, w, bias), attributes, out_type, out)


@eager
def depthwise_conv2d(
    x: QuantTensor,
    w: QuantTensor,
    *,
    bias: QuantTensor | None = None,
    strides: Pair = (1, 1),
    padding: Padding = "VALID",
    dilations: Pair = (1, 1),
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """2-D convolution of each channel by itself: ``x`` NHWC, ``w`` [KH, KW, C * M], output channel ``c * M + m`` of
    input channel ``c``; the rest as ``conv2d``.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> t = UniformType("i8", "f32", 1.0)
    >>> x, w = QuantTensor(np.int8([[[[1, 2]]]]), t), QuantTensor(np.int8([[[1, 10, 1, 10]]]), t)
    >>> depthwise_conv2d(x, w).storage.tolist()
    [[[[1, 10, 2, 20]]]]
    """
    require_tensor(x, "depthwise_conv2d: x")
    require_tensor(w, "depthwise_conv2d: w")
    window = _convolution_window("depthwise_conv2d", x, w.shape[:2], strides, padding, dilations)
    attributes = {**window, "requant": requant}
    return bind("depthwise_conv2d", (x, w) if bias is None else (x, w, bias), attributes, out_type, out)


@eager
def add(
    a: QuantTensor, b: QuantTensor, *, out_type: UniformType | None = None, out: QuantTensor | None = None
) -> Bound[QuantTensor]:
    """``a + b``, broadcast. Without ``out_type`` equal scales give i32 of that scale.

    >>> a = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    >>> (a + a).dequantize().tolist()
    [1.0, 2.0]
    """
    return bind("add", (a, b), {}, out_type, out)


@eager
def sub(
    a: QuantTensor, b: QuantTensor, *, out_type: UniformType | None = None, out: QuantTensor | None = None
) -> Bound[QuantTensor]:
    """``a - b``, as ``add``."""
    return bind("sub", (a, b), {}, out_type, out)


@eager
def mul(
    a: QuantTensor,
    b: QuantTensor,
    *,
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """``a * b``, broadcast. Without ``out_type`` the result is i32 with scale ``sa * sb``.
    ``requant``: fixed, fixed_double, float32 or float64_away.
    """
    return bind("mul", (a, b), {"requant": requant}, out_type, out)


@eager
def requantize(
    q: QuantTensor, type: UniformType, *, requant: str = "fixed", out: QuantTensor | None = None
) -> Bound[QuantTensor]:
    """The same values in another quantized type of the same expressed type.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> q = QuantTensor(np.int8([4, -3]), UniformType("i8", "f32", 0.5))
    >>> requantize(q, UniformType("u8", "f32", 0.25, 10)).storage.tolist()
    [18, 4]
    """
    return bind("requantize", (q,), {"requant": requant}, require_uniform(type), out)


@eager
def clamp(
    q: QuantTensor, min: float | None = None, max: float | None = None, *, out: QuantTensor | None = None
) -> Bound[QuantTensor]:
    """Values clamped to ``[min, max]`` (expressed values, quantized by the default cast rule).

    >>> q = QuantTensor(np.int8([-5, 5, 50]), UniformType("i8", "f32", 0.5))
    >>> clamp(q, 0, 6).storage.tolist()
    [0, 5, 12]
    """
    return bind("clamp", (q,), {"min": min, "max": max}, None, out)


@eager
def relu(q: QuantTensor, *, out: QuantTensor | None = None) -> Bound[QuantTensor]:
    """``clamp`` from 0."""
    return bind("clamp", (q,), {"min": 0.0, "max": None}, None, out)


@eager
def lookup(q: QuantTensor, table: QuantTensor, *, out: QuantTensor | None = None) -> Bound[QuantTensor]:
    """``table[q - least]`` with the least value of q's storage type, of at most 8 bits: any function of one variable.
    The result has the table's type; ``qrt.ops.lookup.table_of`` makes the table's storage.

    >>> from qrt.ops.lookup import table_of
    >>> t = UniformType("i8", "f32", 0.25)
    >>> table = QuantTensor(table_of(abs, t, t), t)
    >>> lookup(QuantTensor(np.int8([-128, -3, 3]), t), table).storage.tolist()
    [127, 3, 3]
    """
    return bind("lookup", (q, table), {}, None, out)


def _pool(
    name: str,
    q: QuantTensor,
    kernel: Pair,
    strides: Pair | None,
    padding: Padding,
    extra: dict[str, Any],
    out_type: UniformType | None,
    out: QuantTensor | None,
) -> Bound[QuantTensor]:
    require_tensor(q, f"{name}: q")
    size = two_positive(name, "kernel", _pair(kernel))
    steps = size if strides is None else two_positive(name, "strides", _pair(strides))
    resolved = _resolved(name, padding, q, size, steps, (1, 1))
    attributes = {"kernel": size, "strides": steps, "padding": resolved, **extra}
    return bind(name, (q,), attributes, out_type, out)


@eager
def avg_pool2d(
    q: QuantTensor,
    kernel: Pair,
    *,
    strides: Pair | None = None,
    padding: Padding = "VALID",
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """Average over NHWC windows, padding left out; the type is kept unless ``out_type`` is given.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> q = QuantTensor(np.int8([[1, 2], [3, 6]]).reshape(1, 2, 2, 1), UniformType("i8", "f32", 0.5))
    >>> avg_pool2d(q, 2).storage.tolist()
    [[[[3]]]]
    """
    return _pool("avg_pool2d", q, kernel, strides, padding, {"requant": requant}, out_type, out)


@eager
def max_pool2d(
    q: QuantTensor,
    kernel: Pair,
    *,
    strides: Pair | None = None,
    padding: Padding = "VALID",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """Maximum over NHWC windows, padding left out; the type is kept."""
    return _pool("max_pool2d", q, kernel, strides, padding, {}, None, out)


@eager
def mean(
    q: QuantTensor,
    axes: int | Sequence[int] | None = None,
    *,
    keepdims: bool = False,
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """Average over ``axes`` (None: all of them); the type is kept unless ``out_type`` is given, its channels follow
    their axis.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> q = QuantTensor(np.int8([[1, 2], [3, 6]]), UniformType("i8", "f32", 0.5))
    >>> mean(q, 0).storage.tolist()
    [2, 4]
    """
    named = (axes,) if isinstance(axes, SupportsIndex) and not isinstance(axes, np.ndarray) else axes
    numbers = None if named is None else integers(named, "mean: axes")
    attributes = {"axes": numbers, "keepdims": keepdims, "requant": requant}
    return bind("mean", (q,), attributes, out_type, out)


@eager
def softmax(
    q: QuantTensor,
    out_type: UniformType,
    *,
    axis: int = -1,
    beta: float = 1.0,
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """``exp(beta * x)`` over its sum along ``axis``, of at most 8 bits per layer: exponentials from a table of 30
    fractional bits, the sum exact, one division in float64, half to even.

    >>> q = QuantTensor(np.int8([0, 0, 11]), UniformType("i8", "f32", 0.1))
    >>> softmax(q, UniformType("u8", "f32", 1 / 256)).storage.tolist()
    [51, 51, 154]
    """
    return bind("softmax", (q,), {"axis": axis, "beta": beta}, require_uniform(out_type), out)


def reshape(q: QuantTensor, shape: Sequence[int]) -> QuantTensor:
    """A reshape that keeps the channel axis of a per-axis type."""
    require_tensor(q, "reshape: q")
    return q.reshape(shape)


def transpose(q: QuantTensor, permutation: Sequence[int] | None = None) -> QuantTensor:
    """Axes permuted; a per-axis type follows its channels."""
    require_tensor(q, "transpose: q")
    return q.transpose(permutation)


def pad(
    q: QuantTensor,
    padding: Sequence[Sequence[int]],
    value: float | None = None,
    *,
    out: QuantTensor | None = None,
) -> QuantTensor:
    """Constant elements around a tensor, ``(before, after)`` for each dimension: ``value`` quantized by the default
    cast rule, or the zero point, which is 0. The type is kept; a channel axis cannot be padded.

    >>> q = QuantTensor(np.int8([5, 6]), UniformType("i8", "f32", 0.5, 3))
    >>> pad(q, [(1, 2)]).storage.tolist(), pad(q, [(0, 1)], 2.0).storage.tolist()
    ([3, 5, 6, 3, 3], [5, 6, 7])
    """
    pairs = tuple(
        items(pair, "pad: (before, after)") if isinstance(pair, (list, np.ndarray)) else pair
        for pair in items(padding, "pad: padding")
    )
    return _pad(q, pairs, value, out)


@eager
def _pad(q: QuantTensor, padding: Any, value: float | None, out: QuantTensor | None) -> Bound[QuantTensor]:
    return bind("pad", (q,), {"padding": padding, "value": value}, None, out)


def concat(
    tensors: Sequence[QuantTensor],
    axis: int = 0,
    *,
    out_type: UniformType | None = None,
    requant: str = "fixed",
    out: QuantTensor | None = None,
) -> QuantTensor:
    """Tensors joined along ``axis``. Operands of another type than ``out_type`` are requantized; channels along
    ``axis`` are joined.
    ``requant``: fixed, fixed_double, float32 or float64_away.

    >>> q = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    >>> concat([q, q]).storage.tolist()
    [1, 2, 1, 2]
    """
    return join(items(tensors, "concat: tensors"), axis, out_type, requant, out)


def _convolution_window(
    name: str, x: QuantTensor, kernel: Sequence[int], strides: Pair, padding: Padding, dilations: Pair
) -> dict[str, Any]:
    steps = two_positive(name, "strides", _pair(strides))
    spread = two_positive(name, "dilations", _pair(dilations))
    return {"strides": steps, "padding": _resolved(name, padding, x, kernel, steps, spread), "dilations": spread}


def _pair(value: Any) -> Any:
    return (value, value) if isinstance(value, (int, np.integer)) else value


def _resolved(
    name: str, padding: Padding, x: QuantTensor, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Pairs:
    if x.ndim != 4 or len(kernel) != 2:
        raise QuantTypeError(f"{name}: operands must be of rank 4, the first is {x.tensor_type}")
    size, window, steps, spread = ((v[0], v[1]) for v in (x.shape[1:3], kernel, strides, dilations))
    return resolve_padding(name, padding, size, window, steps, spread)
