"""Convolutions and pooling of QuantTensors: each function is one call of an op family. ``qrt.ops`` says the shapes,
docs/numerics.md the rules."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics import AverageName, RequantName
from qrt.ops.window import resolve_padding, two_positive
from qrt.tensor.binding import EagerCall, bind, eager, require_tensor
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

Padding = Literal["SAME", "VALID"] | Sequence[Sequence[int]]
Pair = Sequence[int] | int


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
    """The 2-D convolution. The sum is exact (docs/numerics.md, "Requantization").

    Parameters
    ----------
    w : QuantTensor
        The filters, of shape ``(filters, kernel height, kernel width, channels / groups)``; per layer, or per axis
        along the first dimension.
    bias : QuantTensor, optional
        Shape ``(filters,)``. It needs ``out_type``.
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
    """The 2-D convolution of each channel by itself. The sum is exact (docs/numerics.md, "Requantization").

    Parameters
    ----------
    w : QuantTensor
        The filters, of shape ``(kernel height, kernel width, channels * m)``; per layer, or per axis along the last
        dimension. Output channel ``c * m + i`` is of input channel ``c``.
    bias : QuantTensor, optional
        Shape ``(channels * m,)``. It needs ``out_type``.

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
    """The average of each window. Padding is left out: the sum is divided by the count of the elements that exist.

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
    """The maximum of each window. Padding is left out; the type is kept.

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
    """Return attributes as op families have them: a pair for each of the steps, and the padding in numbers."""
    pairs = {step: _pair(name, step, value) for step, value in steps.items()}
    if x.ndim != 4 or len(kernel) != 2:
        raise QuantTypeError(f"{name}: operands must be of rank 4, the first is {x.tensor_type}")
    size, dilations = (x.shape[1], x.shape[2]), pairs.get("dilations", (1, 1))
    resolved = resolve_padding(name, padding, size, (kernel[0], kernel[1]), pairs["strides"], dilations)
    return {**pairs, "padding": resolved}


def _pair(name: str, argument: str, value: Any) -> tuple[int, int]:
    return two_positive(name, argument, (value, value) if isinstance(value, (int, np.integer)) else value)
