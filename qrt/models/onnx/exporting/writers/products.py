"""The export of sums of products: convolutions and products of matrices."""

from typing import Any

from qrt.models.onnx.exporting.exported_value import NCHW, Order
from qrt.models.onnx.exporting.group import Group
from qrt.types import IntegerType, UniformType

_OIHW: Order = (0, 3, 1, 2)
"""The order of filters, which the program has as OHWI."""
_DEPTHWISE: Order = (2, None, 0, 1)
"""The order of filters [height, width, channels] as OIHW, with one input channel each."""
_IOHW: Order = (3, 0, 1, 2)
"""The order of ConvTranspose's filters."""
_FLOAT, _INT32 = 1, 6
"""ONNX's numbers of types."""


def conv2d(group: Group) -> None:
    """Export the operation as Conv, which pads with 0, the real value of the zero point."""
    _convolution(group, _OIHW, group.attributes["groups"])


def depthwise_conv2d(group: Group) -> None:
    """Export the operation as Conv with a group for each input channel.

    With M filters for each input channel, output channel ``c * M + m`` reads input channel c.
    """
    channels = group.operand(0).shape[3]
    if channels is None:
        group.refuse("a dynamic number of channels")
    _convolution(group, _DEPTHWISE, channels)


def _convolution(group: Group, filters: Order, groups: int) -> None:
    attributes = group.attributes
    form = {"group": groups, "dilations": list(attributes["dilations"]), **_window(group)}
    if _is_of_bytes(group):
        x, w = (_as_floats(group, group.stored(i, order)) for i, order in enumerate((NCHW, filters)))
        group.set_stored(_as_integers(group, group.node("Conv", x, w, **form)), NCHW)
        return
    x, w = _factor(group, 0, NCHW), _factor(group, 1, filters)
    group.set_real(_sum(group, group.node("Conv", x, w, *_bias(group), **form)), NCHW)


def _factor(group: Group, i: int, order: Order | None = None) -> str:
    """Return the name of a tensor with operand ``i``, a factor, as floats.

    Integers are cast to floats, because runtimes have only float convolutions.
    """
    name = group.real(i, order)
    return name if _is_no_integer(group, i) else _as_floats(group, name)


def _sum(group: Group, name: str) -> str:
    """Return the name of a tensor with the float sums ``name``. If the operands are integers, it is a Cast to int32."""
    return name if _is_no_integer(group, 0) else _as_integers(group, name)


def _as_floats(group: Group, name: str) -> str:
    return group.node("Cast", name, is_part=True, to=_FLOAT)


def _as_integers(group: Group, name: str) -> str:
    """Cast float sums of products to int32. Floats represent such sums exactly up to 2^24."""
    return group.node("Cast", name, is_part=True, to=_INT32)


def _is_no_integer(group: Group, i: int) -> bool:
    return not isinstance(group.operand(i).type.element, IntegerType)


def _window(group: Group) -> dict[str, Any]:
    (top, bottom), (left, right) = group.attributes["padding"]
    return {"strides": list(group.attributes["strides"]), "pads": [top, left, bottom, right]}


def _bias(group: Group) -> list[str]:
    return [group.real(2)] if group.count > 2 else []


def transpose_conv2d(group: Group) -> None:
    """Export the operation as ConvTranspose.

    Raise UnsupportedForm unless the output padding is less than the stride.
    """
    more, strides = group.attributes["output_padding"], group.attributes["strides"]
    if any(extra >= stride for extra, stride in zip(more, strides, strict=True)):
        group.refuse(f"output_padding {list(more)} with strides {list(strides)}")
    x, w = group.real(0, NCHW), group.real(1, _IOHW)
    form = {"output_padding": list(more), **_window(group)}
    group.set_real(group.node("ConvTranspose", x, w, *_bias(group), **form), NCHW)


def matmul(group: Group) -> None:
    """Export the operation as MatMulInteger, Gemm, or MatMul and Add.

    MatMulInteger is for results that are the exact sums, and Gemm for matrices with a bias.
    """
    if _is_of_bytes(group):
        group.set_stored(group.node("MatMulInteger", group.stored(0), group.stored(1)))
        return
    a, w = _factor(group, 0), _factor(group, 1)
    if group.count < 3:
        result = _sum(group, group.node("MatMul", a, w))
    elif group.operand(0).rank == group.operand(1).rank == 2:
        result = group.node("Gemm", a, w, group.real(2))
    else:
        product = group.node("MatMul", a, w)
        result = group.node("Add", product, group.real(2))
    group.set_real(result)


def _is_of_bytes(group: Group) -> bool:
    """Return True if MatMulInteger can compute a product: its result has the exact 32-bit sums of 8-bit products.

    The product must have no zero points, no bias, a multiplier of 1 and the requantization rule ``fixed``. Rules that
    compute in floats would round sums beyond 2^24.
    """
    if group.count > 2 or group.attributes.get("requant") != "fixed":
        return False
    a, w, out = (value.type.element for value in (group.operand(0), group.operand(1), group.result()))
    if not (isinstance(a, UniformType) and isinstance(w, UniformType) and isinstance(out, UniformType)):
        return False
    if (a.storage_width, w.storage_width, out.storage) != (8, 8, "i32") or not (
        a.is_per_layer and out.has_default_bounds
    ):
        return False
    without_zero_points = not any(t.zero_point_array.any() for t in (a, w, out))
    return without_zero_points and bool((out.scale_array == a.scale * w.scale_array).all())
