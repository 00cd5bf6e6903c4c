"""Products, convolutions and pooling of QuantTensors, each of which is one call of an op family.

``qrt.ops`` describes their shapes, and docs/numerics.md their rules.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, check_signature
from qrt.numerics import AverageName, RequantName
from qrt.ops import FAMILIES
from qrt.ops.core import Array
from qrt.ops.float_matmul import sums_integers
from qrt.ops.window import resolve_padding, two_positive
from qrt.tensor.arrays import as_array
from qrt.tensor.binding import F32, EagerCall, bind, bind_arrays, eager, require_tensor
from qrt.tensor.quant_tensor import PackedTensor, QuantTensor
from qrt.types import UniformType

Padding = Literal["SAME", "VALID"] | Sequence[Sequence[int]]
Pair = Sequence[int] | int


@check_signature
def pack(w: QuantTensor) -> PackedTensor:
    """Return a copy of weights that also stores them packed as kernels read them. Use it for constant weights.

    ``matmul``, ``float_matmul``, ``conv2d``, ``depthwise_conv2d`` and ``lookup`` accept the result as their second or
    third operand, and give the same results as with ``w``.

    Parameters
    ----------
    w : QuantTensor
        Weights of any shape and type. A ``PackedTensor`` is returned as it is.

    Returns
    -------
    PackedTensor

    Raises
    ------
    QuantTypeError
        If ``w`` is not a QuantTensor.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 0.5)
    >>> a, w = QuantTensor(np.int8([[1, 2]]), t), QuantTensor(np.int8([[3], [4]]), t)
    >>> (a @ pack(w)).equals(a @ w)
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
    out_type: UniformType | str | None = None,
    requant: RequantName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the matrix product ``a @ w``, with the shapes of NumPy's matmul.

    The sum is exact (docs/numerics.md, "Requantization").

    Parameters
    ----------
    a : QuantTensor
        Shape ``(..., m, k)`` or ``(k,)``; per layer, or per axis along another dimension than ``k``.
    w : QuantTensor
        Shape ``(..., k, n)`` or ``(k,)``; per layer, or per axis along another dimension than ``k``. A matrix may also
        be sub-channel.

    Returns
    -------
    QuantTensor
        Shape ``(..., m, n)``, without the dimension that a vector lacks.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 0.5)
    >>> a = QuantTensor(np.int8([[1, 2]]), t)
    >>> (a @ a.T).storage.tolist(), str((a @ a.T).type)
    ([[5]], '!quant.uniform<i32:f32, 2.500000e-01>')
    >>> matmul(a, a.T, out_type=t).storage.tolist()
    [[3]]
    """
    operands = (a, w) if bias is None else (a, w, bias)
    return bind("matmul", operands, {"requant": requant}, out_type, out)


@eager
def float_matmul(
    a: npt.ArrayLike, w: QuantTensor | npt.ArrayLike, *, bias: npt.ArrayLike | None = None, out: Array | None = None
) -> EagerCall[Array]:
    """Return the matrix product ``a @ w`` in float32. The weights are floats or quantized.

    The order of each sum is defined (docs/numerics_operations.md), so every machine gives the same bits. Products with
    quantized weights of up to 8 bits are summed exactly as integers over pieces of ``k``: the errors are as small as
    those of ``float_matmul(a, dcast(w))``, but the bits differ. Wider weights are used as ``dcast(w)``.

    Parameters
    ----------
    a : array_like of float32, float16, bfloat16 or float64
        Shape ``(..., k)``. Floats other than float32 are rounded to float32 first, which is exact for 16-bit floats.
    w : QuantTensor or array_like of float32
        Shape ``(k, n)``; a quantized type expresses f32. Use ``qrt.pack`` for weights that do not change. Otherwise
        each call packs them, and copies weights that are not in row-major order, such as ``q.T``; for few rows of ``a``
        this takes many times as long as the product.
    bias : array_like of float32, optional
        Shape ``(n,)``, added at the end.
    out : ndarray of float32, optional
        An array of the result's shape, which is filled and returned.

    Returns
    -------
    ndarray of float32
        Shape ``(..., n)``.

    Examples
    --------
    >>> w = QuantTensor(np.int8([[1, -2], [3, 0]]), UniformType("i4", "f32", [0.5, 0.25], axis=1))
    >>> float_matmul(np.float32([[2, 1]]), w).tolist()
    [[2.5, -1.0]]
    """
    # Kernels dequantize such weights only if they are constants (packed).
    is_wide = (
        isinstance(w, QuantTensor) and w._cache is None and w.type.expressed_type == F32 and not sums_integers(w.type)
    )
    operands = [_floats("a", a), w if isinstance(w, QuantTensor) and not is_wide else _floats("w", w)]
    if bias is not None:
        operands.append(_floats("bias", bias))
    call: EagerCall[Array] = bind_arrays("float_matmul", operands, {}, None, out)
    return call.of_values() if is_wide else call


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
    out_type: UniformType | str | None = None,
    requant: RequantName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the 2-D convolution. The sum is exact (docs/numerics.md, "Requantization").

    Parameters
    ----------
    w : QuantTensor
        The filters, of shape ``(filters, kernel height, kernel width, channels / groups)``; per layer, or per axis
        along the first dimension.
    groups : int, default 1
        The number of groups into which channels and filters are divided.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 1.0)
    >>> x = QuantTensor(np.ones((1, 3, 3, 1), np.int8), t)
    >>> conv2d(x, x, padding="SAME").storage[0, :, :, 0].tolist()
    [[4, 6, 4], [6, 9, 6], [4, 6, 4]]
    """
    require_tensor(x, "conv2d: x")
    require_tensor(w, "conv2d: w")
    attributes = {"groups": groups, "requant": requant}
    attributes |= _window("conv2d", x, w.shape[1:3], padding, {"strides": strides, "dilations": dilations})
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
    out_type: UniformType | str | None = None,
    requant: RequantName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the 2-D convolution of each channel by itself. The sum is exact (docs/numerics.md, "Requantization").

    Parameters
    ----------
    w : QuantTensor
        The filters, of shape ``(kernel height, kernel width, channels * m)``; per layer, or per axis along the last
        dimension. Output channel ``c * m + i`` is computed from input channel ``c``.

    Examples
    --------
    >>> t = UniformType("i8", "f32", 1.0)
    >>> x, w = QuantTensor(np.int8([[[[1, 2]]]]), t), QuantTensor(np.int8([[[1, 10, 1, 10]]]), t)
    >>> depthwise_conv2d(x, w).storage.tolist()
    [[[[1, 10, 2, 20]]]]
    """
    require_tensor(x, "depthwise_conv2d: x")
    require_tensor(w, "depthwise_conv2d: w")
    attributes = _window("depthwise_conv2d", x, w.shape[:2], padding, {"strides": strides, "dilations": dilations})
    attributes["requant"] = requant
    return bind("depthwise_conv2d", (x, w) if bias is None else (x, w, bias), attributes, out_type, out)


@eager
def avg_pool2d(
    q: QuantTensor,
    kernel: Pair,
    *,
    strides: Pair | None = None,
    padding: Padding = "VALID",
    out_type: UniformType | str | None = None,
    requant: AverageName = "fixed",
    out: QuantTensor | None = None,
) -> EagerCall[QuantTensor]:
    """Return the average of each window. Padding is not counted: only elements of the image are summed and counted.

    Parameters
    ----------
    q : QuantTensor
        The images, of shape ``(images, height, width, channels)``; per layer, or per axis along the channels.
    out_type : UniformType or str, optional
        The type of the result; that of ``q`` if not given.

    Examples
    --------
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
) -> EagerCall[QuantTensor]:
    """Return the maximum of each window. Padding is not counted; the type is unchanged.

    Parameters
    ----------
    q : QuantTensor
        The images, of shape ``(images, height, width, channels)``; per layer, or per axis along the channels.

    Examples
    --------
    >>> q = QuantTensor(np.int8([[1, 2], [3, 6]]).reshape(1, 2, 2, 1), UniformType("i8", "f32", 0.5))
    >>> max_pool2d(q, 2).storage.tolist()
    [[[[6]]]]
    """
    return _pool("max_pool2d", q, kernel, strides, padding, {}, None, out)


def _pool(
    name: str,
    q: QuantTensor,
    kernel: Pair,
    strides: Pair | None,
    padding: Padding,
    attributes: dict[str, Any],
    out_type: UniformType | str | None,
    out: QuantTensor | None,
) -> EagerCall[QuantTensor]:
    require_tensor(q, f"{name}: q")
    size = _pair(name, "kernel", kernel)
    attributes |= {"kernel": size} | _window(name, q, size, padding, {"strides": size if strides is None else strides})
    return bind(name, (q,), attributes, out_type, out)


def _window(
    name: str, x: QuantTensor, kernel: Sequence[int], padding: Padding, steps: Mapping[str, Pair]
) -> dict[str, Any]:
    """Return the attributes of a window operation: ``steps`` (strides, dilations) as pairs, and the padding as numbers.

    ``name`` is the name of the public function, ``kernel`` the height and width of the window.
    """
    pairs = {step: _pair(name, step, value) for step, value in steps.items()}
    if x.ndim != 4:
        operand = FAMILIES[name].declaration.operand_name(0)
        raise QuantTypeError(f"{name}: {operand!r} must have the layout NHWC, of rank 4, got {x.tensor_type}")
    if len(kernel) != 2:
        raise QuantTypeError(f"{name}: 'w' must have the axes height and width, got the sizes {tuple(kernel)}")
    size, dilations = (x.shape[1], x.shape[2]), pairs.get("dilations", (1, 1))
    resolved = resolve_padding(name, padding, size, (kernel[0], kernel[1]), pairs["strides"], dilations)
    return {**pairs, "padding": resolved}


def _pair(name: str, argument: str, value: Any) -> tuple[int, int]:
    return two_positive(name, argument, (value, value) if isinstance(value, (int, np.integer)) else value)


def _floats(name: str, x: Any) -> Array:
    array = as_array(x)
    if name == "a" and array.dtype.name in ("float16", "bfloat16", "float64"):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)
    if array.dtype != np.float32:
        raise QuantTypeError(f"float_matmul: {name!r} must be an array of float32, got dtype {array.dtype}")
    return array
